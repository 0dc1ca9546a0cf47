"""Dead reckoning against closed forms."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from skyloop_client.messages import ImuSample
from skyloop_client.tasks.dead_reckoning import DeadReckoning, world_force

G = 9.81


def state(t_ns: int, yaw: float = 0.0, pitch: float = 0.0, rates: Any = (0.0, 0.0, 0.0)) -> Any:
    cy, sy, cp, sp = math.cos(yaw / 2), math.sin(yaw / 2), math.cos(pitch / 2), math.sin(pitch / 2)
    quat = np.array([cy * cp, -sy * sp, cy * sp, sy * cp])
    return SimpleNamespace(t_ns=t_ns, quat_wxyz=quat, angular_velocity_body=np.array(rates))


def sample(t_ns: int, force: Any) -> ImuSample:
    return ImuSample(t_ns, np.zeros(3), np.array(force, float))


def test_constant_acceleration_gives_the_parabola_with_samples_missing() -> None:
    reckoning = DeadReckoning()
    reckoning.add_at_rest(sample(0, [0, 0, G]))
    for k in (0, 1, 2, 5, 6, 11, 20):
        # heading north, pushed forward and to the left
        reckoning.add(sample(k * 50_000_000, [2.0, 1.0, G]), state(k * 50_000_000, yaw=math.pi / 2))
    np.testing.assert_allclose(reckoning.velocity, [-1.0, 2.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(reckoning.position, [-0.5, 1.0, 0.0], atol=1e-12)


def test_a_tilted_body_at_rest_feels_no_acceleration() -> None:
    pitch = 0.2
    force = [-G * math.sin(pitch), 0.0, G * math.cos(pitch)]
    np.testing.assert_allclose(world_force(sample(0, force), state(0, 1.0, pitch)), [0, 0, G], atol=1e-12)


def test_an_older_sample_is_turned_with_the_older_attitude() -> None:
    """20 ms at 1 rad/s of pitch: what is left is of second order, (0.02)²/2 of g."""
    rate, age = 1.0, 0.02
    then = [-G * math.sin(0.2), 0.0, G * math.cos(0.2)]
    now = state(20_000_000, pitch=0.2 + rate * age, rates=(0.0, rate, 0.0))
    left = world_force(sample(0, then), now) - [0, 0, G]
    assert float(np.linalg.norm(left)) == pytest.approx(0.5 * age**2 * G, rel=0.05)
