"""The simulation loop: time passes, the fleet moves, events run."""

from __future__ import annotations

import copy
import math
from types import TracebackType
from typing import Any, TypeVar

from skyloop.core.bus import Bus, Subscription
from skyloop.core.clock import Clock, Schedule
from skyloop.sim.part import Memory, Part, kept_memory
from skyloop.sim.simulation_port import SimulationPort
from skyloop.vehicle.autopilot import Autopilot
from skyloop.vehicle.fleet import Fleet
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Request, Setpoint, VehicleState
from skyloop_client.streams import NS_PER_S

P = TypeVar("P")


class Simulation:
    """A running simulation, built by `skyloop.build(scenario)`. Step it, read streams, send setpoints."""

    def __init__(
        self,
        clock: Clock,
        fleet: Fleet,
        bus: Bus,
        schedule: Schedule,
        autopilots: dict[str, Autopilot],
        parts: list[Part],
        port: SimulationPort,
    ) -> None:
        self.clock = clock
        self.fleet = fleet
        self.bus = bus
        self.schedule = schedule
        self.autopilots = autopilots
        self.parts = parts
        self.port = port
        self.editor = port.editor
        port.run_through, port.snapshot, port.restore = self.run_through, self.snapshot, self.restore

    def step(self) -> int:
        """Advance to the next event, or to an earlier instant if a gate stops time there. Returns the instant."""
        # Time passes: gates and pacing decide when; links take what their clients send
        t_ns = self.clock.advance(self.schedule.next_ns())

        # The fleet moves, in the world as links may have changed it: one compiled call
        self._move_to(t_ns)

        # Every event of this instant: sensors measure, estimators and autopilots run, pilots send setpoints
        for run_event in self.schedule.due(t_ns):
            run_event()
        return t_ns

    def _move_to(self, t_ns: int) -> None:
        self.editor.refresh()
        self.fleet.advance_to(t_ns)

    def run_until(self, t_s: float) -> None:
        """Run every event before `t_s` seconds of simulated time, then move the fleet to that instant."""
        if not math.isfinite(t_s):
            raise SetpointError(f"cannot run until {t_s} s; give a finite number of seconds")
        self.advance_to(max(round(t_s * NS_PER_S), self.clock.now_ns))

    def advance_to(self, until_ns: int) -> None:
        """Run every event before an instant, then move the fleet to it."""
        while self.schedule.next_ns() < until_ns or self.clock.now_ns < until_ns:
            if self.schedule.next_ns() < until_ns:
                self.step()
            else:
                self._move_to(self.clock.advance(until_ns))

    def run_through(self, t_ns: int) -> None:
        """Run every event up to and at an instant."""
        if t_ns > self.clock.now_ns:
            self.advance_to(t_ns)
        while self.schedule.next_ns() <= t_ns:
            self.step()

    def run_for(self, duration_s: float) -> None:
        """Run for so many seconds of simulated time."""
        if not 0.0 <= duration_s < math.inf:
            raise SetpointError(f"cannot run for {duration_s} s; give a finite number of seconds, 0 or more")
        self.run_until(self.now + duration_s)

    # ---- reading

    def parts_of(self, kind: type[P]) -> list[P]:
        """All parts of one kind, such as `PilotPart` or `SensorPart`."""
        return [part for part in self.parts if isinstance(part, kind)]

    @property
    def now(self) -> float:
        """Simulated seconds."""
        return self.clock.now_ns / NS_PER_S

    def truth(self, vehicle: str = "") -> VehicleState:
        """The exact state now."""
        return self.port.vehicle(vehicle).truth

    def latest(self, stream: str) -> Any:
        """The newest record on a stream, or None."""
        return self.bus.latest(stream)

    def subscribe(self, stream: str, limit: int | None = None) -> Subscription:
        """Every `Message` of a stream from now on; the record is in `.data`. `limit` keeps the newest so many."""
        return self.bus.subscribe(stream, limit)

    # ---- acting

    def send(self, *items: Setpoint | Request, vehicle: str = "") -> None:
        """Send setpoints and requests to a vehicle. With one vehicle, its name may be left out."""
        self.port.vehicle(vehicle).send(*items, by="script")

    # ---- going back

    def snapshot(self) -> Memory:
        """Copy everything that changes, for `restore` here or in another build of the same scenario."""
        return (
            self.clock.now_ns,
            self.editor.memory(),
            self.fleet.snapshot(),
            self.bus.snapshot(),
            self.schedule.snapshot(),
            {name: autopilot.snapshot() for name, autopilot in self.autopilots.items()},
            [kept_memory(part) for part in self.parts],
        )

    def restore(self, saved: Memory) -> None:
        """Go back to a snapshot. Subscriptions keep what they hold: they belong to their readers."""
        t_ns, world, fleet, bus, schedule, autopilots, parts = saved
        self.clock.set(t_ns)
        # before the fleet, because a restored world numbers its rows again
        self.editor.remember(world)
        self.fleet.restore(fleet)
        self.bus.restore(bus)
        self.schedule.restore(schedule)
        for name, autopilot in self.autopilots.items():
            autopilot.restore(autopilots[name])
        for part, memory in zip(self.parts, parts, strict=True):
            part.remember(copy.deepcopy(memory))
        self.port.resume()

    def close(self) -> None:
        for part in self.parts:
            part.close()

    def __enter__(self) -> Simulation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
