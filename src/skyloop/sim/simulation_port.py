"""A running simulation for software outside it: its vehicles, its world, its streams and its time.

Links, apps and the gym get this object. It offers no way to the fleet, the autopilots or the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from skyloop.core.clock import Clock, FreeRunning, RealTime
from skyloop.sim.parts import Context
from skyloop.sim.vehicle_port import VehiclePort
from skyloop.sim.world_editor import WorldEditor
from skyloop_client.errors import unknown_name


class FlightMemory(NamedTuple):
    """The arrays the flight kernels work on, one record per vehicle; see `vehicle/layout.py`."""

    states: np.ndarray[Any, Any]
    inputs: np.ndarray[Any, Any]
    params: np.ndarray[Any, Any]
    period_s: float
    """Of a physics step."""
    ground: tuple[Any, ...]
    """The height field, as the kernels take it."""


class SimulationPort:
    """What software outside may see of a simulation and do to it."""

    def __init__(self, context: Context, clock: Clock, editor: WorldEditor) -> None:
        self.bus = context.bus
        """Read streams here: `infos`, `latest`, `newest`, `on`, `subscribe`."""
        self.editor = editor
        self._clock = clock
        self._schedule = context.schedule
        self._fleet = context.fleet
        self._vehicles: dict[str, VehiclePort] = {}
        self.run_through: Callable[[int], None]
        """Runs everything up to and at an instant; for software that drives time itself. Set by the simulation."""

    @property
    def now_ns(self) -> int:
        return self._clock.now_ns

    @property
    def next_ns(self) -> int:
        """The instant of the next event."""
        return self._schedule.next_ns()

    @property
    def vehicles(self) -> Mapping[str, VehiclePort]:
        """By name, in the scenario's order; vehicles that joined come last."""
        return self._vehicles

    def vehicle(self, name: str = "") -> VehiclePort:
        """By name; with one vehicle the name may be left out."""
        if not name and len(self._vehicles) == 1:
            return next(iter(self._vehicles.values()))
        if name not in self._vehicles:
            raise unknown_name("vehicle", name, self._vehicles)
        return self._vehicles[name]

    def add_vehicle(self, port: VehiclePort) -> None:
        self._vehicles[port.name] = port

    def at(self, t_ns: int, act: Callable[[], None]) -> None:
        """Call once, after everything else of that instant. No snapshot holds it: a link enters it again."""
        self._schedule.at(t_ns, act)

    def pace_for_people(self) -> None:
        """Real time from now on, unless something paces the simulation already."""
        if isinstance(self._clock.pacing, FreeRunning) and not self._clock.gates:
            self._clock.pacing = RealTime()

    def flight_memory(self) -> FlightMemory:
        """For kernels that judge or steer many vehicles at once, as the gym does."""
        fleet = self._fleet
        return FlightMemory(
            fleet.states, fleet.inputs, fleet.params, fleet.rate.period_s, tuple(fleet.ground.kernel_arguments)
        )
