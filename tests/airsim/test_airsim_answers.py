"""When calls are answered and with what, where AirLib's own source says it; stepped by the test."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from airsim_bench import Bench
from airsim_rpc import heading_deg, xyz

SETTINGS = {"DefaultSensors": {"imu": {"SensorType": 2, "Enabled": False}}}
NEVER = 3e38
KEEP = {"is_rate": True, "yaw_or_rate": 0.0}


@pytest.fixture
def bench() -> Iterator[Bench]:
    built = Bench(SETTINGS, world="flat")
    yield built
    built.close()


@pytest.fixture
def flying(bench: Bench) -> Bench:
    bench("enableApiControl", True)
    climb = bench.start("takeoff", 20.0)
    bench.sim.run_for(8.0)
    assert bench.client.answers[climb] == (None, True)
    return bench


def flown(bench: Bench, most_s: float, method: str, *params: Any) -> Any:
    """The answer of a move, at the instant it comes."""
    number = bench.start(method, *params)
    end = bench.sim.now + most_s
    while number not in bench.client.answers:
        assert bench.sim.now < end, f"no answer within {most_s} s"
        bench.sim.run_for(0.02)
    error, result = bench.client.answers[number]
    assert error is None, error
    return result


def place(bench: Bench) -> list[float]:
    return xyz(bench("simGetVehiclePose", "")["position"])


def heading(bench: Bench) -> float:
    return heading_deg(bench("simGetVehiclePose", ""))


def turning(bench: Bench) -> float:
    return xyz(bench("simGetGroundTruthKinematics", "")["angular_velocity"])[2]


# ---- below the ground


@pytest.mark.parametrize("depth", [0.6, 1.0, 6.0])
def test_a_place_below_the_ground_is_answered_at_touch_down(flying: Bench, depth: float) -> None:
    assert flown(flying, 20.0, "moveToPosition", 0.0, 0.0, depth, 2.0, NEVER, 0, KEEP) is False
    assert place(flying)[2] == pytest.approx(0.0, abs=0.05)
    assert np.linalg.norm(xyz(flying("simGetGroundTruthKinematics", "")["linear_velocity"])) < 0.3
    # what scripts do next
    assert flying("armDisarm", False) is True
    assert flying("getMultirotorState", "")["landed_state"] == 0


def test_a_path_into_the_ground_and_a_height_below_it(flying: Bench) -> None:
    path = [{"x_val": 3.0, "y_val": 0.0, "z_val": -2.0}, {"x_val": 3.0, "y_val": 3.0, "z_val": 2.0}]
    assert flown(flying, 40.0, "moveOnPath", path, 1.0, NEVER, 0, KEEP) is False
    assert flown(flying, 20.0, "moveToPosition", 0.0, 0.0, -2.0, 1.0, NEVER, 0, KEEP) is True
    assert place(flying) == pytest.approx([0.0, 0.0, -2.0], abs=0.5)
    assert flown(flying, 20.0, "moveToZ", 3.0, 1.0, NEVER, KEEP) is False
    # it is not stuck there: taking off from the ground is no move into it
    assert flown(flying, 20.0, "moveToZ", -2.0, 1.0, NEVER, KEEP) is True


# ---- turning


@pytest.mark.parametrize("goal", [90.0, -60.0, 175.0])
def test_a_turn_is_answered_at_rest(flying: Bench, goal: float) -> None:
    assert flown(flying, 20.0, "rotateToYaw", goal, NEVER, 5.0) is True
    off = math.remainder(heading(flying) - goal, 360.0)
    assert abs(off) <= 5.0 and abs(turning(flying)) <= 0.012
    worst = 0.0
    for _ in range(100):
        flying.sim.run_for(0.03)
        worst = max(worst, abs(math.remainder(heading(flying) - goal, 360.0)))
    assert worst <= max(abs(off), 0.5) + 0.5, "it has come to rest, and stays"


# ---- what is answered False, and who is told


def test_what_is_not_there_cannot_be_moved(bench: Bench) -> None:
    nowhere = bench("simGetObjectPose", "NoSuchThing")
    assert math.isnan(nowhere["position"]["x_val"])
    assert bench("simSetObjectPose", "NoSuchThing", nowhere, True) is False
    assert bench("simSetObjectScale", "NoSuchThing", {"x_val": math.nan, "y_val": 0.0, "z_val": 0.0}) is False
    assert bench("simDestroyObject", "NoSuchThing") is False


def test_arming_without_control_is_answered_false_and_told(bench: Bench) -> None:
    assert bench("armDisarm", True) is False and bench("armDisarm", False) is False
    assert bench("armDisarm", True) is False
    (line,) = bench.lines
    assert "armDisarm" in line and "call enableApiControl(True) first" in line
    bench("enableApiControl", True)
    assert bench("armDisarm", True) is True and bench("armDisarm", False) is True


def test_each_failed_call_is_told_once(bench: Bench) -> None:
    """A client that joins and does not look at the result never learns of it."""
    for _ in range(3):
        bench.start("takeoff", 20.0)
        bench.start("moveToPosition", 0.0, 0.0, -3.0, 1.0, NEVER, 0, KEEP)
    bench.start("simGetImage", "no such camera", 0, "")
    assert len(bench.lines) == 3
    assert bench.lines[0].startswith("failed: takeoff: API control of 'SimpleFlight' is off")
    assert bench.lines[1].startswith("failed: moveToPosition: API control")
    assert "no such camera" in bench.lines[2]
    # a move that fails later is told, too
    bench("enableApiControl", True)
    bench("armDisarm", True)
    bench.lines.clear()
    bench.start("moveByVelocity", 1.0, 0.0, -1.0, 5.0, 7, {"is_rate": False})
    assert len(bench.lines) == 1 and "yaw" in bench.lines[0]
