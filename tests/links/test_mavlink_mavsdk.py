"""A client we did not write: MAVSDK, in a process of its own."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mavlink_setup import staged

FOLDER = Path(__file__).parent


def flown(script: str, address: str) -> dict[str, Any]:
    done = subprocess.run([sys.executable, str(FOLDER / script), address], timeout=120, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("way", ["tcp", pytest.param("udp", marks=pytest.mark.slow)])
def test_mavsdk_flies_it(way: str) -> None:
    """Parameters, arm, take-off, offboard, mission up and down, return."""
    with staged(pace=6.0) as stage:
        ports = stage.ports[0]
        address = {"tcp": f"tcpout://127.0.0.1:{ports['tcp']}", "udp": f"udpout://127.0.0.1:{ports['companion']}"}[way]
        found = flown("mavsdk_flight.py", address)
    assert found["autopilot"] == "PX4" and found["version"] == [1, 16]
    assert (found["cruise"], found["fence_action"]) == (6.5, 3)
    assert found["parameters"] == len(stage.link.vehicles[0].parameters.table)
    assert found["in_air"] is True and found["offboard_mode"] == "OFFBOARD"
    north, east = found["moved_right"]
    # how far depends on when the client looked; where to does not
    assert north < -2.9 and east == pytest.approx(north * math.tan(math.radians(30.0)), abs=0.2 * abs(north))
    assert found["downloaded"] == [[pytest.approx(1e-4, abs=1e-9), 5.0], [pytest.approx(1e-4, abs=1e-9), 7.0]]
    assert found["progress"] == [2, 2]
    # 1e-4 and 2e-4 degrees are 11.1 and 15.0 m here
    assert found["mission_end"] == pytest.approx([11.1, 15.0, -7.0], abs=1.2)
    assert found["end"] == pytest.approx([0.0, 0.0, 0.0], abs=0.7)
    assert stage.position[2] < 0.4


@pytest.mark.slow
def test_mavsdk_tours_the_rest() -> None:
    """Rates, goto, hold, global and attitude setpoints, sticks, pause, gimbal and camera items, geofence."""
    with staged(pace=5.0) as stage:
        found = flown("mavsdk_tour.py", f"tcpout://127.0.0.1:{stage.ports[0]['tcp']}")
        plans = stage.link.vehicles[0].missions.plans
    assert found["height"] == pytest.approx(2.5, abs=0.4) and found["odometry"] == pytest.approx(-2.5, abs=0.5)
    assert found["hold"] == "HOLD" and found["sticks_mode"] == "POSCTL"
    assert found["goto"] == pytest.approx([11.1, -7.5, -6.0], abs=0.8)
    assert abs(found["velocity"][0]) < 0.6 and found["velocity"][1] > 1.7
    assert found["tilt"] == pytest.approx(-5.0, abs=2.0)
    assert found["climbed"] > 1.4 and 0 < found["battery"] <= 100
    assert 5.0 < found["paused_at"][0] < 32.0
    assert found["end"] == pytest.approx([0.0, 0.0, 0.0], abs=0.8)
    assert found["armed"] is False
    assert not plans[1]
