"""Every option at the top of a scenario, and where and how a vehicle stands in it."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from option_flights import ALOFT, DRONE, HOVER, STEP, Case, Flight, Script, check, end, fields_of, fly, numbered, start

import skyloop
from skyloop.core.clock import FreeRunning, RealTime
from skyloop.run import run_scenario
from skyloop.sim.scenario import PacingConfig, Scenario, SurfaceChoice, UserPilot, UserSensor, make_scenario
from skyloop.world.earth import EarthConfig
from skyloop_client.messages import Arm, Velocity

REST = Script((), 1.0)
FALL = Script((), 0.5, ALOFT)
SENSORS = {
    "gnss": {"kind": "gnss", "preset": "perfect", "latency": 0.0},
    "magnetometer": {"kind": "magnetometer", "preset": "perfect"},
    "barometer": {"kind": "barometer", "preset": "perfect"},
}
EQUIPPED = HOVER.but({DRONE + "sensors": SENSORS})


def latitude(flight: Flight) -> float:
    return float(flight.records("gnss")[-1].latitude_deg)


def longitude(flight: Flight) -> float:
    return float(flight.records("gnss")[-1].longitude_deg)


def dip(flight: Flight) -> float:
    """Share of the magnetic field that points up."""
    field = flight.records("magnetometer")[-1].field_tesla
    return float(field[2] / np.linalg.norm(field))


def declination(flight: Flight) -> float:
    field = flight.records("magnetometer")[-1].field_tesla
    return float(np.arctan2(field[0], field[1]))


def fall(flight: Flight) -> float:
    return float(flight.position[0, 2] - flight.position[-1, 2])


EARTH = {
    "latitude_deg": [Case(10.0, EQUIPPED, latitude, -37.0), Case(-40.0, EQUIPPED, dip, 1.0)],
    "longitude_deg": [Case(8.0, EQUIPPED, longitude, 130.0), Case(8.0, EQUIPPED, declination, -0.1)],
    "altitude": [Case(3000.0, EQUIPPED, end("rotor_speeds"), 50.0)],
    "gravity": [Case(3.71, FALL, fall, -0.5), Case("normal", FALL, fall, 1e-5)],
    "year": [Case(2029.9, EQUIPPED, declination, -1e-3)],
}


def test_every_option_of_the_earth_has_a_case() -> None:
    assert set(EARTH) == fields_of(EarthConfig)


@pytest.mark.parametrize(("name", "number"), numbered(EARTH))
def test_earth(name: str, number: int) -> None:
    check(EARTH[name][number], f"earth.{name}")


# ---- seed, rates, pacing, duration


def test_another_seed_draws_other_noise_and_gusts() -> None:
    noisy = HOVER.but({"wind": {"kind": "dryden"}, DRONE + "sensors": {"imu": {"kind": "imu"}}})
    first, again, other = fly(noisy), fly(noisy.but()), fly(noisy, {"seed": 2})
    np.testing.assert_array_equal(first.position, again.position)
    assert np.abs(first.position - other.position).max() > 0.01
    gyro = [np.array([r.angular_velocity for r in f.records("imu")]) for f in (first, other)]
    assert np.abs(gyro[0] - gyro[1]).max() > 1e-3


def test_a_coarser_physics_step_lands_elsewhere_but_near() -> None:
    fine = fly(STEP, {DRONE + "controller_rate_hz": 250.0})
    coarse = fly(STEP, {"physics_rate_hz": 250.0, DRONE + "controller_rate_hz": 250.0})
    difference = np.abs(fine.position - coarse.position).max()
    assert 1e-6 < difference < 0.1


def test_truth_comes_at_its_rate() -> None:
    assert len(fly(HOVER).states) == 150
    assert len(fly(HOVER, {"truth_rate_hz": 200.0}).states) == 600


@pytest.mark.parametrize("factor", [1.0, 4.0])
def test_real_time_sleeps_as_long_as_its_factor_says(factor: float) -> None:
    """With a wall clock that only moves while somebody sleeps."""
    now = 0.0

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    assert fields_of(PacingConfig) == {"mode", "factor"}
    simulation = start(HOVER, {"pacing": {"mode": "realtime", "factor": factor}})
    pacing = simulation.clock.pacing
    assert isinstance(pacing, RealTime)
    pacing._wall, pacing._sleep = lambda: now, sleep
    simulation.run_until(2.0)
    assert now == pytest.approx(2.0 / factor)


def test_every_pacing_mode_is_built() -> None:
    kinds = {
        mode: type(start(HOVER, {"pacing.mode": mode}).clock.pacing)
        for mode in get_args(PacingConfig.model_fields["mode"].annotation)
    }
    assert kinds == {"free": FreeRunning, "realtime": RealTime}


def test_a_run_lasts_its_duration(tmp_path: Path) -> None:
    scenario = make_scenario({"duration": 0.5, "name": "short", "description": "of no effect"})
    summary = run_scenario(scenario, tmp_path / "run")
    assert summary["simulated_s"] == pytest.approx(0.5, abs=0.03)
    assert summary["scenario"] == "short"


def test_every_option_of_a_scenario_is_covered() -> None:
    here = {"seed", "duration", "physics_rate_hz", "truth_rate_hz", "pacing", "earth", "materials", "success"}
    labels = {"name", "description", "folder"}
    assert fields_of(Scenario) == here | labels | {"world", "weather", "observers", "wind", "vehicles"}


# ---- the vehicle in the scenario


@pytest.mark.parametrize("place", [[3.0, -2.0], [3.0, -2.0, 8.0]])
def test_position(place: list[float]) -> None:
    began = fly(REST, {DRONE + "position": place}).position[0]
    np.testing.assert_allclose(began, [3.0, -2.0, place[2] if len(place) == 3 else 0.119], atol=1e-9)


def test_yaw() -> None:
    assert fly(REST, {DRONE + "yaw_deg": 90.0}).yaw[-1] == pytest.approx(np.pi / 2, abs=1e-3)
    ahead = Script(((0.0, Arm()), (0.0, Velocity(np.array([2.0, 0, 0]), "body"))), 0.5, ALOFT)
    assert fly(ahead, {DRONE + "yaw_deg": 90.0}).position[-1, 1] > 0.05


def test_several_vehicles_share_the_air_and_have_their_own_streams() -> None:
    vehicles = [{"name": "one"}, {"name": "two", "position": [2.0, 0.0], "airframe": "x500"}]
    with skyloop.build(make_scenario({"vehicles": vehicles})) as simulation:
        simulation.run_for(0.1)
        assert simulation.latest("truth/two").position[0] == pytest.approx(2.0, abs=1e-6)
        assert simulation.latest("truth/one").position[0] == pytest.approx(0.0, abs=1e-6)


def time_armed(flight: Flight) -> float:
    return flight.event_time("armed")


CLIMB = Script((), 4.0, {DRONE + "pilot": {"kind": "option_plugins.py:Climber"}})
OWN_PILOT = {
    "kind": Case("option_plugins.py:stay", CLIMB, end("position", 2), -0.5),
    "rate_hz": Case(0.5, CLIMB, time_armed, 1.9),
    "options": Case({"altitude": 2.0}, CLIMB, end("position", 2), 0.8),
}


def test_every_option_of_an_own_pilot_has_a_case() -> None:
    assert set(OWN_PILOT) == fields_of(UserPilot)


@pytest.mark.parametrize("name", OWN_PILOT)
def test_own_pilot(name: str) -> None:
    check(OWN_PILOT[name], DRONE + f"pilot.{name}")


def test_own_sensor_options_reach_it() -> None:
    assert fields_of(UserSensor) == {"kind", "options", "rate_hz", "mount", "latency", "faults"}
    sensor = {"kind": "option_plugins.py:MotionCapture", "rate_hz": 20}
    script = REST.but({DRONE + "sensors": {"mocap": sensor}})
    far = fly(script, {DRONE + "sensors": {"mocap": {**sensor, "options": {"offset": 7.0}}}})
    assert far.records("mocap")[-1].position[0] == pytest.approx(7.0, abs=1e-3)
    assert fly(script).records("mocap")[-1].position[0] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.renders
def test_materials() -> None:
    """`SurfaceChoice`: the noise of a depth camera on grass, by `depth_m`."""
    assert fields_of(SurfaceChoice) == {"depth_m"}
    down = {"mount": {"rotation_deg": [0, 90, 0]}}
    camera = {"kind": "depth_camera", "width": 64, "height": 48, "zero_share": 0.0, **down}
    high, noisy = Script((), 0.1, {**ALOFT, DRONE + "sensors": {"depth": camera}}), {"grass": {"depth_m": 0.9}}
    plain, changed = (fly(high, {"materials": more}).records("depth")[0].depth for more in ({}, noisy))
    assert changed.std() > 2.0 * plain.std()
