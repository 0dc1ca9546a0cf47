"""Flies with MAVSDK; started by a test with an address, prints what it saw as JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from mavsdk import ComponentType, Configuration, Mavsdk
from mavsdk.plugins.action import Action
from mavsdk.plugins.info import Info
from mavsdk.plugins.mission import Mission, MissionItem, MissionPlan
from mavsdk.plugins.offboard import Offboard, PositionNedYaw, VelocityBodyYawspeed
from mavsdk.plugins.param import Param
from mavsdk.plugins.telemetry import Telemetry

PATIENCE_S = 30.0
found: dict[str, Any] = {}


LIBRARY = Mavsdk(Configuration.create_with_component_type(ComponentType.GROUND_STATION))
"""Its systems end with it."""


def connected(address: str) -> Any:
    LIBRARY.add_any_connection(address)
    system = LIBRARY.first_autopilot(PATIENCE_S)
    if system is None:
        raise TimeoutError("no autopilot")
    return system


def until(test: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not test():
        if time.monotonic() > end:
            raise TimeoutError(f"never {what}; so far {found}")
        time.sleep(0.05)


def place(telemetry: Telemetry) -> tuple[float, float, float]:
    position = telemetry.position_velocity_ned().position
    return position.north_m, position.east_m, position.down_m


def near(telemetry: Telemetry, north: float, east: float, down: float, within: float = 0.6) -> bool:
    at = place(telemetry)
    return max(abs(at[0] - north), abs(at[1] - east), abs(at[2] - down)) < within


def parameters(param: Param) -> None:
    param.set_param_float("MPC_XY_CRUISE", 6.5)
    found["cruise"] = param.get_param_float("MPC_XY_CRUISE")
    param.set_param_int("GF_ACTION", 3)
    found["fence_action"] = param.get_param_int("GF_ACTION")
    everything = param.get_all_params()
    found["parameters"] = len(everything.int_params) + len(everything.float_params)
    param.set_param_float("COM_OF_LOSS_T", 5.0)


def take_off(action: Action, telemetry: Telemetry) -> None:
    until(telemetry.health_all_ok, "healthy")
    action.set_takeoff_altitude(4.0)
    action.arm()
    action.takeoff()
    until(lambda: telemetry.position().relative_altitude_m > 3.6, "high")
    until(lambda: telemetry.flight_mode().name == "HOLD", "in hold")
    found["in_air"] = telemetry.in_air()


def offboard(pilot: Offboard, telemetry: Telemetry) -> None:
    pilot.set_position_ned(PositionNedYaw(5.0, -3.0, -6.0, 120.0))
    pilot.start()
    until(lambda: near(telemetry, 5.0, -3.0, -6.0), "at the offboard position")
    found["offboard_mode"] = telemetry.flight_mode().name
    until(lambda: abs(telemetry.heading().heading_deg - 120.0) < 5.0, "turned")
    before = place(telemetry)
    # heading 120°: to its right is 210°, south-west
    pilot.set_velocity_body(VelocityBodyYawspeed(0.0, 2.0, 0.0, 0.0))
    until(lambda: abs(place(telemetry)[0] - before[0]) > 3.0, "moved")
    after = place(telemetry)
    found["moved_right"] = [after[0] - before[0], after[1] - before[1]]
    pilot.stop()


def mission(missions: Mission, telemetry: Telemetry) -> None:
    home = telemetry.home()
    items = [
        MissionItem(home.latitude_deg + 1e-4, home.longitude_deg, 5.0, 5.0, True, acceptance_radius_m=1.0),
        MissionItem(home.latitude_deg + 1e-4, home.longitude_deg + 2e-4, 7.0, 8.0, False, acceptance_radius_m=1.0),
    ]
    missions.set_return_to_launch_after_mission(False)
    missions.upload_mission(MissionPlan(items))
    back = missions.download_mission().mission_items
    found["downloaded"] = [[item.latitude_deg - home.latitude_deg, item.relative_altitude_m] for item in back]
    missions.start_mission()
    until(lambda: missions.is_mission_finished(), "finished the mission")
    found["mission_end"] = place(telemetry)
    found["progress"] = [missions.mission_progress().current, missions.mission_progress().total]


def main(address: str) -> None:
    system = connected(address)
    found["autopilot"] = system.autopilot_type().name
    telemetry, action = Telemetry(system), Action(system)
    version = Info(system).get_version()
    found["version"] = [version.flight_sw_major, version.flight_sw_minor]
    parameters(Param(system))
    take_off(action, telemetry)
    offboard(Offboard(system), telemetry)
    mission(Mission(system), telemetry)
    action.return_to_launch()
    until(lambda: telemetry.flight_mode().name == "RETURN_TO_LAUNCH", "returning")
    until(lambda: not telemetry.armed(), "disarmed")
    found["end"] = place(telemetry)


if __name__ == "__main__":
    main(sys.argv[1])
    print(json.dumps(found))
