"""The adapter for Stable-Baselines3: ends, truth of the last observation, seeds, and single environments of it."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
import vec_env_contract

from skyloop_client.errors import ScenarioError, SetupError


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Any:
    vec_env_contract.provide(monkeypatch)
    yield importlib.import_module("skyloop.gym.sb3").SkyloopVecEnv
    sys.modules.pop("skyloop.gym.sb3", None)


def test_it_flies_what_single_environments_fly_and_tells_how_they_end(adapter: Any) -> None:
    """Against single environments, each reset by hand as soon as its episode ends."""
    n, options = 3, {"action": "rates", "max_episode_steps": 50}
    many = adapter("hover", n, seed=20, **options)
    singles = [gymnasium.make("skyloop/Hover-v0", **options) for _ in range(n)]  # type: ignore[arg-type]
    assert many.observation_space == singles[0].observation_space and many.action_space == singles[0].action_space
    seen = many.reset()
    for i, env in enumerate(singles):
        first, info = env.reset(seed=20 + i)
        assert np.array_equal(seen[i], first) and many.reset_infos[i] == info
    random, ends = np.random.default_rng(2), set()
    for _ in range(130):
        actions = random.uniform(-0.7, 0.6, (n, 4)).astype(np.float32)
        actions[0], actions[2, 0] = 0.0, -0.9  # hovers; falls
        observations, rewards, dones, infos = many.step(actions)
        assert rewards.dtype == np.float32 and dones.dtype == np.bool_
        for i, env in enumerate(singles):
            last, reward, terminated, truncated, info = env.step(actions[i])
            expected: dict[str, Any] = {**info, "TimeLimit.truncated": truncated and not terminated}
            assert rewards[i] == np.float32(reward) and dones[i] == (terminated or truncated)
            if dones[i]:
                ends.add("terminated" if terminated else "truncated")
                assert np.array_equal(infos[i].pop("terminal_observation"), last)
                last, _ = env.reset()
            assert infos[i] == expected
            assert np.array_equal(observations[i], last)
    assert ends == {"terminated", "truncated"}
    many.close()


def test_seeds_hold_for_one_reset(adapter: Any) -> None:
    many = adapter("waypoint", 4)
    many.seed(7)
    first, following = many.reset(), many.reset()
    many.seed(7)
    assert np.array_equal(many.reset(), first) and np.array_equal(many.reset(), following)
    assert not np.array_equal(first, following)
    assert np.array_equal(adapter("waypoint", 2, seed=8).reset(), first[1:3])


def test_single_environments_can_be_asked(adapter: Any) -> None:
    many = adapter("hover", 3, seed=1)
    many.reset()
    many.step(np.zeros((3, 4), np.float32))
    assert many.get_attr("render_mode") == [None] * 3 and many.get_attr("index", [2, 0]) == [2, 0]
    assert [task.name for task in many.get_attr("task", 1)] == ["hover"]
    assert [int(episode["steps"]) for episode in many.get_attr("episode")] == [1, 1, 1]
    many.set_attr("lesson", 4, indices=[1])
    assert many.get_attr("lesson", [1]) == [4]
    with pytest.raises(AttributeError, match="no 'lesson' of its own"):
        many.get_attr("lesson")
    [(observation, info)] = many.env_method("reset", seed=1, indices=1)
    assert np.array_equal(observation, adapter("hover", 1, seed=1).reset()[0]) and info["distance"] > 0.0
    assert [int(episode["steps"]) for episode in many.get_attr("episode")] == [1, 0, 1]
    assert many.env_is_wrapped(gymnasium.Wrapper, indices=[0, 1]) == [False, False]
    for method in ("step", "close", "nothing"):
        with pytest.raises(AttributeError, match=f"no '{method}' of its own"):
            many.env_method(method)


def test_what_it_cannot_do_is_said(adapter: Any) -> None:
    many = adapter("hover", 2)
    with pytest.raises(ScenarioError, match="'task' is common to all"):
        many.set_attr("task", "gate")
    with pytest.raises(ScenarioError, match="autoreset_mode is always SameStep"):
        adapter("hover", 2, autoreset_mode="NextStep")


def test_without_the_library_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    monkeypatch.delitem(sys.modules, "skyloop.gym.sb3", raising=False)
    with pytest.raises(ImportError, match=r"^skyloop.gym.sb3 needs.*: pip install 'skyloop\[sb3\]'$") as caught:
        importlib.import_module("skyloop.gym.sb3")
    assert isinstance(caught.value, SetupError) and caught.value.__suppress_context__
