"""The stamp in a message, for those that have one."""

from __future__ import annotations

from skyloop.recording.formats.ros2_decoding import decode
from skyloop.recording.formats.ros2_definitions import FIELDS
from skyloop_client.streams import NS_PER_S


def stamp_of(kind: str, data: bytes) -> int | None:
    """ns, or None where there is none: without a header, with an empty stamp, or in bytes that are no message."""
    if not FIELDS[kind].startswith("std_msgs/Header header"):
        return None
    try:
        stamp = decode("std_msgs/Header", data)["stamp"]
    except ValueError:
        return None
    return stamp["sec"] * NS_PER_S + stamp["nanosec"] or None
