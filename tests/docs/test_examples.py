"""Every example runs, and does what its first line says."""

from __future__ import annotations

import importlib.util
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skyloop
from page_runs import plot_nothing
from skyloop.core.frames import rotate_inverse
from skyloop.run import fly, run_scenario
from skyloop.world.ground import Ground

pytestmark = pytest.mark.flights

EXAMPLES = Path(__file__).parents[2] / "examples"


class Flown:
    """An example's scenario flown to its end, with the records of the streams asked for."""

    def __init__(self, name: str, *streams: str, changes: dict[str, Any] | None = None) -> None:
        self.scenario = skyloop.load_scenario(EXAMPLES / f"{name}.yaml", changes)
        with skyloop.build(self.scenario) as simulation:
            readers = {stream: simulation.subscribe(stream) for stream in ("truth/drone", *streams)}
            fly(simulation, self.scenario.duration)
            self.simulation = simulation
        self.records = {stream: [m.data for m in reader] for stream, reader in readers.items()}
        self.truth = self.records["truth/drone"]
        self.t = np.array([state.t_ns for state in self.truth]) * 1e-9
        self.position = np.array([state.position for state in self.truth])
        self.wind = np.array([state.wind_world for state in self.truth])

    def landed(self) -> bool:
        return self.simulation.latest("drone/status").mode == "disarmed"


def module_of(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_own_sensor_reads_the_air_along_its_nose() -> None:
    flown = Flown("own_sensor", "drone/pitot")
    samples = flown.records["drone/pitot"]
    assert len(samples) == len(flown.truth)
    forward = np.array([rotate_inverse(s.quat_wxyz, s.velocity_world - s.wind_world)[0] for s in flown.truth])
    error = np.array([s.differential_pressure for s in samples]) - 0.5 * 1.225 * np.abs(forward) * forward
    healthy = error[flown.t < 8.0]
    # 1 Pa of white noise; the mount's lever arm adds nothing along the nose while it does not turn
    assert abs(healthy.mean()) < 0.2
    assert healthy.std() == pytest.approx(1.0, rel=0.15)
    assert error[flown.t >= 8.0].mean() == pytest.approx(30.0, abs=0.3)
    # standing with 3 m/s of wind from behind, then flying at 5 m/s with it
    assert forward[2] == pytest.approx(-3.0, abs=0.05)
    assert forward.max() == pytest.approx(2.0, abs=0.3)


def test_own_controller_hovers_and_follows() -> None:
    hover = Flown("own_controller", changes={"vehicles.0.pilot": {"kind": "hover", "duration": 5.0}})
    still = (hover.t > 5.0) & (hover.t < 6.5)
    wanted = np.array([0.0, 0.0, 2.0]) + hover.position[0]
    assert np.linalg.norm(hover.position[still] - wanted, axis=1).max() < 0.10

    circle = Flown("own_controller")
    cruising = (circle.t > 9.0) & (circle.t < 15.0)
    radius = np.linalg.norm(circle.position[cruising, :2], axis=1)
    assert np.abs(radius - 4.0).max() < 0.25
    assert np.abs(circle.position[cruising, 2] - 2.0).max() < 0.10
    assert circle.landed()
    assert circle.position[-1, 2] == pytest.approx(circle.position[0, 2], abs=0.01)


def test_own_controller_is_what_flies() -> None:
    weak = Flown(
        "own_controller",
        changes={
            "duration": 8.0,
            "vehicles.0.controller_options": {"stiffness": 1.0},
            "vehicles.0.pilot": {"kind": "hover"},
        },
    )
    # a spring six times as soft hangs lower: the air is 1.2 % thinner at home than the controller believes
    assert 0.05 < weak.position[0, 2] + 2.0 - weak.position[-1, 2] < 0.3


def test_own_pilot_keeps_its_height_over_the_hills() -> None:
    flown = Flown("own_pilot", changes={"duration": 22.0})
    ground = ground_of(flown)
    heights = np.array([ground.at(x, y)[0] for x, y, _ in flown.position])
    clearance = (flown.position[:, 2] - heights)[flown.t > 5.0]
    assert np.ptp(heights) > 3.0, "the hills are too low to tell"
    assert np.abs(clearance - 4.0).max() < 1.2
    assert flown.position[-1, 0] > 40.0


def ground_of(flown: Flown) -> Ground:
    return flown.simulation.fleet.ground


@pytest.mark.slow("a whole mission; the tutorial flies its beginning in the fast suite")
def test_own_estimator_flies_a_mission_on_what_it_believes() -> None:
    flown = Flown("own_estimator", "drone/ins", "drone/ekf", "drone/gnss")
    assert flown.landed()
    truth = {state.t_ns: state.position for state in flown.truth}

    def off(stream: str) -> float:
        believed = [e for e in flown.records[stream] if e.valid and e.t_ns in truth]
        assert len(believed) > 1500
        return float(np.sqrt(np.mean([np.sum((e.position - truth[e.t_ns]) ** 2) for e in believed])))

    # both follow the slow error of the receiver; the simple filter is no worse than twice the EKF
    assert off("drone/ins") < min(2.0, 2.0 * off("drone/ekf"))
    first = flown.records["drone/ins"][0]
    assert not first.valid and first.reason == "stands still to align"
    # it went where it was told, as far as the receiver knew
    for corner in ([12.0, 0.0, 4.0], [12.0, 8.0, 4.0]):
        assert np.linalg.norm(flown.position - corner, axis=1).min() < 2.0
    assert flown.simulation.latest("drone/gnss_innovation").unit == "m"


def test_own_streams_maps_what_is_there() -> None:
    scenario = skyloop.load_scenario(EXAMPLES / "own_streams.yaml")
    with skyloop.build(scenario) as simulation:
        fly(simulation, scenario.duration)
        counts, latest = simulation.bus.counts, simulation.latest
        assert counts["drone/map"] == counts["drone/clearance"] == counts["drone/nearest"] == 5
        assert counts["drone/way"] == 4 and latest("drone/way").positions.tolist() == [[0.0, 0.0, 3.0]]
        assert latest("drone/status").mode == "disarmed"
        grid = latest("drone/map")
        # cells the map calls taken, against the world itself, at the height flown at
        lower, upper = np.array([-30.0, -30.0, 1.5]), np.array([30.0, 30.0, 4.5])
        solid = simulation.editor.occupied(lower, upper, grid.resolution).any(axis=2).T
        near = solid.copy()
        for axis in (0, 1):
            near |= np.roll(near, 1, axis) | np.roll(near, -1, axis)
        taken = grid.cells == 100
        assert taken.sum() > 100
        assert (taken & near).sum() > 0.97 * taken.sum()


@pytest.mark.renders
@pytest.mark.slow("builds a park and draws it; test_docs_fusion.py does so in the fast suite")
def test_own_tracker_follows_people_by_camera_and_radar(tmp_path: Path) -> None:
    sensors = "vehicles.drone.sensors."
    changes: dict[str, Any] = {f"{sensors}{name}.rate_hz": 5 for name in ("front", "radar")}
    changes |= {"duration": 8.0, f"{sensors}radar.width": 80}
    scenario = skyloop.load_scenario(EXAMPLES / "own_tracker.yaml", changes)
    told = run_scenario(scenario, tmp_path / "run")["vehicles"]["drone"]["people"]
    assert told["boxes"]["drone/detect/boxes"]["ap50"] > 0.8
    tracks = told["tracks"]["drone/mine/people"]
    assert tracks["objects"] > 10 and tracks["recall"] > 0.4 and tracks["position_rms_m"] < 1.0
    # the picture of the boxes, and the map of people
    assert list((tmp_path / "run" / "pictures" / "drone" / "detect" / "boxes").glob("*.png"))
    assert (tmp_path / "run" / "people-drone.png").stat().st_size > 10_000


def test_own_world_lets_it_land_on_the_crater_floor() -> None:
    flown = Flown("own_world")
    assert flown.landed()
    assert flown.position[-1, 2] - flown.position[0, 2] == pytest.approx(-3.0, abs=0.01)
    ground = ground_of(flown)
    assert ground.at(0.0, 0.0)[0] == 0.0
    assert ground.at(20.0, 3.0)[0] == pytest.approx(-3.0)


def test_own_airframe_flies_on_six_rotors() -> None:
    flown = Flown("own_airframe")
    assert flown.landed()
    assert flown.position[:, 0].max() == pytest.approx(12.0, abs=0.3)
    hover = Flown("own_airframe", changes={"duration": 6.0, "vehicles.0.pilot": {"kind": "hover"}})
    thrusts = np.array([state.rotor_thrusts for state in hover.truth])[hover.t > 5.0]
    weight = module_of("own_airframe").hexacopter()["mass"] * 9.80665
    assert thrusts.mean(axis=0) == pytest.approx(np.full(6, weight / 6.0), rel=0.005)


def test_own_wind_pushes_one_way_and_then_the_other() -> None:
    flown = Flown("own_wind")
    vortex = module_of("own_wind").Vortex(**flown.scenario.wind.options)
    for state in flown.truth[100:-50:50]:
        asked = vortex.velocity(state.position, 0.0)
        # sampled at 50 Hz and held: at 2 m/s the vortex changes by less than 0.1 m/s in between
        assert np.linalg.norm(state.wind_world - asked) < 0.2
    west, east = flown.position[:, 0] < 14.0, flown.position[:, 0] > 16.0
    airborne = flown.position[:, 2] > 1.0
    assert flown.wind[west & airborne, 1].min() < -6.0
    assert flown.wind[east & airborne, 1].max() > 6.0
    # it leans into the wind: the body's up axis points north while the wind blows south, and back
    lean = np.array([2.0 * (q[2] * q[3] - q[0] * q[1]) for q in (state.quat_wxyz for state in flown.truth)])
    assert lean[np.argmin(flown.wind[:, 1])] > 0.1
    assert lean[np.argmax(flown.wind[:, 1])] < -0.1


def test_ten_lines(capsys: pytest.CaptureFixture[str]) -> None:
    names = runpy.run_path(str(EXAMPLES / "ten_lines.py"))
    assert np.linalg.norm(names["sim"].truth().position - [10.0, 0.0, 5.0]) < 0.2
    assert len(names["imu"]) == 1800
    assert "1800 IMU samples" in capsys.readouterr().out


def test_fly_behaviours(capsys: pytest.CaptureFixture[str]) -> None:
    flown = runpy.run_path(str(EXAMPLES / "fly_behaviours.py"))
    assert not flown["drone"].behaviour.failed and not flown["drone"].status.armed
    assert np.linalg.norm(flown["sim"].truth().position[:2]) < 0.5
    # the spiral climbs by a metre and a half above 3 m
    assert flown["highest"] == pytest.approx(4.5, abs=0.2)
    assert "landed 0." in capsys.readouterr().out


def test_read_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plot_nothing(monkeypatch)
    scenario = skyloop.load_scenario("first-flight", {"duration": 5.0})
    summary = run_scenario(scenario, tmp_path / "run")
    found = module_of("read_a_run").report(tmp_path / "run")
    vehicle = summary["vehicles"]["drone"]
    assert found["metres flown"] == pytest.approx(vehicle["flown_m"])
    assert found["highest"] == pytest.approx(vehicle["highest_m"])
    assert found["joules used"] == pytest.approx(vehicle["energy_j"], rel=0.01)
    assert 0.0 < found["estimate off, rms of the second half"] < 3.0


def test_learned_hover_flies_its_policy_in_the_whole_simulator() -> None:
    """The stored weights, numpy alone: on the truth in calm air, and on the EKF's estimate in wind."""
    changes: dict[str, Any] = {"duration": 12, "truth_rate_hz": 50}
    calm = {"wind": {"kind": "calm"}, "vehicles.drone.state": "truth"}
    for name, more, most in (("calm", calm, 0.3), ("wind", {}, 2.0)):
        flown = Flown("learned_hover/learned_hover", changes={**changes, **more})
        assert flown.simulation.latest("drone/status").mode == "setpoint", name
        late = np.linalg.norm(flown.position[flown.t > 8.0] - [0.0, 0.0, 2.0], axis=1)
        assert late.max() < most, (name, late.max())
