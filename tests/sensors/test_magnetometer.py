from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.sensors.magnetometer import Magnetometer, MagnetometerConfig

KEY = stream_key(5, "drone/magnetometer")
TURN = Rotation.from_euler("ZYX", [0.7, -0.4, 0.2])


def fields(sensor: Magnetometer, scene, kinematics, count: int) -> np.ndarray:
    state, samples = sensor.initial_state(KeyedRandom(KEY, 0)), []
    for index in range(count):
        sample, state = sensor.measure(kinematics, scene, state, KeyedRandom(KEY, index))
        samples.append(sample.field_tesla)
    return np.array(samples)


def test_the_field_is_seen_from_the_sensor(scene, at_rest) -> None:
    turned = at_rest(quat_wxyz=np.roll(TURN.as_quat(), 1))
    measured = fields(Magnetometer(MagnetometerConfig(preset="perfect"), 0.02), scene, turned, 1)[0]
    assert measured == pytest.approx(TURN.inv().apply(scene.magnetic_field_world), rel=1e-12)


def test_hard_iron_and_scale(scene, at_rest) -> None:
    config = MagnetometerConfig(preset="perfect", hard_iron=(1e-6, -2e-6, 3e-6), scale=(1.1, 0.9, 1.0))
    measured = fields(Magnetometer(config, 0.02), scene, at_rest(), 1)[0]
    expected = np.array([1.1, 0.9, 1.0]) * scene.magnetic_field_world + [1e-6, -2e-6, 3e-6]
    assert measured == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("preset", "sigma"), [("hmc5883", 5e-7), ("gazebo", 4e-8 * np.sqrt(50.0))])
def test_white_noise(preset: Any, sigma: float, scene, at_rest) -> None:
    sensor = Magnetometer(MagnetometerConfig(preset=preset), 0.02)
    steps = np.diff(fields(sensor, scene, at_rest(), 3000), axis=0)
    assert np.std(steps, axis=0) / np.sqrt(2.0) == pytest.approx([sigma] * 3, rel=0.06)


def test_the_bias_wanders_at_its_density(scene, at_rest) -> None:
    sensor = Magnetometer(MagnetometerConfig(preset="gazebo", noise_density=0.0), 0.02)
    steps = np.diff(fields(sensor, scene, at_rest(), 3000), axis=0)
    assert np.std(steps) == pytest.approx(6.4e-10 * np.sqrt(0.02), rel=0.05)


def test_turn_on_bias_is_drawn_once(scene, at_rest) -> None:
    sensor = Magnetometer(MagnetometerConfig(preset="perfect", turn_on_sd=1e-6), 0.02)
    offsets = fields(sensor, scene, at_rest(), 3) - scene.magnetic_field_world
    assert np.all(offsets[0] == offsets[2])
    assert np.all(np.abs(offsets[0]) > 1e-9)
