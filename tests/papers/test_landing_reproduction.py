"""`skyloop reproduce landing`: what is flown, how it is scored, and what its page shows."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from landing_firmware import firmware, needs_board
from skyloop.sim.scenario import Scenario
from skyloop.world.weather import weather_at
from skyloop_client.messages import Event, EventKind
from skyloop_papers.landing import flight as landing_flight
from skyloop_papers.landing.experiment import (
    EXPERIMENT,
    draw_errors,
    draw_failures,
    draw_starts,
    job_name,
    pictures_of_failures,
)
from skyloop_papers.landing.flight import (
    ABLATION,
    CONDITIONS,
    LandingObserver,
    LandingPlan,
    land,
    land_on_board,
    landing_scenario,
    scored,
)

Place = tuple[float, float, float]
SMALL = LandingPlan((1, 2, 3, 4), ("python", "qemu"), (5, 6), ("dusk",), (7,), ("ours",), (65.0,), (8,), 30)


def run(seed: int, x: float = 0.1, y: float = -0.2, **more: Any) -> dict[str, Any]:
    track = [[10.0, 2.0, 1.0, 8.0], [20.0, x, y, 0.1]]
    made = {"seed": seed, "x": x, "y": y, "heading": 0.05, "time": 10.0 + seed}
    return {**made, "start": [2.0, 1.0, 8.0], "track": track, **more}


def small_runs() -> dict[str, dict[str, Any]]:
    runs = {job_name("board", board, seed): run(seed) for board in SMALL.boards for seed in SMALL.starts}
    runs[job_name("board", "python", 2)] = run(2, -0.3, 0.4)
    runs[job_name("board", "qemu", 4)] = run(4, failed="gave up: no marker")
    execution = {"mean": 0.5, "max": 2.0, "missed": 3}
    runs[job_name("board", "qemu", 1)] = run(1, execution_ms=execution)
    runs |= {
        job_name("condition", "dusk", seed): run(seed, failed="landed 2.00 m beside the marker") for seed in (5, 6)
    }
    runs |= {job_name("ablation", "ours", 7): run(7), job_name("clock", "65", 8): run(8, execution_ms=execution)}
    return runs


def test_errors_and_times_are_of_the_landings_that_succeeded() -> None:
    results = {result.name: result for result in EXPERIMENT.judge(SMALL, small_runs())}
    square = (3 * 0.1**2 + 0.3**2) / 4
    assert results["python: x"].conditions["mse"] == pytest.approx(square)
    assert results["python: x"].ours == pytest.approx(math.sqrt(square))
    assert results["python: x"].published == pytest.approx(math.sqrt(0.3375))
    assert results["qemu: x"].ours == pytest.approx(0.1) and results["qemu: x"].n == 3
    times = [results[f"python: {key} time"].ours for key in ("mean", "median", "max", "min")]
    assert times == [12.5, 12.5, 14.0, 11.0] and results["qemu: max time"].ours == 13.0


def test_the_page_names_failures_and_shows_every_group() -> None:
    made = EXPERIMENT.page(EXPERIMENT.judge(SMALL, small_runs()))
    assert "| landed | 100 of 100 | all | 4 of 4 | 3 of 4 |" in made["boards"]
    assert "| dusk | 0 of 2 |" in made["conditions"] and "| ours | 1 of 1 |" in made["ablation"]
    assert "| qemu | gave up: no marker | 1 | 4 |" in made["failed"] and "| 2 | 5, 6 |" in made["failed"]
    assert "| 65 MHz | 1 of 1 | 0.50 | 2.00 | 3 |" in made["clock"]
    assert "| execution, mean, ms |  |  |  | 0.500 |" in made["times"]


def test_pictures_are_drawn_and_one_of_each_group_that_failed_is_shown(tmp_path: Path) -> None:
    runs = small_runs()
    by_board = {board: [runs[job_name("board", board, seed)] for seed in SMALL.starts] for board in SMALL.boards}
    draw_starts(by_board["qemu"], tmp_path / "starts.png")
    draw_errors(by_board, tmp_path / "errors.png")
    assert min((tmp_path / f"{name}.png").stat().st_size for name in ("starts", "errors")) > 10_000
    for name in ("board-late-12", "board-late-103", "ablation-ours-7"):
        (tmp_path / name).mkdir()
        Image.new("RGB", (30, 20), "red").save(tmp_path / name / "failed.png")
    shown = pictures_of_failures(tmp_path)
    assert [path.parent.name for path in shown] == ["ablation-ours-7", "board-late-103"]
    draw_failures(shown, tmp_path / "sheet.jpg")
    with Image.open(tmp_path / "sheet.jpg") as sheet:
        assert sheet.size == (30, 40)
    draw_failures([], tmp_path / "sheet.jpg")
    with Image.open(tmp_path / "sheet.jpg") as sheet:
        assert sheet.size[0] == 640


@pytest.mark.parametrize("name", [*CONDITIONS, *ABLATION])
def test_every_condition_is_a_scenario_that_differs(name: str) -> None:
    changes = {**CONDITIONS, **ABLATION}[name]
    plain, changed = landing_scenario(3, {}, 30), landing_scenario(3, changes, 30)
    assert (changed != plain) == (name != "ours")


def test_the_screen_stands_towards_the_sun_of_the_scenario() -> None:
    made = landing_scenario(3, CONDITIONS["turned and half in shadow"], 30)
    bearing, height = np.radians(made.world.options["screen"])
    sun = weather_at(made.weather, made.earth.latitude_deg).sun_direction
    np.testing.assert_allclose(
        [np.cos(height) * np.cos(bearing), np.cos(height) * np.sin(bearing), np.sin(height)], sun
    )
    other = landing_scenario(4, CONDITIONS["turned and half in shadow"], 30)
    assert made.world.options["marker_yaw_deg"] != other.world.options["marker_yaw_deg"]


def judged(
    place: tuple[float, float, float], yaw: float, kinds: list[str], stage: str, tmp_path: Path
) -> dict[str, Any]:
    scenario: Scenario = landing_scenario(3, {"turned": True}, 30)
    quat = np.array([math.cos(0.5 * yaw), 0.0, 0.0, math.sin(0.5 * yaw)])
    truth = SimpleNamespace(position=np.array(place), quat_wxyz=quat)
    port = SimpleNamespace(truth=truth, status=SimpleNamespace(landed="landed" in kinds))
    simulation: Any = SimpleNamespace(port=SimpleNamespace(vehicle=lambda name: port))
    observer: Any = LandingObserver.__new__(LandingObserver)
    observer.events = [Event(round(1e9 * (20 + k)), EventKind(kind), "") for k, kind in enumerate(kinds)]
    observer.gave_up = False
    observer.status, observer.image = SimpleNamespace(stage=stage, reason="no square with a rectangle"), None
    observer.track = [[5.0, 6.0, 0.0, 8.0], [12.0, 7.0, 0.0, 8.0], [19.0, *place]]
    return scored(simulation, scenario, observer, 11.0, tmp_path)


def test_errors_are_in_the_axes_of_the_marker(tmp_path: Path) -> None:
    yaw = math.radians(landing_scenario(3, {"turned": True}, 30).world.options["marker_yaw_deg"])
    ahead = (6.0 + 0.3 * math.cos(yaw), 0.3 * math.sin(yaw), 0.1)
    scores = judged(ahead, yaw + 0.1, ["landed"], "land", tmp_path)
    assert scores["x"] == pytest.approx(0.3) and scores["y"] == pytest.approx(0.0, abs=1e-9)
    assert scores["heading"] == pytest.approx(0.1) and scores["time"] == pytest.approx(9.0) and "failed" not in scores
    assert len(scores["track"]) == 2 and "off by +0.300" in EXPERIMENT.describe(scores)


@pytest.mark.parametrize(
    ("place", "kinds", "stage", "cause"),
    [
        ((7.0, 0.0, 0.1), ["landed"], "land", "landed 1.00 m beside the marker"),
        ((6.0, 0.0, 4.0), [], "seek", "still in the air after 150 s"),
        ((0.0, 0.0, 0.1), ["landed"], "given up", "gave up; the last image: no square with a rectangle"),
        ((6.0, 0.0, 0.1), ["crash", "landed"], "land", "crashed at 20.0 s"),
    ],
)
def test_what_is_no_landing_on_the_marker_is_a_failure(
    place: Place, kinds: list[str], stage: str, cause: str, tmp_path: Path
) -> None:
    assert judged(place, 0.0, kinds, stage, tmp_path)["failed"].startswith(cause)


@pytest.mark.renders
@pytest.mark.slow("a whole landing with a camera")
def test_a_landing_is_flown_and_scored(tmp_path: Path) -> None:
    scores = land(2, {}, 30, str(tmp_path))
    assert "failed" not in scores and math.hypot(scores["x"], scores["y"]) < 0.2 and scores["time"] < 30.0


@pytest.mark.renders
@pytest.mark.slow("a whole landing with a camera")
def test_a_landing_that_fails_leaves_a_picture(tmp_path: Path) -> None:
    """The camera has failed."""
    scores = land(2, {"vehicles.drone.sensors.down.faults": [{"kind": "off", "start": 10.0}]}, 15, str(tmp_path))
    assert scores["failed"] and (tmp_path / "failed.png").stat().st_size > 10_000


@needs_board
@pytest.mark.renders
@pytest.mark.slow("simulates the logic clock by clock for 15 images of a landing, 9 s each")
def test_the_logic_itself_steers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Amaranth design, clock by clock, in the loop with the firmware under QEMU. Bit-equal logic flies the same."""
    elf = firmware(tmp_path)
    whole = land_on_board(11, "qemu", {"firmware": elf}, 15, str(tmp_path))
    assert "failed" not in whole
    monkeypatch.setattr(landing_flight, "DURATION", whole["track"][0][0] + 1.0)
    beginning = land_on_board(11, "qemu", {"logic": "amaranth", "firmware": elf}, 15, str(tmp_path))
    assert len(beginning["track"]) >= 4
    assert beginning["track"] == whole["track"][: len(beginning["track"])]
