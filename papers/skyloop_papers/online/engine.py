"""The engine of `skyloop reproduce online` in its own process: it simulates, serves the CUT and times each step.

The SUT, which extracts the data, is part of it, or runs beside the CUT on the board and pulls from here."""

from __future__ import annotations

import threading
from typing import Any

from skyloop.datasets.rig import RecordOptions, rig_scenario
from skyloop.links.loop.client_sessions import SessionOptions
from skyloop.links.loop.coordinator import Coordinator
from skyloop.sim.assembly import build
from skyloop.sim.scenario import Scenario
from skyloop_client.messages import Arm, TakeOff
from skyloop_papers.online.client import client
from skyloop_papers.two_machines import ProgramUnderTest

STREAMS = ["rgb0", "depth0", "lidar0", "gps0"]
RISE_S, HEIGHT = 6.0, 5.0
"""Simulated s to climb and hover, m."""
WARM_FRAMES = 5
"""Taken first and not counted, because a renderer's first images take longer."""


def scenario_of(task: dict[str, Any]) -> Scenario:
    """The rig with a fix per frame. All samples of one instant arrive together."""
    sensors = ("rgb", "depth", "lidar", "gps", *(["radar"] if task["radar"] else []))
    changes = {
        "vehicles.0.pilot": None,
        "vehicles.0.sensors.rgb0.truth": [],
        "vehicles.0.sensors.gps0.rate_hz": task["rate_hz"],
        "vehicles.0.sensors.gps0.latency": 0.0,
    }
    return rig_scenario(RecordOptions(world=task["world"], rate_hz=task["rate_hz"], sensors=sensors), changes)


def fly(task: dict[str, Any]) -> dict[str, Any]:
    """Rows of t1a, t1b, t2, t3 in s, one per frame: together the time from a question to the next setpoint."""
    streams = [*STREAMS, *(["radar0/raw"] if task["radar"] else [])]
    # images of the climb are not needed
    with (
        ProgramUnderTest(client, apart=task["apart"], ports=task["ports"], rate=task["cable"]) as cut,
        build(scenario_of(task), wanted=lambda t_ns: t_ns >= 1e9 * RISE_S) as simulation,
    ):
        stuck = threading.Timer(task["patience_s"], cut.process.kill)
        stuck.start()
        try:
            simulation.send(Arm(), TakeOff(HEIGHT))
            simulation.run_until(RISE_S)
            # a client that waits for its turn is silent, but not hung
            options = SessionOptions(hang_s=task["patience_s"])
            link = cut.begin(simulation, options, {**task, "streams": streams, "warm": WARM_FRAMES})
            while not link.over and cut.is_running:
                simulation.step()
            return rows_of(cut.result(task["patience_s"]), link, task["turn"])
        finally:
            stuck.cancel()


def rows_of(seen: dict[str, Any], link: Coordinator, turn: int) -> dict[str, Any]:
    """Durations from the stamps of the CUT and the SUT, which use the same clock.

    The first frame of a turn is left out: all that it needs has slept meanwhile."""
    rows = []
    asked, decoded, decided = (seen[stamps][WARM_FRAMES:] for stamps in ("asked", "decoded", "decided"))
    served = link.timeline.rows[WARM_FRAMES:]
    handed = seen.get("handed", [])[WARM_FRAMES:]
    for k, row in enumerate(served):
        if k % turn == 0:
            continue
        acted, ready = (link.began + wall_ns / 1e9 for wall_ns in (row.wall_acted_ns, row.wall_ready_ns))
        if handed:
            # the SUT is on the board: it has a bundle once that is decoded, and the CUT once it is handed over
            ready, taken = decoded[k], handed[k]
        else:
            taken = decoded[k]
        rows.append([ready - acted, taken - ready, decided[k] - taken, acted - asked[k]])
    return {
        "rows": rows,
        "bytes": seen.get("bytes") or sum(row.bytes for row in served) / len(served),
        "turned": seen["turned"],
        "unaligned": seen["unaligned"],
        "violations": link.timeline.violations,
    }
