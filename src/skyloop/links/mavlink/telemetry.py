"""Telemetry: one function builds each message. The default rates are in `telemetry_table`.

A function returns None if there is no data, as PX4 does not send a position that it does not know."""

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
from skyloop.links.mavlink.dialect import MavMessage, mavlink
from skyloop.links.mavlink.modes import Modes
from skyloop.links.mavlink.system import System
from skyloop.links.mavlink.wire import E7, heading_from_yaw
from skyloop_client.messages import Goal, Message, Position
from skyloop_client.streams import NS_PER_S, StreamInfo

UNKNOWN_16 = 65535
FRESH_S = 1.0
"""s after which a sensor's sample is out of date."""
NAN = math.nan
Builder = Callable[["Telemetry"], MavMessage]


class Telemetry:
    """Builds messages of one vehicle from its current state."""

    def __init__(self, system: System, modes: Modes, *, has_files: bool = False, has_gimbals: bool = False) -> None:
        self.system = system
        self.has_files, self.has_gimbals = has_files, has_gimbals
        self.modes = modes
        infos = system.bus.infos.values()
        self._streams: dict[str, StreamInfo] = {}
        """The first stream of each record class that the vehicle measures."""
        for info in infos:
            if info.vehicle == system.port.name and not info.name.startswith("truth/"):
                self._streams.setdefault(info.message, info)

    @property
    def us(self) -> int:
        return self.system.now_ns // 1000

    def sample(self, record: str) -> tuple[StreamInfo, Any] | None:
        """The newest sample of a record class, or None if there is no sensor or it has stopped."""
        info = self._streams.get(record)
        newest: Message | None = None if info is None else self.system.bus.newest(info.name)
        if info is None or newest is None or self.system.now_ns - newest.t_ns > FRESH_S * NS_PER_S:
            return None
        return info, newest.data

    def has(self, record: str) -> bool:
        return record in self._streams


def attitude(of: Telemetry) -> MavMessage:
    state = of.system.state
    # FLU roll equals FRD roll; pitch and yaw change sign, and north is a quarter turn from east
    roll, pitch, yaw = euler_from_quat(state.quat_wxyz)
    rates = frd_from_flu(state.angular_velocity_body)
    return mavlink.MAVLink_attitude_message(of.system.ms, roll, -pitch, heading_from_yaw(float(yaw)), *rates)


def attitude_quaternion(of: Telemetry) -> MavMessage:
    state = of.system.state
    quat = quat_ned_frd_from_enu_flu(state.quat_wxyz)
    quat = -quat if quat[0] < 0.0 else quat
    return mavlink.MAVLink_attitude_quaternion_message(of.system.ms, *quat, *frd_from_flu(state.angular_velocity_body))


def local_position_ned(of: Telemetry) -> MavMessage:
    system = of.system
    if not system.port.knows_where:
        return None
    position, speed = system.geography.local_ned(system.state.position), ned_from_enu(system.state.velocity_world)
    return mavlink.MAVLink_local_position_ned_message(of.system.ms, *position, *speed)


def global_position_int(of: Telemetry) -> MavMessage:
    system = of.system
    if not system.port.knows_where:
        return None
    latitude, longitude, altitude = system.geography.global_int(system.state.position)
    velocity = [clamp(round(100 * v), 32767) for v in ned_from_enu(system.state.velocity_world)]
    return mavlink.MAVLink_global_position_int_message(
        of.system.ms, latitude, longitude, round(1000 * altitude), round(1000 * (altitude - system.home_altitude)),
        *velocity, compass_cdeg(system.yaw),
    )  # fmt: skip


def gps_raw_int(of: Telemetry) -> MavMessage:
    system = of.system
    found = of.sample("GnssFix")
    if found is None and of.has("GnssFix"):
        unknown = (UNKNOWN_16,) * 4
        return mavlink.MAVLink_gps_raw_int_message(of.us, mavlink.GPS_FIX_TYPE_NO_FIX, 0, 0, 0, *unknown, 0)
    if found is None:
        # it flies on truth without a receiver: report the best fix
        latitude, longitude, altitude = system.geography.global_int(system.state.position)
        speed, satellites, kind = system.state.velocity_world, 20, 3
        eph, epv, h_acc, v_acc, s_acc = 0.5, 0.5, 0.0, 0.0, 0.0
    else:
        fix = found[1]
        latitude, longitude = round(fix.latitude_deg * E7), round(fix.longitude_deg * E7)
        altitude, speed, satellites, kind = fix.altitude, fix.velocity_enu, fix.satellites, fix_type(of)
        eph, epv, h_acc, v_acc, s_acc = fix.hdop, fix.vdop, fix.horizontal_sd, fix.vertical_sd, fix.speed_sd
    course = math.atan2(speed[1], speed[0])
    small = [unsigned(100 * value) for value in (eph, epv, float(np.hypot(speed[0], speed[1])))]
    large = [round(min(1000 * value, 4e9)) for value in (h_acc, v_acc, s_acc)]
    return mavlink.MAVLink_gps_raw_int_message(
        of.us, kind, latitude, longitude, round(1000 * altitude), *small, compass_cdeg(course), satellites,
        round(1000 * altitude), *large,
    )  # fmt: skip


def vfr_hud(of: Telemetry) -> MavMessage:
    system = of.system
    if not system.port.knows_where:
        return None
    velocity = system.state.velocity_world
    ground = float(np.hypot(velocity[0], velocity[1]))
    thrust = system.port.thrust_wanted / system.port.geometry.max_thrust
    throttle = round(100 * min(max(thrust, 0.0), 1.0)) if system.port.status.armed else 0
    above_sea = system.geography.global_int(system.state.position)[2]
    return mavlink.MAVLink_vfr_hud_message(
        ground, ground, compass_cdeg(system.yaw) // 100, throttle, above_sea, velocity[2]
    )


def altitude(of: Telemetry) -> MavMessage:
    system = of.system
    if not system.port.knows_where:
        return None
    above_sea = system.geography.global_int(system.state.position)[2]
    up = -system.geography.local_ned(system.state.position)[2]
    found = of.sample("RangeSample")
    looks_down = found is not None and rotate(found[0].mount.quat_wxyz, np.array([1.0, 0.0, 0.0]))[2] < -0.9
    clearance = found[1].distance if found is not None and looks_down and math.isfinite(found[1].distance) else NAN
    return mavlink.MAVLink_altitude_message(
        of.us, above_sea, above_sea, up, above_sea - system.home_altitude, NAN, clearance
    )


def home_position(of: Telemetry) -> MavMessage:
    system = of.system
    if system.home is None:
        return None
    latitude, longitude, above_sea = system.geography.global_int(system.home)
    return mavlink.MAVLink_home_position_message(
        latitude, longitude, round(1000 * above_sea), *system.geography.local_ned(system.home),
        [1.0, 0.0, 0.0, 0.0], 0.0, 0.0, 0.0, of.us,
    )  # fmt: skip


def gps_global_origin(of: Telemetry) -> MavMessage:
    latitude, longitude, above_sea = of.system.geography.global_int(of.system.geography.origin)
    return mavlink.MAVLink_gps_global_origin_message(latitude, longitude, round(1000 * above_sea), of.us)


def highres_imu(of: Telemetry) -> MavMessage:
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


def scaled_pressure(of: Telemetry) -> MavMessage:
    found = of.sample("BarometerSample")
    if found is None:
        return None
    centigrade = round(100 * (found[1].temperature - 273.15))
    return mavlink.MAVLink_scaled_pressure_message(of.system.ms, found[1].pressure / 100, 0.0, centigrade)


def odometry(of: Telemetry) -> MavMessage:
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


def position_target_local_ned(of: Telemetry) -> MavMessage:
    system = of.system
    target = system.port.setpoint
    if not isinstance(target, Position | Goal):
        return None
    velocity = ned_from_enu(target.velocity) if isinstance(target, Position) else np.zeros(3)
    yaw = system.yaw if target.yaw is None else target.yaw
    return mavlink.MAVLink_position_target_local_ned_message(
        of.system.ms, mavlink.MAV_FRAME_LOCAL_NED, 0x1C0, *system.geography.local_ned(target.position), *velocity,
        0.0, 0.0, 0.0, heading_from_yaw(yaw), 0.0,
    )  # fmt: skip


def fix_type(of: Telemetry) -> int:
    """In MAVLink 1 means a receiver without a fix."""
    found = of.sample("GnssFix")
    return 1 if found is None else max(1, int(found[1].fix_type))


def compass_cdeg(yaw: float) -> int:
    return round(math.degrees(heading_from_yaw(yaw)) * 100) % 36000


def clamp(value: int, most: int) -> int:
    return max(-most, min(most, value))


def unsigned(value: float) -> int:
    return round(min(max(value, 0.0), 65534.0)) if math.isfinite(value) else UNKNOWN_16
