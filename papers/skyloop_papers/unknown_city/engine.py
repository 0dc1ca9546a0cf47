"""The unknown city flown by a stack in the simulator's process, in another process, on another machine, on a slow one.

Section V-E2 of airloop has the client under test (CUT) on an on-board computer. Its times are t1 (data to the CUT), t2
(the CUT's own work) and t3 (the command back to the vehicle). With a CUT the engine is a process of its own, so that it
can be a machine of its own."""

from __future__ import annotations

import csv
import tempfile
import time
from pathlib import Path
from typing import Any

from skyloop.links.link_gate import without_pilots
from skyloop.links.loop.client_sessions import SessionOptions
from skyloop.links.loop.coordinator import Coordinator
from skyloop.sim.assembly import build
from skyloop.sim.outside_programs import outside_estimator
from skyloop.sim.scenario import load_scenario
from skyloop.sim.simulation import Simulation
from skyloop_client.messages import Message
from skyloop_papers.flight_watch import first_collision
from skyloop_papers.two_machines import ProgramUnderTest, network_in_words, run_engine, why_not_apart
from skyloop_papers.unknown_city.flight import STACK, changes_of, scored, watch
from skyloop_papers.unknown_city.flight import fly as fly_inside
from skyloop_papers.unknown_city.plan import BAND, COMPUTERS, GOAL, HEIGHT, SPEED, OnboardComputer
from skyloop_papers.unknown_city.scores import CityFlight
from skyloop_papers.unknown_city.stack import STAMPS, client

PILOT = {"goal": list(GOAL), "height": HEIGHT, "speed": SPEED, "band": BAND}
WAIT_S = 300.0
"""Wall s until the CUT has loaded its code."""
PATIENCE_S = 3600.0
OWN_STACK = {
    "vehicles.0.estimators.slam.kind": f"{STACK}:StampedLocaliser", "vehicles.0.pilot.kind": f"{STACK}:StampedPilot",
}  # fmt: skip


def fly_on(name: str, seed: int, duration: float, picture: str = "") -> dict[str, Any]:
    """One flight with the stack on one of `COMPUTERS`."""
    computer = COMPUTERS[name]
    if computer.linked:
        return {**_outside(name, computer, seed, duration, picture), "computer": name}
    return {**_inside(seed, duration, picture), "what": name, "computer": name}


def _inside(seed: int, duration: float, picture: str) -> dict[str, Any]:
    STAMPS.clear()
    began = time.perf_counter()
    run = fly_inside(seed, "gnss", duration, picture, OWN_STACK)
    times: dict[str, list[float]] = {"t1": [], "t2": []}
    for start, spent, end in STAMPS:
        times["t1"].append(1e3 * (start - began))
        times["t2"].append(1e3 * spent)
        began = end
    # before the first sweep the simulation was built
    return {**run, "times": {stage: values[1:] for stage, values in times.items()}, "network": "none"}


def _outside(name: str, computer: OnboardComputer, seed: int, duration: float, picture: str) -> dict[str, Any]:
    why_not = why_not_apart() if computer.apart else ""
    apart = computer.apart and not why_not
    task = {
        "seed": seed, "duration": duration, "apart": apart, "speed": computer.speed, "picture": picture, "what": name,
    }  # fmt: skip
    scored = run_engine(f"unknown-city, {name}", fly, task, apart=apart, patience_s=PATIENCE_S)
    return {**scored, "network": network_in_words(why_not) if computer.apart else "loopback"}


# ---- the engine of a stack at the other end of the link


def fly(task: dict[str, Any]) -> dict[str, Any]:
    """Fly one flight and score it, with the times of each sweep."""
    own = load_scenario("unknown-city", changes_of(task["seed"], "gnss", task["duration"]))
    scenario, flown = without_pilots(outside_estimator(own, "slam")[0]), CityFlight()
    options = SessionOptions(wait_s=WAIT_S, hang_s=WAIT_S)
    with (
        ProgramUnderTest(client, apart=task["apart"]) as cut,
        build(scenario) as simulation,
        tempfile.TemporaryDirectory() as folder,
    ):
        link = cut.begin(simulation, options, {"options": PILOT, "speed": task["speed"]}, Path(folder))
        _fly(simulation, link, cut, task["duration"], flown)
        seen = cut.result(WAIT_S)
        with (Path(folder) / "timeline.csv").open(encoding="utf-8") as file:
            served = {int(row["number"]): row for row in csv.DictReader(file)}
    if seen["reached"]:
        # the pilot lands at once when it believes to be there, so the last instant at flight height is that one
        flown.reached_ns = next((t for t, position in reversed(flown.truth) if position[2] > HEIGHT - 1.0), None)
    about, figures = {"seed": task["seed"], "what": task["what"]}, {"retreats": seen["retreats"]}
    run = scored(flown, about, seen["doing"], task["duration"], figures, picture=task["picture"])
    times = times_of(seen["rows"], served, link.began)
    return {**run, "simulated_s": flown.lasted, "times": times, "violations": link.timeline.violations}


def _fly(simulation: Simulation, link: Coordinator, cut: ProgramUnderTest, duration: float, flown: CityFlight) -> None:
    watch(simulation, flown)

    def keep(message: Message) -> None:
        if message.stream == "drone/slam_map":
            flown.grid = message.data
        elif message.stream == "drone/path":
            flown.paths.append(message.data.positions[:, :2])

    simulation.bus.on_every(keep)
    end_ns = round(1e9 * duration)
    while simulation.port.next_ns < end_ns and not link.over and cut.is_running and not first_collision(flown.events):
        simulation.step()
    flown.lasted = simulation.now


def times_of(rows: list[list[float]], served: dict[int, dict[str, str]], began: float) -> dict[str, list[float]]:
    """ms of every sweep that a setpoint answers: t1 from the effect of what the CUT sent last until it has the sweep,
    t2 the CUT's own time until it sends the setpoint, t3 until the vehicle flies on that.

    rows: of the CUT, as `StampedSession` has them. served: rows of the timeline by number of the question."""
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
