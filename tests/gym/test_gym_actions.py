"""What each number of an action does, in an environment and against the words of docs/how-to/gym.md."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import skyloop.gym
from skyloop.core.frames import yaw_from_quat
from skyloop.gym.actions import MOST_ASIDE, MOST_HEIGHT, MOST_OFFSET, MOST_SPEED, SIZES
from skyloop_client.errors import ScenarioError


def flown(kind: str, numbers: Any, steps: int, yaw: float = 0.0) -> Any:
    """The true state after so many steps of one action, from rest at (0, 0, 2)."""
    env = skyloop.gym.SkyloopEnv("waypoint", action=kind)
    env.reset(seed=1)
    half = (np.cos(0.5 * yaw), 0.0, 0.0, np.sin(0.5 * yaw))
    env.states[0]["motion"] = (0.0, 0.0, 2.0, 0.0, 0.0, 0.0, *half, 0.0, 0.0, 0.0)
    env.states[0]["yaw_target"] = yaw
    env.episode[0]["position"] = (0.0, 0.0, 2.0)
    for _ in range(steps):
        env.step(np.array(numbers, np.float32))
    return env.simulation.truth()


def test_position_is_a_point_of_the_world_and_a_heading() -> None:
    truth = flown("position", [0.25, -0.125, 0.2, 0.5], 350)
    assert truth.position == pytest.approx([0.25 * MOST_ASIDE, -0.125 * MOST_ASIDE, 0.6 * MOST_HEIGHT], abs=0.05)
    assert yaw_from_quat(truth.quat_wxyz) == pytest.approx(0.5 * np.pi, abs=0.03)
    assert np.linalg.norm(truth.velocity_world) < 0.1


def test_an_offset_is_seen_from_where_the_vehicle_is() -> None:
    """Asked for at every step, it flies on and on; the built-in controller gives each offset a speed."""
    early, late = flown("offset", [0.5, 0.0, -0.25], 100, yaw=1.0), flown("offset", [0.5, 0.0, -0.25], 150, yaw=1.0)
    assert early.position[0] > MOST_OFFSET and late.position[0] - early.position[0] > 0.3
    assert abs(late.position[1]) < 0.1 and late.position[2] < early.position[2] < 2.0
    assert late.velocity_world[0] == pytest.approx(-2.0 * late.velocity_world[2], rel=0.1)
    assert yaw_from_quat(late.quat_wxyz) == pytest.approx(1.0, abs=0.03)
    assert flown("offset", [0.0, 0.0, 0.0], 100).position == pytest.approx([0.0, 0.0, 2.0], abs=0.02)


@pytest.mark.parametrize(("kind", "turned"), [("velocity", True), ("velocity_world", False)])
def test_velocity_in_axes_of_the_heading_and_of_the_world(kind: str, turned: bool) -> None:
    truth = flown(kind, [0.3, 0.0, 0.1, 0.0], 100, yaw=0.5 * np.pi)
    forward, up = 0.3 * MOST_SPEED, 0.1 * MOST_SPEED
    assert truth.velocity_world == pytest.approx([0.0, forward, up] if turned else [forward, 0.0, up], abs=0.08)
    turning = flown(kind, [0.0, 0.0, 0.0, 0.5], 50)
    assert turning.angular_velocity_body[2] == pytest.approx(0.75, abs=0.05)


def test_climb_moves_up_and_nowhere_else() -> None:
    truth = flown("climb", [0.2], 100)
    assert truth.velocity_world == pytest.approx([0.0, 0.0, 0.2 * MOST_SPEED], abs=0.06)
    assert truth.position[:2] == pytest.approx([0.0, 0.0], abs=0.02)


def test_sizes_are_those_of_the_spaces() -> None:
    for kind, size in SIZES.items():
        assert skyloop.gym.SkyloopVectorEnv(2, "hover", action=kind).single_action_space.shape == (size or 4,)
    with pytest.raises(ScenarioError, match="did you mean 'offset'"):
        skyloop.gym.SkyloopEnv("hover", action="offsets")
