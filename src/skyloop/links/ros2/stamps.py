"""The stamp in a message, for those that have one."""

from __future__ import annotations

from skyloop.recording.ros2.types import STORE, decode
from skyloop_client.streams import NS_PER_S


def stamp_of(kind: str, data: bytes) -> int | None:
    """ns, or None where there is none: without a header, with an empty stamp, or in bytes that are no message."""
    if STORE.fielddefs[kind][1][0][0] != "header":
        return None
    try:
        stamp = decode(kind, data).header.stamp
    except ValueError:
        return None
    return int(stamp.sec * NS_PER_S + stamp.nanosec) or None
