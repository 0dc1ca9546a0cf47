"""Many vehicles at once fly what one does, and begin anew as Gymnasium says."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from flying_gym import flown, fly_towards
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import skyloop.gym
from skyloop.gym.single import KernelFlight, SimulatedFlight
from skyloop_client.errors import ScenarioError, SetpointError

pytestmark = pytest.mark.flights

FIELDS = ("motion", "rotor_speed", "command", "rate_integral", "velocity_integral", "impact_speed", "thrust")


SLOW: dict[str, Any] = {"airframe": "crazyflie", "physics_rate_hz": 240, "control_rate_hz": 30}
FLOWN = [
    ("Hover", {"action": "rates"}),
    ("Hover", {"action": "motors", **SLOW}),
    ("Waypoint", {"action": "velocity"}),
    ("Waypoint", {"action": "velocity_world"}),
    ("Hover", {"action": "climb"}),
    ("Waypoint", {"action": "position"}),
    ("Landing", {"action": "offset", **SLOW}),
    ("Gate", {"action": "motors", "physics_rate_hz": 1000}),
    ("Landing", {"action": "rates"}),
]


@pytest.mark.parametrize(
    ("task", "options", "flight"),
    [(*flown, KernelFlight) for flown in FLOWN] + [(*flown, SimulatedFlight) for flown in FLOWN[1::2]],
)
def test_many_fly_exactly_what_one_does(task: str, options: dict[str, Any], flight: Any) -> None:
    """Against Gymnasium's own vector of single environments: every state, reward, end and info, through autoresets.

    The single ones fly in the kernels or in a whole simulation each, with its clock, schedule, bus and autopilot.
    """
    n, name = 3, f"skyloop/{task}-v0"

    def single() -> Any:
        env: Any = gymnasium.make(name, max_episode_steps=60, **options)
        env.unwrapped._take(flight(env.unwrapped.course))
        return env

    many = gymnasium.make_vec(name, num_envs=n, max_episode_steps=60, **options)
    singles = SyncVectorEnv([single] * n)
    assert isinstance(many, skyloop.gym.SkyloopVectorEnv)
    assert many.single_observation_space == singles.single_observation_space
    assert many.single_action_space == singles.single_action_space
    random, episodes = np.random.default_rng(1), 0
    seen: Any = many.reset(seed=40)
    expected: Any = singles.reset(seed=40)
    for _ in range(140):
        compare(seen, expected)
        for i, env in enumerate(singles.envs):
            state = env.unwrapped.states[0]  # type: ignore[attr-defined]
            assert all(np.array_equal(state[field], many.states[field][i]) for field in FIELDS)
        actions = random.uniform(-0.6, 0.6, many.action_space.shape).astype(np.float32)
        seen, expected = many.step(actions), singles.step(actions)
        episodes += int((expected[2] | expected[3]).sum())
    assert episodes >= n
    many.close()
    singles.close()


def compare(seen: Any, expected: Any) -> None:
    *arrays, infos = seen
    *expected_arrays, expected_infos = expected
    for ours, theirs in zip(arrays, expected_arrays, strict=True):
        assert ours.dtype == theirs.dtype and np.array_equal(ours, theirs)
    assert infos.keys() == expected_infos.keys()
    for key, value in expected_infos.items():
        assert np.array_equal(infos[key], value), key


def test_the_same_step_can_begin_anew() -> None:
    name = "skyloop/Hover-v0"
    many = gymnasium.make_vec(name, num_envs=2, action="motors", autoreset_mode="SameStep")
    singles = SyncVectorEnv([lambda: gymnasium.make(name, action="motors")] * 2, autoreset_mode="SameStep")
    assert many.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    compare(many.reset(seed=1), singles.reset(seed=1))
    random, ended = np.random.default_rng(1), 0
    for _ in range(120):
        actions = random.uniform(-1.0, 0.2, (2, 4)).astype(np.float32)
        (*arrays, infos), (*expected, expected_infos) = many.step(actions), singles.step(actions)
        assert all(np.array_equal(a, b) for a, b in zip(arrays, expected, strict=True))
        for key in ("distance", "reached", "is_success", "_distance", "_reached", "_is_success"):
            assert np.array_equal(infos[key], expected_infos[key]), key
        over = arrays[2] | arrays[3]
        assert ("final_info" in infos) == ("final_info" in expected_infos) == bool(over.any())
        if over.any():
            ended += 1
            assert np.array_equal(infos["_final_obs"], over)
            for i in np.flatnonzero(over):
                assert np.array_equal(infos["final_obs"][i], expected_infos["final_obs"][i])
                for key in ("distance", "reached", "is_success"):
                    assert infos["final_info"][key][i] == expected_infos["final_info"][key][i]
            for i in np.flatnonzero(~over):
                assert infos["final_obs"][i] is None and not infos["final_info"]["_distance"][i]
    assert ended > 1


def test_without_autoreset_the_user_resets() -> None:
    many: Any = gymnasium.make_vec("skyloop/Hover-v0", num_envs=3, autoreset_mode="Disabled", max_episode_steps=2)
    first, _ = many.reset(seed=[5, 6, 5])
    assert np.array_equal(first[0], first[2]) and not np.array_equal(first[0], first[1])
    zero = np.zeros((3, 4), np.float32)
    many.step(zero)
    flying, _, _, truncated, _ = many.step(zero)
    assert truncated.all()
    with pytest.raises(gymnasium.error.ResetNeeded, match="reset_mask"):
        many.step(zero)
    mask = np.array([True, False, False])
    begun, infos = many.reset(options={"reset_mask": mask})
    assert np.array_equal(begun[1:], flying[1:]) and not np.array_equal(begun[0], flying[0])
    assert np.array_equal(infos["_distance"], mask)
    with pytest.raises(gymnasium.error.ResetNeeded):
        many.step(zero)
    many.reset(options={"reset_mask": ~mask})
    assert not many.step(zero)[3].any()
    assert set(many.states["step"]) == {30}


def test_threads_and_neighbours_change_nothing() -> None:
    def flight(n: int, threads: int) -> Any:
        env = skyloop.gym.SkyloopVectorEnv(n, "gate", threads=threads)
        env.reset(seed=3)
        actions = np.random.default_rng(0).uniform(-0.5, 0.5, (60, 160, 4)).astype(np.float32)
        for action in actions:
            env.step(action[:n])
        env.close()
        return env.states["motion"]

    together = flight(160, 2)
    assert np.array_equal(together, flight(160, 1))
    assert np.array_equal(together[:5], flight(5, 1))


@pytest.mark.parametrize("task", ["hover", "waypoint", "gate", "landing"])
def test_a_simple_policy_succeeds_on_ten_seeds_and_beats_chance(task: str) -> None:
    env = skyloop.gym.SkyloopVectorEnv(10, task)
    most_rates = env.params["max_rate"][0]
    random = np.random.default_rng(5)

    def policy(observations: Any) -> Any:
        goals = observations[:, 0:3].copy()
        if task == "gate":
            # in front of it first, then through
            aside = np.linalg.norm(goals[:, 1:], axis=1) > 0.2
            goals[:, 0] += np.where(aside, -1.5, 2.0)
        if task == "landing":
            beside = np.linalg.norm(goals[:, :2], axis=1) > 0.25
            goals[:, 2] = np.where(beside, 0.0, -0.5)
        return fly_towards(observations, goals, most_rates, speed=2.5 if task == "waypoint" else 1.5)

    def chance(observations: Any) -> Any:
        return random.uniform(-1.0, 1.0, (10, 4)).astype(np.float32)

    steps = env.course.most_steps
    returns, won, distance = flown(env, steps, 100, policy)
    lucky, _, _ = flown(env, steps, 100, chance)
    assert (returns > lucky).all()
    assert won.all() and (task != "hover" or (distance < 0.1).all())


def test_what_many_cannot_do_is_said() -> None:
    with pytest.raises(ScenarioError, match="vectorization_mode='sync'"):
        gymnasium.make_vec("skyloop/Gate-v0", num_envs=2, observation="image")
    with pytest.raises(ScenarioError, match="num_envs is 0"):
        skyloop.gym.SkyloopVectorEnv(0, "gate")
    env = skyloop.gym.SkyloopVectorEnv(2, "gate")
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros((2, 4)))
    with pytest.raises(ScenarioError, match="3 seeds for 2"):
        env.reset(seed=[1, 2, 3])
    with pytest.raises(ScenarioError, match="2 booleans"):
        env.reset(options={"reset_mask": np.array([1, 0])})
    env.reset()
    with pytest.raises(SetpointError, match="not finite"):
        env.step(np.full((2, 4), np.inf))
