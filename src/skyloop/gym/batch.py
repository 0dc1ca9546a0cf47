"""Thousands of vehicles as one Gymnasium vector environment: the flight kernels on arrays of records."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from skyloop.core.machine_info import usable_cores
from skyloop.gym.actions import ActionMeaning
from skyloop.gym.course import Course
from skyloop.gym.episodes import begin, judge
from skyloop.gym.single import KEYS, Info
from skyloop.gym.tasks import EPISODE, Flags, Observed, Records, TaskVerdict, action_space, find_task, state_space
from skyloop.vehicle.fleet_kernels import advance
from skyloop_client.errors import ScenarioError

LEAST_SHARE = 64
"""Number of vehicles for which another thread is worthwhile."""


class SkyloopVectorEnv(VectorEnv[Observed, ArrayLike, NDArray[Any]]):
    """The same tasks and dynamics as `SkyloopEnv`: environment i flies like a single one with seed + i.

    It has only state observations. Images need `vectorization_mode="sync"` or "async", with a renderer each."""

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int,
        task: str,
        *,
        observation: str = "state",
        action: str = "rates",
        airframe: str = "iris",
        physics_rate_hz: float = 500.0,
        control_rate_hz: float = 50.0,
        max_episode_steps: int | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        threads: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        """action: see `gym/actions.py`; left out, max_episode_steps is the task's own, and threads one per core."""
        if observation != "state" or render_mode is not None:
            raise ScenarioError(
                "many vehicles at once give state observations and no pictures; for pictures pass "
                "vectorization_mode='sync' or 'async' to gymnasium.make_vec"
            )
        if num_envs < 1:
            raise ScenarioError(f"num_envs is {num_envs}; give 1 or more")
        self.num_envs = num_envs
        self.task = find_task(task)
        self.course = Course(self.task, airframe, physics_rate_hz, control_rate_hz)
        self._steps_per_action = self.course.steps_per_action
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = None
        with self.course.simulation() as simulation:
            one = simulation.port.flight_memory()
        self._period, self._ground = one.period_s, one.ground
        self._template = _as_bytes(one.states.copy())
        self.states, self.inputs, self.params = (
            np.repeat(records, num_envs) for records in (one.states, one.inputs, one.params)
        )
        self.episodes = np.zeros(num_envs, EPISODE)
        self.episodes["episode"] = -1
        self.meaning = ActionMeaning(action, one.params)
        self.single_action_space = action_space(self.meaning.size)
        self.single_observation_space = state_space(self.task)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._most_steps = self.course.most_steps if max_episode_steps is None else max_episode_steps
        self._step = 0
        """Physics steps since the first reset. Vehicles that start again continue this count."""
        self._over = np.zeros(num_envs, np.bool_)
        wanted = usable_cores() if threads is None else threads
        shares = max(1, min(wanted, num_envs // LEAST_SHARE))
        cuts = [num_envs * k // shares for k in range(shares + 1)]
        self._slices = [slice(a, b) for a, b in pairwise(cuts)]
        self._pool = ThreadPoolExecutor(shares) if shares > 1 else None

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, Info]:
        """An int seeds environment i with seed + i. options: {"reset_mask": (num_envs,) bool} resets those only."""
        chosen = np.ones(self.num_envs, np.bool_)
        if options is not None and "reset_mask" in options:
            chosen = self._mask(options["reset_mask"])
        self._seed(seed, chosen)
        self._begin(chosen, self._step)
        self._over &= ~chosen
        verdict = self._look_again()
        return verdict.observations, self._infos(verdict, chosen)

    def step(self, actions: ArrayLike) -> tuple[Observed, NDArray[np.float64], Flags, Flags, Info]:
        if (self.episodes["episode"] < 0).any():
            raise ResetNeeded("call reset before the first step")
        numbers = self.meaning.checked(actions, self.num_envs)
        if self.autoreset_mode == AutoresetMode.DISABLED and self._over.any():
            raise ResetNeeded('an episode is over; call reset with options={"reset_mask": terminated | truncated}')
        self._step += self._steps_per_action
        if self._over.any():
            # already at the end of this step, so that the kernel does not move them from their start
            self._begin(self._over, self._step)
        self.meaning.write(self.inputs, numbers, self.episodes["position"])
        verdict = TaskVerdict.blank(self.task, self.num_envs)
        if self._pool is None:
            self._fly(self._slices[0], verdict)
        else:
            list(self._pool.map(self._fly, self._slices, [verdict] * len(self._slices)))
        self._over = verdict.terminated | verdict.truncated
        infos = self._infos(verdict, np.ones(self.num_envs, np.bool_))
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._over.any():
            verdict.observations, infos = self._begin_at_once(verdict.observations, infos)
        return verdict.observations, verdict.rewards, verdict.terminated, verdict.truncated, infos

    def close_extras(self, **kwargs: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def _mask(self, given: ArrayLike) -> Flags:
        mask: Flags = np.asarray(given)
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise ScenarioError(f"reset_mask must be {self.num_envs} booleans, one of them True at least")
        return mask

    def _seed(self, seed: int | Sequence[int | None] | None, chosen: Flags) -> None:
        """Environments with a new seed begin its first episode, the others their next one."""
        numbers = np.arange(self.num_envs, dtype=np.uint64)
        if isinstance(seed, int | np.integer):
            super().reset(seed=int(seed))
            seeded, keys = chosen, np.uint64(int(seed) % KEYS) + numbers
        elif seed is None:
            # environments without a seed get a random one from Gymnasium
            drawn = self.np_random_seed
            assert drawn is not None
            seeded, keys = chosen & (self.episodes["episode"] < 0), np.uint64(drawn % KEYS) + numbers
        else:
            if len(seed) != self.num_envs:
                raise ScenarioError(f"{len(seed)} seeds for {self.num_envs} environments; give one each")
            self._seed(None, chosen)
            seeded = chosen & np.array([number is not None for number in seed])
            keys = np.array([(number or 0) % KEYS for number in seed], np.uint64)
        self.episodes["key"][seeded] = keys[seeded]
        self.episodes["episode"][seeded] = -1

    def _begin(self, chosen: Flags, step: int) -> None:
        _as_bytes(self.states)[chosen] = self._template
        self.states["step"][chosen] = step
        self.episodes["episode"][chosen] += 1
        begin(self.states, self.params, self.episodes, chosen, self.task.kind)

    def _fly(self, part: slice, verdict: TaskVerdict) -> None:
        arrays = (self.states[part], self.inputs[part], self.params[part])
        advance(*arrays, self._period, self._step, self._ground)
        judge(*arrays, self.episodes[part], self.task.kind, self._most_steps, verdict.arrays(part))

    def _look_again(self) -> TaskVerdict:
        """Observe all vehicles without judging them, so that no episode advances."""
        self.episodes["fresh"] = 1
        verdict = TaskVerdict.blank(self.task, self.num_envs)
        arrays = (self.states, self.inputs, self.params, self.episodes)
        judge(*arrays, self.task.kind, self._most_steps, verdict.arrays())
        return verdict

    def _begin_at_once(self, last: Observed, infos: Info) -> tuple[Observed, Info]:
        """Autoreset in the same step: observations after it, and Gymnasium's record of how the episodes ended."""
        over, self._over = self._over, np.zeros(self.num_envs, np.bool_)
        self._begin(over, self._step)
        verdict = self._look_again()
        final = {key: np.where(over, value, np.zeros_like(value)) for key, value in infos.items()}
        observations = np.full(self.num_envs, None, object)
        for i in np.flatnonzero(over):
            observations[i] = last[i]
        begun = self._infos(verdict, np.ones(self.num_envs, np.bool_))
        infos = {key: np.where(over, begun[key], value) for key, value in infos.items()}
        infos |= {"final_obs": observations, "_final_obs": over, "final_info": final, "_final_info": over.copy()}
        return verdict.observations, infos

    def _infos(self, verdict: TaskVerdict, mask: Flags) -> Info:
        infos = {
            "distance": self.episodes["distance"].copy(),
            "reached": self.episodes["reached"].copy(),
            "is_success": verdict.success,
        }
        return infos | {f"_{key}": mask.copy() for key in infos}


def _as_bytes(records: Records) -> NDArray[np.uint8]:
    """(n, size): numpy copies bytes much faster than records of many fields."""
    return records.view(np.uint8).reshape(len(records), -1)
