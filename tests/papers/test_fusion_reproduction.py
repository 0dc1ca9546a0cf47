"""`skyloop reproduce fusion`: what is flown, how flights are pooled, and what its page shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skyloop_papers.fusion.experiment import (
    EXPERIMENT,
    SENSORS,
    FusionPlan,
    draw_figures,
    fusion_scenario,
    job_name,
    pooled,
    stream_of,
)

SMALL = FusionPlan((1, 2))


def score(matches: int, position: float | None, false: int = 0) -> dict[str, Any]:
    return {
        "objects": 100, "matches": matches, "misses": 100 - matches, "false": false, "switches": 1,
        "recall": matches / 100, "position_rms_m": position, "velocity_rms_m_s": position, "speeds": matches,
    }  # fmt: skip


def runs(fog: int = 70) -> dict[str, dict[str, Any]]:
    out = {}
    for condition in SMALL.conditions:
        for seed in SMALL.seeds:
            both = fog if condition == "fog" else 95
            found = {"camera": (60, 0.6), "radar": (65, 0.5), "both": (both, 0.3), "camera and depth": (60, 0.4)}
            boxes = {"people": 10 * seed, "precision": 0.9, "recall": 0.3 * seed, "ap50": 0.5}
            trackers = {name: score(*values) for name, values in found.items()}
            out[job_name(condition, seed)] = {"seed": seed, "boxes": boxes, "trackers": trackers}
    return out


def test_the_scenario_has_a_tracker_for_each_choice_of_sensors() -> None:
    scenario = fusion_scenario(7, "fog", "labels", 10.0)
    estimators = scenario.vehicles[0].estimators
    assert scenario.weather.visibility == 30.0 and scenario.seed == 7 and scenario.duration == 10.0
    assert set(estimators) == {"detect", *(stream_of(name) for name in SENSORS)}
    assert estimators["detect"].options == {"detector": "labels", "seed": 7}
    assert "radar/detections" not in estimators["by_camera"].inputs
    assert fusion_scenario(7, "night", "network", 10.0).vehicles[0].estimators["detect"].options == {
        "detector": "network"
    }


def test_flights_are_pooled_by_what_was_counted() -> None:
    whole = pooled([score(100, 0.3), score(50, 0.6, false=10), score(0, None)])
    assert whole["recall"] == pytest.approx(150 / 300) and whole["mota"] == pytest.approx(1 - (150 + 10 + 3) / 300)
    assert whole["position"] == pytest.approx(((100 * 0.09 + 50 * 0.36) / 150) ** 0.5)
    assert whole["precision"] == pytest.approx(150 / 160)


def test_results_say_which_aims_were_met(tmp_path: Path) -> None:
    results = EXPERIMENT.judge(SMALL, runs())
    by_cell = {result.name: result for result in results}
    assert by_cell["clear day: recall"].ours == pytest.approx((10 * 0.3 + 20 * 0.6) / 30)
    assert by_cell["fog: recall kept by both"].ours == pytest.approx(70 / 95)
    made = EXPERIMENT.page(results)
    assert "beat either alone in 12 of 12 figures." in made["verdict"] and "0.74 of their recall" in made["verdict"]
    assert "is met." in made["verdict"]
    assert "| fog | both | 0.70 | 1.00 | 0.69 | 0.30 | 0.30 | 2 | 0 |" in made["trackers"]
    worse = EXPERIMENT.page(EXPERIMENT.judge(SMALL, runs(fog=62)))["verdict"]
    assert "in 10 of 12 figures; not in fog: recall, fog: mota." in " ".join(worse.split()) and "is missed." in worse
    draw_figures(results, tmp_path / "fusion.png")
    assert (tmp_path / "fusion.png").stat().st_size > 10_000
    assert EXPERIMENT.describe(runs()["fog-1"]).startswith("recall by camera 0.60, radar 0.65, both 0.70")
