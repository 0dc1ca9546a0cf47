"""What fog, rain, snow and dust do to a LiDAR's sweep, and what motion within the sweep does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from lidar_scans import (
    ACCELERATION,
    ATTITUDE,
    PERIOD,
    PLACE,
    RATE,
    VELOCITY,
    TracedScene,
    close,
    flying,
    in_weather,
    lidar,
    narrow,
    room,
    scan,
    still,
    wall_ahead,
)
from scipy.spatial.transform import Rotation

from skyloop.sensors.lidar_kernels import ECHO_DEPTH, ECHO_REFLECTANCE
from skyloop.world.mesh import box, quad
from skyloop.world.model import Model, Shape
from skyloop.world.semantics import CLASS_ID


def test_fog_removes_far_returns_and_dims_near_ones() -> None:
    options = {"min_reflectance": 0.6, "max_range": 100.0}
    sensor = narrow(weather=True, **options)
    assert len(scan(sensor, wall_ahead(80.0)).ranges) > 900
    foggy = in_weather(wall_ahead(80.0), visibility=100.0)
    assert (scan(sensor, foggy).instances == 0).all()
    assert (scan(narrow(weather=False, **options), foggy).instances > 0).sum() > 900
    near = in_weather(wall_ahead(20.0), visibility=300.0)
    seen = scan(sensor, near)
    solid = seen.instances > 0
    assert solid.sum() > 900
    cosine = seen.points[solid, 0] / seen.ranges[solid]
    expected = 0.6 * cosine * np.exp(-2.0 * 3.912 / 300.0 * seen.ranges[solid])
    assert close(seen.intensities[solid], expected, 1e-5)


@pytest.mark.parametrize(
    ("weather", "rate"),
    [
        ({"rain": 100.0}, 0.365 * 100.0**0.63 / 4343.0),
        ({"snow": 20.0}, 1.8 * 20.0**0.75 / 4343.0),
        ({"dust": 60.0}, 0.6e-3 * 60.0),
        ({"visibility": 60.0}, 0.1 * 3.912 / 60.0),
        ({"visibility": 1500.0}, 0.0),
    ],
)
def test_the_air_sends_back_sparse_near_echoes(weather: dict[str, float], rate: float) -> None:
    """As many as 1 - exp(-rate·depth), ever rarer farther away."""
    scene = in_weather(room(500.0), **weather)
    sensor = lidar(weather=True, max_range=100.0, points_per_second=1e6)
    sample = scan(sensor, scene)
    n = len(sensor.pattern.rings)
    expected = -np.expm1(-rate * ECHO_DEPTH)
    assert len(sample.ranges) / n == pytest.approx(expected, abs=4 * np.sqrt(expected / n))
    if rate > 0.0:
        assert np.mean(sample.ranges) == pytest.approx(ECHO_DEPTH, rel=0.2)
        assert close(sample.intensities, ECHO_REFLECTANCE, 1e-7)
    assert (sample.classes == 0).all() and (sample.instances == 0).all()
    assert len(scan(lidar(max_range=100.0), scene).ranges) == 0


def test_echoes_come_from_before_the_wall_only_and_not_in_clear_air() -> None:
    sample = scan(lidar(weather=True), in_weather(room(2.0), rain=200.0, dust=500.0))
    echoes = sample.instances == 0
    assert echoes.sum() > 50
    assert np.abs(sample.points[echoes]).max() < 2.0
    assert np.abs(np.abs(sample.points[~echoes]).max(axis=1) - 2.0).max() < 1e-4
    assert (scan(lidar(weather=True), room(2.0)).instances > 0).all()


def off_the_walls(points: np.ndarray) -> float:
    return float(np.abs(np.abs(points).max(axis=1) - 30.0).max())


@pytest.mark.parametrize("spin", [1.0, 8.0])
@pytest.mark.parametrize("options", [{}, {"staggered": True}, {"pattern": "rosette"}], ids=str)
def test_undistorting_with_the_true_motion_recovers_the_walls(options: dict[str, Any], spin: float) -> None:
    if "pattern" in options:
        options = {**options, "channels": 1, "horizontal_fov_deg": (-60.0, 60.0)}
    sample = scan(lidar(motion_distortion=True, **options), room(30.0), flying(spin))
    assert len(sample.ranges) == 30_000
    assert sample.offsets_ns[0] == -100_000_000 and sample.offsets_ns[-1] < 0
    t = 1e-9 * sample.offsets_ns[:, None]
    place = PLACE + t * VELOCITY + 0.5 * t**2 * ACCELERATION
    assert off_the_walls((ATTITUDE * Rotation.from_rotvec(t * spin * RATE)).apply(sample.points) + place) < 2e-3
    # taken as if of one instant, the walls are bent by what was flown in a sweep
    assert off_the_walls(ATTITUDE.apply(sample.points) + PLACE) > 1.0


def test_without_distortion_the_sweep_is_of_one_instant() -> None:
    sample = scan(lidar(motion_distortion=False), room(30.0), flying())
    assert off_the_walls(ATTITUDE.apply(sample.points) + PLACE) < 1e-3
    assert (sample.offsets_ns == 0).all()
    assert sample.t_ns == 3_000_000_000


@dataclass
class Gliding:
    """A wide box that moves along x at 10 m/s."""

    n_rows: int = 1

    def poses(self, t: float) -> np.ndarray:
        return np.column_stack([np.eye(3), [6.0 + 10.0 * t, 0.0, 0.0]])[None]


def with_glider() -> TracedScene:
    model = Model()
    model.place(Shape("floor", (quad((-50, -50, -9), (50, -50, -9), (50, 50, -9), (-50, 50, -9)),)), is_a="floor")
    model.add_mover(Gliding(), [Shape("box", (box((1, 40, 20)),))], is_a="car")
    return TracedScene(model, now_ns=2_000_000_000)


def test_movers_are_seen_at_the_time_of_their_slice() -> None:
    def face(**options: Any) -> tuple[np.ndarray, np.ndarray]:
        sample = scan(lidar(**options), with_glider(), still(t_ns=2_000_000_000))
        car = sample.classes == CLASS_ID["car"]
        assert car.sum() > 1000
        return sample.points[car, 0].astype(float), 1e-9 * sample.offsets_ns[car]

    x, _ = face(motion_distortion=False)
    assert close(x, 25.5, 1e-3)
    for slices in (1, 8, 50):
        x, t = face(motion_distortion=True, slices=slices)
        error = np.abs(x - (25.5 + 10.0 * t)).max()
        # at most half a slice too early or late, and coarse slices nearly that
        assert error <= 10.0 * 0.5 * PERIOD / slices + 1e-3
        assert error > 10.0 * 0.1 * PERIOD / slices


def test_a_world_in_which_nothing_moves_is_cast_at_once_and_time_begins_at_zero() -> None:
    standing, moving = room(), with_glider()
    scan(lidar("vlp16"), standing)
    assert standing.asked == [None]
    scan(lidar("vlp16"), moving)
    assert len(moving.asked) == 8 and 0 in moving.asked and all(t_ns is not None and t_ns >= 0 for t_ns in moving.asked)
