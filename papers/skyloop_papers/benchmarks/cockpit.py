"""The cockpit: how often viewers see a flight, how late, and what that costs the flight."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.cockpit.cockpit_beside import CockpitBeside
from skyloop.cockpit.world_frame import world_frame
from skyloop.run import run_scenario
from skyloop.sim.assembly import build
from skyloop.sim.scenario import Scenario, load_scenario, make_scenario
from skyloop_papers.benchmarks.measurement import SHARE, Measurement, Measurements, lower
from skyloop_papers.benchmarks.peers import view_cockpit
from skyloop_papers.processes import child, result_of

TRUTH, CAMERA = "truth/drone", "drone/cam0"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SETTLE_S, LOOK_S = 4.0, 12.0
"""Wall s until the page has found its pixel ratio, and of the measurement."""
PATIENCE_S = 60.0
READY = "!!(window.cockpit && cockpit.seen.loaded && cockpit.seen.view.hasWorld())"
COUNTS = "(() => { const s = cockpit.seen.stats; return [performance.now() / 1000, s.poses, s.pictures, s.frames]; })()"


def cockpit(flight_s: float = 20.0, rounds: int = 3, viewers: int = 5, *, screen: bool = True) -> Measurements:
    """How often viewers see a flight, how late, and what it costs the flight.

    `flight_s`: simulated, as fast as it goes; `rounds`: flights with one viewer, and as many without; `viewers`: of one
    flight with several; 0 leaves it out; `screen`: also look at it in Chromium, where there is one."""
    changes: dict[str, Any] = {"duration": flight_s}
    for camera in ("cam0", "cam1"):
        changes |= {f"vehicles.drone.sensors.{camera}.{side}": px for side, px in (("width", 320), ("height", 240))}
    scenario = load_scenario("room-vio", changes)
    # the first one loads compiled code; then by turns, so that a machine that gets busy slows both
    _fly(scenario, 0)
    pairs = [(_fly(scenario, 0), _fly(scenario, 1)) for _ in range(rounds)]
    views = sorted((view for _, (_, with_one) in pairs for view in with_one), key=lambda view: _hz(view, TRUTH))
    middle = views[len(views) // 2]
    slowdown = float(np.median([cpu_s / alone_s - 1.0 for (alone_s, _), (cpu_s, _) in pairs]))
    flight = f"room-vio, {flight_s:g} s simulated, as fast as it goes, cameras of 320 by 240 px"
    cost = (
        "processor time of the flight with one viewer over that without, less 1; median of pairs flown in turns. "
        "Other load on the machine does not change it"
    )
    late = "from the sample's publication until a viewer without a browser has read it"
    yield Measurement("view_hz", _hz(middle, TRUTH), "Hz", 30.0, f"poses at one viewer, median; {flight}")
    yield Measurement("camera_hz", _hz(middle, CAMERA), "Hz", 10.0, "pictures at one viewer")
    yield lower("slowdown", slowdown, SHARE, 0.10, cost)
    yield lower("latency_p95_ms", middle["p95"], "ms", 150.0, late)
    if viewers:
        slowest = min(_hz(view, TRUTH) for view in _fly(scenario, viewers)[1])
        yield Measurement("view_hz_of_five", slowest, "Hz", None, f"slowest of {viewers} viewers")
    if screen:
        yield from _on_a_screen(scenario)
    yield lower("world_s", _world_s(), "s", 3.0, "park packed for a page")


def _hz(view: dict[str, Any], stream: str) -> float:
    return float(view["counts"][stream] / view["seconds"])


def _fly(scenario: Scenario, viewers: int) -> tuple[float, list[dict[str, Any]]]:
    """Processor s of the process that flies (its renderer, the server and the viewers are others), and what each
    viewer saw."""
    with ExitStack() as opened, tempfile.TemporaryDirectory() as folder:
        watching, links = [], []
        if viewers:
            link = CockpitBeside(scenario, port=0)
            opened.callback(link.close)
            link.run_unlimited()
            links.append(link)
            watcher = (view_cockpit, link.server.url, [TRUTH, CAMERA])
            watching = [opened.enter_context(child(*watcher)) for _ in range(viewers)]
            # a viewer that is still starting would count as part of the flight
            time.sleep(2.0)
        began = time.process_time()
        run_scenario(scenario, Path(folder) / "run", links=links)
        spent = time.process_time() - began
        for link in links:
            link.close()
        return spent, [result_of(each, "bench cockpit: a viewer", timeout=60.0) for each in watching]


def _world_s() -> float:
    with build(make_scenario({"name": "look", "world": "park"})) as simulation:
        world_frame(simulation.port.editor.appearance())
        began = time.perf_counter()
        world_frame(simulation.port.editor.appearance())
        return time.perf_counter() - began


def _on_a_screen(scenario: Scenario) -> Measurements:
    """In Chromium without a GPU on the machine that flies, the worst case; nothing without Chromium and Playwright."""
    program = shutil.which("chromium")
    if program is None or importlib.util.find_spec("playwright") is None:
        return
    # until it is ended, at real time: the page needs a while to settle
    link = CockpitBeside(scenario.model_copy(update={"duration": 600.0}), port=0)
    with tempfile.TemporaryDirectory() as folder:
        flight = threading.Thread(target=run_scenario, args=(scenario, Path(folder) / "run"), kwargs={"links": [link]})
        flight.start()
        try:
            poses, pictures, drawn, p95 = _look(program, link.server.url)
        finally:
            link.run_unlimited()
            link.deliver({"kind": "order", "id": None, "name": "stop", "arguments": {}})
            flight.join()
            link.close()
    where = "Chromium without a GPU on the same machine, 1280 by 720 px, 3-D view and two camera panes"
    late = "from the sample's publication until the picture that shows it is drawn"
    yield Measurement("screen_hz", drawn, "Hz", None, f"pictures of the 3-D view; {where}")
    yield Measurement("screen_poses_hz", poses, "Hz", None, "poses that the page took")
    yield Measurement("screen_camera_hz", pictures, "Hz", None, "pictures that two camera panes showed, together")
    yield lower("screen_latency_p95_ms", p95, "ms", 150.0, late)


def _look(program: str, address: str) -> tuple[float, float, float, float]:
    """Hz of poses, camera pictures and 3-D views, and ms of the latency that 95 % keep below."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        page: Any = browser.new_page(viewport={"width": 1280, "height": 720})
        page.goto(address)
        end = time.monotonic() + PATIENCE_S
        while not page.evaluate(READY) and time.monotonic() < end:
            time.sleep(0.1)
        page.click("#tab-cameras")
        time.sleep(SETTLE_S)
        page.evaluate("cockpit.seen.view.latencies.length = 0")
        first = page.evaluate(COUNTS)
        time.sleep(LOOK_S)
        last = page.evaluate(COUNTS)
        late = sorted(page.evaluate("cockpit.seen.view.latencies"))
        browser.close()
    passed, poses, pictures, drawn = (after - before for after, before in zip(last, first, strict=True))
    p95 = late[int(0.95 * len(late))] if late else float("inf")
    return poses / passed, pictures / passed, drawn / passed, p95
