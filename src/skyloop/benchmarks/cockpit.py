"""The cockpit: how often viewers see a flight, how late, and what that costs the flight."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.apps.run import run_scenario
from skyloop.benchmarks.cockpit_screen import screen_figures
from skyloop.cockpit.cockpit_beside import CockpitBeside
from skyloop.cockpit.world_frame import world_frame
from skyloop.core.results import Figure
from skyloop.sim.assembly import build
from skyloop.sim.scenario import Scenario, load_scenario, make_scenario

VIEWER = """
import json, sys, time
from websockets.sync.client import connect
from skyloop.cockpit.wire import unframed
port, streams, seconds = int(sys.argv[1]), sys.argv[2].split(","), float(sys.argv[3])
counts, late, sizes = dict.fromkeys(streams, 0), [], {}
with connect(f"ws://127.0.0.1:{port}/api/live", max_size=None) as peer:
    peer.send(json.dumps({"want": streams}))
    end = None
    while end is None or time.monotonic() < end:
        try:
            header, payload = unframed(peer.recv(timeout=60))
        except Exception:
            break
        if header["k"] == "ended":
            break
        if header["k"] != "rec" or header["s"] not in counts:
            continue
        if end is None:
            began = time.monotonic()
            end = began + seconds
        counts[header["s"]] += 1
        if header["m"] == "VehicleState":
            late.append(time.time_ns() / 1e6 - header["w"])
late.sort()
print(json.dumps({"counts": counts, "seconds": time.monotonic() - began, "p95": late[int(0.95 * len(late))]}))
"""
TRUTH, CAMERA = "truth/drone", "drone/cam0"


@dataclass(frozen=True, slots=True)
class Sizes:
    """The amount of measurement."""

    flight_s: float = 20.0
    """Simulated s of `room-vio`, as fast as it goes."""
    rounds: int = 3
    """Flights with one viewer, and as many without."""
    viewers: int = 5
    screen: bool = True
    """Also look at it in Chromium, where there is one."""


@dataclass(frozen=True, slots=True)
class Flown:
    cpu_s: float
    """Processor time of the process that flies; its renderer, the server and the viewers are others."""
    told: list[dict[str, Any]]
    """What each viewer saw."""


def measure(sizes: Sizes | None = None) -> list[Figure]:
    """All figures of `skyloop bench cockpit`."""
    sizes = sizes or Sizes()
    changes: dict[str, Any] = {"duration": sizes.flight_s}
    for camera in ("cam0", "cam1"):
        changes[f"vehicles.drone.sensors.{camera}.width"] = 320
        changes[f"vehicles.drone.sensors.{camera}.height"] = 240
    scenario = load_scenario("room-vio", changes)
    # the first one loads compiled code; then by turns, so that a machine that gets busy slows both
    _flown(scenario, 0)
    pairs = [(_flown(scenario, 0), _flown(scenario, 1)) for _ in range(sizes.rounds)]
    five = _flown(scenario, sizes.viewers).told
    seen = sorted((told for _, with_one in pairs for told in with_one.told), key=lambda told: _hz(told, TRUTH))
    middle = seen[len(seen) // 2]
    slowdown = float(np.median([with_one.cpu_s / alone.cpu_s - 1.0 for alone, with_one in pairs]))
    flight = f"room-vio, {sizes.flight_s:g} s simulated, as fast as it goes, cameras of 320 by 240 px"
    late = "from the sample's publication until a viewer without a browser has read it"
    cost = (
        "processor time of the flight with one viewer over that without, less 1; median of pairs flown in turns. "
        "Other load on the machine does not change it"
    )
    return [
        Figure("view_hz", _hz(middle, TRUTH), "Hz", 30.0, f"poses at one viewer, median; {flight}"),
        Figure("camera_hz", _hz(middle, CAMERA), "Hz", 10.0, "pictures at one viewer"),
        Figure("slowdown", slowdown, "", 0.10, cost, lower_is_better=True),
        Figure("latency_p95_ms", middle["p95"], "ms", 150.0, late, lower_is_better=True),
        Figure(
            "view_hz_of_five", min(_hz(told, TRUTH) for told in five), "Hz", None, f"slowest of {len(five)} viewers"
        ),
        *(screen_figures(scenario) if sizes.screen else []),
        Figure("world_s", _world_s(), "s", 3.0, "park packed for a page", lower_is_better=True),
    ]


def _hz(told: dict[str, Any], stream: str) -> float:
    return float(told["counts"][stream] / told["seconds"])


def _flown(scenario: Scenario, viewers: int) -> Flown:
    processes = []
    beside = CockpitBeside(scenario, port=0) if viewers else None
    if beside is not None:
        beside.run_unlimited()
        words = [sys.executable, "-c", VIEWER, str(beside.server.port), f"{TRUTH},{CAMERA}", "600"]
        processes = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(viewers)]
        # a viewer that is still starting would count as part of the flight
        time.sleep(2.0)
    try:
        with tempfile.TemporaryDirectory() as folder:
            began = time.process_time()
            run_scenario(scenario, Path(folder) / "run", links=[] if beside is None else [beside])
            spent = time.process_time() - began
    finally:
        if beside is not None:
            beside.close()
    return Flown(spent, [json.loads(process.communicate(timeout=60)[0]) for process in processes])


def _world_s() -> float:
    with build(make_scenario({"name": "look", "world": "park"})) as simulation:
        world_frame(simulation.port.editor.appearance())
        began = time.perf_counter()
        world_frame(simulation.port.editor.appearance())
        return time.perf_counter() - began
