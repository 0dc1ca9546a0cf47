"""The verb `bench`, and benches without pictures: they measure what they say; no speed is asserted."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from page_runs import record_here
from skyloop.cli.verbs import execute
from skyloop.core.frames import SENSOR_FROM_CAMERA, Transform
from skyloop.datasets.recording_run import plan_recording, record
from skyloop.datasets.rig import STAGES, RecordOptions, rig_scenario
from skyloop_autonomy.mapping import DepthLens
from skyloop_client.errors import DatasetError, SetupError
from skyloop_landing.fpga.config import small_config
from skyloop_landing.fpga.synthesis import Resources, Synthesis
from skyloop_landing.fpga.timing import LongestPath
from skyloop_papers import pages
from skyloop_papers.benchmarks import benches, checking, lidar, maps, perception, physics, plan, verb
from skyloop_papers.benchmarks.flight import FLIGHTS
from skyloop_papers.benchmarks.measurement import Measurement, Measurements, Rounds, beyond, lower
from skyloop_papers.benchmarks.runs import overlap, record_measurements


def by_key(measurements: Measurements, without: str = "") -> dict[str, Measurement]:
    """After a look that each has a key of its own and a positive number, or names what it was `without`."""
    made = list(measurements)
    assert len({each.key for each in made}) == len(made)
    for each in made:
        if math.isnan(each.value):
            assert without and without in each.note
        else:
            assert math.isfinite(each.value) and each.value > 0.0
    return {each.key: each for each in made}


def aims(found: dict[str, Measurement]) -> dict[str, float]:
    return {key: each.aim for key, each in found.items() if each.aim is not None}


# ---- the verb


def made_up() -> Measurements:
    """A speed and a wait."""
    yield Measurement("speed", 5.0, "1/s", 4.0, "at least")
    yield lower("wait_s", 3.0, "s", 2.0, "at most")


def test_every_bench_has_its_line_and_is_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    lines = benches.listed()
    assert len(lines) == 20 and all(text.endswith(".") for text in lines.values())
    assert execute(["bench", "--help"]) == 0
    # names may be broken over lines
    assert f"Benches:{','.join(lines)}" in "".join(capsys.readouterr().out.split())


def test_json_has_these_keys_and_text_says_what_holds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verb, "BENCHES", {"made-up": None})
    monkeypatch.setattr(verb, "load", {"made-up": made_up}.__getitem__)
    assert execute(["bench", "made-up", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert list(report) == ["name", "machine", "figures"] and report["name"] == "made-up"
    speed = {"key": "speed", "value": 5.0, "unit": "1/s", "aim": 4.0, "note": "at least", "lower_is_better": False}
    wait = {"key": "wait_s", "value": 3.0, "unit": "s", "aim": 2.0, "note": "at most", "lower_is_better": True}
    assert report["figures"] == [{**speed, "holds": True}, {**wait, "holds": False}]
    assert execute(["bench", "made-up"]) == 0
    first, _, second, _ = capsys.readouterr().out.splitlines()
    assert first == "speed 5 1/s, aim ≥ 4: holds" and second == "wait_s 3 s, aim ≤ 2: missed"


# ---- the check


def test_ratios_are_judged_by_their_aims_and_by_the_page_and_speeds_are_not() -> None:
    def verdict(figure: Measurement, page: float | None) -> tuple[str, bool, bool]:
        row = checking.judged("made-up", figure, page)
        return row.verdict, row.holds, row.is_new

    assert verdict(Measurement("r", 0.6, "ratio", 0.5), 0.7) == ("holds", True, False)
    assert verdict(Measurement("r", 0.6, "ratio", 0.5), 0.75) == ("20 % worse than the page", False, True)
    assert verdict(Measurement("r", 0.6, "ratio", 0.7), 0.75) == ("missed, 20 % worse than the page", False, True)
    assert verdict(Measurement("r", 0.6, "ratio", 0.7), 0.62) == ("missed, as on the page", False, False)
    assert verdict(lower("r", 1.2, "ratio", None, ""), 1.0) == ("20 % worse than the page", False, True)
    assert verdict(lower("r", 0.06, "share", 0.1, ""), 0.01) == ("holds", True, False), "shares of little are all noise"
    assert verdict(Measurement("r", 0.6, "ratio"), None) == ("no figure to compare with", True, False)
    assert verdict(Measurement("r", math.nan, "ratio", 0.5, "rotors are missing"), 0.7) == (
        "not measured: rotors are missing", False, True,
    )  # fmt: skip
    judged = (Measurement("a", 1.0, "1/s", 2.0), lower("b", 1.0, "ms", 0.5, ""), lower("c", 1.0, "m", 2.0, ""))
    assert [each.is_judged for each in judged] == [False, False, True]


def test_the_check_prints_a_table_and_its_exit_code_says_whether_all_holds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """What is worse than on the page is measured once more, and the better one counts."""
    given = {"steady": [0.9], "noisy": [0.5, 0.88], "slower": [0.5, 0.6]}
    asked: list[str] = []

    def measured(name: str) -> list[Measurement]:
        asked.append(name)
        return [Measurement("vs_peer", given[name].pop(0), "ratio", 0.4), Measurement("speed", 1.0, "1/s", 5.0)]

    monkeypatch.setattr(checking, "measured", measured)
    monkeypatch.setattr(pages, "DOCS", tmp_path)
    monkeypatch.setattr(pages, "code_version", lambda: "today")
    for name in given:
        pages.write_bench(name, [Measurement("vs_peer", 0.9, "ratio", 0.4).plain()])
    monkeypatch.setattr(verb, "BENCHES", dict.fromkeys(given))
    monkeypatch.setattr("os.getloadavg", lambda: (9.0, 0.0, 0.0))
    assert execute(["bench", "steady", "--check"]) == 0
    shown = capsys.readouterr()
    assert asked == ["steady"] and "holds" in shown.out and "keep this machine busy (load 9.0 on" in shown.err
    given["steady"] = [0.9]
    assert execute(["bench", "all", "--check"]) == 1
    assert asked[1:] == ["steady", "noisy", "noisy", "slower", "slower"]
    shown = capsys.readouterr()
    assert "0.88" in shown.out and "33 % worse" in shown.out and "speed" not in shown.out
    assert "2 of 3 hold; 1 do not, 1 of them not as on the page" in shown.err
    assert execute(["bench", "slower", "--check", "--update-docs"]) == 1
    assert execute(["bench", "slow", "--check"]) == 1
    assert "no bench named 'slow'" in capsys.readouterr().err


def test_a_bench_that_fails_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(name: str) -> list[Measurement]:
        raise SetupError("no end after 240 s")

    monkeypatch.setattr(checking, "measured", fails)
    (row,) = checking.checked("physics")
    assert not row.holds and row.verdict == "not measured: no end after 240 s"


def test_what_is_published_is_on_the_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(pages, "DOCS", tmp_path)
        patch.setattr(pages, "code_version", lambda: "today")
        page = tmp_path / "page.md"
        page.write_text("<!-- results: benches made-up -->\n<!-- end -->\n")
        lacking = Measurement("vs_peer", math.nan, "ratio", 0.5, "no peer")
        written = pages.write_bench("made-up", [each.plain() for each in (*made_up(), lacking)])
        assert written == [tmp_path / "results/benches.json", page]
        shown = page.read_text()
        assert "| `speed` | 5 | 1/s | ≥ 4 | yes |" in shown and "| `wait_s` | 3 | s | ≤ 2 | **no** |" in shown
        assert "vs_peer" not in shown and "Measured at commit `today` on " in shown
    for page in pages.pages():
        if pages.BENCHES in pages.names_in(text := page.read_text(encoding="utf-8")):
            assert text == pages.rendered(text), "run `make pages`"
    assert [pages.short(x) for x in (4_512_345.0, 52_810.0, 0.0705, 5.9e-5, 957.4, -0.001)] == [
        "4 510 000", "52 800", "0.0705", "5.9e-05", "957", "-0.001",
    ]  # fmt: skip


def test_a_latency_below_the_plain_ones_is_too_noisy() -> None:
    figure = beyond("round_trip_p99_us", 1059.0, 8123.0, "µs", 2000.0, "above the plain one")
    assert math.isnan(figure.value) and figure.plain()["value"] is figure.holds is None
    assert figure.note == "too noisy: 1,059 µs beside 8,123 µs of the plain one in the same run"
    assert beyond("a", 300.0, 120.0, "µs", 200.0, "").value == 180.0


def test_timings_take_turns_and_the_first_round_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    number = count(1)
    taken = Rounds({name: lambda: float(next(number)) for name in "ab"}, rounds=2)
    assert {name: values.tolist() for name, values in taken.taken.items()} == {"a": [3.0, 5.0], "b": [4.0, 6.0]}
    assert [line.getMessage()[:12] for line in caplog.records] == [f"round {k} of 3" for k in (1, 2, 3)]


# ---- physics

TINY: dict[str, Any] = {
    "rounds": 2, "vehicles": 5, "batch_calls": 2, "kernel_steps": 20, "peer_steps": 5, "loop_s": 0.2,
    "peer_loop_s": 0.1, "later_starts": 1,
}  # fmt: skip


@pytest.mark.processes
def test_physics_beside_rotorpy(monkeypatch: pytest.MonkeyPatch) -> None:
    # a start that compiles nothing: the real one takes as long as the rest of the suite
    monkeypatch.setattr(physics, "START", "pass")
    found = by_key(physics.physics(**TINY))
    assert set(found) == {
        "batch_steps_per_s", "kernel_vs_rotorpy", "loop_vs_rotorpy", "first_start_s", "later_start_s",
        "batch_with_controller_steps_per_s", "kernel_step_ns", "rotorpy_step_us", "loop_imu_250hz_vs_rotorpy",
        "loop_realtime_factor", "loop_imu_250hz_realtime_factor", "rotorpy_realtime_factor",
    }  # fmt: skip


def test_all_vehicles_of_the_batch_are_advanced_and_only_the_controller_brakes_them() -> None:
    drift = {}
    for commanded in (True, False):
        batch = physics.VehicleBatch(20, commanded=commanded)
        with ThreadPoolExecutor(2) as pool:
            batch.steps_per_second(100, pool)
        assert (batch._states["step"] == 100 * physics.STEPS_PER_CALL).all()
        assert len(np.unique(batch._states["motion"][:, 0])) == 20
        drift[commanded] = np.linalg.norm(batch._states["motion"][:, 3:5], axis=1).mean()
    assert drift[False] < 0.5 * drift[True]


@pytest.mark.parametrize("imu_hz", [100, 250])
def test_the_loop_flies_its_circle_and_every_stream_is_read(imu_hz: int) -> None:
    loop = physics.Loop(imu_hz, 10.0)
    simulation = loop._simulation
    simulation.run_for(4.0)
    before = dict(simulation.bus.counts)
    loop.real_time_factor(2.0)
    assert simulation.bus.counts["drone/imu"] - before["drone/imu"] == 2 * imu_hz
    assert simulation.bus.counts["truth/drone"] - before["truth/drone"] == 2 * physics.LOOP_HZ
    truth = simulation.latest("truth/drone")
    assert np.hypot(*truth.position[:2]) == pytest.approx(physics.RADIUS, abs=0.1)
    speed = 2 * np.pi * physics.LAPS_PER_S * physics.RADIUS
    assert np.linalg.norm(truth.velocity_world) == pytest.approx(speed, rel=0.05)
    assert sum(len(reader) for reader in loop._readers) >= 2 * imu_hz


def test_without_rotorpy_the_rest_is_measured_and_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rotorpy.vehicles.multirotor", None)
    found = by_key(physics.physics(**{**TINY, "rounds": 1, "later_starts": 0}), without="RotorPy is not installed")
    assert {key for key, each in found.items() if math.isnan(each.value)} == {
        "kernel_vs_rotorpy", "rotorpy_step_us", "loop_vs_rotorpy", "loop_imu_250hz_vs_rotorpy",
        "rotorpy_realtime_factor",
    }  # fmt: skip


@pytest.mark.processes
def test_starts_use_an_empty_cache_and_then_the_same_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    code = (
        "import os, pathlib; cache = pathlib.Path(os.environ['XDG_CACHE_HOME'])\n"
        f"print(len(list(cache.iterdir())), 'NUMBA_CACHE_DIR' in os.environ, file=open({str(seen)!r}, 'a'))\n"
        "(cache / 'kernel').touch()\n"
    )
    monkeypatch.setattr(physics, "START", code)
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/nonexistent")
    list(physics.starts(2))
    assert seen.read_text().splitlines() == ["0 False", "1 False", "1 False"]
    monkeypatch.setattr(physics, "START", "raise RuntimeError('no wings')")
    with pytest.raises(SetupError, match=r"does not start on this machine: RuntimeError: no wings$"):
        list(physics.starts(1))


# ---- flights


def _worst(name: str, seeds: range, *more: str) -> float:
    flight: Any = FLIGHTS[name][0]
    return float(max(flight(seed, *more) * FLIGHTS[name][1] for seed in seeds))


@pytest.mark.parametrize("name", ["hover_mm", "step_overshoot_percent", "circle_rms_m", "wind_hover_p95_m"])
def test_the_controller_keeps_to_its_aims(name: str) -> None:
    """The other flights cost more and fly what these fly."""
    assert _worst(name, range(1, 2)) <= FLIGHTS[name][3]


@pytest.mark.slow("twenty seeds of every flight")
@pytest.mark.parametrize("name", FLIGHTS)
def test_aims_hold_on_twenty_seeds(name: str) -> None:
    assert _worst(name, range(1, 21)) <= FLIGHTS[name][3]


@pytest.mark.slow("twenty missions on each IMU")
@pytest.mark.parametrize("imu", ["e2es", "adis16448"])
@pytest.mark.parametrize("name", [name for name in FLIGHTS if name.startswith("ekf")])
def test_the_ekf_flies_on_the_other_noisy_imus_too(name: str, imu: str) -> None:
    assert _worst(name, range(1, 21), imu) <= FLIGHTS[name][3]


# ---- LiDAR


def test_lidar_beside_bare_embree() -> None:
    found = by_key(lidar.lidar(rounds=1, sweeps=1, cells=40, objects=20))
    assert aims(found) == {"vs_raw_embree": 0.8}
    assert {"airsim_points_per_s", "raw_rays_per_s", "vlp16_vs_raw_embree"} <= set(found)


def test_embree_alone_gets_the_very_rays_of_the_lidar() -> None:
    scene = lidar.StandingScene(lidar.generated_world(40, 20))
    run = lidar.LidarRun("airsim", scene)
    origins, directions = run._rays
    assert len(directions) == 624 * 16 and np.allclose(origins, [0.0, 0.0, lidar.HEIGHT])
    met = scene.cast(origins, directions, 100.0)
    assert len(run.sweep(0).ranges) == np.isfinite(met.distance).sum() > 5000


# ---- maps


LENS = DepthLens(87.0, 87.0, 79.5, 44.5)


@pytest.fixture
def shots() -> list[maps.DepthShot]:
    """Towards a wall, a little nearer each time."""
    seen = []
    for number in range(6):
        body = np.array([0.05 * number, 0.0, 1.5])
        depth = np.full((90, 160), 3.05 - body[0], np.float32)
        seen.append(maps.DepthShot(depth, Transform(body, SENSOR_FROM_CAMERA), body))
    return seen


def test_maps_and_octomap_map_the_same_images(shots: list[maps.DepthShot]) -> None:
    found = by_key(maps.own_maps(shots, LENS))
    assert set(aims(found)) == {"global_ms", "local_ms", "esdf_ms"}
    assert all(figure.lower_is_better for figure in found.values())
    # one byte for the counter of a voxel and eight of scratch
    assert found["global_mb"].value == pytest.approx(9 * 110 * 110 * 15 / 1e6)
    peer = by_key(maps.octomap_maps(shots, LENS))
    assert set(peer) == {"octomap_ms", "octomap_every_pixel_ms", "octomap_esdf_ms", "octomap_mb"}


def test_without_octomap_the_rest_is_measured_and_it_is_named(
    monkeypatch: pytest.MonkeyPatch, shots: list[maps.DepthShot]
) -> None:
    monkeypatch.setattr(maps, "shots", lambda *_: (shots, LENS))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    found = by_key(maps.maps(), without="octomap is not installed")
    assert math.isnan(found["vs_octomap"].value) and found["global_ms"].value > 0.0


# ---- planners


def test_planners_beside_the_shortest_way() -> None:
    found = by_key(plan.plan(worlds=1, boxes=3, positions=2, optima=1))
    assert {"global_ms": 13.0, "local_ms": 3.2, "path_ratio": 1.15}.items() <= aims(found).items()
    assert {"global_worst_ms", "local_worst_ms", "space_ms"} <= set(found)
    assert 0.98 < found["path_ratio"].value <= 1.15


def test_the_optimum_is_the_taut_string_around_a_box() -> None:
    """Around a square box the shortest way turns at the rounded corner that lies farthest from the diagonal."""
    world = plan.BoxWorld(8.0, np.array([[3.0, 3.0, 5.0, 5.0]]))
    corner = np.array([3.0 - 0.5 / np.sqrt(2.0), 5.0 + 0.5 / np.sqrt(2.0)])
    taut = 2.0 * float(np.linalg.norm(corner - world.start[:2]))
    straight = float(np.linalg.norm(world.goal - world.start))
    assert plan.shortest_length(world, 0.5) == pytest.approx(taut, rel=0.03)
    assert plan.shortest_length(plan.BoxWorld(8.0, np.array([[6.0, 1.0, 6.5, 1.5]])), 0.5) == pytest.approx(straight)


# ---- recordings


def summary(fps: float, *core_ms: float) -> dict[str, Any]:
    return {"fps": fps, "core_ms_per_frame": dict(zip(STAGES, core_ms, strict=True))}


def test_figures_of_recordings_follow_from_their_summaries() -> None:
    stored, thrown_away = summary(45.0, 20.0, 8.0, 4.0, 8.0), summary(50.0, 20.0, 8.0, 0.0, 8.0)
    made = {f.key: f for f in record_measurements(stored, thrown_away, summary(30.0, 20.0, 30.0, 4.0, 8.0), 0.2, "")}
    assert set(aims(made)) == {"fps_without_radar", "fps_with_radar", "overlap", "journal_cost"}
    assert made["journal_cost"].value == 0.2 and made["journal_cost"].holds is False
    assert made["fps_without_radar"].holds is False and made["fps_with_radar"].holds is True
    assert made["sensors_core_ms_with_radar"].value == 30.0
    # 40 ms of work in 1000 / 45 ms on two cores
    assert overlap(stored, 2) == pytest.approx(40.0 / (1000.0 / 45.0 * 2))


@pytest.mark.slow("runs the benchmark")
@pytest.mark.parametrize("store", [True, False])
def test_the_same_flight_with_and_without_storage(tmp_path: Path, store: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    record_here(monkeypatch)
    scenario = rig_scenario(RecordOptions(world="flat", frames=12, rate_hz=20.0, sensors=("lidar", "imu")))
    with pytest.raises(DatasetError, match="journal"):
        plan_recording(scenario, tmp_path / "x", frames=12, rate_hz=20.0, formats=("tum",), store=False)
    folder = tmp_path / "recording"
    plan_recording(scenario, folder, frames=12, rate_hz=20.0, formats=(), store=store)
    summed = record(folder, 1)
    assert summed["frames_flown_now"] == 12 and (summed["journal_bytes"] > 0) is store
    assert len(list((folder / "journal").iterdir())) == (2 if store else 0)
    spent = summed["core_ms_per_frame"]
    assert set(spent) == set(STAGES) and (spent["journal"] > 0.0) is store
    assert min(spent["sensors"], spent["physics_and_rest"]) > 0.0


# ---- logic for a chip


@pytest.mark.slow("compiles the logic; tests/plugins/landing does so in the fast suite")
@pytest.mark.needs("g++")
def test_figures_of_the_chip_follow_the_synthesis_and_the_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Synthesis(Resources(53_200 / 4, 106_400 / 2, 105, 22), LongestPath(14.0, ("FDRE", "LUT2", "FDRE")))
    monkeypatch.setattr("skyloop_landing.fpga.synthesis.synthesise", lambda: made)
    small = small_config(40, 24)
    monkeypatch.setattr("skyloop_landing.fpga.config.FabricConfig", lambda: small)
    found = by_key(perception.fabric(images=2))
    shares = [found[f"fabric_{key}_percent"] for key in ("lut", "ff", "bram36", "dsp")]
    assert [share.value for share in shares] == [25.0, 50.0, 75.0, 10.0]
    assert [share.holds for share in shares] == [True, True, False, True]
    assert not found["fabric_path_ns"].holds  # 14 ns are longer than a clock
    # two more lines of 40 + 58 clocks, and what follows them
    assert 196 < found["fabric_list_after_us"].value * 74.25 < 196 + 5 * 98
