"""Commands by number: each does its work and answers with a MAV_RESULT; a SetpointError is a denial with a reason."""

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
from skyloop.links.mavlink.telemetry import BUILDERS, DEFAULTS_NS
from skyloop.links.mavlink.wire import E7, FRAMES_ABOVE_HOME, mode_named, yaw_from_heading
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Array, EventKind, Hover

FORCE_DISARM = 21196
FASTEST_NS = 10_000_000
"""Telemetry goes out on this grid."""
ACCEPTED, DENIED = mavlink.MAV_RESULT_ACCEPTED, mavlink.MAV_RESULT_DENIED
UNSUPPORTED = mavlink.MAV_RESULT_UNSUPPORTED
STREAMS = {
    mavlink.MAV_DATA_STREAM_RAW_SENSORS: (
        mavlink.MAVLINK_MSG_ID_HIGHRES_IMU, mavlink.MAVLINK_MSG_ID_SCALED_PRESSURE,
    ),
    mavlink.MAV_DATA_STREAM_EXTENDED_STATUS: (
        mavlink.MAVLINK_MSG_ID_SYS_STATUS, mavlink.MAVLINK_MSG_ID_GPS_RAW_INT, mavlink.MAVLINK_MSG_ID_MISSION_CURRENT,
    ),
    mavlink.MAV_DATA_STREAM_POSITION: (
        mavlink.MAVLINK_MSG_ID_LOCAL_POSITION_NED, mavlink.MAVLINK_MSG_ID_GLOBAL_POSITION_INT,
    ),
    mavlink.MAV_DATA_STREAM_EXTRA1: (mavlink.MAVLINK_MSG_ID_ATTITUDE,),
    mavlink.MAV_DATA_STREAM_EXTRA2: (mavlink.MAVLINK_MSG_ID_VFR_HUD,),
    mavlink.MAV_DATA_STREAM_EXTRA3: (mavlink.MAVLINK_MSG_ID_BATTERY_STATUS, mavlink.MAVLINK_MSG_ID_SYSTEM_TIME),
}  # fmt: skip
"""Messages of the groups that REQUEST_DATA_STREAM knows."""


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


def _climb(vehicle: Commanded, command: Command) -> float:
    """m from here to the altitude of a command; 0 where it has none."""
    system = vehicle.system
    above = system.home_altitude if command.frame in FRAMES_ABOVE_HOME else 0.0
    here = system.geography.global_int(system.state.position)[2]
    return command.z + above - here if math.isfinite(command.z) else 0.0


def _place(vehicle: Commanded, command: Command) -> Array:
    """World position; numbers that are none stand for the present ones."""
    system = vehicle.system
    climb = _climb(vehicle, command)
    if not (math.isfinite(command.latitude_deg) and math.isfinite(command.longitude_deg)):
        place: Array = np.array(system.state.position)
        place[2] += climb
        return place
    altitude = system.geography.global_int(system.state.position)[2] + climb
    return system.geography.enu_from_global(command.latitude_deg, command.longitude_deg, altitude)


def arm_disarm(vehicle: Commanded, command: Command) -> int:
    """1 arms, 0 disarms; 21196 as second parameter disarms in flight."""
    force = command.whole(2) == FORCE_DISARM
    if command.whole(1) == 1:
        vehicle.modes.arm()
    elif command.whole(1) == 0:
        vehicle.modes.disarm(force=force)
    else:
        return int(DENIED)
    return int(ACCEPTED)


def set_mode(vehicle: Commanded, command: Command) -> int:
    """PX4's main mode and sub-mode."""
    main, sub = command.whole(2), max(command.whole(3), 0)
    if main > 255:  # the whole custom mode in one number
        main, sub = main >> 16 & 255, main >> 24 & 255
    mode = mode_named(main, sub)
    if mode is None or not command.whole(1) & mavlink.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED:
        raise SetpointError(f"no mode {command.whole(2)}/{command.whole(3)} here")
    vehicle.modes.choose(mode)
    return int(ACCEPTED)


def take_off(vehicle: Commanded, command: Command) -> int:
    """To param 7 m above sea level, or to MIS_TAKEOFF_ALT above the ground; while disarmed, at arming."""
    system = vehicle.system
    usual = height = system.settings.takeoff_altitude
    if math.isfinite(command.z) and command.z != 0.0:
        height = _climb(vehicle, command)
    if height > 1e4:
        raise SetpointError(f"take-off to {height:.1f} m above the ground")
    if height < 0.1:
        # as PX4: a script that means metres above the ground flies nevertheless
        system.say(
            EventKind.REFUSED,
            f"take-off altitude is {-height:.0f} m below the ground (above sea level?); to {usual:g} m",
        )
        height = usual
    vehicle.modes.take_off(height)
    return int(ACCEPTED)


def loiter(vehicle: Commanded, command: Command) -> int:
    """Hold here."""
    vehicle.modes.choose("hold")
    return int(ACCEPTED)


def land(vehicle: Commanded, command: Command) -> int:
    """Here and now."""
    vehicle.modes.choose("land")
    return int(ACCEPTED)


def return_to_launch(vehicle: Commanded, command: Command) -> int:
    """Home at RTL_RETURN_ALT or higher, then land."""
    vehicle.modes.choose("rtl")
    return int(ACCEPTED)


def mission_start(vehicle: Commanded, command: Command) -> int:
    """From item param 1 on."""
    first = max(command.whole(1), 0)
    if first >= len(vehicle.modes.flight.items):
        raise SetpointError(f"there is no mission item {first}")
    if first:
        vehicle.modes.flight.jump_to(first)
    vehicle.modes.choose("mission")
    return int(ACCEPTED)


def pause_continue(vehicle: Commanded, command: Command) -> int:
    """0 holds, 1 goes on with the mission."""
    vehicle.modes.choose("mission" if command.whole(1) == 1 else "hold")
    return int(ACCEPTED)


def reposition(vehicle: Commanded, command: Command) -> int:
    """Fly there and hold; param 1 m/s, param 4 heading in rad (COMMAND_LONG and _INT alike)."""
    system = vehicle.system
    if not system.port.is_flying:
        raise SetpointError("reposition on the ground; take off first")
    place = _place(vehicle, command)
    speed = command.params[0] if math.isfinite(command.params[0]) and command.params[0] > 0.0 else None
    heading = command.params[3]
    yaw = yaw_from_heading(heading) if math.isfinite(heading) and abs(heading) < 10.0 else system.yaw
    vehicle.modes.choose("hold")
    system.go(place, yaw, None if speed is None else min(speed, 30.0))
    return int(ACCEPTED)


def change_speed(vehicle: Commanded, command: Command) -> int:
    """Param 2 m/s towards goals, from the next one on."""
    if not 0.1 <= command.params[1] <= 30.0:
        return int(DENIED)
    vehicle.system.port.set_limits(cruise_speed=command.params[1])
    return int(ACCEPTED)


def set_home(vehicle: Commanded, command: Command) -> int:
    """Param 1 is 1: here; 0: at the place given."""
    if not vehicle.system.port.knows_where:
        raise SetpointError("home cannot be set before the vehicle knows where it is")
    here = vehicle.system.state.position
    vehicle.system.port.set_home(here if command.whole(1) == 1 else _place(vehicle, command))
    vehicle.send_now(mavlink.MAVLINK_MSG_ID_HOME_POSITION)
    return int(ACCEPTED)


def set_current_item(vehicle: Commanded, command: Command) -> int:
    """The mission goes on with item param 1."""
    number = command.whole(1)
    if not 0 <= number < len(vehicle.modes.flight.items):
        return int(DENIED)
    vehicle.modes.flight.jump_to(number)
    vehicle.send_now(mavlink.MAVLINK_MSG_ID_MISSION_CURRENT)
    return int(ACCEPTED)


def terminate(vehicle: Commanded, command: Command) -> int:
    """Motors off at once."""
    if command.params[0] >= 0.5:
        vehicle.modes.disarm(force=True)
    return int(ACCEPTED)


def set_message_interval(vehicle: Commanded, command: Command) -> int:
    """Param 1 a message id, param 2 µs: -1 never, 0 the usual."""
    number, interval = command.whole(1), command.params[1]
    if number not in BUILDERS or not math.isfinite(interval):
        return int(UNSUPPORTED)
    _set_interval(command.channel, number, interval)
    return int(ACCEPTED)


def _set_interval(channel: Channel, number: int, interval_us: float) -> None:
    if interval_us < 0:
        channel.intervals[number] = -1
    elif interval_us == 0:
        channel.intervals.pop(number, None)
    else:
        channel.intervals[number] = max(round(min(interval_us, 1e12) * 1000), FASTEST_NS)
    channel.due[number] = 0


def request_stream(message: Any, channel: Channel) -> None:
    """REQUEST_DATA_STREAM, the old way; 0 Hz is the usual."""
    interval_us = 1e6 / message.req_message_rate if message.req_message_rate else 0.0
    everything = message.req_stream_id == mavlink.MAV_DATA_STREAM_ALL
    for stream, numbers in STREAMS.items():
        if everything or stream == message.req_stream_id:
            for number in numbers:
                _set_interval(channel, number, interval_us if message.start_stop else -1.0)


def get_message_interval(vehicle: Commanded, command: Command) -> int:
    """MESSAGE_INTERVAL of message id param 1."""
    number = command.whole(1)
    if number not in BUILDERS:
        return int(UNSUPPORTED)
    interval = command.channel.intervals.get(number, DEFAULTS_NS.get(number, -1))
    told = -1 if interval < 0 else min(interval // 1000, 2**31 - 1)
    command.channel.send(mavlink.MAVLink_message_interval_message(number, told))
    return int(ACCEPTED)


def request_message(vehicle: Commanded, command: Command) -> int:
    """Param 1 a message id; once, at once."""
    number = command.whole(1)
    if number == mavlink.MAVLINK_MSG_ID_MESSAGE_INTERVAL:
        asked = Command(command.number, (command.params[1],) * 4, 0.0, 0.0, 0.0, 0, command.channel)
        return get_message_interval(vehicle, asked)
    if number not in BUILDERS:
        return int(UNSUPPORTED)
    return int(ACCEPTED if vehicle.send_now(number, command.channel) else mavlink.MAV_RESULT_TEMPORARILY_REJECTED)


def request_capabilities(vehicle: Commanded, command: Command) -> int:
    """AUTOPILOT_VERSION, the old way."""
    vehicle.send_now(mavlink.MAVLINK_MSG_ID_AUTOPILOT_VERSION, command.channel)
    return int(ACCEPTED)


def get_home(vehicle: Commanded, command: Command) -> int:
    """HOME_POSITION, the old way."""
    return int(ACCEPTED if vehicle.send_now(mavlink.MAVLINK_MSG_ID_HOME_POSITION, command.channel) else DENIED)


def fence_enable(vehicle: Commanded, command: Command) -> int:
    """0: off; 1: back to hold, where GF_ACTION was 0."""
    settings = vehicle.system.settings
    settings.fence_action = 0 if command.whole(1) == 0 else settings.fence_action or 2
    return int(ACCEPTED)


def override_goto(vehicle: Commanded, command: Command) -> int:
    """Hold here, whatever was flown."""
    vehicle.modes.choose("hold")
    if vehicle.system.port.is_flying:
        vehicle.system.send(Hover())
    return int(ACCEPTED)


Handler = Callable[[Commanded, Command], int]
COMMANDS: dict[int, Handler] = {
    mavlink.MAV_CMD_COMPONENT_ARM_DISARM: arm_disarm,
    mavlink.MAV_CMD_DO_SET_MODE: set_mode,
    mavlink.MAV_CMD_NAV_TAKEOFF: take_off,
    mavlink.MAV_CMD_NAV_LOITER_UNLIM: loiter,
    mavlink.MAV_CMD_NAV_LAND: land,
    mavlink.MAV_CMD_NAV_RETURN_TO_LAUNCH: return_to_launch,
    mavlink.MAV_CMD_MISSION_START: mission_start,
    mavlink.MAV_CMD_DO_PAUSE_CONTINUE: pause_continue,
    mavlink.MAV_CMD_DO_REPOSITION: reposition,
    mavlink.MAV_CMD_DO_CHANGE_SPEED: change_speed,
    mavlink.MAV_CMD_DO_SET_HOME: set_home,
    mavlink.MAV_CMD_DO_SET_MISSION_CURRENT: set_current_item,
    mavlink.MAV_CMD_DO_FLIGHTTERMINATION: terminate,
    mavlink.MAV_CMD_DO_FENCE_ENABLE: fence_enable,
    mavlink.MAV_CMD_OVERRIDE_GOTO: override_goto,
    mavlink.MAV_CMD_SET_MESSAGE_INTERVAL: set_message_interval,
    mavlink.MAV_CMD_GET_MESSAGE_INTERVAL: get_message_interval,
    mavlink.MAV_CMD_REQUEST_MESSAGE: request_message,
    mavlink.MAV_CMD_REQUEST_AUTOPILOT_CAPABILITIES: request_capabilities,
    mavlink.MAV_CMD_GET_HOME_POSITION: get_home,
}
