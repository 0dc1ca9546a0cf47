"""A client we did not write: MAVSDK, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from mavlink_stage import Stage, staged

pytest.importorskip("mavsdk")
SCRIPT = Path(__file__).parent / "mavsdk_flight.py"


def flown(stage: Stage, address: str) -> dict[str, object]:
    done = subprocess.run([sys.executable, str(SCRIPT), address], timeout=120, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("way", ["tcp", pytest.param("udp", marks=pytest.mark.slow)])
def test_mavsdk_flies_it(way: str) -> None:
    """Parameters, arm, take-off, offboard, mission up and down, return."""
    with staged(pace=6.0) as stage:
        ports = stage.ports[0]
        address = {"tcp": f"tcpout://127.0.0.1:{ports['tcp']}", "udp": f"udpout://127.0.0.1:{ports['companion']}"}[way]
        found = flown(stage, address)
    assert found["autopilot"] == "PX4" and found["version"] == [1, 16]
    assert (found["cruise"], found["fence_action"]) == (6.5, 3)
    assert found["parameters"] == len(stage.link.vehicles[0].parameters.table)
    assert found["in_air"] is True and found["offboard_mode"] == "OFFBOARD"
    north, east = found["moved_right"]  # type: ignore[misc]
    assert north == pytest.approx(-3.4, abs=0.8) and east == pytest.approx(north * 0.577, abs=0.5)
    assert found["downloaded"] == [[pytest.approx(1e-4, abs=1e-9), 5.0], [pytest.approx(1e-4, abs=1e-9), 7.0]]
    assert found["progress"] == [2, 2]
    # 1e-4 and 2e-4 degrees are 11.1 and 15.0 m here
    assert found["mission_end"] == pytest.approx([11.1, 15.0, -7.0], abs=1.2)
    assert found["end"] == pytest.approx([0.0, 0.0, 0.0], abs=0.7)
    assert stage.position[2] < 0.4
