"""`skyloop reproduce detection`: from scores to cells and tables, on runs made up here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skyloop_detect.finding import FoundBoxes
from skyloop_detect.samples import CLASSES, Sample
from skyloop_papers.detection import loop as detection_loop
from skyloop_papers.detection.experiment import (
    EXPERIMENT,
    PARTS,
    PLAIN,
    QUICK,
    SHOWN,
    TRAINING,
    WAYS,
    DetectionPlan,
    job_name,
    loop_jobs,
)
from skyloop_papers.detection.loop import loop_cells, scenario_of
from skyloop_papers.detection.pictures import draw_curves
from skyloop_papers.detection.scores import recalls
from skyloop_papers.experiment import NOT_HELD, SPEED


def _run(ap50: float) -> dict[str, Any]:
    return {
        "images": 800,
        "ap50": {"person": ap50, "car": 0.5},
        "objects": {"person": 1000, "car": 20, "marker": 0},
        "precisions": [1.0] * 50 + [0.0] * 51,
        "recall": {"air fog": [10, 7], "height 16 to 24 px": [40, 20], "world park": [100, 90]},
    }


@pytest.fixture
def results() -> list[Any]:
    scores = {job_name("score", part, way): _run(0.91 if way == SHOWN else 0.92) for part in PARTS for way in WAYS}
    scores |= {job_name("score", f"fresh {part}", SHOWN): _run(0.85) for part in PARTS}
    speeds = {job_name("speed", "all", way): {"images_per_s": 200.0, "looks": 300} for way in WAYS}
    speeds[job_name("speed", "all", "torch, 32 bits")]["images_per_s"] = 25.0
    shipped = {"images": {"train": 10}, "device": "a GPU", "seconds_per_epoch": 2.0, "epochs": 3}
    trained = {"shipped": shipped, "steps": 3, "core": 0.5, "slowed": 2.5}
    loops = {
        f"loop-{way}": {"way": way, "window": False, "frames": 50, "per_second": 25.0, "per_second_of_all": rate}
        for way, rate in (("torch", 10.0), ("optimised", 16.0))
    }
    cells = EXPERIMENT.judge(DetectionPlan(), {**scores, **speeds, **loops, TRAINING: trained})
    return EXPERIMENT.judged(cells)


def test_cells_say_what_was_lost_and_how_much_faster_it_is(results: list[Any]) -> None:
    cells = {result.name: result for result in results}
    assert cells[f"new world: {SHOWN}"].ours == 0.91 and cells[f"new world: {SHOWN}"].n == 1000
    assert cells["bad weather: lost by 8 bits"].ours == pytest.approx(0.01)
    assert cells["detection alone: optimised against torch"].ours == 8.0


def test_tables_hold_every_way_and_part(results: list[Any], tmp_path: Path) -> None:
    made = EXPERIMENT.page(results)
    assert all(f"| {way} |" in made["accuracy"] for way in WAYS) and PLAIN in WAYS
    assert "| person | 0.910 of 1000 |" in made["classes"] and "marker" not in made["classes"]
    fresh = made["fresh"].splitlines()[2:]
    assert fresh[0] == "| held-out seeds | ≥ 0.90 | 0.850 | 1000 in 800 | missed |" and fresh[1].endswith("| met |")
    said = " ".join(made["speed"].split())
    assert "the loop is 1.60 to 1.60 times as fast" in said and "not held. With torch" in said
    assert "| air fog | 70% of 10 | 70% of 10 | 70% of 10 |" in made["conditions"]
    draw_curves({part: _run(0.9) for part in PARTS}, tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_persons_are_counted_by_condition() -> None:
    boxes = np.array([[0, 0, 10, 20], [50, 0, 70, 90], [100, 0, 110, 12]], np.float32)
    sample = Sample(
        Path("a.jpg"), (320, 240), boxes, ("person",) * 3, np.array([0.3, 0.0, 0.0], np.float32), np.zeros(3, np.bool_)
    )
    # the second is found, the first only faintly, the third is too small to count
    found = FoundBoxes(boxes[:2].astype(float), np.zeros(2, np.int64), np.array([0.1, 0.9]))
    about = {"world": "park", "air": "fog", "light": "day", "quality": "low", "width": 320, "height": 240}
    assert recalls([sample], [found], {"a.jpg": about}, CLASSES) == {
        "air fog": [2, 1],
        "height 16 to 24 px": [1, 0],
        "height 80 px and more": [1, 1],
        "hidden 0% to 5%": [1, 1],
        "hidden 25% to 50%": [1, 0],
        "light day": [2, 1],
        "quality low": [2, 1],
        "size 320 x 240": [2, 1],
        "world park": [2, 1],
    }


# ---- frames per second in the loop


def test_the_scenario_has_the_camera_and_the_detector_only() -> None:
    scenario = scenario_of({"runtime": "torch"}, window=True, seconds=3.0)
    (vehicle,) = scenario.vehicles
    assert set(vehicle.sensors) == {"front"} and set(vehicle.estimators) == {"detect"}
    assert vehicle.estimators["detect"].options == {
        "detector": "network",
        "options": {"runtime": "torch"},
        "window": True,
    }


def test_the_four_rates_of_the_loop_stand_beside_those_of_the_paper_and_so_do_their_ratios(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = []

    def flown(options: dict[str, str], *, display: str | None, seconds: float) -> dict[str, float]:
        asked.append((options, display, seconds))
        whole = (5.0 if options else 8.0) + (0.0 if display else 1.0)
        return {"frames": 50, "per_second": 20.0 if display else 25.0, "per_second_of_all": whole}

    monkeypatch.setattr(detection_loop, "frames_in_the_loop", flown)
    monkeypatch.setenv("DISPLAY", ":99")
    jobs = loop_jobs(DetectionPlan(), tmp_path)
    results = EXPERIMENT.judged(loop_cells([job.call(*job.arguments) for job in jobs]))
    assert [(result.name.removeprefix("in the loop: "), result.published, result.ours) for result in results] == [
        ("torch, window", 4.31, 5.0), ("torch, no window", 4.6, 6.0),
        ("optimised, window", 8.29, 8.0), ("optimised, no window", 8.76, 9.0),
        ("optimised against torch, window", 8.29 / 4.31, 1.6), ("optimised against torch, no window", 8.76 / 4.6, 1.5),
    ]  # fmt: skip
    assert asked[0] == ({"runtime": "torch"}, ":99", 10.0)
    assert results[0].conditions["detector_per_second"] == 20.0
    assert [result.verdict for result in results] == [SPEED] * 4 + [NOT_HELD] * 2


def test_without_a_screen_there_are_two_cells(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [job.name for job in loop_jobs(DetectionPlan(), tmp_path)] == [
        "loop-torch-no-window",
        "loop-optimised-no-window",
    ]
    assert [job.name for job in loop_jobs(QUICK, tmp_path)] == ["loop-optimised-no-window"]
