"""Frames per second of a detector in the loop, with and without a window: the four cells of airloop's Table 8."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from skyloop.core.system_packages import screen
from skyloop.links.loop.loop_link import LoopConfig
from skyloop.links.loop.targets import LocalProcess
from skyloop.run import run_scenario
from skyloop.sim.outside_programs import outside_estimator
from skyloop.sim.scenario import Scenario, load_scenario
from skyloop_client.errors import LinkError
from skyloop_papers.experiment import Cell
from skyloop_papers.runs import Run

SCENARIO, DETECT = "park-people", "detect"
LOOP, AGAINST = "in the loop", "optimised against torch"
PUBLISHED = {("torch", True): 4.31, ("torch", False): 4.6, ("optimised", True): 8.29, ("optimised", False): 8.76}
"""Frames per second on a Jetson Nano, by the way the network runs and whether there was a window."""
RUNTIMES: dict[str, dict[str, Any]] = {"torch": {"runtime": "torch"}, "optimised": {}}
"""By name: options of the detector's loader. Without any it takes the model with 8 bits and the fastest runtime."""


def frames_in_the_loop(options: Mapping[str, object], *, display: str | None, seconds: float) -> Run:
    """Fly park-people for some simulated seconds with the detector in a process of its own. What it loads before its
    first image does not count. display: the screen for its window; None: it has none."""
    scenario = scenario_of(options, window=display is not None, seconds=seconds)
    changed, kind, vehicle, name = outside_estimator(scenario, DETECT)
    command = [sys.executable, "-m", "skyloop_client", "estimator", kind, "--vehicle", vehicle, "--name", name]
    if display is not None:
        command = ["env", f"DISPLAY={display}", *command]
    with tempfile.TemporaryDirectory(prefix="skyloop-detect-") as scratch:
        # by processor time, so that other programs do not count
        target = LocalProcess(command, clock="cpu")
        summary = run_scenario(changed, Path(scratch) / "run", links=[LoopConfig(pilots_inside=True, target=target)])
        # before its output is removed
        ended = target.ended()
    frames = int(summary["messages"].get(f"{vehicle}/{DETECT}/boxes", 0))
    if not frames:
        why = f" ({ended})" if ended else ""
        raise LinkError(f"the detector looked at no image in {seconds:g} s of flight{why}")
    (program,) = summary["links"]["loop"]["pilots"]
    # of the detector's process: images taken from the link, looked at, drawn, boxes sent; and with the simulator
    rates = {"per_second": frames / program["computed_s"], "per_second_of_all": frames / summary["wall_s"]}
    return {"frames": frames, **rates}


def scenario_of(options: Mapping[str, object], *, window: bool, seconds: float) -> Scenario:
    """park-people with its camera alone, on the truth: what else it carries would only take time."""
    shipped = load_scenario(SCENARIO).vehicles[0]
    camera = shipped.sensors["front"].model_dump(mode="json")
    chosen = {"detector": "network", "options": dict(options), "window": window}
    estimator = {"kind": shipped.estimators[DETECT].kind, "inputs": ["front"], "options": chosen}
    changes = {
        "duration": seconds, "vehicles.drone.state": "truth", "vehicles.drone.sensors": {"front": camera},
        "vehicles.drone.perception": {}, "vehicles.drone.estimators": {DETECT: estimator},
    }  # fmt: skip
    return load_scenario(SCENARIO, changes)


def in_the_loop(way: str, window: bool, seconds: float) -> Run:
    """One cell of Table 8, as a run that is kept."""
    with screen() if window else nullcontext() as name:
        flown = frames_in_the_loop(RUNTIMES[way], display=name, seconds=seconds)
    return {"way": way, "window": window, **flown}


def loop_cells(runs: Sequence[Run]) -> list[Cell]:
    """Table 8: frames per second of the whole loop, and how many times faster the optimised network makes it."""
    cells = []
    for run in runs:
        about = {"detector_per_second": run["per_second"]}
        published, rate = PUBLISHED[run["way"], run["window"]], run["per_second_of_all"]
        column = f"{run['way']}, {_window(run)}"
        cells.append(Cell("Table 8", LOOP, column, published, rate, "1/s", run["frames"], None, about))
    by_way = {(run["way"], run["window"]): run["per_second_of_all"] for run in runs}
    for run in runs:
        torch = ("torch", run["window"])
        if run["way"] != "torch" and torch in by_way:
            way = run["way"], run["window"]
            published, times = PUBLISHED[way] / PUBLISHED[torch], by_way[way] / by_way[torch]
            cells.append(Cell("Table 8", LOOP, f"{AGAINST}, {_window(run)}", published, times, "times"))
    return cells


def _window(run: Run) -> str:
    return "window" if run["window"] else "no window"
