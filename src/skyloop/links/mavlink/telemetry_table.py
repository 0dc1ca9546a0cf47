"""Every telemetry message and its default rate."""

from __future__ import annotations

from skyloop.links.mavlink.dialect import mavlink
from skyloop.links.mavlink.status_telemetry import (
    autopilot_version,
    battery_status,
    current_mode,
    estimator_status,
    extended_sys_state,
    fence_status,
    heartbeat,
    mission_current,
    orbit_execution_status,
    sys_status,
    system_time,
)
from skyloop.links.mavlink.telemetry import (
    Builder,
    altitude,
    attitude,
    attitude_quaternion,
    global_position_int,
    gps_global_origin,
    gps_raw_int,
    highres_imu,
    home_position,
    local_position_ned,
    odometry,
    position_target_local_ned,
    scaled_pressure,
    vfr_hud,
)
from skyloop_client.streams import NS_PER_S

TELEMETRY: dict[Builder, float] = {
    heartbeat: 1.0, sys_status: 1.0, extended_sys_state: 2.0, attitude: 20.0, attitude_quaternion: 10.0,
    local_position_ned: 10.0, global_position_int: 5.0, gps_raw_int: 2.0, battery_status: 0.5, vfr_hud: 4.0,
    altitude: 2.0, home_position: 0.5, mission_current: 1.0, estimator_status: 0.5, system_time: 1.0,
    position_target_local_ned: 2.0, current_mode: 0.5, orbit_execution_status: 2.0,
    gps_global_origin: 0.0, highres_imu: 0.0, scaled_pressure: 0.0, odometry: 0.0,
    fence_status: 0.0, autopilot_version: 0.0,
}  # fmt: skip
"""Default rate in Hz. 0: on request only."""


def message_id(builder: Builder) -> int:
    return int(getattr(mavlink, f"MAVLINK_MSG_ID_{builder.__name__.upper()}"))


BUILDERS: dict[int, Builder] = {message_id(builder): builder for builder in TELEMETRY}
DEFAULTS_NS: dict[int, int] = {message_id(builder): round(NS_PER_S / hz) for builder, hz in TELEMETRY.items() if hz}
