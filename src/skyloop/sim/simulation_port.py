"""A running simulation for software outside it: its vehicles, its world, its streams and its time.

Links, the cockpit and the gym get this object. It offers no way to the fleet, the autopilots or the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skyloop.core.clock import Clock
from skyloop.sim.part import Memory
from skyloop.sim.parts import Context
from skyloop.sim.vehicle_port import VehiclePort
from skyloop.sim.world_editor import WorldEditor
from skyloop_client.errors import unknown_name
from skyloop_client.messages import Array
from skyloop_client.streams import Rate


class FlightMemory(NamedTuple):
    """The arrays the flight kernels work on, one record per vehicle; see `vehicle/kernel_records.py`."""

    states: NDArray[np.void]
    inputs: NDArray[np.void]
    params: NDArray[np.void]
    period_s: float
    """Of a physics step."""
    ground: tuple[NDArray[np.float64], float, float, float]
    """The height field, as the kernels take it."""


class SimulationPort:
    """What external software can read and command in a simulation."""

    def __init__(self, context: Context, clock: Clock, editor: WorldEditor) -> None:
        self.bus = context.bus
        """Read streams here: `infos`, `latest`, `newest`, `on`, `subscribe`."""
        self.editor = editor
        self.user_streams = context.user_streams
        """Streams that software outside publishes, and estimators that run outside; see `VehiclePort.publish`."""
        self._clock = clock
        self._schedule = context.schedule
        self._fleet = context.fleet
        self._glances = context.glances
        self._vehicles: dict[str, VehiclePort] = {}
        self._repeated: list[tuple[Rate, Callable[[int], None]]] = []
        self.run_through: Callable[[int], None]
        """Runs everything up to and at an instant; for software that drives time itself. Set by the simulation."""
        self.snapshot: Callable[[], Memory]
        """Copies everything that changes; for `restore`, here or in another build of the scenario."""
        self.restore: Callable[[Memory], None]
        """Goes back to a snapshot."""

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

    def every(self, rate: Rate, act: Callable[[int], None]) -> None:
        """Call with each due instant from the next one on, after everything else of it; a restored snapshot too."""
        self._repeated.append((rate, act))
        self._enter(rate, act, self.now_ns)

    def _enter(self, rate: Rate, act: Callable[[int], None], from_ns: int) -> None:
        due_ns = rate.due_ns(rate.count_until(from_ns))

        def happen() -> None:
            self._enter(rate, act, due_ns + 1)
            act(due_ns)

        self._schedule.at(due_ns, happen)

    def resume(self) -> None:
        """A snapshot was restored, and no snapshot holds what links do: what is repeated goes on."""
        for rate, act in self._repeated:
            self._enter(rate, act, self.now_ns + 1)

    def glance(self, stream: str) -> Any:
        """What a sensor would measure now, where its stream has carried nothing yet; the simulation does not notice."""
        if stream not in self._glances:
            raise unknown_name("sensor's stream", stream, self._glances)
        return self._glances[stream](self.now_ns)

    def remount(self, stream: str, position: Array, quat_wxyz: Array) -> None:
        """Move a sensor on its vehicle: m and body_from_sensor, FLU."""
        mount = self.bus.infos[stream].mount
        mount.position[:], mount.quat_wxyz[:] = position, quat_wxyz

    def flight_memory(self) -> FlightMemory:
        """For kernels that judge or steer many vehicles at once, as the gym does."""
        fleet = self._fleet
        return FlightMemory(
            fleet.states, fleet.inputs, fleet.params, fleet.rate.period_s, fleet.ground.kernel_arguments
        )
