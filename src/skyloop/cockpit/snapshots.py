"""Instants of a flight that a person can go back to."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from skyloop.cockpit.commands import CommandRow
from skyloop.cockpit.wire import Fields
from skyloop_client.errors import LinkError

EVERY_NS = 10_000_000_000
"""Simulated time between two that are kept without being asked for."""
SHARE = 0.01
"""Most of the wall time that keeping them may cost: a large simulation keeps fewer."""
MOST = 16
"""Beyond, the oldest that nobody asked for is dropped, but for the first."""


@dataclass(frozen=True, slots=True)
class Kept:
    number: int
    t_ns: int
    asked_for: bool
    saved: object
    """As the simulation gives it."""
    commands: tuple[CommandRow, ...]
    """All orders until then: with them the flight can be repeated from its beginning."""
    waypoints: dict[str, Fields]
    """By vehicle."""


class Snapshots:
    """Those of one flight. The first ones may be of the flight that this one goes back in."""

    def __init__(self, before: Iterable[Kept] = ()) -> None:
        self.kept = list(before)
        self._next_ns = self.kept[-1].t_ns + EVERY_NS if self.kept else 0
        self._not_before_s = 0.0

    def is_due(self, now_ns: int) -> bool:
        return now_ns >= self._next_ns and time.monotonic() >= self._not_before_s

    def add(self, kept: Kept, cost_s: float) -> None:
        self.kept.append(kept)
        self._next_ns = kept.t_ns + EVERY_NS
        self._not_before_s = time.monotonic() + cost_s / SHARE
        if len(self.kept) > MOST:
            droppable = [each for each in self.kept[1:-1] if not each.asked_for] or self.kept[1:-1]
            self.kept.remove(droppable[0])

    def give_up(self) -> None:
        """This simulation cannot be copied."""
        self._not_before_s = float("inf")

    @property
    def next_number(self) -> int:
        return self.kept[-1].number + 1 if self.kept else 1

    def until(self, number: int) -> list[Kept]:
        """This one and those before it: later ones belong to what is undone."""
        for index, kept in enumerate(self.kept):
            if kept.number == number:
                return self.kept[: index + 1]
        raise LinkError(f"there is no snapshot {number}; the clock's frames list those that are kept")

    def plain(self) -> list[list[object]]:
        return [[kept.number, kept.t_ns / 1e9, kept.asked_for] for kept in self.kept]
