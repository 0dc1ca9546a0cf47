"""Sweeps made level: a wall is straight whatever the vehicle did during the sweep."""

from __future__ import annotations

import math

import numpy as np
import pytest

from skyloop.core.frames import matrix_from_quat, quat_from_euler
from skyloop_autonomy.grid_slam.level_sweep import SweepMotion, SweepSlab, levelled
from skyloop_client.messages import Array

SLAB = SweepSlab(-0.75, 0.75, 0.5, 60.0)
STILL = np.zeros(3)
WALL = 8.0
"""m north of the vehicle's position at the end of the sweep."""


def motion(
    roll: float = 0.0, pitch: float = 0.0, yaw: float = 0.0, rates: Array = STILL, velocity: Array = STILL
) -> SweepMotion:
    rotation = np.ascontiguousarray(matrix_from_quat(quat_from_euler(roll, pitch, yaw)))
    mount = np.array([0.1, 0.05, 0.12])
    turned = np.ascontiguousarray(matrix_from_quat(quat_from_euler(0.0, 0.0, 0.4)))
    return SweepMotion(rotation, rates, velocity, yaw, turned, mount)


def seen_wall(m: SweepMotion, offsets: Array) -> tuple[Array, Array]:
    """Points on a wall along east, each in the sensor's axes at its firing, and their true positions in the world."""
    east, up = np.meshgrid(np.linspace(-10.0, 10.0, 60), np.linspace(-0.6, 0.6, 7))
    positions = np.stack([east.ravel(), np.full(east.size, WALL), up.ravel()], axis=1)
    sensed = []
    for position, dt in zip(positions, np.resize(offsets, len(positions)), strict=True):
        angle = m.angular_velocity_body * dt
        turn = matrix_from_quat(np.array([1.0, *(0.5 * angle)]) / math.hypot(1.0, *(0.5 * angle)))
        in_body = (m.world_from_body @ turn).T @ (position - m.velocity_world * dt)
        sensed.append(m.body_from_sensor.T @ (in_body - m.mount))
    return np.array(sensed), positions


def in_world(points: Array, heading: float) -> Array:
    c, s = math.cos(heading), math.sin(heading)
    return np.asarray(points @ np.array([[c, s], [-s, c]]))


def test_a_tilted_vehicle_sees_the_wall_where_it_is() -> None:
    m = motion(roll=0.15, pitch=-0.1, yaw=0.7)
    points, _ = seen_wall(m, np.zeros(1))
    found = in_world(levelled(points, np.zeros(len(points), np.int64), m, SLAB), 0.7)
    assert len(found) > 40
    assert np.abs(found[:, 1] - WALL).max() < 1e-3


def test_motion_during_the_sweep_is_taken_out() -> None:
    m = motion(roll=0.1, yaw=-0.4, rates=np.array([0.2, -0.1, 0.8]), velocity=np.array([3.0, 1.0, -0.5]))
    offsets = np.linspace(-0.1, 0.0, 30)
    points, _ = seen_wall(m, offsets)
    offsets_ns = np.rint(1e9 * np.resize(offsets, len(points))).astype(np.int64)
    found = in_world(levelled(points, offsets_ns, m, SLAB), -0.4)
    # third order in the turn: 0.08 rad cubed over six, 12 m away
    assert np.abs(found[:, 1] - WALL).max() < 0.005
    smeared = in_world(levelled(points, np.zeros(len(points), np.int64), m, SLAB), -0.4)
    assert np.abs(smeared[:, 1] - WALL).max() > 0.3


def test_arrays_that_may_not_be_written_as_a_link_gives_them_are_taken() -> None:
    m = motion(yaw=0.7)
    points, _ = seen_wall(m, np.zeros(1))
    points, offsets = np.ascontiguousarray(points, np.float32), np.zeros(len(points), np.int64)
    expected = levelled(points, offsets, m, SLAB)
    points.flags.writeable = offsets.flags.writeable = False
    assert np.array_equal(levelled(points, offsets, m, SLAB), expected)


@pytest.mark.parametrize(
    ("points", "kept"),
    [
        ([(5.0, 0.0, -1.0), (5.0, 1.0, 0.9), (0.3, 0.0, 0.0), (61.0, 0.0, 0.0), (5.0, 2.0, 0.1)], [(5.0, 2.0)]),
        ([(5.0, 0.0, 0.6), (5.2, 0.0, 0.1), (4.8, 0.0, -0.5)], [(5.2, 0.0)]),
        ([(math.nan, 0.0, 0.0), (5.0, math.nan, 0.0), (5.0, 0.0, math.nan), (math.inf, 0.0, 0.0)], []),
    ],
    ids=["ground, roofs, the vehicle itself, far", "the middle of the slab in each direction", "not numbers"],
)
def test_what_is_left_out(points: list[tuple[float, float, float]], kept: list[tuple[float, float]]) -> None:
    m = SweepMotion(np.eye(3), STILL, STILL, 0.0, np.eye(3), STILL)
    found = levelled(np.array(points), np.zeros(len(points), np.int64), m, SLAB)
    assert found == pytest.approx(np.array(kept).reshape(-1, 2))
