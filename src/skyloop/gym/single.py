"""One vehicle as a Gymnasium environment."""

from __future__ import annotations

from typing import Any, Protocol

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import ArrayLike, NDArray

from skyloop.core.frames import rotate
from skyloop.core.validation import validated
from skyloop.gym.actions import ActionMeaning
from skyloop.gym.course import CAMERA, VEHICLE, Course
from skyloop.gym.episodes import begin, judge
from skyloop.gym.tasks import EPISODE, Records, TaskVerdict, action_space, find_task, image_space, state_space, unseen
from skyloop.sensors.external_camera import Observer, ObserverConfig
from skyloop.sim.simulation import Simulation
from skyloop.vehicle.fleet_kernels import advance
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array


class EnvFlight(Protocol):
    """One vehicle. Time advances with each action."""

    states: Records
    inputs: Records
    params: Records

    def restart(self) -> None:
        """Go back to the instant before the first action."""

    def begin(self) -> None:
        """Take the samples of the first instant, with the vehicle at the start of its episode."""

    def fly(self, meaning: ActionMeaning, numbers: Array, positions: Array) -> None:
        """Apply an action of (1, size) numbers for one control period. `positions` are the last observed ones."""

    def shown(self) -> Simulation:
        """A simulation with the vehicle at its current state, to render images."""

    def close(self) -> None: ...


class KernelFlight:
    """Calls the flight kernels on arrays of one record, as the vector environment does with many.

    There is no clock, no schedule, no bus and no autopilot. A `Simulation` flies the same way bit for bit, and takes
    ten times as long (tests/gym/test_gym_vector.py, `skyloop bench gym`).
    """

    def __init__(self, course: Course) -> None:
        self._simulation = course.simulation()
        memory = self._simulation.port.flight_memory()
        self.states, self.inputs, self.params = memory.states.copy(), memory.inputs.copy(), memory.params
        self._period, self._ground = memory.period_s, memory.ground
        self._start = self.states.copy()
        self._steps_per_action, self._step = course.steps_per_action, 0

    def restart(self) -> None:
        self.states[:] = self._start
        self._step = 0

    def begin(self) -> None:
        """There are no sensors."""

    def fly(self, meaning: ActionMeaning, numbers: Array, positions: Array) -> None:
        meaning.write(self.inputs, numbers, positions)
        self._step += self._steps_per_action
        advance(self.states, self.inputs, self.params, self._period, self._step, self._ground)

    def shown(self) -> Simulation:
        """Its clock stays at the start. Only the vehicle is moved."""
        motion = self.states["motion"][0]
        quat, rates = motion[6:10], motion[10:13]
        arm = rotate(quat, self.params["centre_of_mass"][0])
        velocity = motion[3:6] - np.cross(rotate(quat, rates), arm)
        self._simulation.port.editor.put(0, motion[0:3] - arm, quat.copy(), velocity, rates.copy())
        return self._simulation

    def close(self) -> None:
        self._simulation.close()


class SimulatedFlight:
    """Steps a `Simulation`, whose cameras take images at the control rate."""

    def __init__(self, course: Course) -> None:
        self.simulation = course.simulation()
        memory = self.simulation.port.flight_memory()
        self.states, self.inputs, self.params = memory.states, memory.inputs, memory.params
        self._control, self._actions = course.control, 0
        self._start = self.simulation.snapshot()

    def restart(self) -> None:
        self.simulation.restore(self._start)
        self._actions = 0

    def begin(self) -> None:
        self.simulation.run_through(0)

    def fly(self, meaning: ActionMeaning, numbers: Array, positions: Array) -> None:
        self.simulation.send(meaning.setpoint(numbers, positions))
        self._actions += 1
        # including the events of that instant, so that its images exist
        self.simulation.run_through(self._control.due_ns(self._actions))

    def shown(self) -> Simulation:
        return self.simulation

    def close(self) -> None:
        self.simulation.close()


CAMERA_POSITION = (-7.0, -5.0, 3.5)
"""m, world axes."""


def beside_the_arena(height: int, width: int) -> Observer:
    """A camera at a fixed position that turns towards the vehicle. Height and width are in px."""
    watching = {"mode": "fixed", "position": CAMERA_POSITION, "vehicle": VEHICLE, "quality": "low"}
    return Observer(validated(ObserverConfig, {**watching, "height": height, "width": width}, "picture_size"))


NO_LIMIT = np.iinfo(np.int64).max
KEYS = 1 << 64
Info = dict[str, Any]
_THE_ONE = np.ones(1, np.bool_)


class SkyloopEnv(gymnasium.Env[Any, Any]):
    """Every step of the environment flies for one period of `control_rate_hz`.

    With image observations it runs a `Simulation`; with state observations the flight kernels alone, which is the same
    flight. The time limit is Gymnasium's own (`max_episode_steps` of `gymnasium.make`), as with any environment.
    """

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
        """observation: state or image; action: see `gym/actions.py`; sizes are height and width, px."""
        if observation not in ("state", "image"):
            raise ScenarioError(f"observation is '{observation}'; give state or image")
        if render_mode not in (None, "rgb_array"):
            raise ScenarioError(f"render_mode is '{render_mode}'; give rgb_array or nothing")
        self.task = find_task(task)
        self.render_mode = render_mode
        self._sees = observation == "image"
        seen = image_size if self._sees else None
        self.course = Course(self.task, airframe, physics_rate_hz, control_rate_hz, seen)
        self._observer = beside_the_arena(*picture_size)
        self.metadata = {**self.metadata, "render_fps": control_rate_hz}
        self._take(SimulatedFlight(self.course) if self._sees else KernelFlight(self.course))
        self.meaning = ActionMeaning(action, self.params)
        self.action_space = action_space(self.meaning.size)
        self.observation_space = image_space(self.task, *image_size) if self._sees else state_space(self.task)
        self.episode = np.zeros(1, EPISODE)
        self.episode["episode"] = -1
        self._verdict = TaskVerdict.blank(self.task, 1)
        self._has_begun = False

    def _take(self, flight: EnvFlight) -> None:
        self.flight = flight
        self.states, self.inputs, self.params = flight.states, flight.inputs, flight.params

    @property
    def simulation(self) -> Simulation:
        """A `Simulation` with the vehicle at its current state, to look at. Changes to it do not affect the flight."""
        return self.flight.shown()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        """A seed begins its first episode. Without one, the next episode of the last seed follows."""
        super().reset(seed=seed)
        if seed is not None or self.episode["episode"][0] < 0:
            # without any seed Gymnasium draws a random one
            self.episode["key"] = self.np_random_seed % KEYS
            self.episode["episode"] = -1
        self.episode["episode"] += 1
        self.flight.restart()
        begin(self.states, self.params, self.episode, _THE_ONE, self.task.kind)
        self.flight.begin()
        self._has_begun = True
        verdict = self._look()
        return self._observation(verdict), self._info(verdict)

    def step(self, action: ArrayLike) -> tuple[Any, float, bool, bool, Info]:
        if not self._has_begun:
            raise ResetNeeded("call reset before the first step")
        numbers = self.meaning.checked(np.asarray(action)[None], 1)
        self.flight.fly(self.meaning, numbers, self.episode["position"])
        verdict = self._look()
        observation, info = self._observation(verdict), self._info(verdict)
        return observation, verdict.rewards.item(), verdict.terminated.item(), False, info

    def render(self) -> NDArray[np.uint8] | None:
        """An image of this instant from beside the arena. It is rendered only by this call."""
        if self.render_mode is None:
            return None
        if not self._has_begun:
            raise ResetNeeded("call reset before render")
        port = self.simulation.port
        request = self._observer.request(port.vehicle().truth, port.now_ns)
        return port.editor.views([(request, None)])[0].colour.copy()

    def close(self) -> None:
        self.flight.close()

    def _look(self) -> TaskVerdict:
        """Observe the vehicle. Users keep the observation, so it is a new array every time."""
        verdict = self._verdict
        verdict.observations = np.empty((1, self.task.observed), np.float32)
        judge(self.states, self.inputs, self.params, self.episode, self.task.kind, NO_LIMIT, verdict.arrays())
        return verdict

    def _observation(self, verdict: TaskVerdict) -> Any:
        numbers = verdict.observations[0]
        if not self._sees:
            return numbers
        image = self.simulation.latest(f"{VEHICLE}/{CAMERA}").colour.copy()
        return {"image": image, "state": numbers[unseen(self.task)]}

    def _info(self, verdict: TaskVerdict) -> Info:
        return {
            "distance": self.episode["distance"].item(),
            "reached": self.episode["reached"].item(),
            "is_success": verdict.success.item(),
        }
