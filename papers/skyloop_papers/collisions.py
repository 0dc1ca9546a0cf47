"""Which events of a flight are collisions."""

from __future__ import annotations

from collections.abc import Iterable

from skyloop_client.messages import Event, EventKind


def first_collision(events: Iterable[Event]) -> Event | None:
    """The first crash or touch of anything but level ground under its legs, on which it stands and lands."""
    for event in events:
        touched = event.contact
        stands = touched is not None and touched.part == "legs" and float(touched.normal[2]) > 0.9
        if event.kind is EventKind.CRASH or (event.kind is EventKind.CONTACT and not stands):
            return event
    return None
