"""Faults that begin in flight, at the word of software outside; a snapshot holds them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skyloop.core.clock import Clock
from skyloop.core.validation import validated
from skyloop.sensors.faults import Fault
from skyloop.sim.parts import Context
from skyloop.vehicle.kernel_packing import RotorFault, pack_rotor_fault, unpack_rotor_fault
from skyloop.vehicle.kernel_records import MAX_SCHEDULED
from skyloop_client.errors import ScenarioError, unknown_name
from skyloop_client.messages import EventKind
from skyloop_client.streams import NS_PER_S


class VehicleFaults:
    """Those of one vehicle, beside what its scenario says."""

    def __init__(
        self, name: str, index: int, context: Context, clock: Clock, tell: Callable[[int, EventKind, str], None]
    ) -> None:
        self._name = name
        self._index = index
        self._context = context
        self._clock = clock
        self._tell_event = tell

    @property
    def _now_s(self) -> float:
        return self._clock.now_ns / NS_PER_S

    @property
    def sensors(self) -> dict[str, Fault | None]:
        """Its sensors' streams, with the fault that each was given in flight."""
        return {stream: each.injected for stream, each in self._context.instruments_of(self._name)}

    def of_rotor(self, rotor: int) -> RotorFault | None:
        """The fault that it has now, of the scenario or given in flight; the last one if there are several."""
        row, now = self._context.fleet.params[self._index], self._now_s
        active = (row["fault_rotor"] == rotor) & (row["fault_start"] <= now) & (now < row["fault_end"])
        slots = np.flatnonzero(active[: int(row["n_rotor_faults"])])
        return unpack_rotor_fault(row, int(slots[-1])) if len(slots) else None

    def fail_sensor(self, stream: str, kind: str | None, **numbers: object) -> None:
        """Give a sensor a fault of `sensors/faults.py` from now on; None takes it back."""
        if stream not in self.sensors:
            raise unknown_name("sensor", stream, self.sensors)
        given = {"kind": kind, "start": self._now_s, **numbers}
        self._context.instruments[stream].inject(None if kind is None else validated(Fault, given, stream))

    def fail_rotor(self, rotor: int, kind: str | None, value: float = 0.0) -> None:
        """Give a rotor a fault of the scenario's `rotor_faults` from now on; None ends all it has."""
        row, now = self._context.fleet.params[self._index], self._now_s
        if not 0 <= rotor < int(row["n_rotors"]):
            raise ScenarioError(f"{self._name} has no rotor {rotor}; it has 0 to {int(row['n_rotors']) - 1}")
        count = int(row["n_rotor_faults"])
        ends = row["fault_end"][:count]
        if kind is None:
            ends[(row["fault_rotor"][:count] == rotor) & (ends > now)] = now
            return
        given = {"rotor": rotor, "kind": kind, "start": now, "value": value}
        fault = validated(RotorFault, given, f"rotor {rotor} of {self._name}")
        ended = np.flatnonzero(ends <= now)
        slot = int(ended[0]) if len(ended) else count
        if slot == MAX_SCHEDULED:
            raise ScenarioError(f"{self._name} has {MAX_SCHEDULED} rotor faults, and no room for another")
        row["n_rotor_faults"] = max(slot + 1, count)
        pack_rotor_fault(row, slot, fault)

    def stick_rotor(self, rotor: int) -> None:
        """It keeps the speed it has."""
        fleet = self._context.fleet
        share = float(fleet.states[self._index]["rotor_speed"][rotor] / fleet.params[self._index]["max_speed"])
        self.fail_rotor(rotor, "stuck", min(max(share, 0.0), 1.0))

    def set_charge(self, share: float) -> None:
        """State of charge of the battery, 0 to 1."""
        row = self._context.fleet.params[self._index]
        if not row["has_battery"]:
            raise ScenarioError(f"{self._name} has no battery that runs down")
        self._context.fleet.states[self._index]["charge_used"] = (1.0 - share) * row["capacity"]
        self._tell_event(self._clock.now_ns, EventKind.FAULT, f"battery charge set to {share:.0%}")
