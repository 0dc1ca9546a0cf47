"""One vehicle in its own simulation, as a Gymnasium environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded

from skyloop.gym.actions import ActionMeaning
from skyloop.gym.course import CAMERA, VEHICLE, Course
from skyloop.gym.episodes import begin, judge
from skyloop.gym.pictures import beside_the_arena
from skyloop.gym.tasks import EPISODE, Verdict, action_space, find_task, image_space, state_space, unseen
from skyloop_client.errors import ScenarioError

NO_LIMIT = np.iinfo(np.int64).max
KEYS = 1 << 64


class SkyloopEnv(gymnasium.Env[Any, Any]):
    """Flies a `Simulation`. Every step of the environment runs it for one period of `control_rate_hz`.

    The time limit is Gymnasium's own (`max_episode_steps` of `gymnasium.make`), as with any environment."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012

    def __init__(
        self,
        task: str,
        *,
        observation: str = "state",
        action: str = "rates",
        airframe: str = "iris",
        physics_rate_hz: float = 500.0,
        control_rate_hz: float = 50.0,
        image_size: tuple[int, int] = (64, 64),
        picture_size: tuple[int, int] = (360, 640),
        render_mode: str | None = None,
    ) -> None:
        """observation: state or image; action: rates, velocity or motors; sizes are height and width, px."""
        if observation not in ("state", "image"):
            raise ScenarioError(f"observation is '{observation}'; give state or image")
        if render_mode not in (None, "rgb_array"):
            raise ScenarioError(f"render_mode is '{render_mode}'; give rgb_array or nothing")
        self.task = find_task(task)
        self.render_mode = render_mode
        self._sees = observation == "image"
        self.course = Course(
            self.task,
            airframe,
            physics_rate_hz,
            control_rate_hz,
            image_size if self._sees else None,
        )
        self._observer = beside_the_arena(*picture_size)
        self._control = self.course.control
        self.metadata = {**self.metadata, "render_fps": control_rate_hz}
        self.simulation = self.course.simulation()
        self.meaning = ActionMeaning(action, self.simulation.port.flight_memory().params)
        self.action_space = action_space(self.meaning.size)
        self.observation_space = image_space(self.task, *image_size) if self._sees else state_space(self.task)
        self.episode = np.zeros(1, EPISODE)
        self.episode["episode"] = -1
        self._at_start = self.simulation.snapshot()
        self._actions = -1

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """A seed begins its first episode. Without one, the next episode of the last seed follows."""
        super().reset(seed=seed)
        if seed is not None or self.episode["episode"][0] < 0:
            # without any seed Gymnasium draws a random one
            self.episode["key"] = self.np_random_seed % KEYS
            self.episode["episode"] = -1
        self.episode["episode"] += 1
        self.simulation.restore(self._at_start)
        begin(*self._flown(), np.ones(1, np.bool_), self.task.kind)
        self._actions = 0
        self._run_to(0)
        verdict = self._look()
        return self._observation(verdict), self._info(verdict)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self._actions < 0:
            raise ResetNeeded("call reset before the first step")
        numbers = self.meaning.checked(np.asarray(action)[None], 1)
        self.simulation.send(self.meaning.setpoint(numbers))
        self._actions += 1
        self._run_to(self._control.due_ns(self._actions))
        verdict = self._look()
        ends = bool(verdict.terminated[0])
        return self._observation(verdict), float(verdict.rewards[0]), ends, False, self._info(verdict)

    def render(self) -> Any:
        """A picture of this instant, from beside the arena. Nothing is drawn for it before this call."""
        if self.render_mode is None:
            return None
        if self._actions < 0:
            raise ResetNeeded("call reset before render")
        port = self.simulation.port
        request = self._observer.request(port.vehicle().truth, port.now_ns)
        return port.editor.views([request], None)[0].colour.copy()

    def close(self) -> None:
        self.simulation.close()

    def _run_to(self, t_ns: int) -> None:
        """Run through this instant, so that its images exist."""
        self.simulation.run_through(t_ns)

    def _flown(self) -> tuple[Any, Any, Any]:
        memory = self.simulation.port.flight_memory()
        return memory.states, memory.params, self.episode

    def _look(self) -> Verdict:
        verdict = Verdict.blank(self.task, 1)
        memory = self.simulation.port.flight_memory()
        judge(memory.states, memory.inputs, memory.params, self.episode, self.task.kind, NO_LIMIT, verdict.arrays())
        return verdict

    def _observation(self, verdict: Verdict) -> Any:
        numbers = verdict.observations[0]
        if not self._sees:
            return numbers
        image = self.simulation.latest(f"{VEHICLE}/{CAMERA}").colour.copy()
        return {"image": image, "state": numbers[unseen(self.task)]}

    def _info(self, verdict: Verdict) -> dict[str, Any]:
        episode = self.episode[0]
        return {
            "distance": float(episode["distance"]),
            "reached": int(episode["reached"]),
            "is_success": bool(verdict.success[0]),
        }
