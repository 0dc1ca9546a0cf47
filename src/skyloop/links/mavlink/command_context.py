"""The object that a command acts on, and the position that a command names."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from skyloop.links.mavlink.dialect import mavlink
from skyloop.links.mavlink.incoming_command import MavCommand
from skyloop.links.mavlink.listener import ClientChannel
from skyloop.links.mavlink.modes import Modes
from skyloop.links.mavlink.payload import Payload
from skyloop.links.mavlink.system import System
from skyloop.links.mavlink.wire import FRAMES_ABOVE_HOME
from skyloop_client.messages import Array


class SendNow(Protocol):
    """Sends one telemetry message to all channels or to one. Returns False if there is no data."""

    def __call__(self, number: int, channel: ClientChannel | None = None) -> bool: ...


@dataclass(frozen=True, slots=True)
class Commanded:
    """The parts of a vehicle that a command may use."""

    system: System
    modes: Modes
    payload: Payload
    send_now: SendNow


def climb_of(vehicle: Commanded, command: MavCommand) -> float:
    """m from here to the altitude of a command. 0 if it has none."""
    system = vehicle.system
    above = system.home_altitude if command.frame in FRAMES_ABOVE_HOME else 0.0
    here = system.geography.global_int(system.state.position)[2]
    return command.z + above - here if math.isfinite(command.z) else 0.0


def position_above_sea(vehicle: Commanded, command: MavCommand) -> Array:
    """The position with an altitude above sea level, whatever the frame says, as in PX4 and MAVSDK."""
    return position_of(vehicle, replace(command, frame=mavlink.MAV_FRAME_GLOBAL))


def position_of(vehicle: Commanded, command: MavCommand) -> Array:
    """World position. Values that are not finite mean the current ones."""
    system = vehicle.system
    climb = climb_of(vehicle, command)
    if not (math.isfinite(command.latitude_deg) and math.isfinite(command.longitude_deg)):
        position: Array = np.array(system.state.position)
        position[2] += climb
        return position
    altitude = system.geography.global_int(system.state.position)[2] + climb
    return system.geography.enu_from_global(command.latitude_deg, command.longitude_deg, altitude)


Handler = Callable[[Commanded, MavCommand], int]
"""Executes a command and returns a MAV_RESULT. A SetpointError means denied, with a reason."""
