"""One command of a client, from COMMAND_LONG or COMMAND_INT."""

from __future__ import annotations

import math
from dataclasses import dataclass

from skyloop.links.mavlink.dialect import MavMessage, mavlink, sender_of
from skyloop.links.mavlink.listener import ClientChannel
from skyloop.links.mavlink.wire import E7

ACCEPTED, DENIED = mavlink.MAV_RESULT_ACCEPTED, mavlink.MAV_RESULT_DENIED
UNSUPPORTED = mavlink.MAV_RESULT_UNSUPPORTED


@dataclass(frozen=True, slots=True)
class MavCommand:
    """The content of COMMAND_LONG or COMMAND_INT."""

    number: int
    params: tuple[float, ...]
    """The first four parameters."""
    latitude_deg: float
    longitude_deg: float
    z: float
    frame: int
    channel: ClientChannel
    peer: tuple[int, int]
    """System and component of the sender."""
    x: float
    """Parameter 5 as sent: degrees, 10⁻⁷ degrees or another quantity."""

    def integer(self, k: int) -> int:
        """Parameter 1 to 4 or 7 as an integer, -1 if it is not finite."""
        value = self.z if k == 7 else self.params[k - 1]
        return round(value) if math.isfinite(value) and abs(value) < 1e9 else -1


def command_from(message: MavMessage, channel: ClientChannel) -> MavCommand:
    params = (message.param1, message.param2, message.param3, message.param4)
    peer = sender_of(message)
    if message.get_type() == "COMMAND_INT":
        none = (message.x, message.y) == (2147483647, 2147483647)
        x, y = (math.nan, math.nan) if none else (message.x / E7, message.y / E7)
        return MavCommand(message.command, params, x, y, message.z, message.frame, channel, peer, float(message.x))
    x, y, z = message.param5, message.param6, message.param7
    fifth = x if math.isfinite(x) else 0.0
    return MavCommand(message.command, params, x, y, z, mavlink.MAV_FRAME_GLOBAL, channel, peer, fifth)
