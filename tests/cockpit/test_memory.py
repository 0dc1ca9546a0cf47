"""Ten minutes of a flight with a page: neither the server's memory nor the page's grows."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from cockpit_rig import CockpitRig, opened, until

MINUTES = 10.0
LOOKS = 30
WARM = 5
"""Looks that do not count."""
MOST_MB_PER_HOUR = 40.0
SENSORS = {"cam": {"kind": "camera", "width": 160, "height": 120, "rate_hz": 10}, "lidar": {"kind": "lidar"}}


def slope_per_hour(samples: list[tuple[float, float]]) -> float:
    """MB per hour: the median slope of all pairs (Theil and Sen), which one garbage collection does not move."""
    slopes = sorted((b - a) / (t - s) for s, a in samples for t, b in samples if t > s)
    return 3600.0 * slopes[len(slopes) // 2]


def resident_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.slow("ten minutes of a flight with a page")
@pytest.mark.needs("chromium")
@pytest.mark.renders
def test_memory_stays_as_it_is(browser: Any, rig: CockpitRig) -> None:
    """The rule: after a sixth of the time, in which tables fill, the resident memory of the server and the used heap of
    the page, thirty times after a collection, may grow by 40 MB per hour at most, by the median of all slopes."""
    vehicle = {"name": "drone", "sensors": SENSORS, "pilot": {"kind": "hover", "duration": 1e6}}
    rig.fly({"name": "long", "world": "room", "duration": 1e5, "vehicles": [vehicle]}, 300.0)
    page = opened(browser, rig)
    page.click("#tab-cameras")
    until(lambda: page.evaluate("cockpit.seen.stats.pictures") > 5)
    inspect = page.context.new_cdp_session(page)
    of_server, of_page = [], []
    began = time.monotonic()
    for look in range(LOOKS):
        page.wait_for_timeout(1e3 * max(0.0, began + 60.0 * MINUTES / LOOKS * (look + 1) - time.monotonic()))
        inspect.send("HeapProfiler.collectGarbage")
        used = inspect.send("Runtime.getHeapUsage")["usedSize"]
        if look >= WARM:
            now = time.monotonic()
            of_server.append((now, resident_mb(rig.cockpit.server.pid)))
            of_page.append((now, used / 1e6))
    for name, samples in (("server", of_server), ("page", of_page)):
        print(f"{name}, MB:", *(f"{used:.1f}" for _, used in samples))
    assert page.evaluate("cockpit.seen.stats.frames") > 1000 * MINUTES / 30 and page.faults == []
    assert slope_per_hour(of_server) < MOST_MB_PER_HOUR, of_server
    assert slope_per_hour(of_page) < MOST_MB_PER_HOUR, of_page
    page.close()
