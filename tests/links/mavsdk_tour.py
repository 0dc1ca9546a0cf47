"""The rest of what MAVSDK asks for: rates, goto, pause, geofence, sticks, attitude; prints what it saw as JSON."""

from __future__ import annotations

import json
import sys
import time

from mavsdk.plugins.action import Action
from mavsdk.plugins.geofence import Circle, FenceType, Geofence, GeofenceData, Point, Polygon
from mavsdk.plugins.manual_control import ManualControl
from mavsdk.plugins.mission import Mission, MissionItem, MissionPlan
from mavsdk.plugins.offboard import Attitude, Offboard, PositionGlobalYaw, VelocityNedYaw
from mavsdk.plugins.param import Param
from mavsdk.plugins.telemetry import Telemetry
from mavsdk_flight import PATIENCE_S, connected, found, near, place, until


def goto(action: Action, telemetry: Telemetry) -> None:
    home = telemetry.home()
    action.goto_location(home.latitude_deg + 1e-4, home.longitude_deg - 1e-4, home.absolute_altitude_m + 6.0, 45.0)
    until(lambda: near(telemetry, 11.1, -7.5, -6.0, 0.7), "at the place to go to")
    until(lambda: abs(telemetry.heading().heading_deg - 45.0) < 8.0, "turned")
    found["goto"] = place(telemetry)
    action.hold()
    found["hold"] = telemetry.flight_mode().name


def offboard(pilot: Offboard, telemetry: Telemetry, hover: float) -> None:
    home = telemetry.home()
    kind = PositionGlobalYaw.AltitudeType.REL_HOME
    pilot.set_position_global(PositionGlobalYaw(home.latitude_deg, home.longitude_deg, 8.0, 0.0, kind))
    pilot.start()
    until(lambda: near(telemetry, 0.0, 0.0, -8.0, 0.7), "at the global position")
    pilot.set_velocity_ned(VelocityNedYaw(0.0, 2.0, 0.0, 90.0))
    until(lambda: telemetry.velocity_ned().east_m_s > 1.7, "fast")
    found["velocity"] = [telemetry.velocity_ned().north_m_s, telemetry.velocity_ned().east_m_s]
    pilot.set_attitude(Attitude(0.0, -5.0, 0.0, hover))
    until(lambda: telemetry.velocity_ned().north_m_s > 0.7, "flying where its nose is down")
    found["tilt"] = telemetry.attitude_euler().pitch_deg
    pilot.stop()


def sticks(manual: ManualControl, telemetry: Telemetry) -> None:
    manual.set_manual_control_input(0.0, 0.0, 0.5, 0.0)
    manual.start_position_control()
    before = telemetry.position().relative_altitude_m
    end = time.monotonic() + PATIENCE_S
    while telemetry.position().relative_altitude_m < before + 1.5 and time.monotonic() < end:
        manual.set_manual_control_input(0.0, 0.0, 0.8, 0.0)
        time.sleep(0.02)
    found["climbed"] = telemetry.position().relative_altitude_m - before
    found["sticks_mode"] = telemetry.flight_mode().name


def mission(missions: Mission, telemetry: Telemetry) -> None:
    home = telemetry.home()
    item = MissionItem(
        home.latitude_deg + 3e-4, home.longitude_deg, 6.0, 3.0, False, gimbal_pitch_deg=-20.0, gimbal_yaw_deg=0.0,
        loiter_time_s=1.0, acceptance_radius_m=1.0, camera_action=MissionItem.CameraAction.TAKE_PHOTO,
    )  # fmt: skip
    missions.set_return_to_launch_after_mission(True)
    missions.upload_mission(MissionPlan([item]))
    missions.start_mission()
    until(lambda: place(telemetry)[0] > 5.0, "on its way")
    missions.pause_mission()
    until(lambda: abs(telemetry.velocity_ned().north_m_s) < 0.2, "paused")
    found["paused_at"] = place(telemetry)
    missions.start_mission()
    until(missions.is_mission_finished, "finished")


def main(address: str) -> None:
    system = connected(address)
    telemetry, action, param = Telemetry(system), Action(system), Param(system)
    telemetry.set_rate_attitude_euler(50.0)
    telemetry.set_rate_odometry(20.0)
    until(telemetry.health_all_ok, "healthy")
    param.set_param_float("COM_OF_LOSS_T", 5.0)
    corner = telemetry.home()
    around = [
        Point(corner.latitude_deg + dy, corner.longitude_deg + dx)
        for dy, dx in ((-1e-3, -1e-3), (-1e-3, 1e-3), (1e-3, 1e-3), (1e-3, -1e-3))
    ]
    fence = Geofence(system)
    circle = Circle(Point(corner.latitude_deg, corner.longitude_deg), 100.0, FenceType.INCLUSION)
    fence.upload_geofence(GeofenceData([Polygon(around, FenceType.INCLUSION)], [circle]))
    action.arm()
    action.takeoff()
    until(lambda: telemetry.flight_mode().name == "HOLD" and telemetry.in_air(), "in the air")
    found["height"] = telemetry.position().relative_altitude_m
    found["odometry"] = telemetry.odometry().position_body.z_m
    found["battery"] = telemetry.battery().remaining_percent
    goto(action, telemetry)
    offboard(Offboard(system), telemetry, param.get_param_float("MPC_THR_HOVER"))
    sticks(ManualControl(system), telemetry)
    mission(Mission(system), telemetry)
    until(lambda: not telemetry.armed(), "home and disarmed")
    found["end"] = place(telemetry)
    fence.clear_geofence()
    action.arm()
    action.disarm()
    found["armed"] = telemetry.armed()


if __name__ == "__main__":
    main(sys.argv[1])
    print(json.dumps(found))
