"""Frames per second of a detector in the loop: which cells of Table 8 are made, and from what."""

from __future__ import annotations

import pytest

from skyloop.benchmarks import detect_loop
from skyloop.benchmarks.detect_loop import Frames, scenario_of, table_8


def test_the_scenario_has_the_camera_and_the_detector_only() -> None:
    scenario = scenario_of("network", {"runtime": "torch"}, window=True, seconds=3.0)
    (vehicle,) = scenario.vehicles
    assert set(vehicle.sensors) == {"front"} and set(vehicle.estimators) == {"detect"}
    told = vehicle.estimators["detect"].options
    assert told == {"detector": "network", "options": {"runtime": "torch"}, "window": True}


def test_the_four_cells_stand_beside_those_of_the_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def flown(detector: str, options: object, *, window: bool, seconds: float) -> Frames:
        asked.append((detector, options, window, seconds))
        return Frames(50, 2.5 if window else 2.0, 10.0)

    monkeypatch.setattr(detect_loop, "frames_in_the_loop", flown)
    ways = {"torch": ("network", {"runtime": "torch"}), "optimised": ("network", {})}
    results = table_8(ways, seconds=4.0)
    assert [(result.cell, result.published, result.measured) for result in results] == [
        ("torch, window", 4.31, 20.0), ("torch, no window", 4.6, 25.0),
        ("optimised, window", 8.29, 20.0), ("optimised, no window", 8.76, 25.0),
    ]  # fmt: skip
    assert asked[0] == ("network", {"runtime": "torch"}, True, 4.0)
    assert results[0].conditions["per_second_of_all"] == 5.0
