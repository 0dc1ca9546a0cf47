"""A simulation for one environment: its scenario, with the vehicle in the air at t = 0, and its rates."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from skyloop.core.jit import prepare
from skyloop.gym.tasks import Task
from skyloop.sim.assembly import build, control_divider, needed_rooms
from skyloop.sim.scenario import Scenario, Vehicle, make_scenario
from skyloop.sim.simulation import Simulation
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Arm
from skyloop_client.streams import Rate

VEHICLE, CAMERA = "drone", "camera"
START_HEIGHT = 2.0
"""m at which the vehicle waits for its first episode."""


@dataclass(frozen=True, slots=True)
class Course:
    """The scenario of an environment, and its rates."""

    task: Task
    airframe: str = "iris"
    physics_rate_hz: float = 500.0
    control_rate_hz: float = 50.0
    image_size: tuple[int, int] | None = None
    """Height and width, px. None: no camera on board."""

    def __post_init__(self) -> None:
        steps, divider = self._exact_steps(), control_divider(Vehicle(), Rate.from_hz(self.physics_rate_hz))
        if steps < 1 or steps % divider:
            raise ScenarioError(
                f"control_rate_hz {self.control_rate_hz:g} does not divide physics_rate_hz {self.physics_rate_hz:g} "
                "into whole steps of the controller; take, for example, 50 and 500"
            )

    def _exact_steps(self) -> Fraction:
        physics, control = Rate.from_hz(self.physics_rate_hz), self.control
        return Fraction(physics.num * control.den, physics.den * control.num)

    @property
    def control(self) -> Rate:
        return Rate.from_hz(self.control_rate_hz)

    @property
    def steps_per_action(self) -> int:
        """Physics steps. Also a whole number of calls of the controller."""
        return int(self._exact_steps())

    @property
    def most_steps(self) -> int:
        return round(self.task.episode_s * self.control_rate_hz)

    def scenario(self) -> Scenario:
        vehicle: dict[str, object] = {"name": VEHICLE, "airframe": self.airframe, "position": [0.0, 0.0, START_HEIGHT]}
        data: dict[str, object] = {
            "name": f"gym-{self.task.name}",
            "physics_rate_hz": self.physics_rate_hz,
            "truth_rate_hz": self.control_rate_hz,
            "world": {"name": "skyloop.gym.arena:Arena", "options": {"task": self.task.name}},
            # with a battery, the thrust of an action would depend on the time in the episode
            "vehicles": [{**vehicle, "battery": False, "sensors": self._sensors()}],
        }
        return make_scenario(data)

    def _sensors(self) -> dict[str, object]:
        if self.image_size is None:
            return {}
        height, width = self.image_size
        mount = {"rotation_deg": [0.0, self.task.camera_pitch_deg, 0.0]}
        size = {"height": height, "width": width, "horizontal_fov_deg": 90.0}
        return {CAMERA: {"kind": "camera", "rate_hz": self.control_rate_hz, "mount": mount, **size}}

    def simulation(self) -> Simulation:
        """Armed, with rotors at hover speed, before the first step."""
        scenario = self.scenario()
        prepare("skyloop.gym", *needed_rooms(scenario))
        simulation = build(scenario)
        memory = simulation.port.flight_memory()
        state, p = memory.states[0], memory.params[0]
        n = int(p["n_rotors"])
        hovering = np.sqrt(p["mass"] * p["gravity"] / n / p["thrust_per_speed_squared"])
        for field in ("rotor_speed", "rotor_speed_before", "command"):
            state[field][:n] = hovering
        simulation.send(Arm())
        return simulation
