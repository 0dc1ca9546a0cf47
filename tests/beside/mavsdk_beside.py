"""Flies a mission with MAVSDK, step by step: prints a line of JSON, waits for a line, goes on."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from mavsdk.plugins.action import Action
from mavsdk.plugins.mission import Mission, MissionItem, MissionPlan
from mavsdk.plugins.telemetry import Telemetry

sys.path.append(sys.argv[2])
from mavsdk_flight import connected, place, until


def step(**found: Any) -> None:
    print(json.dumps(found), flush=True)
    sys.stdin.readline()


def still(telemetry: Telemetry) -> None:
    def rests() -> bool:
        velocity = telemetry.position_velocity_ned().velocity
        return max(abs(velocity.north_m_s), abs(velocity.east_m_s), abs(velocity.down_m_s)) < 0.03

    until(rests, "at rest")


system = connected(sys.argv[1])
telemetry, action, missions = Telemetry(system), Action(system), Mission(system)
until(telemetry.health_all_ok, "healthy")
action.set_takeoff_altitude(3.0)
action.arm()
action.takeoff()
until(lambda: telemetry.flight_mode().name == "HOLD" and telemetry.in_air(), "in hold")
still(telemetry)
step(at=place(telemetry))

home = telemetry.home()
items = [
    MissionItem(home.latitude_deg + north, home.longitude_deg + east, up, 4.0, fly_through, acceptance_radius_m=0.5)
    for north, east, up, fly_through in ((1e-4, 0.0, 4.0, True), (1e-4, -1e-4, 5.0, False))
]
missions.set_return_to_launch_after_mission(False)
missions.upload_mission(MissionPlan(items))
missions.start_mission()
until(lambda: place(telemetry)[0] > 3.0, "on its way")
step(mode=telemetry.flight_mode().name)
until(lambda: telemetry.flight_mode().name == "HOLD", "relieved")
step(mode=telemetry.flight_mode().name)
missions.start_mission()
until(lambda: missions.is_mission_finished(), "finished the mission")
still(telemetry)
step(at=place(telemetry))
# the watcher has been killed by now
action.return_to_launch()
time.sleep(0.2)
until(lambda: not telemetry.armed(), "disarmed")
print(json.dumps({"at": place(telemetry)}), flush=True)
