from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.sensors.imu import PRESETS, Imu, ImuConfig
from skyloop.sensors.sensor import MountConfig, kinematics_at
from skyloop_client.messages import VehicleState

KEY = stream_key(5, "drone/imu")
G = 9.80665


def imu(**config: Any) -> Imu:
    return Imu(ImuConfig(**config), 0.005)


def test_at_rest_tilted_it_feels_gravity_along_up(scene, at_rest) -> None:
    roll, pitch = 0.3, -0.2
    quat = np.roll(Rotation.from_euler("ZYX", [1.1, pitch, roll]).as_quat(), 1)
    sample, _ = imu(preset="perfect").measure(at_rest(quat_wxyz=quat), scene, np.zeros(6), KeyedRandom(KEY, 0))
    up_in_sensor = [-math.sin(pitch), math.cos(pitch) * math.sin(roll), math.cos(pitch) * math.cos(roll)]
    assert sample.specific_force == pytest.approx(G * np.array(up_in_sensor))
    assert sample.angular_velocity == pytest.approx([0.0, 0.0, 0.0])


def test_in_free_fall_it_feels_nothing(scene, at_rest) -> None:
    falling = at_rest(acceleration_world=[0.0, 0.0, -G])
    sample, _ = imu(preset="perfect").measure(falling, scene, np.zeros(6), KeyedRandom(KEY, 0))
    assert sample.specific_force == pytest.approx([0.0, 0.0, 0.0], abs=1e-15)


def test_offset_and_turned_on_a_spinning_vehicle(scene) -> None:
    rate = np.array([0.0, 0.0, 2.0])
    zero = np.zeros(3)
    level = np.array([1.0, 0.0, 0.0, 0.0])
    spinning = VehicleState(9, zero, zero, level, rate, zero, zero, np.zeros(4), np.zeros(4), zero)
    # The sensor's forward looks to the vehicle's left, its left to the rear.
    mount = MountConfig(position=(0.3, 0.1, -0.2), rotation_deg=(0.0, 0.0, 90.0)).mount()
    kinematics = kinematics_at(spinning, mount)
    sample, _ = imu(preset="perfect").measure(kinematics, scene, np.zeros(6), KeyedRandom(KEY, 0))
    assert sample.specific_force == pytest.approx([-4.0 * 0.1, 4.0 * 0.3, G])
    assert sample.angular_velocity == pytest.approx([0.0, 0.0, 2.0])
    assert sample.t_ns == 9


def test_values_stop_at_the_range(scene, at_rest) -> None:
    kinematics = at_rest(angular_velocity=[40.0, -50.0, 1.0], acceleration_world=[500.0, -500.0, 0.0])
    sample, _ = imu().measure(kinematics, scene, np.zeros(6), KeyedRandom(KEY, 0))
    assert sample.angular_velocity[:2] == pytest.approx(np.radians([2000.0, -2000.0]), rel=1e-12)
    assert sample.specific_force[:2] == pytest.approx([16 * G, -16 * G], rel=1e-12)
    assert abs(sample.angular_velocity[2] - 1.0) < 0.01


def test_values_are_multiples_of_the_lsb(scene, at_rest) -> None:
    coarse = imu(preset="perfect", gyro_lsb=0.25, accel_lsb=0.5)
    kinematics = at_rest(angular_velocity=[0.3, -0.4, 1.9], acceleration_world=[0.3, -0.7, 0.0])
    sample, _ = coarse.measure(kinematics, scene, np.zeros(6), KeyedRandom(KEY, 0))
    assert sample.angular_velocity == pytest.approx([0.25, -0.5, 2.0], abs=0)
    assert sample.specific_force == pytest.approx([0.5, -0.5, 10.0], abs=0)


def test_presets_hold_the_published_numbers() -> None:
    airsim = PRESETS["mpu6000"]
    assert airsim.gyro_noise_density == pytest.approx(8.73e-5, rel=1e-3)
    assert airsim.gyro_random_walk == pytest.approx(9.97e-7, rel=1e-3)
    assert airsim.accel_noise_density == pytest.approx(2.354e-3, rel=1e-3)
    assert airsim.accel_random_walk == pytest.approx(1.248e-5, rel=1e-3)
    assert PRESETS["adis16448"].accel_random_walk == 3.0e-3
    assert PRESETS["e2es"].accel_bias_tau == 300.0


def test_a_stated_number_replaces_the_presets() -> None:
    details = imu(preset="e2es", gyro_noise_density=0.5, gyro_bias_tau=math.inf).details()
    assert details["gyro_noise_density"] == 0.5
    assert details["gyro_bias_tau"] is None
    assert details["accel_noise_density"] == 3.0e-5


def test_the_turn_on_bias_is_in_the_samples_and_in_the_hidden_truth(scene, at_rest) -> None:
    sensor = imu(preset="e2es", gyro_noise_density=0.0, accel_noise_density=0.0)
    states = [sensor.initial_state(KeyedRandom(stream_key(i, "imu"), 0)) for i in range(2000)]
    assert np.std(states, axis=0) == pytest.approx([0.0087] * 3 + [0.196] * 3, rel=0.05)
    sample, after = sensor.measure(at_rest(t_ns=7), scene, states[0], KeyedRandom(KEY, 0))
    hidden = sensor.truth(after, 7)
    assert sample.angular_velocity == pytest.approx(hidden.gyro_bias, rel=1e-12)
    assert sample.specific_force - [0.0, 0.0, G] == pytest.approx(hidden.accel_bias, rel=1e-9)
    assert hidden.gyro_bias == pytest.approx(states[0][:3], abs=1e-4)


def test_a_sample_depends_on_its_key_and_index_only(scene, at_rest) -> None:
    sensor, state = imu(), np.zeros(6)
    first, after = sensor.measure(at_rest(), scene, state, KeyedRandom(KEY, 3))
    sensor.measure(at_rest(), scene, after, KeyedRandom(KEY, 4))
    again, _ = sensor.measure(at_rest(), scene, state, KeyedRandom(KEY, 3))
    other, _ = sensor.measure(at_rest(), scene, state, KeyedRandom(KEY, 4))
    assert np.array_equal(first.specific_force, again.specific_force)
    assert not np.array_equal(first.specific_force, other.specific_force)
    assert np.array_equal(state, np.zeros(6))
