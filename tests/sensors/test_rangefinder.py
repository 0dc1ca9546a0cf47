from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.spatial.transform import Rotation

from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.sensors.rangefinder import Rangefinder, RangefinderConfig

KEY = stream_key(5, "drone/rangefinder")


def looking_down(at_rest, height: float, tilt_deg: float = 0.0, yaw_deg: float = 0.0):
    turn = Rotation.from_euler("ZYX", [yaw_deg, 90.0 - tilt_deg, 0.0], degrees=True)
    return at_rest(quat_wxyz=np.roll(turn.as_quat(), 1), position=[1.0, 2.0, height])


def distance(sensor: Rangefinder, scene, kinematics, index: int = 0) -> float:
    sample, _ = sensor.measure(kinematics, scene, (), KeyedRandom(KEY, index))
    return sample.distance


def test_the_ray_goes_along_the_sensors_forward_axis(scene, at_rest) -> None:
    perfect = Rangefinder(RangefinderConfig(preset="perfect"), 0.02)
    assert distance(perfect, scene, looking_down(at_rest, 7.0)) == pytest.approx(7.0)
    slanted = looking_down(at_rest, 7.0, 30.0, 70.0)
    assert distance(perfect, scene, slanted) == pytest.approx(7.0 / math.cos(math.radians(30.0)))
    assert math.isnan(distance(perfect, scene, at_rest(position=[0.0, 0.0, 7.0])))


def test_the_direction_is_the_rotated_forward_axis(scene, at_rest) -> None:
    seen = []

    def rays(origins, directions, max_range):
        seen.append(directions[0])
        return np.array([3.0])

    scene.rays = rays
    turn = Rotation.from_euler("ZYX", [0.7, -0.4, 0.2])
    kinematics = at_rest(quat_wxyz=np.roll(turn.as_quat(), 1))
    distance(Rangefinder(RangefinderConfig(preset="perfect"), 0.02), scene, kinematics)
    assert seen[0] == pytest.approx(turn.apply([1.0, 0.0, 0.0]))


@pytest.mark.parametrize(("preset", "sigma"), [("airsim", 0.2), ("lidar-lite", 0.025)])
def test_noise(preset: Any, sigma: float, scene, at_rest) -> None:
    sensor = Rangefinder(RangefinderConfig(preset=preset), 0.02)
    kinematics = looking_down(at_rest, 12.0)
    measured = [distance(sensor, scene, kinematics, index) for index in range(3000)]
    assert np.mean(measured) == pytest.approx(12.0, abs=0.02)
    assert np.std(measured) == pytest.approx(sigma, rel=0.06)


def test_steps_of_a_centimetre(scene, at_rest) -> None:
    sensor = Rangefinder(RangefinderConfig(preset="lidar-lite", noise_sd=0.0), 0.02)
    assert distance(sensor, scene, looking_down(at_rest, 1.2345)) == pytest.approx(1.23, abs=1e-12)


def test_too_far_is_nan_and_too_near_is_minus_infinity(scene, at_rest) -> None:
    sensor = Rangefinder(RangefinderConfig(preset="airsim"), 0.02)
    assert math.isnan(distance(sensor, scene, looking_down(at_rest, 41.0)))
    assert distance(sensor, scene, looking_down(at_rest, 0.1)) == -math.inf


def test_noise_does_not_leave_the_range(scene, at_rest) -> None:
    sensor = Rangefinder(RangefinderConfig(preset="airsim"), 0.02)
    near = looking_down(at_rest, 0.21)
    assert min(distance(sensor, scene, near, index) for index in range(50)) == 0.2


def test_an_empty_range_is_refused() -> None:
    with pytest.raises(ValidationError, match="must be below max_range"):
        RangefinderConfig(min_range=50.0)
