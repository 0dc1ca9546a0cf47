"""Frames per second of a detector in the loop: which cells of Table 8 are made, and from what."""

from __future__ import annotations

from pathlib import Path

import pytest

from skyloop_papers.detection import loop as detection_loop
from skyloop_papers.detection.loop import Frames, loop_cell, loop_jobs, scenario_of
from skyloop_papers.detection.plan import QUICK, DetectionPlan


def test_the_scenario_has_the_camera_and_the_detector_only() -> None:
    scenario = scenario_of("network", {"runtime": "torch"}, window=True, seconds=3.0)
    (vehicle,) = scenario.vehicles
    assert set(vehicle.sensors) == {"front"} and set(vehicle.estimators) == {"detect"}
    told = vehicle.estimators["detect"].options
    assert told == {"detector": "network", "options": {"runtime": "torch"}, "window": True}


def test_the_four_cells_stand_beside_those_of_the_paper(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = []

    def flown(detector: str, options: object, *, display: str | None, seconds: float) -> Frames:
        asked.append((detector, options, display, seconds))
        return Frames(50, 2.5 if display else 2.0, 10.0)

    monkeypatch.setattr(detection_loop, "frames_in_the_loop", flown)
    monkeypatch.setenv("DISPLAY", ":99")
    jobs = loop_jobs(DetectionPlan(), tmp_path)
    results = [loop_cell(job.call(*job.arguments)) for job in jobs]
    assert [(result.name, result.published, result.ours) for result in results] == [
        ("in the loop: torch, window", 4.31, 20.0), ("in the loop: torch, no window", 4.6, 25.0),
        ("in the loop: optimised, window", 8.29, 20.0), ("in the loop: optimised, no window", 8.76, 25.0),
    ]  # fmt: skip
    assert asked[0] == ("network", {"runtime": "torch"}, ":99", 10.0)
    assert results[0].conditions["per_second_of_all"] == 5.0


def test_without_a_screen_there_are_two_cells(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [job.name for job in loop_jobs(DetectionPlan(), tmp_path)] == [
        "loop-torch-no-window",
        "loop-optimised-no-window",
    ]
    assert [job.name for job in loop_jobs(QUICK, tmp_path)] == ["loop-optimised-no-window"]
