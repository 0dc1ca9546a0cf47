"""Commands that request messages, once or at a rate, and commands for gimbals and cameras."""

from __future__ import annotations

import math
from dataclasses import replace

from skyloop.links.mavlink.command_context import Commanded, Handler, position_above_sea
from skyloop.links.mavlink.dialect import MavMessage, mavlink
from skyloop.links.mavlink.incoming_command import ACCEPTED, DENIED, UNSUPPORTED, MavCommand
from skyloop.links.mavlink.listener import ClientChannel
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


def set_message_interval(vehicle: Commanded, command: MavCommand) -> int:
    """Param 1 a message id, param 2 µs: -1 never, 0 the default rate."""
    number, interval = command.integer(1), command.params[1]
    if number not in BUILDERS or not math.isfinite(interval):
        return int(UNSUPPORTED)
    _set_interval(command.channel, number, interval)
    return int(ACCEPTED)


def _set_interval(channel: ClientChannel, number: int, interval_us: float) -> None:
    if interval_us < 0:
        channel.intervals[number] = -1
    elif interval_us == 0:
        channel.intervals.pop(number, None)
    else:
        channel.intervals[number] = max(round(min(interval_us, 1e12) * 1000), FASTEST_NS)
    channel.due[number] = 0


def request_stream(message: MavMessage, channel: ClientChannel) -> None:
    """REQUEST_DATA_STREAM, the deprecated request. 0 Hz means the default rate."""
    interval_us = 1e6 / message.req_message_rate if message.req_message_rate else 0.0
    everything = message.req_stream_id == mavlink.MAV_DATA_STREAM_ALL
    for stream, numbers in STREAMS.items():
        if everything or stream == message.req_stream_id:
            for number in numbers:
                _set_interval(channel, number, interval_us if message.start_stop else -1.0)


def get_message_interval(vehicle: Commanded, command: MavCommand) -> int:
    """MESSAGE_INTERVAL of message id param 1."""
    number = command.integer(1)
    if number not in BUILDERS:
        return int(UNSUPPORTED)
    interval = command.channel.intervals.get(number, DEFAULTS_NS.get(number, -1))
    answer = -1 if interval < 0 else min(interval // 1000, 2**31 - 1)
    command.channel.send(mavlink.MAVLink_message_interval_message(number, answer))
    return int(ACCEPTED)


def request_message(vehicle: Commanded, command: MavCommand) -> int:
    """Param 1 a message id; sent once, now."""
    number = command.integer(1)
    if number == mavlink.MAVLINK_MSG_ID_MESSAGE_INTERVAL:
        asked = replace(command, params=(command.params[1],) * 4)
        return get_message_interval(vehicle, asked)
    if number == mavlink.MAVLINK_MSG_ID_AVAILABLE_MODES:
        return _tell_modes(command)
    answer = list(vehicle.payload.gimbals.messages(number))
    for message in answer:
        command.channel.send(message)
    if answer:
        return int(ACCEPTED)
    if number not in BUILDERS:
        return int(UNSUPPORTED)
    return int(ACCEPTED if vehicle.send_now(number, command.channel) else mavlink.MAV_RESULT_TEMPORARILY_REJECTED)


def request_capabilities(vehicle: Commanded, command: MavCommand) -> int:
    """AUTOPILOT_VERSION, by the deprecated command."""
    vehicle.send_now(mavlink.MAVLINK_MSG_ID_AUTOPILOT_VERSION, command.channel)
    return int(ACCEPTED)


def get_home(vehicle: Commanded, command: MavCommand) -> int:
    """HOME_POSITION, by the deprecated command."""
    return int(ACCEPTED if vehicle.send_now(mavlink.MAVLINK_MSG_ID_HOME_POSITION, command.channel) else DENIED)


def _tell_modes(command: MavCommand) -> int:
    """AVAILABLE_MODES of index param 2, or of all modes for 0."""
    modes, index = available_modes(), command.integer(2)
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


# ---- gimbals and cameras


def turn_gimbal(vehicle: Commanded, command: MavCommand) -> int:
    """Param 1 pitch and 2 yaw in degrees, 3 and 4 their rates, 5 flags, 7 the gimbal (0: all)."""
    vehicle.payload.turn(command)
    return int(ACCEPTED)


def configure_gimbal(vehicle: Commanded, command: MavCommand) -> int:
    """Params 1 and 2 the system and component in control; -2 the sender, -3 none."""
    vehicle.payload.configure(command)
    return int(ACCEPTED)


def look_at_position(vehicle: Commanded, command: MavCommand) -> int:
    """The gimbal of param 1 keeps its camera on a position."""
    vehicle.payload.look_at(command, position_above_sea(vehicle, command))
    return int(ACCEPTED)


def look_ahead(vehicle: Commanded, command: MavCommand) -> int:
    """Ends the region of interest: the gimbal looks forward."""
    vehicle.payload.look_at(command, None)
    return int(ACCEPTED)


def to_first_camera(vehicle: Commanded, command: MavCommand) -> int:
    """Forwarded to the first camera, as if sent to its component."""
    if not vehicle.payload.cameras:
        return int(UNSUPPORTED)
    component, camera = next(iter(vehicle.payload.cameras.items()))
    return camera.command(command, lambda message: command.channel.send(message, component))


PAYLOAD_COMMANDS: dict[int, Handler] = {
    mavlink.MAV_CMD_DO_GIMBAL_MANAGER_PITCHYAW: turn_gimbal,
    mavlink.MAV_CMD_DO_GIMBAL_MANAGER_CONFIGURE: configure_gimbal,
    mavlink.MAV_CMD_DO_SET_ROI_LOCATION: look_at_position,
    mavlink.MAV_CMD_DO_SET_ROI_NONE: look_ahead,
    mavlink.MAV_CMD_SET_CAMERA_MODE: to_first_camera,
    mavlink.MAV_CMD_IMAGE_START_CAPTURE: to_first_camera,
    mavlink.MAV_CMD_IMAGE_STOP_CAPTURE: to_first_camera,
}
