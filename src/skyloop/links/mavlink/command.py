"""One command of a client, what it may act on, and the place it names."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from skyloop.links.mavlink.dialect import mavlink
from skyloop.links.mavlink.listener import Channel
from skyloop.links.mavlink.modes import Modes
from skyloop.links.mavlink.system import System
from skyloop.links.mavlink.wire import E7, FRAMES_ABOVE_HOME
from skyloop_client.messages import Array

ACCEPTED, DENIED = mavlink.MAV_RESULT_ACCEPTED, mavlink.MAV_RESULT_DENIED
UNSUPPORTED = mavlink.MAV_RESULT_UNSUPPORTED


@dataclass(frozen=True, slots=True)
class Command:
    """COMMAND_LONG and COMMAND_INT alike."""

    number: int
    params: tuple[float, ...]
    """The first four."""
    latitude_deg: float
    longitude_deg: float
    z: float
    frame: int
    channel: Channel

    def whole(self, k: int) -> int:
        """Parameter k (from 1) as a whole number."""
        value = self.params[k - 1]
        return round(value) if math.isfinite(value) and abs(value) < 1e9 else -1


class SendNow(Protocol):
    """Sends one message of telemetry, to every channel or to one; False where there is nothing to tell."""

    def __call__(self, number: int, channel: Channel | None = None) -> bool: ...


@dataclass(frozen=True, slots=True)
class Commanded:
    """What a command may act on."""

    system: System
    modes: Modes
    send_now: SendNow


def command_from(message: Any, channel: Channel) -> Command:
    params = (message.param1, message.param2, message.param3, message.param4)
    if message.get_type() == "COMMAND_INT":
        none = (message.x, message.y) == (2147483647, 2147483647)
        latitude_deg, longitude_deg = (math.nan, math.nan) if none else (message.x / E7, message.y / E7)
        return Command(message.command, params, latitude_deg, longitude_deg, message.z, message.frame, channel)
    frame = mavlink.MAV_FRAME_GLOBAL
    return Command(message.command, params, message.param5, message.param6, message.param7, frame, channel)


def climb_of(vehicle: Commanded, command: Command) -> float:
    """m from here to the altitude of a command; 0 where it has none."""
    system = vehicle.system
    above = system.home_altitude if command.frame in FRAMES_ABOVE_HOME else 0.0
    here = system.geography.global_int(system.state.position)[2]
    return command.z + above - here if math.isfinite(command.z) else 0.0


def place_of(vehicle: Commanded, command: Command) -> Array:
    """World position; numbers that are none stand for the present ones."""
    system = vehicle.system
    climb = climb_of(vehicle, command)
    if not (math.isfinite(command.latitude_deg) and math.isfinite(command.longitude_deg)):
        place: Array = np.array(system.state.position)
        place[2] += climb
        return place
    altitude = system.geography.global_int(system.state.position)[2] + climb
    return system.geography.enu_from_global(command.latitude_deg, command.longitude_deg, altitude)


Handler = Callable[[Commanded, Command], int]
"""Does the work of a command and answers with a MAV_RESULT; a SetpointError is a denial with a reason."""
