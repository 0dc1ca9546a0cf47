"""From scores to the cells and tables of the page on detection, on runs made up here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skyloop_detect.finding import FoundBoxes
from skyloop_detect.samples import CLASSES, Sample
from skyloop_detect.training_data.people_set import read_people
from skyloop_papers.detection.experiment import EXPERIMENT, TRAINING, job_name, score_jobs, speed_jobs
from skyloop_papers.detection.plan import PARTS, PLAIN, QUICK, SHOWN, WAYS, DetectionPlan
from skyloop_papers.detection.plots import draw_curves
from skyloop_papers.detection.scores import recalls


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
    speeds = {job_name("speed", "all", way): {"images_per_s": 200.0, "looks": 300} for way in WAYS}
    speeds[job_name("speed", "all", "torch, 32 bits")]["images_per_s"] = 25.0
    shipped = {"images": {"train": 10}, "device": "a GPU", "seconds_per_epoch": 2.0, "epochs": 3}
    trained = {"shipped": shipped, "steps": 3, "core": 0.5, "slowed": 2.5}
    return EXPERIMENT.judge(DetectionPlan(), {**scores, **speeds, TRAINING: trained})


def test_cells_say_what_was_lost_and_how_much_faster_it_is(results: list[Any]) -> None:
    cells = {result.name: result for result in results}
    assert cells[f"new world: {SHOWN}"].ours == 0.91 and cells[f"new world: {SHOWN}"].n == 1000
    assert cells["bad weather: lost by 8 bits"].ours == pytest.approx(0.01)
    assert cells["optimised against torch"].ours == 8.0
    assert cells["optimised against torch"].published == pytest.approx(1.92, abs=0.01)


def test_tables_hold_every_way_and_part(results: list[Any], tmp_path: Path) -> None:
    made = EXPERIMENT.page(results)
    assert all(f"| {way} |" in made["accuracy"] for way in WAYS) and PLAIN in WAYS
    assert "| person | 0.910 of 1000 |" in made["classes"] and "marker" not in made["classes"]
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


def test_every_way_is_run_on_every_part(tmp_path: Path) -> None:
    plan = DetectionPlan()
    assert len(score_jobs(plan, tmp_path)) == len(PARTS) * len(WAYS) and len(speed_jobs(QUICK, tmp_path)) == 1
    names = [job.name for job in (*score_jobs(plan, tmp_path), *speed_jobs(plan, tmp_path))]
    assert len(names) == len(set(names))


def test_the_test_images_are_of_places_that_are_not_trained_on(tmp_path: Path) -> None:
    from skyloop_detect.training_data.people_set import IMAGES, places_of, plan_tests

    plan_tests(tmp_path / "data", 100, 5)
    chosen = read_people(tmp_path / "data")["places"]
    trained = {entry["seed"] for entry in places_of("", IMAGES) if entry["split"] != "test"}
    assert not trained & {entry["seed"] for entry in chosen}
    for part in PARTS.values():
        assert sum(entry["images"] for entry in chosen if entry["part"] == part) == 100
