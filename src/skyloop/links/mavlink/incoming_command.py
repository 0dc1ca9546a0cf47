"""One command of a client, from COMMAND_LONG or COMMAND_INT."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from skyloop.links.mavlink.dialect import mavlink
from skyloop.links.mavlink.listener import Channel
from skyloop.links.mavlink.wire import E7

ACCEPTED, DENIED = mavlink.MAV_RESULT_ACCEPTED, mavlink.MAV_RESULT_DENIED
UNSUPPORTED = mavlink.MAV_RESULT_UNSUPPORTED


@dataclass(frozen=True, slots=True)
class Command:
    """The content of COMMAND_LONG or COMMAND_INT."""

    number: int
    params: tuple[float, ...]
    """The first four parameters."""
    latitude_deg: float
    longitude_deg: float
    z: float
    frame: int
    channel: Channel
    peer: tuple[int, int]
    """System and component of the sender."""
    x: float
    """Parameter 5 as sent: degrees, 10⁻⁷ degrees or another quantity."""

    def whole(self, k: int) -> int:
        """Parameter 1 to 4 or 7 as an integer, -1 if it is not finite."""
        value = self.z if k == 7 else self.params[k - 1]
        return round(value) if math.isfinite(value) and abs(value) < 1e9 else -1


def command_from(message: Any, channel: Channel) -> Command:
    params = (message.param1, message.param2, message.param3, message.param4)
    peer = message.get_srcSystem(), message.get_srcComponent()
    if message.get_type() == "COMMAND_INT":
        none = (message.x, message.y) == (2147483647, 2147483647)
        x, y = (math.nan, math.nan) if none else (message.x / E7, message.y / E7)
        return Command(message.command, params, x, y, message.z, message.frame, channel, peer, float(message.x))
    x, y, z = message.param5, message.param6, message.param7
    fifth = x if math.isfinite(x) else 0.0
    return Command(message.command, params, x, y, z, mavlink.MAV_FRAME_GLOBAL, channel, peer, fifth)
