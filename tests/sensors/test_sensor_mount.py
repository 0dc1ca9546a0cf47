from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from skyloop.sensors.sensor import MountConfig, kinematics_at
from skyloop_client.messages import VehicleState

P0, V0, A0 = np.array([3.0, -5.0, 7.0]), np.array([1.0, 2.0, -0.5]), np.array([0.3, -0.7, 0.9])
AXIS = np.array([2.0, -1.0, 3.0]) / np.sqrt(14.0)
RATE, RATE_GROWTH = 1.7, -0.6
START = Rotation.from_euler("ZYX", [0.4, -0.3, 0.8])
MOUNT = MountConfig(position=(0.11, -0.23, 0.37), rotation_deg=(10.0, -35.0, 120.0))
BODY_FROM_SENSOR = Rotation.from_euler("ZYX", [120.0, -35.0, 10.0], degrees=True)


def attitude(t: float) -> Rotation:
    return Rotation.from_rotvec(AXIS * (RATE * t + 0.5 * RATE_GROWTH * t * t)) * START


def sensor_position(t: float) -> np.ndarray:
    return P0 + V0 * t + 0.5 * A0 * t * t + attitude(t).apply(np.array(MOUNT.position))


def vehicle_at(t: float) -> VehicleState:
    into_body = attitude(t).inv()
    return VehicleState(
        t_ns=42,
        position=P0 + V0 * t + 0.5 * A0 * t * t,
        velocity_world=V0 + A0 * t,
        quat_wxyz=np.roll(attitude(t).as_quat(), 1),
        angular_velocity_body=into_body.apply(AXIS * (RATE + RATE_GROWTH * t)),
        acceleration_world=A0,
        angular_acceleration_body=into_body.apply(AXIS * RATE_GROWTH),
        rotor_speeds=np.zeros(4),
        rotor_thrusts=np.zeros(4),
        wind_world=np.array([1.0, 2.0, 3.0]),
    )


@pytest.mark.parametrize("t", [0.0, 0.9, 2.3])
def test_a_mounted_sensor_moves_as_its_differentiated_path_says(t: float) -> None:
    h = 1e-4
    before, now, after = (sensor_position(t + dt) for dt in (-h, 0.0, h))
    kinematics = kinematics_at(vehicle_at(t), MOUNT.mount())
    assert kinematics.position == pytest.approx(now, abs=1e-12)
    assert kinematics.velocity_world == pytest.approx((after - before) / (2 * h), abs=1e-7)
    assert kinematics.acceleration_world == pytest.approx((after - 2 * now + before) / h**2, abs=1e-5)


def test_axes_and_rates_are_the_sensors_own() -> None:
    kinematics = kinematics_at(vehicle_at(0.9), MOUNT.mount())
    world_from_sensor = Rotation.from_quat(np.roll(kinematics.quat_wxyz, -1))
    assert world_from_sensor.as_matrix() == pytest.approx((attitude(0.9) * BODY_FROM_SENSOR).as_matrix())
    expected = (attitude(0.9) * BODY_FROM_SENSOR).inv().apply(AXIS * (RATE + RATE_GROWTH * 0.9))
    assert kinematics.angular_velocity == pytest.approx(expected)
    assert kinematics.t_ns == 42
    assert kinematics.wind_world == pytest.approx([1.0, 2.0, 3.0])


def test_an_offset_sensor_on_a_spinning_vehicle_feels_the_centripetal_acceleration() -> None:
    spinning = VehicleState(
        0,
        np.zeros(3),
        np.zeros(3),
        np.array([1.0, 0.0, 0.0, 0.0]),
        np.array([0.0, 0.0, 3.0]),
        np.zeros(3),
        np.zeros(3),
        np.zeros(4),
        np.zeros(4),
        np.zeros(3),
    )
    kinematics = kinematics_at(spinning, MountConfig(position=(0.2, -0.1, 0.5)).mount())
    assert kinematics.acceleration_world == pytest.approx([-9.0 * 0.2, 9.0 * 0.1, 0.0])
    assert kinematics.velocity_world == pytest.approx([0.3, 0.6, 0.0])
