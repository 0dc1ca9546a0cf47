"""Faults as events: when one begins or ends, whether the scenario has it or a link injects it in flight."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from skyloop.sensors.faults import Fault
from skyloop.vehicle.fleet import Fleet
from skyloop.vehicle.kernel_packing import FOREVER
from skyloop.vehicle.kernel_records import FAULT_LOST, FAULT_STUCK
from skyloop_client.messages import Event, EventKind
from skyloop_client.streams import NS_PER_S


class Faulty(Protocol):
    """A sensor, as far as its faults go."""

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Those of the scenario and the injected one."""

    @property
    def outages(self) -> tuple[tuple[float, float | None], ...]:
        """s, start and end of each time without what it measures."""


Sensors = Callable[[], Sequence[tuple[str, Faulty]]]
"""The sensors of the vehicle, with their streams."""


class _Spell(NamedTuple):
    """A fault, from its start to its end."""

    what: str
    start_ns: int
    end_ns: int | None


class FaultWatch:
    """The faults of one vehicle."""

    def __init__(self, vehicle: str, index: int, fleet: Fleet, sensors: Sensors) -> None:
        self._vehicle = vehicle
        self._index = index
        self._fleet = fleet
        self._sensors = sensors
        self.memory: tuple[frozenset[_Spell], int] = (frozenset(), -1)
        """Those that have begun and not ended, and when that was looked at last."""

    def events(self, t_ns: int) -> list[Event]:
        """What began or ended since the last call."""
        known, last_ns = self.memory
        spells = set(self._spells())
        events = []
        for spell in sorted(spells - known, key=_order):
            if last_ns < spell.start_ns <= t_ns:
                until = "" if spell.end_ns is None else f", until {spell.end_ns / NS_PER_S:g} s"
                events.append(Event(spell.start_ns, EventKind.FAULT, spell.what + until))
                known |= {spell}
        for spell in sorted(known, key=_order):
            taken_back = spell not in spells
            if taken_back or (spell.end_ns is not None and spell.end_ns <= t_ns):
                over_ns = t_ns if taken_back or spell.end_ns is None else spell.end_ns
                events.append(Event(over_ns, EventKind.FAULT_OVER, spell.what))
                known -= {spell}
        self.memory = known, t_ns
        return events

    def _spells(self) -> Iterator[_Spell]:
        row = self._fleet.params[self._index]
        for k in range(int(row["n_rotor_faults"])):
            end = float(row["fault_end"][k])
            yield _spell(_rotor_words(row, k), float(row["fault_start"][k]), None if end == FOREVER else end)
        for stream, instrument in self._sensors():
            name = stream.removeprefix(f"{self._vehicle}/")
            for fault in instrument.faults:
                yield _spell(f"{name} {_words(fault)}", fault.start, fault.end)
            for begin, until in instrument.outages:
                yield _spell(f"{name} outage", begin, until)


def _order(spell: _Spell) -> tuple[int, str]:
    return spell.start_ns, spell.what


def _spell(what: str, start: float, end: float | None) -> _Spell:
    return _Spell(what, round(start * NS_PER_S), None if end is None else round(end * NS_PER_S))


def _rotor_words(row: np.void, k: int) -> str:
    rotor, kind, value = int(row["fault_rotor"][k]), int(row["fault_kind"][k]), float(row["fault_value"][k])
    if kind == FAULT_LOST:
        return f"rotor {rotor} lost {1.0 - value:.0%} of its thrust" if value > 0.0 else f"rotor {rotor} lost"
    if kind == FAULT_STUCK:
        return f"rotor {rotor} stuck at {value:.0%} of full speed"
    return f"rotor {rotor} {value:g} times slower"


def _words(fault: Fault) -> str:
    said = [] if fault.value is None else [f"{fault.value}"]
    said += [] if fault.probability is None else [f"{fault.probability:.0%}"]
    said += [] if fault.delay is None else [f"{fault.delay:g} s"]
    return " ".join([fault.kind, *([] if fault.field is None else [fault.field]), *said])
