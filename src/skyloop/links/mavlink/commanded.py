"""What a command acts on, and the place it names."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from skyloop.links.mavlink.command import Command
from skyloop.links.mavlink.dialect import mavlink
from skyloop.links.mavlink.listener import Channel
from skyloop.links.mavlink.modes import Modes
from skyloop.links.mavlink.payload import Payload
from skyloop.links.mavlink.system import System
from skyloop.links.mavlink.wire import FRAMES_ABOVE_HOME
from skyloop_client.messages import Array


class SendNow(Protocol):
    """Sends one message of telemetry, to every channel or to one; False where there is nothing to tell."""

    def __call__(self, number: int, channel: Channel | None = None) -> bool: ...


@dataclass(frozen=True, slots=True)
class Commanded:
    """What a command may act on."""

    system: System
    modes: Modes
    payload: Payload
    send_now: SendNow


def climb_of(vehicle: Commanded, command: Command) -> float:
    """m from here to the altitude of a command; 0 where it has none."""
    system = vehicle.system
    above = system.home_altitude if command.frame in FRAMES_ABOVE_HOME else 0.0
    here = system.geography.global_int(system.state.position)[2]
    return command.z + above - here if math.isfinite(command.z) else 0.0


def place_above_sea(vehicle: Commanded, command: Command) -> Array:
    """Likewise, with an altitude above sea level whatever the frame says, as PX4 takes it and MAVSDK means it."""
    return place_of(vehicle, replace(command, frame=mavlink.MAV_FRAME_GLOBAL))


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
