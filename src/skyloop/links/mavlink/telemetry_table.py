"""Telemetry of modes, health and battery, and every telemetry message with its default rate."""

from __future__ import annotations

import math

import numpy as np

from skyloop.links.mavlink.dialect import MavMessage, mavlink
from skyloop.links.mavlink.telemetry import (
    UNKNOWN_16,
    Builder,
    Telemetry,
    altitude,
    attitude,
    attitude_quaternion,
    clamp,
    fix_type,
    global_position_int,
    gps_global_origin,
    gps_raw_int,
    highres_imu,
    home_position,
    local_position_ned,
    odometry,
    position_target_local_ned,
    scaled_pressure,
    unsigned,
    vfr_hud,
)
from skyloop.links.mavlink.wire import STANDARD_MODES, custom_mode
from skyloop_client.messages import Estimate
from skyloop_client.streams import NS_PER_S

TYPES = {3: mavlink.MAV_TYPE_TRICOPTER, 6: mavlink.MAV_TYPE_HEXAROTOR, 8: mavlink.MAV_TYPE_OCTOROTOR}
"""By number of rotors."""


def heartbeat(of: Telemetry) -> MavMessage:
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


def sys_status(of: Telemetry) -> MavMessage:
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


def extended_sys_state(of: Telemetry) -> MavMessage:
    status = of.system.port.status
    landed = mavlink.MAV_LANDED_STATE_IN_AIR
    if status.landed:
        landed = mavlink.MAV_LANDED_STATE_ON_GROUND
    elif status.mode == "takeoff":
        landed = mavlink.MAV_LANDED_STATE_TAKEOFF
    elif status.mode == "land":
        landed = mavlink.MAV_LANDED_STATE_LANDING
    return mavlink.MAVLink_extended_sys_state_message(mavlink.MAV_VTOL_STATE_UNDEFINED, landed)


def battery_status(of: Telemetry) -> MavMessage:
    volt, ampere, percent = _battery(of)
    battery = of.system.port.battery
    volts = [unsigned(math.nan if volt is None else 1000 * volt), *[UNKNOWN_16] * 9]
    return mavlink.MAVLink_battery_status_message(
        0, mavlink.MAV_BATTERY_FUNCTION_ALL, mavlink.MAV_BATTERY_TYPE_LIPO, 32767, volts,
        -1 if ampere is None else clamp(round(100 * ampere), 32767), -1, round(battery.energy_used / 100), percent,
    )  # fmt: skip


def mission_current(of: Telemetry) -> MavMessage:
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


def estimator_status(of: Telemetry) -> MavMessage:
    system = of.system
    is_valid = system.port.knows_where
    flags = mavlink.ESTIMATOR_ATTITUDE if is_valid else 0
    flags |= 0x0FFE & ~mavlink.ESTIMATOR_CONST_POS_MODE & ~mavlink.ESTIMATOR_GPS_GLITCH if is_valid else 0
    sd = system.state.position_sd if isinstance(system.state, Estimate) else np.zeros(3)
    return mavlink.MAVLink_estimator_status_message(
        of.us, flags, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, float(np.hypot(sd[0], sd[1])), float(sd[2])
    )


def current_mode(of: Telemetry) -> MavMessage:
    shown, chosen = of.modes.shown, of.modes.chosen
    standard = STANDARD_MODES.get(shown, mavlink.MAV_STANDARD_MODE_NON_STANDARD)
    return mavlink.MAVLink_current_mode_message(standard, custom_mode(shown), custom_mode(chosen))


def orbit_execution_status(of: Telemetry) -> MavMessage:
    orbit = of.modes.orbit
    if orbit is None:
        return None
    latitude, longitude, above_sea = of.system.geography.global_int(orbit.centre)
    frame = mavlink.MAV_FRAME_GLOBAL_INT
    return mavlink.MAVLink_orbit_execution_status_message(of.us, orbit.radius, frame, latitude, longitude, above_sea)


def system_time(of: Telemetry) -> MavMessage:
    return mavlink.MAVLink_system_time_message(0, of.system.ms)


def fence_status(of: Telemetry) -> MavMessage:
    breach = mavlink.FENCE_BREACH_BOUNDARY if of.modes.breach else mavlink.FENCE_BREACH_NONE
    return mavlink.MAVLink_fence_status_message(bool(of.modes.breach), of.modes.breaches, breach, of.system.ms)


def autopilot_version(of: Telemetry) -> MavMessage:
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


# ---- the table


TELEMETRY: dict[Builder, float] = {
    heartbeat: 1.0, sys_status: 1.0, extended_sys_state: 2.0, attitude: 20.0, attitude_quaternion: 10.0,
    local_position_ned: 10.0, global_position_int: 5.0, gps_raw_int: 2.0, battery_status: 0.5, vfr_hud: 4.0,
    altitude: 2.0, home_position: 0.5, mission_current: 1.0, estimator_status: 0.5, system_time: 1.0,
    position_target_local_ned: 2.0, current_mode: 0.5, orbit_execution_status: 2.0,
    gps_global_origin: 0.0, highres_imu: 0.0, scaled_pressure: 0.0, odometry: 0.0,
    fence_status: 0.0, autopilot_version: 0.0,
}  # fmt: skip
"""Default rate in Hz. 0: on request only."""


IDS: dict[str, int] = {message.msgname: number for number, message in mavlink.mavlink_map.items()}


def message_id(builder: Builder) -> int:
    return IDS[builder.__name__.upper()]


BUILDERS: dict[int, Builder] = {message_id(builder): builder for builder in TELEMETRY}
DEFAULTS_NS: dict[int, int] = {message_id(builder): round(NS_PER_S / hz) for builder, hz in TELEMETRY.items() if hz}
