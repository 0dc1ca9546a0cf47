"""The cockpit in Chromium without a GPU, on the machine that flies: the worst place for it."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from skyloop.apps.run import run_scenario
from skyloop.cockpit.cockpit_beside import CockpitBeside
from skyloop.core.results import Figure
from skyloop.sim.scenario import Scenario

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SETTLE_S, LOOK_S = 4.0, 12.0
"""Wall s until the page has found its pixel ratio, and of the measurement."""
PATIENCE_S = 60.0
READY = "!!(window.cockpit && cockpit.seen.loaded && cockpit.seen.view.hasWorld())"
COUNTS = "(() => { const s = cockpit.seen.stats; return [performance.now() / 1000, s.poses, s.pictures, s.frames]; })()"


def screen_figures(scenario: Scenario) -> list[Figure]:
    """None without Chromium and Playwright."""
    program = shutil.which("chromium")
    if program is None or importlib.util.find_spec("playwright") is None:
        return []
    # until it is ended, at real time: the page needs a while to settle
    link = CockpitBeside(scenario.model_copy(update={"duration": 600.0}), port=0)
    with tempfile.TemporaryDirectory() as folder:
        flight = threading.Thread(target=run_scenario, args=(scenario, Path(folder) / "run"), kwargs={"links": [link]})
        flight.start()
        try:
            told = _looked(program, f"http://127.0.0.1:{link.server.port}")
        finally:
            link.run_unlimited()
            link.deliver({"kind": "order", "id": None, "name": "stop", "arguments": {}})
            flight.join()
    where = "Chromium without a GPU on the same machine, 1280 by 720 px, 3-D view and two camera panes"
    return [
        Figure("screen_hz", told["drawn"], "Hz", None, f"pictures of the 3-D view; {where}"),
        Figure("screen_poses_hz", told["poses"], "Hz", None, "poses that the page took"),
        Figure("screen_camera_hz", told["pictures"], "Hz", None, "pictures that two camera panes showed, together"),
        Figure(
            "screen_latency_p95_ms", told["p95"], "ms", 150.0,
            "from the sample's publication until the picture that shows it is drawn", lower_is_better=True,
        ),
    ]  # fmt: skip


def _looked(program: str, address: str) -> dict[str, float]:
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
    return {"poses": poses / passed, "pictures": pictures / passed, "drawn": drawn / passed, "p95": p95}
