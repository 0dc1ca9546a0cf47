"""Event labels above a time axis without overlap. They use a few lanes; equal ones are grouped; the rest is omitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skyloop_client.messages import Event, EventKind
from skyloop_client.streams import NS_PER_S

LANES = 3
LANE = 0.14
"""Height of a lane relative to the height of the axis."""
LETTER = 0.0125
"""Width of a letter relative to the width of the axis, at the font size below."""
POINTS = 7
TOGETHER_S = 1.0
"""Events of one kind within this time share a label."""
UNTOLD = (EventKind.CONTACT, EventKind.REFUSED)
"""Kinds that are too frequent for labels."""


@dataclass(slots=True)
class _Word:
    t: float
    """s, of the first event."""
    kind: str
    count: int = 1

    @property
    def text(self) -> str:
        return self.kind if self.count == 1 else f"{self.kind} ×{self.count}"


def draw_events(events: Sequence[Sequence[Event]], axes: Sequence[Any], colour: str) -> None:
    """Draw the events of several vehicles: a thin line through all axes for each, and labels above the first axis."""
    words = _words(sorted((event for own in events for event in own), key=lambda event: event.t_ns))
    if not words:
        return
    start, end = axes[0].get_xlim()
    free = [float("-inf")] * LANES
    for word in words:
        for axis in axes:
            axis.axvline(word.t, color=colour, lw=0.5, alpha=0.35, zorder=1.0)
        place = (word.t - start) / (end - start)
        lane = next((k for k, until in enumerate(free) if place >= until), None)
        width = LETTER * (len(word.text) + 1)
        if lane is not None and place + width < 1.06:
            free[lane] = place + width
            where = (word.t, 1.03 + LANE * lane)
            axes[0].annotate(word.text, where, xycoords=("data", "axes fraction"), fontsize=POINTS, color=colour,
                             annotation_clip=False)  # fmt: skip
    axes[0].set_xlim(start, end)


def _words(events: Sequence[Event]) -> list[_Word]:
    words: list[_Word] = []
    newest: dict[str, _Word] = {}
    for event in events:
        if event.kind in UNTOLD:
            continue
        t, kind = event.t_ns / NS_PER_S, str(event.kind)
        known = newest.get(kind)
        if known is not None and t - known.t <= TOGETHER_S:
            known.count += 1
        else:
            newest[kind] = _Word(t, kind)
            words.append(newest[kind])
    return words
