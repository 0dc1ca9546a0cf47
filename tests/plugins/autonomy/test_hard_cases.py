"""Hard cases: faults on a recording are those of the simulation, wrong calibrations, and how recovery is counted."""

from __future__ import annotations

import math
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from vio_flights import calibration

from skyloop.core.frames import quat_conjugate, quat_multiply
from skyloop.sensors.faults import Fault
from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop_autonomy.evaluation.estimate_log import EstimateLog, Truths
from skyloop_autonomy.evaluation.hard_cases import (
    CASES,
    WHITE_WALL,
    case_changes,
    case_scores,
    lost_seconds,
    recovered_after,
    table,
    with_faults,
)
from skyloop_autonomy.evaluation.localising import Localised
from skyloop_autonomy.evaluation.vio_flights import flight_scenario
from skyloop_autonomy.vio import StereoCalibration, VioSettings
from skyloop_autonomy.vio.tracking import StereoTracker, Work
from skyloop_client.messages import Estimate, Message, VehicleState
from skyloop_client.streams import NS_PER_S

pytestmark = pytest.mark.renders

FAULTS: dict[str, list[dict[str, Any]]] = {
    "imu": [
        {"kind": "off", "start": 0.1, "end": 0.2},
        {"kind": "delay", "start": 0.25, "end": 0.3, "delay": 0.02},
        {"kind": "bias", "start": 0.3, "value": [0.1, 0.0, 0.0]},
        {"kind": "dropout", "start": 0.35, "probability": 0.4},
    ],
    "camera": [
        {"kind": "bias", "start": 0.15, "end": 0.25, "value": -255.0},
        {"kind": "bias", "start": 0.3, "value": 30.0},
    ],
}


def messages(faults: dict[str, list[dict[str, Any]]]) -> list[Message]:
    sensors: dict[str, Any] = {
        "imu": {"kind": "imu", "preset": "mpu6000", "faults": faults.get("imu", [])},
        "camera": {"kind": "camera", "width": 16, "height": 16, "mode": "grey", "faults": faults.get("camera", [])},
    }
    scenario = make_scenario({"world": "flat", "seed": 5, "vehicles": [{"sensors": sensors}]})
    seen: list[Message] = []
    with build(scenario) as simulation:
        for sensor in sensors:
            simulation.bus.on(f"drone/{sensor}", seen.append)
        simulation.run_until(0.45)
    return seen


def test_faults_on_a_recording_are_those_of_the_simulation() -> None:
    flown, clean = messages(FAULTS), messages({})
    faults = {f"drone/{sensor}": [Fault(**one) for one in some] for sensor, some in FAULTS.items()}
    put_on = [message for message in with_faults(clean, faults, seed=5) if message.arrival_ns < 0.45 * NS_PER_S]
    for sensor, values in (("imu", attrgetter("angular_velocity")), ("camera", attrgetter("colour"))):
        live, later = ([m for m in some if m.stream == f"drone/{sensor}"] for some in (flown, put_on))
        assert [(m.t_ns, m.arrival_ns) for m in live] == [(m.t_ns, m.arrival_ns) for m in later]
        for one, other in zip(live, later, strict=True):
            np.testing.assert_array_equal(values(one.data), values(other.data))
    arrivals = [message.arrival_ns for message in put_on]
    assert arrivals == sorted(arrivals)
    dark = [m.data.colour.max() for m in put_on if m.stream == "drone/camera" and 0.15e9 <= m.t_ns < 0.25e9]
    assert dark and max(dark) == 0


@pytest.mark.slow("records a hard case")
def test_a_plain_wall_fills_both_images_and_only_noise_is_left() -> None:
    """The vehicle stands where the flight passes the middle of the wall; a mast lifts its cameras to flying height."""
    wall, flight = case_changes("white wall"), CASES["white wall"].flight
    assert flight is not None and [6.6, -8.6, 1.5] in flight.trajectory["points"]
    data = flight_scenario(flight, 1, wall).model_dump(mode="json")
    vehicle = data["vehicles"][0]
    vehicle |= {"position": [WHITE_WALL[0], -8.6, 0.2], "yaw_deg": -90.0, "pilot": None}
    for name, y in (("cam0", 0.0), ("cam1", -0.05)):
        vehicle["sensors"][name]["mount"] = {"position": [0.12, y, 1.3]}
    seen: list[Message] = []
    with build(make_scenario(data)) as simulation:
        for name in ("cam0", "cam1"):
            simulation.bus.on(f"drone/{name}", seen.append)
        simulation.run_until(0.05)
        infos = {name: info for name, info in simulation.bus.infos.items() if not name.startswith("truth/")}
    left, right = (next(one.data.grey for one in seen if one.stream == f"drone/{name}") for name in ("cam0", "cam1"))
    for image in (left, right):
        assert image.mean() > 120.0 and 0.5 < image.std() < 3.0
    assert not np.array_equal(left, right), "each camera has its own noise"
    tracker = StereoTracker(StereoCalibration.from_streams(infos), VioSettings())
    tracker.follow(left, right, None, np.eye(3), np.zeros(3), Work.MEASURE | Work.SEEK)
    assert len(tracker.tracks) == 0


def _wrong(name: str, right: StereoCalibration) -> StereoCalibration:
    change = CASES[name].calibration
    assert change is not None
    return change(right)


def test_wrong_calibrations_are_wrong_by_one_percent_and_half_a_degree() -> None:
    right = calibration()
    longer = _wrong("lens 1 % wrong", right)
    assert longer.left.fx / right.left.fx == pytest.approx(1.01)
    assert longer.right.fy / right.right.fy == pytest.approx(1.01)
    turned = _wrong("mount 0.5° wrong", right)
    for wrong, mount in (
        (turned.body_from_left, right.body_from_left),
        (turned.body_from_right, right.body_from_right),
    ):
        turn = quat_multiply(wrong.quat_wxyz, quat_conjugate(mount.quat_wxyz))
        assert math.degrees(2.0 * math.acos(min(abs(turn[0]), 1.0))) == pytest.approx(0.5, abs=0.01)
        np.testing.assert_array_equal(wrong.position, mount.position)


def made(lost: tuple[float, float]) -> Localised:
    """A level flight of 40 s whose estimate drifts by 1 cm/s, and is not valid between two times."""
    log, states = EstimateLog(), []
    level, zero = np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3)
    for k in range(4000):
        t = 0.01 * k
        position = np.array([math.sin(0.2 * t) * 3.0, math.cos(0.1 * t) * 2.0, 1.0])
        stamp = round(t * NS_PER_S)
        states.append(VehicleState(stamp, position, zero, level, zero, zero, zero, zero, zero, zero))
        off = position + np.array([0.01 * t, 0.0, 0.0])
        valid = not lost[0] <= t < lost[1]
        sd = np.full(3, 0.1)
        log.add(Estimate(stamp, off, zero, level, zero, sd, sd, sd, valid, reason="" if valid else "no corners"))
    return Localised(log.arrays(), Truths.of(states, []), log.changes, np.full(10, 0.01), 10, 4000)


def test_lost_time_recovery_and_added_error() -> None:
    flight = made((20.5, 23.0))
    assert lost_seconds(flight) == pytest.approx(2.5, abs=0.02)
    assert recovered_after(flight, 22.0) == pytest.approx(1.0, abs=0.02)
    row = case_scores("lens covered", flight)
    assert row["recovered_s"] == pytest.approx(1.0, abs=0.02)
    # from 20 s to 5 s after the trouble, which ends at 22 s
    assert row["added_m"] == pytest.approx(0.07, abs=0.002)
    assert row["largest_m"] == pytest.approx(0.4, abs=0.01)
    assert row["finite"] and flight.changes[1] == (20.5, False, "no corners")
    never = case_scores("lens covered", made((20.5, 99.0)))
    assert math.isinf(never["recovered_s"])
    text = table({"lens covered": row, "again": never})
    assert "| lens covered | both images black for 2 s |" in text and "| never |" in text
