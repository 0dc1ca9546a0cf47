"""A client we did not write: MAVSDK, in a process of its own."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mavlink_setup import PLAIN, SENSORS, staged

pytestmark = pytest.mark.processes

FOLDER = Path(__file__).parent


def flown(script: str, *arguments: str) -> dict[str, Any]:
    command = [sys.executable, str(FOLDER / script), *arguments]
    done = subprocess.run(command, timeout=180, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "way", ["tcp", pytest.param("udp", marks=pytest.mark.slow("the same flight over another transport"))]
)
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


@pytest.mark.slow("a long tour with MAVSDK")
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


@pytest.mark.slow("a long flight with cameras")
@pytest.mark.renders
def test_mavsdk_uses_cameras_gimbals_orbits_and_files(tmp_path: Path) -> None:
    camera = {"kind": "camera", "width": 64, "height": 48, "rate_hz": 10, "gimbal": "roll-pitch"}
    vehicle = {**PLAIN["vehicles"][0], "sensors": {**SENSORS, "camera": camera}}  # type: ignore[index]
    run, client = tmp_path / "run", tmp_path / "client"
    run.mkdir()
    client.mkdir()
    with staged({**PLAIN, "vehicles": [vehicle]}, pace=4.0, folder=run) as stage:
        found = flown("mavsdk_payload.py", f"tcpout://127.0.0.1:{stage.ports[0]['tcp']}", str(client))
    assert "INVALID" in found["far"].upper()
    assert found["camera"] == ["skyloop", 64, 48]
    assert found["picture"][:2] == [0, True] and (run / found["picture"][2]).is_file()
    assert found["video"].startswith("http://127.0.0.1:")
    assert found["gimbal_yaw"] == pytest.approx(25.0, abs=1.0)
    assert found["orbit_height"] == pytest.approx(5.0, abs=0.6)
    assert found["follow"][0] == "FOLLOW_ME"
    assert found["follow"][1] == pytest.approx([18.2, 0.0, -8.0], abs=3.0)
    assert found["fix"] in ("NO_GPS", "NO_FIX")
    assert found["end"] == pytest.approx([0.0, 0.0, 0.0], abs=0.3)
    count, got, size = found["log"]
    assert count == 1 and got == size > 1000 and found["same"]
