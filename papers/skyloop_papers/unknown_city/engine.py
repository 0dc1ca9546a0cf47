"""The simulator's side of a flight through the unknown city whose whole stack runs at the other end of the link.

A process of its own, so that it can be a machine of its own."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from skyloop.apps.loop import outside_estimator
from skyloop.links.link_gate import LinkGate, without_pilots
from skyloop.links.loop.client_sessions import SessionOptions
from skyloop.links.loop.coordinator import Coordinator
from skyloop.links.loop.listener import Listener
from skyloop.sim.assembly import build
from skyloop.sim.scenario import load_scenario
from skyloop.sim.simulation import Simulation
from skyloop.world.worlds.urban_walls import UrbanWalls
from skyloop_client.errors import LinkError, SkyloopError
from skyloop_client.messages import Message
from skyloop_papers.flight_watch import first_collision
from skyloop_papers.online.engine import say_go
from skyloop_papers.two_machines import HERE, Cable
from skyloop_papers.unknown_city.flight import cause_of, changes_of, scores_of, watch
from skyloop_papers.unknown_city.plan import BAND, GOAL, HEIGHT, SPEED
from skyloop_papers.unknown_city.plot import Flown, draw_flight
from skyloop_papers.unknown_city.scores import TrueCity, scores_of_map

PILOT = {"goal": list(GOAL), "height": HEIGHT, "speed": SPEED, "band": BAND}
WAIT_S = 300.0
"""Wall s until the CUT has loaded its code."""


def fly(task: dict[str, Any]) -> dict[str, Any]:
    """Fly one flight and score it, with the times of each sweep."""
    own = load_scenario("unknown-city", changes_of(task["seed"], "gnss", task["duration"]))
    scenario = without_pilots(outside_estimator(own, "slam")[0])
    cable = Cable() if task["apart"] else None
    link_gate = LinkGate()
    listener = Listener(link_gate.inbox, HERE if task["apart"] else "127.0.0.1", (0,))
    command, pipe = [sys.executable, "-m", "skyloop_papers.unknown_city.client"], subprocess.PIPE
    cut = subprocess.Popen(
        ["unshare", "--net", *command] if cable else command, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )
    flown = Flown()
    try:
        with build(scenario) as simulation, tempfile.TemporaryDirectory() as folder:
            link_gate.links["loop"] = link = Coordinator(listener, SessionOptions(wait_s=WAIT_S, hang_s=WAIT_S))
            link_gate.attach(simulation.port, Path(folder))
            simulation.clock.gates = (link_gate,)
            address = f"{listener.host}:{listener.ports[0]}"
            say_go(cut, cable, {"address": address, "options": PILOT, "speed": task["speed"]})
            _fly(simulation, link, cut, task["duration"], flown)
            link_gate.finish("the flight is over")
            out, err = cut.communicate(timeout=WAIT_S)
            with (Path(folder) / "timeline.csv").open(encoding="utf-8") as file:
                served = {int(row["number"]): row for row in csv.DictReader(file)}
    finally:
        cut.kill()
        listener.close()
    if cut.returncode:
        raise LinkError((err.strip().splitlines() or [f"the CUT ended with {cut.returncode}"])[-1])
    seen = json.loads(out)
    violations = link.timeline.violations
    return {**_scored(flown, seen, task), "times": times_of(seen["rows"], served, link.began), "violations": violations}


def _fly(simulation: Simulation, link: Coordinator, cut: Any, duration: float, flown: Flown) -> None:
    watch(simulation, flown)

    def keep(message: Message) -> None:
        if message.stream == "drone/slam_map":
            flown.grid = message.data
        elif message.stream == "drone/path":
            flown.paths.append(message.data.positions[:, :2])

    simulation.bus.on_every(keep)
    end_ns = round(1e9 * duration)
    while (
        simulation.port.next_ns < end_ns and not link.over and cut.poll() is None and not first_collision(flown.events)
    ):
        simulation.step()
    flown.lasted = simulation.now


def _scored(flown: Flown, seen: dict[str, Any], task: dict[str, Any]) -> dict[str, Any]:
    model = UrbanWalls(task["seed"]).model
    model.freeze()
    city = TrueCity(model)
    if seen["reached"]:
        # the pilot lands at once when it believes to be there, so the last instant at flight height is that one
        flown.reached_ns = next((t for t, position in reversed(flown.truth) if position[2] > HEIGHT - 1.0), None)
    scored = {"seed": task["seed"], "what": task["what"], **scores_of(flown, city), "retreats": seen["retreats"]}
    if flown.grid is not None:
        scored |= scores_of_map(model, flown.grid)
    cause = cause_of(flown, seen["doing"], task["duration"])
    if cause:
        scored["failed"] = cause
    scored["simulated_s"] = flown.lasted
    if task["picture"]:
        draw_flight(Path(task["picture"]), flown, city, scored)
    return scored


def times_of(rows: list[list[float]], served: dict[int, dict[str, str]], began: float) -> dict[str, list[float]]:
    """ms of every sweep that a setpoint answers: t1 from the effect of what the CUT sent last until it has the sweep,
    t2 the CUT's own time until it sends the setpoint, t3 until the vehicle flies on that.

    rows: of the CUT, as `Stamped` has them. served: rows of the timeline by number of the question."""
    times: dict[str, list[float]] = {"t1": [], "t2": [], "t3": []}
    sweep: int | None = None
    for number, (asked, _, before, _, setpoint, _) in enumerate(rows, start=1):
        if sweep is not None and setpoint and number in served:
            acted = began + int(served[sweep]["wall_acted_ns"]) / 1e9
            times["t1"].append(1e3 * (rows[sweep - 1][1] - acted))
            times["t2"].append(1e-6 * (before - rows[sweep - 1][3]))
            times["t3"].append(1e3 * (began + int(served[number]["wall_acted_ns"]) / 1e9 - asked))
            sweep = None
        if rows[number - 1][5] and number in served:
            sweep = number
    return times


def main() -> None:
    try:
        print(json.dumps(fly(json.loads(sys.argv[1]))))
    except SkyloopError as error:
        sys.exit(f"the engine failed: {error}")


if __name__ == "__main__":
    main()
