"""Telemetry of modes, health and battery: one function for each message."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skyloop.links.mavlink.dialect import mavlink
from skyloop.links.mavlink.telemetry import UNKNOWN_16, Telemetry, clamp, fix_type, unsigned
from skyloop.links.mavlink.wire import STANDARD_MODES, custom_mode

TYPES = {3: mavlink.MAV_TYPE_TRICOPTER, 6: mavlink.MAV_TYPE_HEXAROTOR, 8: mavlink.MAV_TYPE_OCTOROTOR}
"""By number of rotors."""


def heartbeat(of: Telemetry) -> Any:
    status, shown = of.system.port.status, of.modes.shown
    base = mavlink.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED | mavlink.MAV_MODE_FLAG_STABILIZE_ENABLED
    base |= mavlink.MAV_MODE_FLAG_GUIDED_ENABLED if shown == "offboard" else 0
    base |= mavlink.MAV_MODE_FLAG_MANUAL_INPUT_ENABLED if shown == "position" else mavlink.MAV_MODE_FLAG_AUTO_ENABLED
    base |= mavlink.MAV_MODE_FLAG_SAFETY_ARMED if status.armed else 0
    state = mavlink.MAV_STATE_ACTIVE if status.armed else mavlink.MAV_STATE_STANDBY
    if status.armed and status.failsafe:
        state = mavlink.MAV_STATE_CRITICAL
    return mavlink.MAVLink_heartbeat_message(
        TYPES.get(of.system.port.geometry.n_rotors, mavlink.MAV_TYPE_QUADROTOR),
        mavlink.MAV_AUTOPILOT_PX4,
        base,
        custom_mode(shown),
        state,
        3,
    )


def sys_status(of: Telemetry) -> Any:
    present = (
        mavlink.MAV_SYS_STATUS_SENSOR_3D_GYRO | mavlink.MAV_SYS_STATUS_SENSOR_3D_ACCEL
        | mavlink.MAV_SYS_STATUS_SENSOR_3D_MAG | mavlink.MAV_SYS_STATUS_SENSOR_ABSOLUTE_PRESSURE
        | mavlink.MAV_SYS_STATUS_SENSOR_GPS | mavlink.MAV_SYS_STATUS_SENSOR_ANGULAR_RATE_CONTROL
        | mavlink.MAV_SYS_STATUS_SENSOR_ATTITUDE_STABILIZATION | mavlink.MAV_SYS_STATUS_SENSOR_YAW_POSITION
        | mavlink.MAV_SYS_STATUS_SENSOR_Z_ALTITUDE_CONTROL | mavlink.MAV_SYS_STATUS_SENSOR_XY_POSITION_CONTROL
        | mavlink.MAV_SYS_STATUS_SENSOR_MOTOR_OUTPUTS | mavlink.MAV_SYS_STATUS_AHRS
        | mavlink.MAV_SYS_STATUS_SENSOR_BATTERY | mavlink.MAV_SYS_STATUS_PREARM_CHECK
        | mavlink.MAV_SYS_STATUS_GEOFENCE
    )  # fmt: skip
    health = present
    if not of.system.port.knows_where:
        health &= ~(
            mavlink.MAV_SYS_STATUS_SENSOR_XY_POSITION_CONTROL | mavlink.MAV_SYS_STATUS_SENSOR_Z_ALTITUDE_CONTROL
            | mavlink.MAV_SYS_STATUS_AHRS | mavlink.MAV_SYS_STATUS_PREARM_CHECK
        )  # fmt: skip
    if of.has("GnssFix") and fix_type(of) < 3:
        health &= ~mavlink.MAV_SYS_STATUS_SENSOR_GPS
    if of.modes.breach:
        health &= ~mavlink.MAV_SYS_STATUS_GEOFENCE
    volt, ampere, percent = _battery(of)
    return mavlink.MAVLink_sys_status_message(
        present, present, health, 0, unsigned(math.nan if volt is None else 1000 * volt),
        -1 if ampere is None else clamp(round(100 * ampere), 32767), percent, 0, 0, 0, 0, 0, 0,
    )  # fmt: skip


def extended_sys_state(of: Telemetry) -> Any:
    status = of.system.port.status
    landed = mavlink.MAV_LANDED_STATE_IN_AIR
    if status.landed:
        landed = mavlink.MAV_LANDED_STATE_ON_GROUND
    elif status.mode == "takeoff":
        landed = mavlink.MAV_LANDED_STATE_TAKEOFF
    elif status.mode == "land":
        landed = mavlink.MAV_LANDED_STATE_LANDING
    return mavlink.MAVLink_extended_sys_state_message(mavlink.MAV_VTOL_STATE_UNDEFINED, landed)


def battery_status(of: Telemetry) -> Any:
    volt, ampere, percent = _battery(of)
    battery = of.system.port.battery
    volts = [unsigned(math.nan if volt is None else 1000 * volt), *[UNKNOWN_16] * 9]
    return mavlink.MAVLink_battery_status_message(
        0, mavlink.MAV_BATTERY_FUNCTION_ALL, mavlink.MAV_BATTERY_TYPE_LIPO, 32767, volts,
        -1 if ampere is None else clamp(round(100 * ampere), 32767), -1, round(battery.energy_used / 100), percent,
    )  # fmt: skip


def mission_current(of: Telemetry) -> Any:
    flight, total = of.modes.flight, len(of.modes.flight.items)
    state = mavlink.MISSION_STATE_NOT_STARTED
    if not total:
        state = mavlink.MISSION_STATE_NO_MISSION
    elif flight.complete:
        state = mavlink.MISSION_STATE_COMPLETE
    elif of.modes.chosen == "mission" and of.system.port.status.armed:
        state = mavlink.MISSION_STATE_ACTIVE
    elif flight.current > 0:
        state = mavlink.MISSION_STATE_PAUSED
    in_mission = 1 if of.modes.chosen == "mission" else 2
    return mavlink.MAVLink_mission_current_message(flight.current, total or UNKNOWN_16, state, in_mission)


def estimator_status(of: Telemetry) -> Any:
    system = of.system
    good = system.port.knows_where
    flags = mavlink.ESTIMATOR_ATTITUDE if good else 0
    flags |= 0x0FFE & ~mavlink.ESTIMATOR_CONST_POS_MODE & ~mavlink.ESTIMATOR_GPS_GLITCH if good else 0
    sd = getattr(system.state, "position_sd", np.zeros(3))
    return mavlink.MAVLink_estimator_status_message(
        of.us, flags, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, float(np.hypot(sd[0], sd[1])), float(sd[2])
    )


def current_mode(of: Telemetry) -> Any:
    shown, chosen = of.modes.shown, of.modes.chosen
    standard = STANDARD_MODES.get(shown, mavlink.MAV_STANDARD_MODE_NON_STANDARD)
    return mavlink.MAVLink_current_mode_message(standard, custom_mode(shown), custom_mode(chosen))


def orbit_execution_status(of: Telemetry) -> Any:
    orbit = of.modes.orbit
    if orbit is None:
        return None
    latitude, longitude, above_sea = of.system.geography.global_int(orbit.centre)
    frame = mavlink.MAV_FRAME_GLOBAL_INT
    return mavlink.MAVLink_orbit_execution_status_message(of.us, orbit.radius, frame, latitude, longitude, above_sea)


def system_time(of: Telemetry) -> Any:
    return mavlink.MAVLink_system_time_message(0, of.ms)


def fence_status(of: Telemetry) -> Any:
    breach = mavlink.FENCE_BREACH_BOUNDARY if of.modes.breach else mavlink.FENCE_BREACH_NONE
    return mavlink.MAVLink_fence_status_message(bool(of.modes.breach), of.modes.breaches, breach, of.ms)


def autopilot_version(of: Telemetry) -> Any:
    able = (
        mavlink.MAV_PROTOCOL_CAPABILITY_MISSION_INT | mavlink.MAV_PROTOCOL_CAPABILITY_COMMAND_INT
        | mavlink.MAV_PROTOCOL_CAPABILITY_PARAM_ENCODE_BYTEWISE
        | mavlink.MAV_PROTOCOL_CAPABILITY_SET_ATTITUDE_TARGET
        | mavlink.MAV_PROTOCOL_CAPABILITY_SET_POSITION_TARGET_LOCAL_NED
        | mavlink.MAV_PROTOCOL_CAPABILITY_SET_POSITION_TARGET_GLOBAL_INT | mavlink.MAV_PROTOCOL_CAPABILITY_MAVLINK2
        | mavlink.MAV_PROTOCOL_CAPABILITY_MISSION_FENCE
    )  # fmt: skip
    able |= mavlink.MAV_PROTOCOL_CAPABILITY_FTP if of.has_files else 0
    able |= mavlink.MAV_PROTOCOL_CAPABILITY_COMPONENT_IMPLEMENTS_GIMBAL_MANAGER if of.has_gimbals else 0
    release = 1 << 24 | 16 << 16 | 2 << 8 | 255
    none = [0] * 8
    return mavlink.MAVLink_autopilot_version_message(
        able, release, release, 0, 0, none, none, none, 0, 0, of.system.system_id
    )


def _battery(of: Telemetry) -> tuple[float | None, float | None, int]:
    battery = of.system.port.battery
    if battery.voltage <= 0.0:
        return None, None, -1
    return battery.voltage, battery.current, round(100 * battery.state_of_charge)
