"""Commands for the gimbals of a vehicle, and for its cameras if a client sends them to the autopilot."""

from __future__ import annotations

from skyloop.links.mavlink.command_context import Commanded, Handler, place_above_sea
from skyloop.links.mavlink.dialect import mavlink
from skyloop.links.mavlink.incoming_command import ACCEPTED, UNSUPPORTED, Command


def turn_gimbal(vehicle: Commanded, command: Command) -> int:
    """Param 1 pitch and 2 yaw in degrees, 3 and 4 their rates, 5 flags, 7 the gimbal (0: all)."""
    vehicle.payload.turn(command)
    return int(ACCEPTED)


def configure_gimbal(vehicle: Commanded, command: Command) -> int:
    """Params 1 and 2 the system and component in control; -2 the sender, -3 none."""
    vehicle.payload.configure(command)
    return int(ACCEPTED)


def look_at_place(vehicle: Commanded, command: Command) -> int:
    """The gimbal of param 1 keeps its camera on a position."""
    vehicle.payload.look_at(command, place_above_sea(vehicle, command))
    return int(ACCEPTED)


def look_ahead(vehicle: Commanded, command: Command) -> int:
    """Ends the region of interest: the gimbal looks forward."""
    vehicle.payload.look_at(command, None)
    return int(ACCEPTED)


def to_first_camera(vehicle: Commanded, command: Command) -> int:
    """Forwarded to the first camera, as if sent to its component."""
    if not vehicle.payload.cameras:
        return int(UNSUPPORTED)
    component, camera = next(iter(vehicle.payload.cameras.items()))
    return camera.command(command, lambda message: command.channel.send(message, component))


PAYLOAD_COMMANDS: dict[int, Handler] = {
    mavlink.MAV_CMD_DO_GIMBAL_MANAGER_PITCHYAW: turn_gimbal,
    mavlink.MAV_CMD_DO_GIMBAL_MANAGER_CONFIGURE: configure_gimbal,
    mavlink.MAV_CMD_DO_SET_ROI_LOCATION: look_at_place,
    mavlink.MAV_CMD_DO_SET_ROI_NONE: look_ahead,
    mavlink.MAV_CMD_SET_CAMERA_MODE: to_first_camera,
    mavlink.MAV_CMD_IMAGE_START_CAPTURE: to_first_camera,
    mavlink.MAV_CMD_IMAGE_STOP_CAPTURE: to_first_camera,
}
