"""Faults that begin in flight, at the word of software outside; a snapshot holds them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skyloop.core.clock import Clock
from skyloop.sensors.faults import Fault
from skyloop.sim.parts import Context
from skyloop.vehicle.kernel_packing import RotorFault, pack_rotor_fault
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

    def fail_sensor(self, stream: str, kind: str | None, **numbers: object) -> None:
        """Give a sensor a fault of `sensors/faults.py` from now on; None takes it back."""
        own = dict(self._context.instruments_of(self._name))
        if stream not in own:
            raise unknown_name("sensor", stream, own)
        fault = None if kind is None else Fault.model_validate({"kind": kind, "start": self._now_s, **numbers})
        own[stream].inject(fault)

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
        ended = np.flatnonzero(ends <= now)
        slot = int(ended[0]) if len(ended) else count
        if slot == MAX_SCHEDULED:
            raise ScenarioError(f"{self._name} has {MAX_SCHEDULED} rotor faults, and no room for another")
        row["n_rotor_faults"] = max(slot + 1, count)
        fault = {"rotor": rotor, "kind": kind, "start": now, "value": value}
        pack_rotor_fault(row, slot, RotorFault.model_validate(fault))

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
