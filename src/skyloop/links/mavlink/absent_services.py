"""Messages for services that the vehicle does not have. Most have no acknowledgement, so a status text refuses them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skyloop.links.mavlink.dialect import mavlink
from skyloop.links.mavlink.system import System
from skyloop_client.streams import NS_PER_S

NO_RTK = "RTK corrections are not used"
NO_VISION = "positions from outside are not used; the scenario says what the vehicle flies on (state)"
ABSENT = {
    "PLAY_TUNE": "there is no buzzer",
    "GPS_RTCM_DATA": NO_RTK,
    "GPS_INJECT_DATA": NO_RTK,
    "RC_CHANNELS_OVERRIDE": "there is no radio control; steer with MANUAL_CONTROL",
    "LOG_ERASE": "logs are not erased; they are in the run folder",
    "SETUP_SIGNING": "MAVLink signing is not supported",
    "SET_ACTUATOR_CONTROL_TARGET": "actuators cannot be set; give attitudes or rates with SET_ATTITUDE_TARGET",
    "VISION_POSITION_ESTIMATE": NO_VISION,
    "ODOMETRY": NO_VISION,
    "ATT_POS_MOCAP": NO_VISION,
}
"""What is said, by message."""
QUIET_NS = 30 * NS_PER_S
"""Simulated ns before the same is said again, because some of these come many times a second."""
NO_SHELL = b"skyloop has no shell\n"
SHELL_DATA = 70
"""Bytes of data in SERIAL_CONTROL."""


class AbsentServices:
    """Refuses what one vehicle cannot do. It runs in the simulation's thread."""

    def __init__(self, system: System, say: Callable[[int, str], None]) -> None:
        self._system = system
        self._say = say
        self._quiet_until_ns: dict[str, int] = {}

    def take(self, message: Any, send: Callable[[Any], None]) -> bool:
        """Returns True if the message asks for such a service."""
        kind = message.get_type()
        if kind == "SERIAL_CONTROL":
            self._answer_shell(message, send)
        elif kind in ABSENT:
            text, now = ABSENT[kind], self._system.now_ns
            if now >= self._quiet_until_ns.get(text, 0):
                self._quiet_until_ns[text] = now + QUIET_NS
                self._say(mavlink.MAV_SEVERITY_WARNING, f"{kind}: {text}")
        else:
            return False
        return True

    def restart(self) -> None:
        """Time has jumped."""
        self._quiet_until_ns.clear()

    @staticmethod
    def _answer_shell(message: Any, send: Callable[[Any], None]) -> None:
        """A console shows the answer where a shell would print. Consoles also poll with nothing typed."""
        if message.flags & mavlink.SERIAL_CONTROL_FLAG_RESPOND and message.count:
            data = list(NO_SHELL.ljust(SHELL_DATA, b"\0"))
            reply = mavlink.SERIAL_CONTROL_FLAG_REPLY
            send(mavlink.MAVLink_serial_control_message(message.device, reply, 0, 0, len(NO_SHELL), data))
