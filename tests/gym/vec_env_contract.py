"""A stand-in for Stable-Baselines3's `VecEnv`, as its documentation draws it: what a subclass may rely on.

The quick tests of the adapter use it where the library is not installed; test_gym_sb3_real.py uses the library.
"""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType
from typing import Any

import pytest


class VecEnv:
    """Number of environments, spaces, seeds for the next reset, and `step` in two halves."""

    def __init__(self, num_envs: int, observation_space: Any, action_space: Any) -> None:
        self.num_envs, self.observation_space, self.action_space = num_envs, observation_space, action_space
        self.reset_infos: list[dict[str, Any]] = [{} for _ in range(num_envs)]
        [self.render_mode] = set(self.get_attr("render_mode"))
        self._reset_seeds()
        self._reset_options()

    def _reset_seeds(self) -> None:
        self._seeds: list[int | None] = [None] * self.num_envs

    def _reset_options(self) -> None:
        self._options: list[dict[str, Any]] = [{}] * self.num_envs

    def seed(self, seed: int) -> list[int | None]:
        self._seeds = [seed + i for i in range(self.num_envs)]
        return self._seeds

    def step(self, actions: Any) -> Any:
        self.step_async(actions)
        return self.step_wait()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        raise NotImplementedError

    def step_async(self, actions: Any) -> None:
        raise NotImplementedError

    def step_wait(self) -> Any:
        raise NotImplementedError


def provide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes `import skyloop.gym.sb3` work: with the library where it is, with the stand-in elsewhere."""
    if importlib.util.find_spec("stable_baselines3") is not None:
        return
    for name in ("stable_baselines3", "stable_baselines3.common", "stable_baselines3.common.vec_env"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setattr(sys.modules["stable_baselines3.common.vec_env"], "VecEnv", VecEnv, raising=False)
    monkeypatch.delitem(sys.modules, "skyloop.gym.sb3", raising=False)
