"""Frames per second of a detector in the loop, with and without a window: the four cells of airloop's Table 8."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyloop.apps.loop import LoopOptions, outside_estimator, run_loop
from skyloop.core.results import Result
from skyloop.links.loop.targets import make_target
from skyloop.sim.scenario import Scenario, load_scenario
from skyloop_client.errors import LinkError

PAPER = "airloop"
SCENARIO, DETECT = "park-people", "detect"
PUBLISHED = {("torch", True): 4.31, ("torch", False): 4.6, ("optimised", True): 8.29, ("optimised", False): 8.76}
"""Frames per second on a Jetson Nano, by the way the network runs and whether there was a window."""


@dataclass(frozen=True, slots=True)
class Frames:
    """What one flight gave."""

    frames: int
    computed_s: float
    """Execution time of the detector's process: images taken from the link, looked at, drawn, boxes sent."""
    wall_s: float
    """All of it, with the simulator that draws the images."""

    @property
    def per_second(self) -> float:
        return self.frames / self.computed_s

    @property
    def per_second_of_all(self) -> float:
        return self.frames / self.wall_s


def frames_in_the_loop(
    detector: str, options: Mapping[str, Any] | None = None, *, window: bool = False, seconds: float = 10.0
) -> Frames:
    """Fly park-people for some simulated seconds with the detector in a process of its own. What it loads before its
    first image does not count."""
    scenario = scenario_of(detector, options or {}, window=window, seconds=seconds)
    changed, kind, vehicle, name = outside_estimator(scenario, DETECT)
    command = [sys.executable, "-m", "skyloop_client", "estimator", kind, "--vehicle", vehicle, "--name", name]
    with tempfile.TemporaryDirectory(prefix="skyloop-detect-") as made:
        target = make_target("local", command, takes_connect=True)
        summary = run_loop(changed, Path(made) / "run", LoopOptions(pilots_inside=True), target)
        # before its output is removed
        ended = None if target is None else target.ended()
    frames = int(summary["messages"].get(f"{vehicle}/{DETECT}/boxes", 0))
    if not frames:
        why = f" ({ended})" if ended else ""
        raise LinkError(f"detector '{detector}' looked at no image in {seconds:g} s of flight{why}")
    (program,) = summary["links"]["loop"]["pilots"]
    return Frames(frames, float(program["computed_s"]), float(summary["wall_s"]))


def scenario_of(detector: str, options: Mapping[str, Any], *, window: bool, seconds: float) -> Scenario:
    """park-people with its camera alone, on the truth: what else it carries would only take time."""
    shipped = load_scenario(SCENARIO).vehicles[0]
    camera = shipped.sensors["front"].model_dump(mode="json")
    inputs = ["front", "truth/drone/front"] if detector == "labels" else ["front"]
    told = {"detector": detector, "options": dict(options), "window": window}
    estimator = {"kind": shipped.estimators[DETECT].kind, "inputs": inputs, "options": told}
    return load_scenario(
        SCENARIO,
        {
            "duration": seconds,
            "vehicles.drone.state": "truth",
            "vehicles.drone.sensors": {"front": camera},
            "vehicles.drone.perception": {},
            "vehicles.drone.estimators": {DETECT: estimator},
        },
    )


def table_8(ways: Mapping[str, tuple[str, Mapping[str, Any]]], *, seconds: float = 10.0) -> list[Result]:
    """The four cells. ways: by "torch" and "optimised", the detector and its options."""
    results = []
    for way, (detector, options) in ways.items():
        for window in (True, False):
            flown = frames_in_the_loop(detector, options, window=window, seconds=seconds)
            cell = f"{way}, {'window' if window else 'no window'}"
            told = {"detector": detector, "options": dict(options), "per_second_of_all": flown.per_second_of_all}
            published = PUBLISHED.get((way, window))
            results.append(Result(PAPER, "Table 8", cell, published, flown.per_second, "1/s", flown.frames, None, told))
    return results
