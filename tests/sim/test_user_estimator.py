"""Estimators of the user's own in the process: what they are given, what they answer, who flies on it, snapshots."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core_flights import NOISY_FLIGHT, Tape, hashes
from skyloop.run import run_scenario
from skyloop.sim.assembly import build
from skyloop.sim.parts import UserPart
from skyloop.sim.scenario import make_scenario
from skyloop.sim.simulation import Simulation
from skyloop_client.errors import PartError, ScenarioError
from skyloop_client.messages import Arm, Estimate, Goal, TakeOff

pytestmark = pytest.mark.flights

THINGS = str(Path(__file__).parents[1] / "published_things.py")
SENSORS = NOISY_FLIGHT["vehicles"][0]["sensors"]
FROM_TRUTH = {"kind": f"{THINGS}:FromTruth", "inputs": ["truth/drone"]}


def scenario(vehicle: dict[str, Any], **more: Any) -> Any:
    return make_scenario(copy.deepcopy({"truth_rate_hz": 100, "vehicles": [{"name": "drone", **vehicle}], **more}))


def simulation(**vehicle: Any) -> Simulation:
    return build(scenario(vehicle))


def own(flown: Simulation, name: str = "vio") -> Any:
    """The user's object."""
    return next(part._own for part in flown.parts if isinstance(part, UserPart) and f"'{name}'" in part.name)


# ---- what it is given


def test_every_message_comes_in_the_order_of_arrival() -> None:
    """Sensors of different latencies overtake each other; the estimator hears them as they arrive."""
    sensors = {**SENSORS, "late": {"kind": "barometer", "rate_hz": 20, "latency": 0.033}}
    with simulation(sensors=sensors, estimators={"vio": {"kind": f"{THINGS}:Listener"}}) as flown:
        flown.run_until(1.0)
        heard = own(flown).heard
        arrivals = [arrival for _, _, arrival in heard]
        assert arrivals == sorted(arrivals)
        for name in sensors:
            indices = [index for stream, index, _ in heard if stream == f"drone/{name}"]
            assert indices == list(range(flown.bus.counts[f"drone/{name}"])) and len(indices) >= 8
        # a fix is heard 0.12 s after it was taken, among newer IMU samples
        fix = next(k for k, (stream, _, _) in enumerate(heard) if stream == "drone/gnss")
        assert heard[fix][2] == 120_000_000
        assert max(index for stream, index, _ in heard[:fix] if stream == "drone/imu") == 29
    with simulation(sensors=sensors, estimators={"vio": {"kind": f"{THINGS}:Listener"}}) as again:
        again.run_until(1.0)
        assert own(again).heard == heard


def test_it_is_made_with_calibration_and_start_conditions() -> None:
    sensors = {**SENSORS, "imu": {**SENSORS["imu"], "mount": {"position": [0.1, 0.0, 0.02]}}}
    chosen = {"kind": f"{THINGS}:Listener", "inputs": ["imu", "drone/gnss"]}
    with simulation(sensors=sensors, position=[3.0, -2.0], yaw_deg=90.0, estimators={"vio": chosen}) as flown:
        setup = own(flown).setup
        assert (setup.vehicle, setup.name, list(setup.infos)) == ("drone", "vio", ["imu", "drone/gnss"])
        imu = setup.infos["imu"]
        assert (imu.name, imu.rate.hz, imu.mount.position.tolist()) == ("drone/imu", 250.0, [0.1, 0.0, 0.02])
        assert imu.details["gyro_noise_density"] > 0.0
        assert setup.infos["drone/gnss"].latency_ns == 120_000_000
        assert np.allclose(setup.start.position, flown.truth().position)
        assert setup.start.yaw == pytest.approx(np.pi / 2)
        assert setup.start.gravity == pytest.approx(9.8, abs=0.05)
        assert 2e-5 < np.linalg.norm(setup.start.magnetic_field_world) < 7e-5
        flown.run_until(0.5)
        assert {stream for stream, _, _ in own(flown).heard} == {"drone/imu", "drone/gnss"}


def test_one_estimator_may_hear_another_and_publish_beside() -> None:
    estimators = {
        "first": FROM_TRUTH,
        "vio": {"kind": f"{THINGS}:Listener", "inputs": ["first"], "options": {"more": True}},
    }
    with simulation(estimators=estimators) as flown:
        flown.run_until(0.5)
        assert flown.bus.counts["drone/first"] == flown.bus.counts["drone/vio"] == 50
        assert flown.latest("drone/heard").value == flown.latest("drone/heard/twice").value == 50.0


# ---- who flies on it


def test_the_vehicle_flies_on_it_and_not_on_the_truth() -> None:
    """Told 1 m too far east, it stops 1 m short of its goal."""
    with simulation(estimators={"vio": {**FROM_TRUTH, "options": {"offset": 1.0}}}, state="vio") as flown:
        flown.run_until(0.1)
        flown.send(Arm(), TakeOff(2.0))
        flown.run_until(3.0)
        flown.send(Goal(np.array([4.0, 0.0, 2.0])))
        flown.run_until(9.0)
        assert flown.latest("drone/vio").position == pytest.approx([4.0, 0.0, 2.0], abs=0.1)
        assert flown.truth().position == pytest.approx([3.0, 0.0, 2.0], abs=0.1)
        assert isinstance(flown.autopilots["drone"].state(0), Estimate)


def test_beside_a_vehicle_that_flies_on_truth_nothing_changes() -> None:
    vehicle = {"sensors": SENSORS, "pilot": {"kind": "hover", "altitude": 2.0}}
    both = {"vio": {"kind": f"{THINGS}:FromTruth", "inputs": ["truth/drone"]}, "ekf": {"kind": "ekf"}}
    with simulation(**vehicle) as alone, simulation(**vehicle, estimators=both) as beside:
        expected, got = hashes(alone, 3.0), hashes(beside, 3.0)
        assert {name: got[name] for name in expected} == expected
        assert beside.latest("drone/vio").valid and beside.latest("drone/ekf").valid


def test_the_named_ekf_is_the_built_in_one() -> None:
    vehicle = {"sensors": SENSORS, "pilot": {"kind": "hover"}}
    with (
        simulation(**vehicle, state="ekf") as plain,
        simulation(**vehicle, state="ekf", estimators={"ekf": {"kind": "ekf"}}) as named,
    ):
        expected, got = hashes(plain, 3.0), hashes(named, 3.0)
        assert got["drone/ekf"] == expected["drone/estimate"]
        assert got["truth/drone"] == expected["truth/drone"]
        assert "drone/estimate" not in named.bus.infos


def test_why_an_estimate_is_lost_is_told() -> None:
    lost = {"vio": {**FROM_TRUTH, "options": {"lost_at": 2.0}}}
    with simulation(estimators=lost, state="vio") as flown:
        events = flown.subscribe("drone/events")
        flown.run_until(0.1)
        flown.send(Arm(), TakeOff(1.5))
        flown.run_until(3.0)
        told = [message.data.text for message in events if message.data.kind == "failsafe"]
        assert told == ["estimate lost: descending level (the lens is covered)"]
        flown.run_until(8.0)
        assert not flown.autopilots["drone"].status(0).armed
        flown.send(Arm())
        flown.run_until(8.1)
        assert any("the lens is covered" in message.data.text for message in events)


def test_latency_is_what_its_computing_takes() -> None:
    with simulation(estimators={"vio": {**FROM_TRUTH, "latency": 0.05}}) as flown:
        reader = flown.subscribe("drone/vio")
        flown.run_until(0.5)
        assert flown.bus.infos["drone/vio"].latency_ns == 50_000_000
        assert {message.arrival_ns - message.t_ns for message in reader} == {50_000_000}


# ---- snapshots


@pytest.mark.parametrize("kind", ["FromTruth", "Listener", "Uncopied"])
def test_a_snapshot_holds_what_it_remembers(kind: str) -> None:
    inputs = ["truth/drone"] if kind != "Listener" else []
    vehicle = {
        "sensors": SENSORS,
        "state": "truth" if kind == "Listener" else "vio",
        "estimators": {"vio": {"kind": f"{THINGS}:{kind}", "inputs": inputs}},
        "pilot": {"kind": "hover", "altitude": 1.5},
    }
    with simulation(**vehicle) as flown, simulation(**vehicle) as other:
        flown.run_until(1.0)
        saved = flown.snapshot()
        tape = Tape(flown.bus)
        flown.run_until(2.0)
        first = tape.cut()
        flown.restore(saved)
        flown.run_until(2.0)
        assert tape.cut() == first
        assert any(row[0] == "drone/vio" for row in first)
        # and in another build of the same scenario
        other.restore(saved)
        elsewhere = Tape(other.bus)
        other.run_until(2.0)
        assert elsewhere.cut() == first


# ---- what is wrong is one line


def told(**vehicle: Any) -> str:
    with pytest.raises(ScenarioError) as caught:
        simulation(**vehicle)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_a_scenario_cannot_mean() -> None:
    good = {"kind": f"{THINGS}:Listener"}
    assert "no stream named 'imo'; did you mean 'imu'" in told(
        sensors=SENSORS, estimators={"vio": {**good, "inputs": ["imo"]}}
    )
    assert "no estimator of kind 'vins'" in told(estimators={"vio": {"kind": "vins"}})
    assert "'imu' is the name of another stream" in told(sensors=SENSORS, estimators={"imu": good})
    assert "has no 'Nobody'" in told(estimators={"vio": {"kind": f"{THINGS}:Nobody"}})
    assert "not_made fails: RuntimeError: no calibration" in told(estimators={"vio": {"kind": f"{THINGS}:not_made"}})
    assert "has no 'on_message'" in told(
        estimators={"vio": {"kind": f"{THINGS}:EstimatorSetup", "options": {"name": "", "infos": {}, "start": 0}}}
    )
    assert "state 'vins' is neither truth nor ekf" in told(estimators={"vio": good}, state="vins")
    assert "the ekf needs sensors that give GnssFix" in told(
        sensors={"imu": SENSORS["imu"]}, estimators={"e": {"kind": "ekf"}}
    )
    assert "its numbers under ekf" in told(sensors=SENSORS, estimators={"e": {"kind": "ekf", "options": {"gate": 3}}})
    assert "'imu' is there twice" in told(sensors=SENSORS, estimators={"vio": {**good, "inputs": ["imu", "imu"]}})


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("raises", "ValueError: no features (published_things.py, line"),
        ("nan", "Estimate.accel_bias holds NaN or infinity"),
        ("text", "on_message gives a str; give an Estimate"),
        ("future", "Estimate.t_ns is"),
        ("taken", "'drone/imu' is the simulator's own stream of ImuSample"),
    ],
)
def test_what_goes_wrong_in_flight_is_one_line(how: str, words: str) -> None:
    faulty = {"vio": {"kind": f"{THINGS}:Faulty", "options": {"how": how}}}
    with simulation(sensors=SENSORS, estimators=faulty) as flown, pytest.raises(PartError) as caught:
        flown.run_until(1.0)
    assert str(caught.value).startswith("estimator 'vio' of 'drone' at 0.0")
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_one_estimator_may_be_written_without_a_name() -> None:
    one = scenario(
        {"sensors": SENSORS, "estimator": {"kind": f"{THINGS}:Listener", "inputs": ["imu"]}, "state": "listener"}
    )
    assert list(one.vehicles[0].estimators) == ["listener"]
    named = scenario({"estimator": {"kind": f"{THINGS}:Listener", "name": "vio"}})
    assert list(named.vehicles[0].estimators) == ["vio"]
    with pytest.raises(ScenarioError, match="both have one named 'listener'"):
        scenario({"estimator": {"kind": f"{THINGS}:Listener"}, "estimators": {"listener": {"kind": "ekf"}}})


def test_an_estimator_of_a_link_needs_a_link(tmp_path: Path) -> None:
    outside = scenario({"estimators": {"vio": {"kind": "link", "inputs": ["truth/drone"]}}, "state": "vio"})
    with pytest.raises(ScenarioError, match=r"drone.estimators.vio is of kind link"):
        run_scenario(outside, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_error_of_each_estimator_is_in_the_summary(tmp_path: Path) -> None:
    both = {"near": {**FROM_TRUTH, "options": {"offset": 0.5}}, "far": {**FROM_TRUTH, "options": {"offset": -2.0}}}
    flown = scenario({"estimators": both, "state": "near"}, duration=1.0)
    summary = run_scenario(flown, tmp_path / "run")["vehicles"]["drone"]
    assert summary["estimate_errors_rms_m"] == pytest.approx({"drone/near": 0.5, "drone/far": 2.0})
    assert summary["estimate_error_rms_m"] == pytest.approx(0.5)
