"""Every source of the vehicle's state flies, and every number of the EKF changes what it believes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from option_flights import DRONE, Flight, Script, fields_of, fly

import skyloop
from skyloop.sim.estimator_config import EstimatorConfig
from skyloop.vehicle.estimation.ekf import EkfConfig
from skyloop_client.messages import Arm, TakeOff

SENSORS = {
    "imu": {"kind": "imu", "rate_hz": 100},
    "gnss": {"kind": "gnss", "startup_delay": 0.0, "acquisition_tau": 0.0},
    "barometer": {"kind": "barometer", "rate_hz": 20},
    "magnetometer": {"kind": "magnetometer", "rate_hz": 20},
}
UP = ((2.0, Arm()), (2.1, TakeOff(2.0)))
EKF = Script(UP, 5.0, {DRONE + "state": "ekf", DRONE + "sensors": SENSORS})
MOCAP = {"mocap": {"kind": "option_plugins.py:MotionCapture", "rate_hz": 100}}
STREAM = Script(UP, 5.0, {DRONE + "state": "drone/mocap", DRONE + "sensors": MOCAP})


def with_faults(name: str, *faults: dict[str, Any], **options: Any) -> dict[str, Any]:
    """The EKF's sensors with one of them spoilt."""
    return {DRONE + "sensors": {**SENSORS, name: {**SENSORS[name], "faults": list(faults), **options}}}


# ---- sources


def test_truth_ekf_and_a_stream_of_estimates_all_fly() -> None:
    truth, ekf, stream = fly(Script(UP, 5.0)), fly(EKF), fly(STREAM)
    for flight, error in ((truth, 0.1), (ekf, 1.0), (stream, 0.1)):
        assert np.linalg.norm(flight.position[-1] - flight.position[0] - [0, 0, 2]) < error
    assert np.abs(ekf.position - truth.position).max() > 0.01
    assert np.abs(stream.position - truth.position).max() > 1e-6


def test_the_vehicle_follows_the_stream_not_the_truth() -> None:
    """A motion capture that sees it 1 m too far east once in the air makes it stand 1 m too far west."""
    shifted = {"mocap": {**MOCAP["mocap"], "options": {"offset": 1.0}}}
    away = Script(((0.1, Arm()), (0.2, TakeOff(2.0))), 4.0, STREAM.base)
    flight = fly(away, {DRONE + "sensors": shifted})
    assert flight.records("mocap")[-1].position[0] == pytest.approx(1.0, abs=0.1)
    assert flight.position[-1, 0] == pytest.approx(0.0, abs=0.1)


def test_a_stream_is_published_for_the_ekf() -> None:
    estimates = fly(EKF).records("estimate")
    assert len(estimates) == pytest.approx(500, abs=2)
    assert estimates[-1].valid


# ---- estimators

FOLLOWER = {"kind": "option_plugins.py:Follower", "inputs": ["mocap"]}
ESTIMATED = Script(
    ((0.1, Arm()), (0.2, TakeOff(2.0))),
    4.0,
    {DRONE + "sensors": MOCAP, DRONE + "state": "own", DRONE + "estimators": {"own": FOLLOWER}},
)


def estimated(**changes: Any) -> Flight:
    return fly(ESTIMATED, {DRONE + "estimators": {"own": {**FOLLOWER, **changes}}})


def test_every_option_of_an_estimator_has_its_effect() -> None:
    assert fields_of(EstimatorConfig) == {"kind", "inputs", "latency", "options", "products"}
    usual = estimated()
    assert np.linalg.norm(usual.position[-1] - usual.position[0] - [0, 0, 2]) < 0.1
    # options: what it believes is 1 m off
    moved = estimated(options={"offset": 1.0})
    assert moved.records("own")[-1].position[0] - moved.records("mocap")[-1].position[0] == pytest.approx(1.0)
    # latency: the estimate comes later, and the flight is another one
    late = estimated(latency=0.05)
    assert {m.arrival_ns - m.t_ns for m in late.messages["drone/own"]} == {50_000_000}
    assert np.abs(late.position - usual.position).max() > 1e-4
    # inputs: without the motion capture it hears nothing, and the vehicle may not arm
    deaf = estimated(inputs=["battery"])
    assert deaf.event_time("refused", "before the estimate is valid") < 0.2
    # products: streams of one outside are there before it says anything, in place of that of estimates
    outside = {"kind": "link", "inputs": ["mocap"], "products": {"far/boxes": "Detections"}}
    told = {DRONE + "sensors": {"imu": {"kind": "imu"}}, DRONE + "estimators": {"far": {**outside, "inputs": ["imu"]}}}
    with skyloop.build(skyloop.load_scenario("hover", told)) as sim:
        assert sim.bus.infos["drone/far/boxes"].message == "Detections" and "drone/far" not in sim.bus.infos
    # kind: the EKF under a name
    ekf = fly(EKF, {DRONE + "state": "filter", DRONE + "estimators": {"filter": {"kind": "ekf"}}})
    assert ekf.records("filter")[-1].valid
    assert np.abs(ekf.position - fly(EKF).position).max() == 0.0


# ---- numbers of the filter


def late(name: str, axis: int) -> Callable[[Flight], float]:
    """Mean one-sigma of an axis over the last second, as the filter believes it."""

    def sd(flight: Flight) -> float:
        records = [r for r in flight.records("estimate") if r.t_ns > 4.0e9]
        return float(np.mean([getattr(r, name)[axis] for r in records]))

    return sd


def just_aligned(name: str, axis: int) -> Callable[[Flight], float]:
    def sd(flight: Flight) -> float:
        return float(next(r for r in flight.records("estimate") if r.attitude_sd[0] < 1.0).__getattribute__(name)[axis])

    return sd


def time_aligned(flight: Flight) -> float:
    return next((r.t_ns * 1e-9 for r in flight.records("estimate") if r.attitude_sd[0] < 3.0), 99.0)


def time_valid(flight: Flight) -> float:
    return next((r.t_ns * 1e-9 for r in flight.records("estimate") if r.valid), 99.0)


def share_valid(flight: Flight) -> float:
    return float(np.mean([r.valid for r in flight.records("estimate") if r.t_ns > 1.5e9]))


def believed_east(flight: Flight) -> float:
    return float(flight.records("estimate")[-1].position[0])


NO_GNSS = with_faults("gnss", startup_delay=99.0)
NO_MAGNETOMETER = {DRONE + "sensors": {key: SENSORS[key] for key in ("imu", "gnss", "barometer")}}
JUMP = with_faults("gnss", {"kind": "bias", "start": 3.0, "value": [20.0, 0.0, 0.0]})
GAP = with_faults("imu", {"kind": "off", "start": 4.0, "end": 4.3})
DRIFTING = with_faults("gnss", outages=[{"start": 1.0}]) | {DRONE + "ekf.accel_random_walk_floor": 0.5}
"""Without GNSS and with little trust in the accelerometer: the barometer must hold the height."""
SHAKEN_GYRO = with_faults("imu", {"kind": "spike", "value": 0.3, "probability": 0.5, "end": 1.5})
SHAKEN_ACCELEROMETER = with_faults(
    "imu", {"kind": "spike", "field": "specific_force", "value": 2.0, "probability": 0.5, "end": 1.5}
)

QUICK = {DRONE + "ekf.alignment_time": 0.2}
UNSTILL = SHAKEN_GYRO | QUICK | {DRONE + "ekf.alignment_patience": 0.3}

# conditions, changed value, what must change, and the factor by which at least (below 1: it falls)
NUMBERS: dict[str, tuple[dict[str, Any], Any, Callable[[Flight], float], float]] = {
    "noise_multiplier": ({}, 20.0, late("velocity_sd", 0), 1.3),
    "gyro_noise_floor": ({}, 0.02, late("attitude_sd", 0), 1.5),
    "accel_noise_floor": ({}, 0.5, late("velocity_sd", 0), 1.5),
    "gyro_random_walk_floor": ({}, 0.02, late("attitude_sd", 0), 1.5),
    "accel_random_walk_floor": ({}, 0.5, late("velocity_sd", 0), 1.3),
    "gyro_bias_sd_floor": (UNSTILL, 0.1, late("attitude_sd", 2), 1.2),
    "accel_bias_sd_floor": ({}, 0.5, just_aligned("attitude_sd", 0), 5.0),
    "gnss_horizontal_floor": ({}, 3.0, late("position_sd", 0), 2.0),
    "gnss_vertical_floor": ({}, 4.0, late("position_sd", 2), 2.0),
    "gnss_speed_floor": ({}, 1.0, late("velocity_sd", 0), 1.3),
    "gnss_correlated_share": ({}, 0.0, late("position_sd", 0), 0.8),
    "barometer_sd": (DRIFTING, 10.0, late("position_sd", 2), 1.1),
    "barometer_random_walk": (DRIFTING, 10.0, late("position_sd", 2), 1.1),
    "heading_sd": ({}, 0.5, late("attitude_sd", 2), 2.0),
    "heading_period": ({}, 2.0, late("attitude_sd", 2), 1.3),
    "unknown_heading_sd": (NO_MAGNETOMETER, 0.3, just_aligned("attitude_sd", 2), 0.5),
    "gate": (JUMP, 1000.0, believed_east, 5.0),
    "recovery_after": (JUMP, 1.0, believed_east, 5.0),
    "alignment_time": ({}, 1.5, time_aligned, 2.5),
    "alignment_patience": (SHAKEN_GYRO | QUICK, 0.3, time_aligned, 0.5),
    "still_rate_sd": (SHAKEN_GYRO | QUICK, 1.0, time_aligned, 0.5),
    "still_force_sd": (SHAKEN_ACCELEROMETER | QUICK, 5.0, time_aligned, 0.5),
    "valid_position_sd": ({}, 0.1, time_valid, 10.0),
    "lost_position_sd": (DRIFTING, 1.0, share_valid, 0.9),
    "lost_attitude_sd": ({}, 1e-4, share_valid, 0.5),
    "imu_gap": (GAP, 1.0, late("velocity_sd", 0), 0.9),
    "imu_gap_rate_sd": (GAP, 3.0, late("attitude_sd", 0), 1.3),
    "imu_gap_accel_sd": (GAP, 20.0, late("velocity_sd", 0), 1.3),
}  # fmt: skip


def test_every_number_of_the_filter_has_a_case() -> None:
    assert set(NUMBERS) == fields_of(EkfConfig)


@pytest.mark.parametrize("name", NUMBERS)
def test_filter_number(name: str) -> None:
    conditions, value, measure, factor = NUMBERS[name]
    before = measure(fly(EKF, conditions))
    after = measure(fly(EKF, {**conditions, DRONE + f"ekf.{name}": value}))
    ratio = max(after, 1e-12) / max(before, 1e-12)
    assert ratio > factor if factor > 1.0 else ratio < factor, f"from {before:.6g} to {after:.6g}"


def test_without_gnss_the_estimate_never_becomes_valid() -> None:
    assert time_valid(fly(EKF, NO_GNSS)) == 99.0
    assert fly(EKF, NO_GNSS).event_time("refused", "before the estimate is valid") < 2.1
