"""Commands to arm, fly and land, and to set modes, home and missions."""

from __future__ import annotations

import math

from skyloop.links.mavlink.command_context import Commanded, Handler, climb_of, position_above_sea, position_of
from skyloop.links.mavlink.dialect import mavlink
from skyloop.links.mavlink.incoming_command import ACCEPTED, DENIED, MavCommand
from skyloop.links.mavlink.wire import STANDARD_MODES, mode_named, yaw_from_heading
from skyloop.vehicle.behaviours import Facing, Orbit
from skyloop_client.errors import SetpointError
from skyloop_client.messages import EventKind, Hover

FORCE_DISARM = 21196
FACINGS: dict[int, Facing] = {
    mavlink.ORBIT_YAW_BEHAVIOUR_HOLD_FRONT_TO_CIRCLE_CENTER: "centre",
    mavlink.ORBIT_YAW_BEHAVIOUR_HOLD_INITIAL_HEADING: "start",
    mavlink.ORBIT_YAW_BEHAVIOUR_HOLD_FRONT_TANGENT_TO_CIRCLE: "course",
}


def arm_disarm(vehicle: Commanded, command: MavCommand) -> int:
    """1 arms, 0 disarms; 21196 as param 2 also disarms in flight."""
    force = command.integer(2) == FORCE_DISARM
    if command.integer(1) == 1:
        vehicle.modes.arm()
    elif command.integer(1) == 0:
        vehicle.modes.disarm(force=force)
    else:
        return int(DENIED)
    return int(ACCEPTED)


def set_mode(vehicle: Commanded, command: MavCommand) -> int:
    """PX4's main mode and sub-mode."""
    main, sub = command.integer(2), max(command.integer(3), 0)
    if main > 255:  # the whole custom mode in one number
        main, sub = main >> 16 & 255, main >> 24 & 255
    mode = mode_named(main, sub)
    if mode is None or not command.integer(1) & mavlink.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED:
        raise SetpointError(f"no mode {command.integer(2)}/{command.integer(3)} here")
    vehicle.modes.choose(mode)
    return int(ACCEPTED)


def take_off(vehicle: Commanded, command: MavCommand) -> int:
    """To param 7 m above sea level, or to MIS_TAKEOFF_ALT above the ground; if disarmed, after arming."""
    system = vehicle.system
    usual = height = system.settings.takeoff_altitude
    if math.isfinite(command.z) and command.z != 0.0:
        height = climb_of(vehicle, command)
    if height > 1e4:
        raise SetpointError(f"take-off to {height:.1f} m above the ground")
    if height < 0.1:
        # as in PX4, so that a script that means metres above the ground still flies
        system.say(
            EventKind.REFUSED,
            f"take-off altitude is {-height:.0f} m below the ground (above sea level?); to {usual:g} m",
        )
        height = usual
    vehicle.modes.take_off(height)
    return int(ACCEPTED)


def loiter(vehicle: Commanded, command: MavCommand) -> int:
    """Hold here."""
    vehicle.modes.choose("hold")
    return int(ACCEPTED)


def land(vehicle: Commanded, command: MavCommand) -> int:
    """Land here now."""
    vehicle.modes.choose("land")
    return int(ACCEPTED)


def return_to_launch(vehicle: Commanded, command: MavCommand) -> int:
    """Fly home at RTL_RETURN_ALT or higher, then land."""
    vehicle.modes.choose("rtl")
    return int(ACCEPTED)


def mission_start(vehicle: Commanded, command: MavCommand) -> int:
    """Start the mission at item param 1."""
    first = max(command.integer(1), 0)
    if first >= len(vehicle.modes.flight.items):
        raise SetpointError(f"there is no mission item {first}")
    if first:
        vehicle.modes.flight.jump_to(first)
    vehicle.modes.choose("mission")
    return int(ACCEPTED)


def pause_continue(vehicle: Commanded, command: MavCommand) -> int:
    """0 holds, 1 continues the mission."""
    vehicle.modes.choose("mission" if command.integer(1) == 1 else "hold")
    return int(ACCEPTED)


def reposition(vehicle: Commanded, command: MavCommand) -> int:
    """Fly there and hold; param 1 m/s, param 4 heading in rad (in COMMAND_LONG and COMMAND_INT)."""
    system = vehicle.system
    if not system.port.is_flying:
        raise SetpointError("reposition on the ground; take off first")
    position = position_of(vehicle, command)
    speed = command.params[0] if math.isfinite(command.params[0]) and command.params[0] > 0.0 else None
    heading = command.params[3]
    yaw = yaw_from_heading(heading) if math.isfinite(heading) and abs(heading) < 10.0 else system.yaw
    vehicle.modes.choose("hold")
    system.go(position, yaw, None if speed is None else min(speed, 30.0))
    return int(ACCEPTED)


def change_speed(vehicle: Commanded, command: MavCommand) -> int:
    """Param 2 m/s towards goals, from the next goal on."""
    if not 0.1 <= command.params[1] <= 30.0:
        return int(DENIED)
    vehicle.system.port.set_limits(cruise_speed=command.params[1])
    return int(ACCEPTED)


def set_home(vehicle: Commanded, command: MavCommand) -> int:
    """Param 1 is 1: the current position; 0: the given position."""
    if not vehicle.system.port.knows_where:
        raise SetpointError("home cannot be set before the vehicle knows where it is")
    here = vehicle.system.state.position
    vehicle.system.port.set_home(here if command.integer(1) == 1 else position_of(vehicle, command))
    vehicle.send_now(mavlink.MAVLINK_MSG_ID_HOME_POSITION)
    return int(ACCEPTED)


def set_current_item(vehicle: Commanded, command: MavCommand) -> int:
    """Continue the mission with item param 1."""
    number = command.integer(1)
    if not 0 <= number < len(vehicle.modes.flight.items):
        return int(DENIED)
    vehicle.modes.flight.jump_to(number)
    vehicle.send_now(mavlink.MAVLINK_MSG_ID_MISSION_CURRENT)
    return int(ACCEPTED)


def terminate(vehicle: Commanded, command: MavCommand) -> int:
    """Stop the motors at once."""
    if command.params[0] >= 0.5:
        vehicle.modes.disarm(force=True)
    return int(ACCEPTED)


def fence_enable(vehicle: Commanded, command: MavCommand) -> int:
    """0: off; 1: on, with action hold if GF_ACTION was 0."""
    settings = vehicle.system.settings
    settings.fence_action = 0 if command.integer(1) == 0 else settings.fence_action or 2
    return int(ACCEPTED)


def override_goto(vehicle: Commanded, command: MavCommand) -> int:
    """Stop the current flight and hold here."""
    vehicle.modes.choose("hold")
    if vehicle.system.port.is_flying:
        vehicle.system.send(Hover())
    return int(ACCEPTED)


def orbit(vehicle: Commanded, command: MavCommand) -> int:
    """Circle a position: param 1 radius in m (negative: anticlockwise), param 2 m/s, param 3 yaw, param 4 rad."""
    radius, speed, behaviour, turn = command.params
    position = position_above_sea(vehicle, command)
    known = math.isfinite(behaviour) and abs(behaviour) < 100.0
    vehicle.modes.circle(
        Orbit(
            position,
            radius if math.isfinite(radius) and radius != 0.0 else 10.0,
            speed if math.isfinite(speed) else 1.0,
            FACINGS.get(int(behaviour), "free") if known else "centre",
            turn if math.isfinite(turn) and turn > 0.0 else math.inf,
        )
    )
    return int(ACCEPTED)


def set_standard_mode(vehicle: Commanded, command: MavCommand) -> int:
    """Param 1 a MAV_STANDARD_MODE."""
    wanted = command.integer(1)
    mode = next((name for name, number in STANDARD_MODES.items() if number == wanted), None)
    if mode is None:
        raise SetpointError(f"no standard mode {wanted} here")
    vehicle.modes.choose(mode)
    return int(ACCEPTED)


FLIGHT_COMMANDS: dict[int, Handler] = {
    mavlink.MAV_CMD_COMPONENT_ARM_DISARM: arm_disarm,
    mavlink.MAV_CMD_DO_SET_MODE: set_mode,
    mavlink.MAV_CMD_DO_SET_STANDARD_MODE: set_standard_mode,
    mavlink.MAV_CMD_NAV_TAKEOFF: take_off,
    mavlink.MAV_CMD_NAV_LOITER_UNLIM: loiter,
    mavlink.MAV_CMD_NAV_LAND: land,
    mavlink.MAV_CMD_NAV_RETURN_TO_LAUNCH: return_to_launch,
    mavlink.MAV_CMD_MISSION_START: mission_start,
    mavlink.MAV_CMD_DO_PAUSE_CONTINUE: pause_continue,
    mavlink.MAV_CMD_DO_REPOSITION: reposition,
    mavlink.MAV_CMD_DO_ORBIT: orbit,
    mavlink.MAV_CMD_DO_CHANGE_SPEED: change_speed,
    mavlink.MAV_CMD_DO_SET_HOME: set_home,
    mavlink.MAV_CMD_DO_SET_MISSION_CURRENT: set_current_item,
    mavlink.MAV_CMD_DO_FLIGHTTERMINATION: terminate,
    mavlink.MAV_CMD_DO_FENCE_ENABLE: fence_enable,
    mavlink.MAV_CMD_OVERRIDE_GOTO: override_goto,
}
