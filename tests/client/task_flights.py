"""The scenarios of the tasks, with cameras no better than a test needs, and computers as slow as it wants."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import skyloop
from skyloop.core.frames import rotate, rotate_inverse, yaw_from_quat
from skyloop.links.loop.in_process import InProcess
from skyloop.sim.simulation import Simulation
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.bundle import Bundle
from skyloop_client.messages import Position
from skyloop_client.streams import NS_PER_S
from skyloop_client.tasks.sync_hil import Ascend

NEVER = 1 << 62
STEADY = {"vehicles.drone.state": "truth", "wind": {"kind": "calm"}}
"""Tests put the vehicle somewhere else, which no estimator would follow, and ask for what only still air gives."""
CAMERA = np.array([0.12, 0.0, 0.0])
"""m, body axes, in all these scenarios."""


class SlowComputer(InProcess):
    """Every question takes this much computing before it is asked, by a clock of its own."""

    def __init__(self, port: SimulationPort, seconds: float, needed: Needed, **options: Any) -> None:
        self._worked_ns, self._each_ns, self._needed = 0, round(seconds * NS_PER_S), needed
        super().__init__(port, clock=lambda: self._worked_ns, **options)

    def ask(self, *send: Any, **how: Any) -> Bundle:
        self._worked_ns += self._each_ns
        newest_ns = self.now() - round(NS_PER_S * self.infos["drone/front"].rate.period_s)
        self._needed.from_ns = newest_ns if "front" in how.get("want", ()) else NEVER
        try:
            return super().ask(*send, **how)
        finally:
            self._needed.from_ns = NEVER


@dataclass
class Needed:
    """Spares the renderer images that nobody will ask for; the others are as they would be."""

    from_ns: int = 0

    def __call__(self, t_ns: int) -> bool:
        return t_ns >= self.from_ns


class Flight:
    """A vehicle hovering in one of the scenarios; `again` brings it back there, or onto the ground."""

    def __init__(self, simulation: Simulation, anchor: tuple[float, float, float], needed: Needed) -> None:
        self.simulation, self._needed = simulation, needed
        # the front of the board
        self.anchor = np.array(anchor) - [0.0, 0.04, 0.0]
        self._standing = simulation.snapshot()
        Ascend(1.5).perform(InProcess(simulation.port))
        self._hovering = simulation.snapshot()
        self.start = simulation.truth().position

    def again(self, seconds: float = 0.0, *, standing: bool = False) -> InProcess:
        """A session whose computer takes so long for a question."""
        self.simulation.restore(self._standing if standing else self._hovering)
        return SlowComputer(self.simulation.port, seconds, self._needed, end_ns=300 * NS_PER_S)

    def put(self, position: Any, yaw: float) -> None:
        """Hovering at a place, without the time it takes to fly there."""
        self.simulation.fleet.place(0, np.array(position), yaw)
        self.simulation.send(Position(np.array(position), yaw))
        self.simulation.run_for(1.2)

    def yaw(self) -> float:
        return float(yaw_from_quat(self.simulation.truth().quat_wxyz))

    def truth(self) -> tuple[float, float]:
        """Angle and distance of the anchor from the camera."""
        state = self.simulation.truth()
        eye = state.position + rotate(state.quat_wxyz, CAMERA)
        seen = rotate_inverse(state.quat_wxyz, self.anchor - eye)
        return math.atan2(seen[1], seen[0]), float(np.linalg.norm(seen))


@contextmanager
def flight(name: str, *, seed: int = 1, **camera: Any) -> Iterator[Flight]:
    """One of the scenarios; the rest are settings of its camera."""
    changes = {f"vehicles.drone.sensors.front.{key}": value for key, value in camera.items()}
    scenario = skyloop.load_scenario(name, {"seed": seed, **STEADY, **changes})
    needed = Needed(NEVER)
    with skyloop.build(scenario, wanted=needed) as simulation:
        yield Flight(simulation, scenario.world.options["anchor"], needed)
