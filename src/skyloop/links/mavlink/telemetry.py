"""What a vehicle tells of itself: one function for each message, and how often each is sent unless a client asks.

A function answers None where there is nothing to tell, as PX4 keeps silent of a position it does not know.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from skyloop.core.frames import (
    euler_from_quat,
    frd_from_flu,
    ned_from_enu,
    quat_ned_frd_from_enu_flu,
    rotate,
    rotate_inverse,
)
from skyloop.links.mavlink.dialect import mavlink
from skyloop.links.mavlink.modes import Modes
from skyloop.links.mavlink.system import System
from skyloop.links.mavlink.wire import E7, custom_mode, heading_from_yaw
from skyloop_client.messages import Goal, Message, Position
from skyloop_client.streams import NS_PER_S, StreamInfo

UNKNOWN_16 = 65535
FRESH_S = 1.0
"""s after which a sensor's sample is out of date."""
NAN = math.nan
TYPES = {3: mavlink.MAV_TYPE_TRICOPTER, 6: mavlink.MAV_TYPE_HEXAROTOR, 8: mavlink.MAV_TYPE_OCTOROTOR}
"""By the number of rotors."""
Builder = Callable[["Telemetry"], Any]


class Telemetry:
    """Builds messages of one vehicle from what it believes now."""

    def __init__(self, system: System, modes: Modes) -> None:
        self.system = system
        self.modes = modes
        infos = system.bus.infos.values()
        self._streams: dict[str, StreamInfo] = {}
        """The first stream of each record class that the vehicle measures."""
        for info in infos:
            if info.vehicle == system.port.name and not info.name.startswith("truth/"):
                self._streams.setdefault(info.message, info)

    @property
    def ms(self) -> int:
        """Since boot."""
        return self.system.now_ns // 1_000_000 % (1 << 32)

    @property
    def us(self) -> int:
        return self.system.now_ns // 1000

    def sample(self, record: str) -> tuple[StreamInfo, Any] | None:
        """The newest sample of a record class, if there is a sensor and it still speaks."""
        info = self._streams.get(record)
        newest: Message | None = None if info is None else self.system.bus.newest(info.name)
        if info is None or newest is None or self.system.now_ns - newest.t_ns > FRESH_S * NS_PER_S:
            return None
        return info, newest.data

    def has(self, record: str) -> bool:
        return record in self._streams


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
    if of.has("GnssFix") and _fix_type(of) < 3:
        health &= ~mavlink.MAV_SYS_STATUS_SENSOR_GPS
    if of.modes.breach:
        health &= ~mavlink.MAV_SYS_STATUS_GEOFENCE
    volt, ampere, percent = _battery(of)
    return mavlink.MAVLink_sys_status_message(
        present, present, health, 0, _unsigned(math.nan if volt is None else 1000 * volt),
        -1 if ampere is None else _clamp(round(100 * ampere), 32767), percent, 0, 0, 0, 0, 0, 0,
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


def attitude(of: Telemetry) -> Any:
    state = of.system.state
    # FLU roll is FRD roll; pitch and yaw turn the other way, and north is a quarter turn from east
    roll, pitch, yaw = euler_from_quat(state.quat_wxyz)
    rates = frd_from_flu(state.angular_velocity_body)
    return mavlink.MAVLink_attitude_message(of.ms, roll, -pitch, heading_from_yaw(float(yaw)), *rates)


def attitude_quaternion(of: Telemetry) -> Any:
    state = of.system.state
    quat = quat_ned_frd_from_enu_flu(state.quat_wxyz)
    quat = -quat if quat[0] < 0.0 else quat
    return mavlink.MAVLink_attitude_quaternion_message(of.ms, *quat, *frd_from_flu(state.angular_velocity_body))


def local_position_ned(of: Telemetry) -> Any:
    system = of.system
    if not system.port.knows_where:
        return None
    place, speed = system.geography.local_ned(system.state.position), ned_from_enu(system.state.velocity_world)
    return mavlink.MAVLink_local_position_ned_message(of.ms, *place, *speed)


def global_position_int(of: Telemetry) -> Any:
    system = of.system
    if not system.port.knows_where:
        return None
    latitude, longitude, altitude = system.geography.global_int(system.state.position)
    velocity = [_clamp(round(100 * v), 32767) for v in ned_from_enu(system.state.velocity_world)]
    return mavlink.MAVLink_global_position_int_message(
        of.ms, latitude, longitude, round(1000 * altitude), round(1000 * (altitude - system.home_altitude)), *velocity,
        _compass_cdeg(system.yaw),
    )  # fmt: skip


def gps_raw_int(of: Telemetry) -> Any:
    system = of.system
    found = of.sample("GnssFix")
    if found is None and of.has("GnssFix"):
        unknown = (UNKNOWN_16,) * 4
        return mavlink.MAVLink_gps_raw_int_message(of.us, mavlink.GPS_FIX_TYPE_NO_FIX, 0, 0, 0, *unknown, 0)
    if found is None:
        # it flies on truth without a receiver: as good a fix as there can be
        latitude, longitude, altitude = system.geography.global_int(system.state.position)
        speed, satellites, kind = system.state.velocity_world, 20, 3
        eph, epv, h_acc, v_acc, s_acc = 0.5, 0.5, 0.0, 0.0, 0.0
    else:
        fix = found[1]
        latitude, longitude = round(fix.latitude_deg * E7), round(fix.longitude_deg * E7)
        altitude, speed, satellites, kind = fix.altitude, fix.velocity_enu, fix.satellites, _fix_type(of)
        eph, epv, h_acc, v_acc, s_acc = fix.hdop, fix.vdop, fix.horizontal_sd, fix.vertical_sd, fix.speed_sd
    course = math.atan2(speed[1], speed[0])
    small = [_unsigned(100 * value) for value in (eph, epv, float(np.hypot(speed[0], speed[1])))]
    large = [round(min(1000 * value, 4e9)) for value in (h_acc, v_acc, s_acc)]
    return mavlink.MAVLink_gps_raw_int_message(
        of.us, kind, latitude, longitude, round(1000 * altitude), *small, _compass_cdeg(course), satellites,
        round(1000 * altitude), *large,
    )  # fmt: skip


def battery_status(of: Telemetry) -> Any:
    volt, ampere, percent = _battery(of)
    battery = of.system.port.battery
    volts = [_unsigned(math.nan if volt is None else 1000 * volt), *[UNKNOWN_16] * 9]
    return mavlink.MAVLink_battery_status_message(
        0, mavlink.MAV_BATTERY_FUNCTION_ALL, mavlink.MAV_BATTERY_TYPE_LIPO, 32767, volts,
        -1 if ampere is None else _clamp(round(100 * ampere), 32767), -1, round(battery.energy_used / 100), percent,
    )  # fmt: skip


def vfr_hud(of: Telemetry) -> Any:
    system = of.system
    if not system.port.knows_where:
        return None
    velocity = system.state.velocity_world
    ground = float(np.hypot(velocity[0], velocity[1]))
    thrust = system.port.thrust_wanted / system.port.geometry.max_thrust
    throttle = round(100 * min(max(thrust, 0.0), 1.0)) if system.port.status.armed else 0
    above_sea = system.geography.global_int(system.state.position)[2]
    return mavlink.MAVLink_vfr_hud_message(
        ground, ground, _compass_cdeg(system.yaw) // 100, throttle, above_sea, velocity[2]
    )


def altitude(of: Telemetry) -> Any:
    system = of.system
    if not system.port.knows_where:
        return None
    above_sea = system.geography.global_int(system.state.position)[2]
    up = -system.geography.local_ned(system.state.position)[2]
    found = of.sample("RangeSample")
    looks_down = found is not None and rotate(found[0].mount.quat_wxyz, np.array([1.0, 0.0, 0.0]))[2] < -0.9
    clearance = found[1].distance if found is not None and looks_down else NAN
    return mavlink.MAVLink_altitude_message(
        of.us, above_sea, above_sea, up, above_sea - system.home_altitude, NAN, clearance
    )


def home_position(of: Telemetry) -> Any:
    system = of.system
    if system.home is None:
        return None
    latitude, longitude, above_sea = system.geography.global_int(system.home)
    return mavlink.MAVLink_home_position_message(
        latitude, longitude, round(1000 * above_sea), *system.geography.local_ned(system.home),
        [1.0, 0.0, 0.0, 0.0], 0.0, 0.0, 0.0, of.us,
    )  # fmt: skip


def gps_global_origin(of: Telemetry) -> Any:
    latitude, longitude, above_sea = of.system.geography.global_int(of.system.geography.origin)
    return mavlink.MAVLink_gps_global_origin_message(latitude, longitude, round(1000 * above_sea), of.us)


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


def highres_imu(of: Telemetry) -> Any:
    found = of.sample("ImuSample")
    if found is None:
        return None
    info, imu = found
    turn = info.mount.quat_wxyz
    force, rates = (frd_from_flu(rotate(turn, v)) for v in (imu.specific_force, imu.angular_velocity))
    gauss, fields = np.zeros(3), 0x3F
    if (compass := of.sample("MagnetometerSample")) is not None:
        gauss, fields = frd_from_flu(rotate(compass[0].mount.quat_wxyz, compass[1].field_tesla)) * 1e4, fields | 0x1C0
    pressure = height = celsius = 0.0
    if (barometer := of.sample("BarometerSample")) is not None:
        sample = barometer[1]
        pressure, height, celsius = sample.pressure / 100, sample.altitude, sample.temperature - 273.15
        fields |= 0x1A00
    return mavlink.MAVLink_highres_imu_message(
        imu.t_ns // 1000, *force, *rates, *gauss, pressure, 0.0, height, celsius, fields
    )


def scaled_pressure(of: Telemetry) -> Any:
    found = of.sample("BarometerSample")
    if found is None:
        return None
    centigrade = round(100 * (found[1].temperature - 273.15))
    return mavlink.MAVLink_scaled_pressure_message(of.ms, found[1].pressure / 100, 0.0, centigrade)


def odometry(of: Telemetry) -> Any:
    system = of.system
    if not system.port.knows_where:
        return None
    state = system.state
    velocity = frd_from_flu(rotate_inverse(state.quat_wxyz, state.velocity_world))
    unknown = [NAN] * 21
    return mavlink.MAVLink_odometry_message(
        of.us, mavlink.MAV_FRAME_LOCAL_NED, mavlink.MAV_FRAME_BODY_FRD, *system.geography.local_ned(state.position),
        list(quat_ned_frd_from_enu_flu(state.quat_wxyz)), *velocity, *frd_from_flu(state.angular_velocity_body),
        unknown, unknown, 0, mavlink.MAV_ESTIMATOR_TYPE_AUTOPILOT,
    )  # fmt: skip


def position_target_local_ned(of: Telemetry) -> Any:
    system = of.system
    target = system.port.setpoint
    if not isinstance(target, Position | Goal):
        return None
    velocity = ned_from_enu(target.velocity) if isinstance(target, Position) else np.zeros(3)
    yaw = system.yaw if target.yaw is None else target.yaw
    return mavlink.MAVLink_position_target_local_ned_message(
        of.ms, mavlink.MAV_FRAME_LOCAL_NED, 0x1C0, *system.geography.local_ned(target.position), *velocity,
        0.0, 0.0, 0.0, heading_from_yaw(yaw), 0.0,
    )  # fmt: skip


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
    release = 1 << 24 | 16 << 16 | 2 << 8 | 255
    none = [0] * 8
    return mavlink.MAVLink_autopilot_version_message(
        able, release, release, 0, 0, none, none, none, 0, 0, of.system.system_id
    )


TELEMETRY: dict[Builder, float] = {
    heartbeat: 1.0, sys_status: 1.0, extended_sys_state: 2.0, attitude: 20.0, attitude_quaternion: 10.0,
    local_position_ned: 10.0, global_position_int: 5.0, gps_raw_int: 2.0, battery_status: 0.5, vfr_hud: 4.0,
    altitude: 2.0, home_position: 0.5, mission_current: 1.0, estimator_status: 0.5, system_time: 1.0,
    position_target_local_ned: 2.0, gps_global_origin: 0.0, highres_imu: 0.0, scaled_pressure: 0.0, odometry: 0.0,
    fence_status: 0.0, autopilot_version: 0.0,
}  # fmt: skip
"""Hz unless a client asks otherwise; 0: on request only."""


def message_id(builder: Builder) -> int:
    return int(getattr(mavlink, f"MAVLINK_MSG_ID_{builder.__name__.upper()}"))


BUILDERS: dict[int, Builder] = {message_id(builder): builder for builder in TELEMETRY}
DEFAULTS_NS: dict[int, int] = {message_id(builder): round(NS_PER_S / hz) for builder, hz in TELEMETRY.items() if hz}


def _battery(of: Telemetry) -> tuple[float | None, float | None, int]:
    battery = of.system.port.battery
    if battery.voltage <= 0.0:
        return None, None, -1
    return battery.voltage, battery.current, round(100 * battery.state_of_charge)


def _fix_type(of: Telemetry) -> int:
    """MAVLink has 1 for a receiver without a fix."""
    found = of.sample("GnssFix")
    return 1 if found is None else max(1, int(found[1].fix_type))


def _compass_cdeg(yaw: float) -> int:
    return round(math.degrees(heading_from_yaw(yaw)) * 100) % 36000


def _clamp(value: int, most: int) -> int:
    return max(-most, min(most, value))


def _unsigned(value: float) -> int:
    return round(min(max(value, 0.0), 65534.0)) if math.isfinite(value) else UNKNOWN_16
