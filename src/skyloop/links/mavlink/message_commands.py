"""Commands that request messages, once or at a rate."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from skyloop.links.mavlink.command_context import Commanded, Handler
from skyloop.links.mavlink.dialect import mavlink
from skyloop.links.mavlink.incoming_command import ACCEPTED, DENIED, UNSUPPORTED, Command
from skyloop.links.mavlink.listener import Channel
from skyloop.links.mavlink.telemetry_table import BUILDERS, DEFAULTS_NS
from skyloop.links.mavlink.wire import available_modes
from skyloop_client.errors import SetpointError

FASTEST_NS = 10_000_000
"""The time grid of telemetry."""
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
"""Messages of the groups in REQUEST_DATA_STREAM."""


def set_message_interval(vehicle: Commanded, command: Command) -> int:
    """Param 1 a message id, param 2 µs: -1 never, 0 the default rate."""
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
    """REQUEST_DATA_STREAM, the deprecated request. 0 Hz means the default rate."""
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
    """Param 1 a message id; sent once, now."""
    number = command.whole(1)
    if number == mavlink.MAVLINK_MSG_ID_MESSAGE_INTERVAL:
        asked = replace(command, params=(command.params[1],) * 4)
        return get_message_interval(vehicle, asked)
    if number == mavlink.MAVLINK_MSG_ID_AVAILABLE_MODES:
        return _tell_modes(command)
    told = list(vehicle.payload.gimbals.messages(number, vehicle.system.now_ns // 1_000_000 % (1 << 32)))
    for message in told:
        command.channel.send(message)
    if told:
        return int(ACCEPTED)
    if number not in BUILDERS:
        return int(UNSUPPORTED)
    return int(ACCEPTED if vehicle.send_now(number, command.channel) else mavlink.MAV_RESULT_TEMPORARILY_REJECTED)


def request_capabilities(vehicle: Commanded, command: Command) -> int:
    """AUTOPILOT_VERSION, by the deprecated command."""
    vehicle.send_now(mavlink.MAVLINK_MSG_ID_AUTOPILOT_VERSION, command.channel)
    return int(ACCEPTED)


def get_home(vehicle: Commanded, command: Command) -> int:
    """HOME_POSITION, by the deprecated command."""
    return int(ACCEPTED if vehicle.send_now(mavlink.MAVLINK_MSG_ID_HOME_POSITION, command.channel) else DENIED)


def _tell_modes(command: Command) -> int:
    """AVAILABLE_MODES of index param 2, or of all modes for 0."""
    modes, index = available_modes(), command.whole(2)
    if not 0 <= index <= len(modes):
        raise SetpointError(f"there is no mode {index}; there are {len(modes)}")
    for message in modes if index == 0 else [modes[index - 1]]:
        command.channel.send(message)
    return int(ACCEPTED)


MESSAGE_COMMANDS: dict[int, Handler] = {
    mavlink.MAV_CMD_SET_MESSAGE_INTERVAL: set_message_interval,
    mavlink.MAV_CMD_GET_MESSAGE_INTERVAL: get_message_interval,
    mavlink.MAV_CMD_REQUEST_MESSAGE: request_message,
    mavlink.MAV_CMD_REQUEST_AUTOPILOT_CAPABILITIES: request_capabilities,
    mavlink.MAV_CMD_GET_HOME_POSITION: get_home,
}
