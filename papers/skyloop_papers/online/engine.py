"""The engine of `skyloop reproduce online` in its own process: it simulates, serves the CUT and times each step.

The SUT, which extracts the data, is part of it, or runs beside the CUT on the board and pulls from here."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import IO, Any

from skyloop.datasets.rig import RecordOptions, rig_scenario
from skyloop.links.link_gate import LinkGate
from skyloop.links.loop.client_sessions import SessionOptions
from skyloop.links.loop.coordinator import Coordinator
from skyloop.links.loop.listener import Listener
from skyloop.sim.assembly import build
from skyloop.sim.scenario import Scenario
from skyloop_client.errors import LinkError, SkyloopError
from skyloop_client.messages import Arm, TakeOff
from skyloop_papers.two_machines import HERE, Cable

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
    """Rows of t1a, t1b, t2, t3 in s, one per frame. They add up to the time from the first question to the last."""
    streams = [*STREAMS, *(["radar0/raw"] if task["radar"] else [])]
    cable = Cable() if task["apart"] else None
    link_gate = LinkGate()
    listener = Listener(link_gate.inbox, HERE if task["apart"] else "127.0.0.1", (0,) * task["ports"])
    client = "board" if task["board"] else "client"
    command = [sys.executable, "-m", f"skyloop_papers.online.{client}"]
    pipe = subprocess.PIPE
    cut = subprocess.Popen(
        ["unshare", "--net", *command] if cable else command, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )
    stuck = threading.Timer(task["patience_s"], cut.kill)
    stuck.start()
    try:
        # images of the climb are not needed
        with build(scenario_of(task), wanted=lambda t_ns: t_ns >= 1e9 * RISE_S) as simulation:
            simulation.send(Arm(), TakeOff(HEIGHT))
            simulation.run_until(RISE_S)
            link_gate.links["link"] = link = Coordinator(listener, SessionOptions())
            link_gate.attach(simulation.port)
            simulation.clock.gates = (link_gate,)
            address = f"{listener.host}:{listener.ports[0]}"
            say_go(cut, cable, {**task, "streams": streams, "warm": WARM_FRAMES, "address": address})
            while not link.over and cut.poll() is None:
                simulation.step()
            out, err = cut.communicate()
            link_gate.finish("the frames are taken")
    finally:
        stuck.cancel()
        cut.kill()
        listener.close()
    if cut.returncode:
        raise LinkError((err.strip().splitlines() or [f"the CUT ended with {cut.returncode}"])[-1])
    return rows_of(json.loads(out), link)


def say_go(cut: subprocess.Popen[str], cable: Cable | None, task: dict[str, Any]) -> None:
    said: IO[str] | None = cut.stdout
    assert said is not None and cut.stdin is not None
    if said.readline() != "ready\n":
        raise LinkError(f"the CUT did not start: {(cut.communicate()[1].strip().splitlines() or ['no message'])[-1]}")
    if cable is not None:
        cable.plug_in(cut.pid)
    cut.stdin.write(json.dumps(task) + "\n")
    cut.stdin.flush()


def rows_of(seen: dict[str, Any], link: Coordinator) -> dict[str, Any]:
    """Durations from the stamps of the CUT and the SUT, which use the same clock."""
    rows = []
    asked, decoded = seen["asked"][WARM_FRAMES:], seen["decoded"][WARM_FRAMES:]
    served = link.timeline.rows[WARM_FRAMES:]
    handed = seen.get("handed", [])[WARM_FRAMES:]
    for k, row in enumerate(served):
        acted, ready = (link.began + wall_ns / 1e9 for wall_ns in (row.wall_acted_ns, row.wall_ready_ns))
        if handed:
            # the SUT is on the board: it has a bundle once that is decoded, and the CUT once it is handed over
            ready, taken = decoded[k], handed[k]
        else:
            taken = decoded[k]
        rows.append([ready - acted, taken - ready, asked[k + 1] - taken, acted - asked[k]])
    return {
        "rows": rows,
        "bytes": seen.get("bytes") or sum(row.bytes for row in served) / len(served),
        "turned": seen["turned"],
        "unaligned": seen["unaligned"],
        "violations": link.timeline.violations,
    }


def main() -> None:
    try:
        print(json.dumps(fly(json.loads(sys.argv[1]))))
    except SkyloopError as error:
        sys.exit(f"the engine failed: {error}")


if __name__ == "__main__":
    main()
