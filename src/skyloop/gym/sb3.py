"""The vectorised environments for Stable-Baselines3: `PPO("MlpPolicy", SkyloopVecEnv("hover", 64))`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike, NDArray

from skyloop.gym.batch import SkyloopVectorEnv
from skyloop.gym.single import Info
from skyloop.gym.tasks import Flags
from skyloop_client.errors import MissingExtra, ScenarioError

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError:
    raise MissingExtra(
        "skyloop.gym.sb3 needs Stable-Baselines3, which is not installed: pip install 'skyloop[sb3]'"
    ) from None

INFO = ("distance", "reached", "is_success")

Indices = int | Iterable[int] | None


class SkyloopVecEnv(VecEnv):  # type: ignore[misc]
    """A `SkyloopVectorEnv` with Stable-Baselines3's interface: an episode that ends is reset in the same step.

    The info of the last step of an episode describes its end and has `terminal_observation`.
    """

    def __init__(self, task: str, num_envs: int, *, seed: int | None = None, **options: Any) -> None:
        """options: those of `SkyloopVectorEnv`, such as action, airframe and control_rate_hz; seed: as `seed()`."""
        if "autoreset_mode" in options:
            raise ScenarioError(
                "autoreset_mode is always SameStep here, because Stable-Baselines3 wants it; leave it out"
            )
        self.envs = SkyloopVectorEnv(num_envs, task, autoreset_mode=AutoresetMode.SAME_STEP, **options)
        self.members = [Member(self.envs, i) for i in range(num_envs)]
        super().__init__(num_envs, self.envs.single_observation_space, self.envs.single_action_space)
        self._actions: ArrayLike = ()
        if seed is not None:
            self.seed(seed)

    def reset(self) -> NDArray[np.float32]:
        """The first reset uses the seeds of `seed()`. Each further reset begins the next episodes."""
        observations, infos = self.envs.reset(seed=list(self._seeds))
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = [dict(zip(INFO, values, strict=True)) for values in _rows(infos)]
        return observations

    def step_async(self, actions: ArrayLike) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], Flags, list[Info]]:
        observations, rewards, terminated, truncated, infos = self.envs.step(self._actions)
        only_truncated = (truncated & ~terminated).tolist()
        listed = [
            {"distance": distance, "reached": reached, "is_success": success, "TimeLimit.truncated": cut}
            for (distance, reached, success), cut in zip(_rows(infos), only_truncated, strict=True)
        ]
        over = terminated | truncated
        for i in np.flatnonzero(over):
            listed[i].update({key: infos["final_info"][key][i].item() for key in INFO})
            listed[i]["terminal_observation"] = infos["final_obs"][i]
        return observations, rewards.astype(np.float32), over, listed

    def close(self) -> None:
        self.envs.close()

    # ---- single environments of the vector

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        return [getattr(member, attr_name) for member in self._chosen(indices)]

    def set_attr(self, attr_name: str, value: object, indices: Indices = None) -> None:
        """Set a new attribute of each environment. Attributes of the vector are shared and cannot be set."""
        chosen = self._chosen(indices)
        if hasattr(self.envs, attr_name) or attr_name in Member.OWN:
            raise ScenarioError(f"'{attr_name}' is common to all environments of a vector; make another vector instead")
        for member in chosen:
            setattr(member, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Indices = None, **named: Any) -> list[Any]:
        """Methods of `Member`, or functions put there with `set_attr`."""
        return [getattr(member, method_name)(*args, **named) for member in self._chosen(indices)]

    def env_is_wrapped(self, wrapper_class: object, indices: Indices = None) -> list[bool]:
        """Always False: Gymnasium's wrappers are for single environments. Wrap this in VecMonitor or VecNormalize."""
        return [False for _ in self._chosen(indices)]

    def get_images(self) -> list[None]:
        return [None] * self.num_envs

    def _chosen(self, indices: Indices) -> list[Member]:
        if indices is None:
            return self.members
        return [self.members[i] for i in ([indices] if isinstance(indices, int | np.integer) else indices)]


class Member:
    """One environment of a vector: attributes of the vector, its own state, and attributes that you have set."""

    OWN = ("index", "state", "episode", "reset")

    def __init__(self, envs: SkyloopVectorEnv, index: int) -> None:
        self._envs = envs
        self.index = index

    def __getattr__(self, name: str) -> Any:
        # called for unknown names; methods of the vector would act on all its environments
        value = None if name.startswith("_") else getattr(self._envs, name, None)
        if name.startswith("_") or not hasattr(self._envs, name) or callable(value):
            raise AttributeError(f"an environment of a vector has no '{name}' of its own")
        return value

    @property
    def state(self) -> np.void:
        """Its record of `vehicle/kernel_records.py`: position, velocity, attitude and all other states."""
        state: np.void = self._envs.states[self.index]
        return state

    @property
    def episode(self) -> np.void:
        """Its record of the task: goal, distance, steps."""
        episode: np.void = self._envs.episodes[self.index]
        return episode

    def reset(self, *, seed: int | None = None, options: object = None) -> tuple[NDArray[np.float32], Info]:
        """Reset only this environment. The others continue."""
        mask = np.arange(self._envs.num_envs) == self.index
        seeds = [seed if chosen else None for chosen in mask]
        observations, infos = self._envs.reset(seed=seeds, options={"reset_mask": mask})
        return observations[self.index], dict(zip(INFO, _rows(infos)[self.index], strict=True))


def _rows(infos: Info) -> list[tuple[float, ...]]:
    """The arrays of `INFO`, by environment, as plain numbers."""
    return list(zip(*(infos[key].tolist() for key in INFO), strict=True))
