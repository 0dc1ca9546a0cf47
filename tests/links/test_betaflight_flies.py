"""The real Betaflight: up to 2 m, 5 m in a commanded direction, 90 degrees the commanded way, and down, ten times."""

from __future__ import annotations

import fcntl
import math
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skyloop.core.frames import yaw_from_quat
from skyloop.links.autopilots.configs import BetaflightConfig
from skyloop.links.autopilots.launching import betaflight_program
from skyloop.links.autopilots.rc_pilot import Leg, RcPilot
from skyloop.run import run_scenario
from skyloop.sim.scenario import make_scenario
from skyloop_client.messages import VehicleState

pytestmark = pytest.mark.slow("the real firmware flies at half the wall clock's pace")

PACE = 0.5
"""Its clock follows the wall's: at half pace a busy machine still flies it well."""


@pytest.fixture
def program() -> Iterator[Path]:
    """One at a time, whoever else runs tests: its ports cannot be changed."""
    found = betaflight_program()
    with (found.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield found


class Watched(RcPilot):
    """Notes where the vehicle is just before each leg begins."""

    def __init__(self, legs: list[Leg]) -> None:
        super().__init__(legs)
        self.seen: dict[float, VehicleState] = {}
        self.stood: VehicleState | None = None
        self.last: VehicleState | None = None

    def __call__(self, t_s: float, truth: VehicleState) -> list[int]:
        self.stood = self.stood or truth
        self.last = truth
        for leg in self.legs:
            if self.armed_at is not None and t_s - self.armed_at < leg.start:
                self.seen[leg.start] = truth
        return super().__call__(t_s, truth)


@pytest.mark.parametrize("run", range(10))
def test_climb_move_turn_land(run: int, program: Path, tmp_path: Path) -> None:
    bearing, turn = math.radians(36.0 * run + 10.0), math.pi / 2 * (-1) ** run
    east, north = 5.0 * math.cos(bearing), 5.0 * math.sin(bearing)
    there: dict[str, Any] = {"east": east, "north": north}
    legs = [Leg(1.0), Leg(7.0, **there), Leg(14.0, **there, turn=turn), Leg(18.0, **there, turn=turn, land=True)]
    pilot = Watched(legs)
    scenario = make_scenario({"duration": 45.0, "seed": run + 1, "vehicles": [{"yaw_deg": 40.0 * run}]})
    autopilot = BetaflightConfig(program=shlex.quote(str(program)), pace=PACE, rc=pilot)
    summary = run_scenario(scenario, tmp_path / "run", links=[autopilot])
    assert pilot.done, summary["links"]
    stood, climbed, moved, turned = (pilot.stood, *(pilot.seen[start] for start in (7.0, 14.0, 18.0)))
    assert stood is not None and pilot.last is not None
    assert climbed.position[2] - stood.position[2] == pytest.approx(2.0, abs=0.3)
    np.testing.assert_allclose(moved.position[:2] - stood.position[:2], [east, north], atol=0.5)
    assert moved.position[2] - stood.position[2] == pytest.approx(2.0, abs=0.4)
    for state, way in ((moved, 0.0), (turned, turn)):
        off = float(yaw_from_quat(state.quat_wxyz)) - float(yaw_from_quat(stood.quat_wxyz)) - way
        assert abs(math.remainder(off, 2.0 * math.pi)) < math.radians(8.0)
    np.testing.assert_allclose(pilot.last.position - stood.position, [east, north, 0.0], atol=0.5)
    assert not pilot.last.rotor_speeds.max() > 200.0
    # it came down by itself: nobody let it fall
    hits = [event for event in summary["vehicles"]["drone"]["events"] if "legs hit" in event]
    assert all(float(event.split(" at ")[1].split()[0]) < 2.0 for event in hits), hits
    said = (tmp_path / "run" / "betaflight.txt").read_text(errors="replace")
    assert "SITL" in said
