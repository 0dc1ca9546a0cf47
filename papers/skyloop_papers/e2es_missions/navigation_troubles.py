"""Flies the troubles of `skyloop_autonomy.evaluation.navigation_troubles` and makes their table.

python -m skyloop_papers.e2es_missions.navigation_troubles --out runs/troubles"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path

import numpy as np

from skyloop.core.frames import quat_from_euler
from skyloop.recording.flight_log import FlightLog
from skyloop.recording.flight_plot import plot_flight
from skyloop.run import SETTLE_S, summarise
from skyloop.sim.assembly import build
from skyloop.sim.parts import PilotPart
from skyloop.sim.simulation import Simulation
from skyloop.sim.world_view import WorldView
from skyloop_autonomy.evaluation.navigation_troubles import TROUBLES, Door, trouble_scenario
from skyloop_autonomy.reports.navigation_report import NavigationReport
from skyloop_client.errors import ScenarioError, SkyloopError
from skyloop_client.messages import Array, EventKind
from skyloop_papers.runs import Run
from skyloop_papers.tables import table

WITHIN = 0.5
"""m from its hinge when shut, within which a door is found."""


def fly_trouble(name: str, folder: Path) -> Run:
    """Fly one; pictures go into the folder. Returns its row of the table, as plain numbers."""
    trouble, scenario = TROUBLES[name], trouble_scenario(name)
    folder.mkdir(parents=True, exist_ok=True)
    with build(scenario) as simulation:
        report = NavigationReport(simulation.bus, simulation.port.editor, scenario, folder)
        log = FlightLog(simulation.bus, [vehicle.name for vehicle in scenario.vehicles])
        began = time.perf_counter()
        from_door = _fly(simulation, scenario.duration, trouble.door)
        summary = summarise(simulation, scenario, log, time.perf_counter() - began)
        report.finish(summary)
        plot_flight(log, f"{name}: {trouble.about}", folder / "flight.png")
        (vehicle,) = summary["vehicles"].values()
        events = [event.kind for event in log.vehicles[scenario.vehicles[0].name].events]
    done = vehicle["navigation"]
    row = {
        "about": trouble.about,
        "did": _in_words(done, events, vehicle["mode"]),
        "simulated_s": summary["simulated_s"],
        "goals_reached": done["goals_reached"],
        "least_clearance_m": min(done.get("least_clearance_m", math.inf), from_door),
        "collisions": done["collisions"],
        "crashed": bool(vehicle["crashed"]),
        "landed": EventKind.LANDED in events,
        "goals": done["goals"],
        "events": vehicle["events"],
    }
    (folder / "trouble.json").write_text(json.dumps(row, indent=2) + "\n", encoding="utf-8")
    return row


def _fly(simulation: Simulation, duration: float, door: Door | None) -> float:
    """Fly until the pilot is done, and a second more. Returns m, the least distance from the shut door."""
    (pilot,) = simulation.parts_of(PilotPart)
    is_shut, nearest, end = False, math.inf, duration
    while simulation.now < end:
        simulation.step()
        if door is not None and not is_shut and getattr(pilot.pilot, "reached", 0) >= 1:
            close(door, simulation)
            is_shut = True
        if door is not None and is_shut:
            nearest = min(nearest, door.distance(simulation.bus.latest("truth/drone").position))
        if pilot.done and end == duration:
            end = simulation.now + SETTLE_S
    return nearest


def close(door: Door, simulation: Simulation) -> None:
    """Put the door that stands open beside its opening into it."""
    editor = simulation.port.editor
    hinge = np.array([*door.opening, 0.0])
    number = open_door(editor, hinge)
    editor.put_thing(number, hinge, quat_from_euler(0.0, 0.0, door.yaw))
    editor.refresh()


def open_door(world: WorldView, hinge: Array) -> int:
    """The number of the door whose hinge is nearest."""
    doors = [number for number in world.present() if world.name_of(number) == "door"]
    found = [(float(np.linalg.norm(world.place_of(number)[0] - hinge)), number) for number in doors]
    if not found or min(found)[0] > WITHIN:
        raise ScenarioError(f"no door has its hinge within {WITHIN:g} m of {hinge[:2].tolist()}")
    return min(found)[1]


def _in_words(done: Run, events: list[EventKind], mode: str) -> str:
    """What it did, in one line."""
    ends = [_end_in_words(number, goal) for number, goal in enumerate(done["goals"], start=1)]
    if EventKind.FAILSAFE in events:
        ends.append("the autopilot took over" + (" and gave back" if EventKind.FAILSAFE_OVER in events else ""))
    ends.append("landed" if EventKind.LANDED in events else f"in the air at the end ({mode})")
    return "; ".join(ends)


def _end_in_words(number: int, goal: Run) -> str:
    where = f", {goal['off_m']:.2f} m off" if goal["state"] == "reached" else ""
    why = f": {goal['reason']}" if goal["reason"] else ""
    return f"goal {number} {goal['state']} after {goal['t']:.0f} s{where}{why}"


def troubles_table(rows: dict[str, Run]) -> str:
    """Markdown: a line per trouble."""
    lines = []
    for name, row in rows.items():
        least = "" if row["least_clearance_m"] is None else f"{row['least_clearance_m']:.2f}"
        lines.append([name, row["about"], row["did"], least, str(row["collisions"])])
    return table(["trouble", "what", "what it did", "least clearance, m", "contacts"], lines, right=3)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="TROUBLE", help=f"default: all of {', '.join(TROUBLES)}")
    parser.add_argument("--out", type=Path, default=Path("runs/troubles"), help="folder; flights that it has are kept")
    options = parser.parse_args(arguments)
    rows = {}
    try:
        for name in options.names or TROUBLES:
            folder = options.out / name.replace(" ", "-")
            kept = folder / "trouble.json"
            rows[name] = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else fly_trouble(name, folder)
            print(f"{name}: {rows[name]['did']}", file=sys.stderr)
    except SkyloopError as error:
        print(f"navigation_troubles: {error}", file=sys.stderr)
        return 1
    text = troubles_table(rows)
    (options.out / "troubles.md").write_text(text, encoding="utf-8")
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
