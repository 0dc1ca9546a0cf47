"""Several vehicles at once in PettingZoo: its own tests, collisions, goals and seeds."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np
import pytest
from flying_gym import fly_towards
from pettingzoo.test import parallel_api_test, parallel_seed_test

from skyloop.gym.episodes import LOST
from skyloop.gym.swarm import GONE, REACH, SwarmEnv, parallel_env
from skyloop_client.errors import ScenarioError, SetpointError

HOVERING = np.zeros(4, np.float32)


def put(env: Any, number: int, position: Any, velocity: Any = (0.0, 0.0, 0.0)) -> None:
    """Level, facing east; the task sees it as where the vehicle was at the last look."""
    env.states[number]["motion"] = (*position, *velocity, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    env.states[number]["yaw_target"] = 0.0
    env._positions[number] = position
    env._distances = env._goal_distances()


def test_pettingzoo_is_content() -> None:
    # warnings are errors throughout the suite
    parallel_api_test(parallel_env(4), num_cycles=150)
    parallel_seed_test(lambda: parallel_env(3, action="velocity"), num_cycles=60)


def test_a_seed_is_an_episode_bit_for_bit() -> None:
    def flight(env: SwarmEnv, seed: int) -> bytes:
        env.reset(seed=seed)
        seen = [env.reset()[0]]
        for k in range(30):
            seen.append(env.step({name: np.full(4, 0.02 * (k % 5), np.float32) for name in env.agents})[0])
        return b"".join(part.tobytes() for step in seen for part in step.values())

    first = flight(parallel_env(3), 5)
    assert flight(parallel_env(3), 5) == first != flight(parallel_env(3), 6)


def test_two_that_meet_are_punished_and_out_and_the_third_flies_on() -> None:
    env = parallel_env(3, neighbours=1)
    env.reset(seed=1)
    apart = 0.5 * env._touching_distance + 0.05
    put(env, 0, (-apart, 0.0, 3.0), (8.0, 0.0, 0.0))
    put(env, 1, (apart, 0.0, 3.0), (-8.0, 0.0, 0.0))
    put(env, 2, (0.0, 3.0, 3.0))
    observations, rewards, terminated, truncated, infos = env.step(dict.fromkeys(env.agents, HOVERING))
    assert terminated == {"drone_0": True, "drone_1": True, "drone_2": False} and not any(truncated.values())
    assert [info["collisions"] for info in infos.values()] == [1, 1, 0]
    assert rewards["drone_0"] < -LOST + 1.0 and rewards["drone_1"] < -LOST + 1.0 and abs(rewards["drone_2"]) < 0.1
    # the nearest of the third was one of the two; alone, it sees nobody
    assert observations["drone_2"].shape == (24,) and np.linalg.norm(observations["drone_2"][18:21]) < 4.0
    assert env.agents == ["drone_2"] and (env.states["step"][:2] == GONE).all()
    observations, *_ = env.step({"drone_2": HOVERING})
    assert list(observations) == ["drone_2"]
    assert observations["drone_2"][18:24] == pytest.approx([50.0, 50.0, 50.0, 0.0, 0.0, 0.0])


def test_fast_ones_cannot_pass_through_each_other_between_two_looks() -> None:
    """50 m/s towards each other: before and after the step they are 1 m apart."""
    env = parallel_env(2, control_rate_hz=25, neighbours=1)
    env.reset(seed=1)
    assert env._touching_distance < 0.98
    put(env, 0, (-0.5, 0.0, 3.0), (25.0, 0.0, 0.0))
    put(env, 1, (0.5, 0.0, 3.0), (-25.0, 0.0, 0.0))
    assert all(env.step(dict.fromkeys(env.agents, HOVERING))[2].values())


def test_a_collision_may_cost_only_and_is_counted_once() -> None:
    env = parallel_env(2, collision_ends=False)
    env.reset(seed=1)
    put(env, 0, (-0.6, 0.0, 3.0), (1.0, 0.0, 0.0))
    put(env, 1, (0.6, 0.0, 3.0), (-1.0, 0.0, 0.0))
    paid = []
    for _ in range(50):
        _, rewards, terminated, _, infos = env.step(dict.fromkeys(env.agents, HOVERING))
        paid.append(rewards["drone_0"])
        assert not any(terminated.values())
    assert infos["drone_0"]["collisions"] == infos["drone_1"]["collisions"] == 1
    assert sum(reward < -0.5 * LOST for reward in paid) == 1


def test_flying_straight_collides_and_at_heights_of_ones_own_all_arrive() -> None:
    """The goals are opposite, so straight ways cross in the middle."""

    def flown(kept_apart: bool) -> Any:
        env = parallel_env(4, collision_ends=False)
        observations, infos = env.reset(seed=3)
        total = dict.fromkeys(env.agents, 0.0)
        while env.agents:
            names = list(env.agents)
            seen = np.stack([observations[name] for name in names])
            goals = seen[:, :3].copy()
            if kept_apart:
                # first to a height of one's own, then across, then to the goal's height
                climb = 1.0 + 1.3 * np.arange(4) - (env.goals[:, 2] - goals[:, 2])
                far = np.linalg.norm(goals[:, :2], axis=1) > 0.3
                goals[:, 2] = np.where(far, climb, goals[:, 2])
                goals[far & (np.abs(climb) > 0.2), :2] = 0.0
            actions = fly_towards(seen, goals, env.params["max_rate"][0], speed=1.5)
            observations, rewards, terminated, _, infos = env.step(dict(zip(names, actions, strict=True)))
            total = {name: total[name] + rewards[name] for name in names}
        return infos, terminated, total

    infos, terminated, total = flown(kept_apart=True)
    assert all(terminated.values()) and all(info["distance"] < REACH for info in infos.values())
    assert all(info["collisions"] == 0 and info["is_success"] for info in infos.values())
    assert all(10.0 < reward < 20.0 for reward in total.values())
    straight, _, paid = flown(kept_apart=False)
    assert sum(info["collisions"] for info in straight.values()) > 0
    assert sum(paid.values()) < sum(total.values())


def test_what_ends_it_badly_and_late() -> None:
    env = parallel_env(2)
    env.reset(seed=1)
    put(env, 0, (0.0, 0.0, 0.3), (0.0, 0.0, -2.0))
    put(env, 1, (0.0, 5.0, 3.0))
    for _ in range(20):
        _, rewards, terminated, _, _ = env.step(dict.fromkeys(env.agents, HOVERING))
        if terminated["drone_0"]:
            break
    assert terminated == {"drone_0": True, "drone_1": False} and rewards["drone_0"] < -9.0
    env._step = env.course.most_steps - 1
    env.states["step"][1] = env._step * env.course.steps_per_action
    assert env.step({"drone_1": HOVERING})[3] == {"drone_1": True} and env.agents == []
    assert env.step({}) == ({}, {}, {}, {}, {})


def test_what_cannot_be_flown_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ScenarioError, match="a swarm has 1 agents"):
        parallel_env(1)
    env = parallel_env(2)
    env.reset(seed=1)
    with pytest.raises(SetpointError, match="no action for drone_1"):
        env.step({"drone_0": HOVERING})
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    monkeypatch.delitem(sys.modules, "skyloop.gym.swarm")
    with pytest.raises(ImportError, match=r"^skyloop.gym.swarm needs PettingZoo.*: pip install 'skyloop\[gym\]'$"):
        importlib.import_module("skyloop.gym.swarm")
