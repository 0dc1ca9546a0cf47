"""The verbs for software under test outside the simulator: each parses, calls one function and prints."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from skyloop.cli.console import (
    Cockpit,
    Foxglove,
    Json,
    Links,
    Ros2,
    Seed,
    Sets,
    links_from,
    load,
    next_folder,
    out,
    print_summary,
    print_verdict,
    shown_flight,
)
from skyloop.cli.logs import Verbs
from skyloop.cli.loop_programs import (
    check_options,
    estimator_from,
    loop_config,
    outside,
    power_from,
    programs_from,
    target_from,
    task_or_estimator,
    together,
)
from skyloop_client.errors import LinkError

if TYPE_CHECKING:
    from skyloop.campaigns.size import SizingFlight
    from skyloop.links.loop.targets import Target
    from skyloop.recording.run_folder import Summary

app = Verbs()
log = logging.getLogger(__name__)
MOST_MISSES = 3
"""Missed deadlines that are printed one by one."""


SUT = "Start this program, the software under test. Its environment has the address to connect to, SKYLOOP_ADDRESS."
PILOT = (
    "Start this Python function or class as a pilot in another process; `scenario`: the scenario's own pilot, with its "
    "options."
)
TASK = (
    "Start a shipped task: face-anchor, move-forward or closed-path; or detect: the detector of the scenario runs in "
    "another process, and the scenario's pilots fly."
)
TARGET = (
    "Where your software runs: local (the default), frozen (all its threads stop while it waits), throttled:0.2 (a "
    "fifth of a core), board (emulated aarch64), remote (prints the command to run there) or remote:USER@HOST."
)
SPEED = "The speed of your software's computer; 1, the default, is this machine."
DEADLINE = "With --task: the seconds it may take. A missed deadline is logged and counted."
Sut = Annotated[str | None, typer.Option(metavar="COMMAND", help=SUT)]
LoopPilot = Annotated[str | None, typer.Option(metavar="FILE.py:NAME", help=PILOT)]
LoopTask = Annotated[str | None, typer.Option(metavar="NAME", help=TASK)]
TargetName = Annotated[str, typer.Option(metavar="TARGET", help=TARGET)]
Deadline = Annotated[float | None, typer.Option(help=DEADLINE)]
Suts = Annotated[list[str] | None, typer.Option("--sut", metavar="COMMAND", help=SUT)]
LoopPilots = Annotated[list[str] | None, typer.Option("--pilot", metavar="FILE.py:NAME", help=PILOT)]
LoopTasks = Annotated[list[str] | None, typer.Option("--task", metavar="NAME", help=TASK)]
Targets = Annotated[list[str] | None, typer.Option("--target", metavar="TARGET", help=TARGET)]
OfComputers = Annotated[list[str] | None, typer.Option("--speed", metavar="SPEED", help=SPEED)]
Deadlines = Annotated[list[str] | None, typer.Option("--deadline", metavar="SECONDS", help=DEADLINE)]
LoopEstimator = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FILE.py:CLASS",
        help="Run this estimator of the scenario, or this class instead of it, in another process. Without --sut, "
        "--pilot and --task the scenario's own pilots fly.",
    ),
]
PilotsInside = Annotated[
    bool, typer.Option("--pilots-inside", help="The scenario's own pilots fly; your software runs beside them.")
]
Listen = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="The address to listen on; port 0 takes any free port. Default: a port of 127.0.0.1; with "
        "--target remote, a port on all addresses of this machine.",
    ),
]
Power = Annotated[
    str,
    typer.Option(
        metavar="IDLE,BUSY",
        help="The power, W, of your software's computer while idle and while busy; the vehicle's battery supplies it.",
    ),
]
Ports = Annotated[int, typer.Option(help="The number of ports; with 5 there is one per sensor and one for commands.")]
Pacing = Annotated[float | None, typer.Option(help="The maximum of simulated seconds per second.")]
Delays = Annotated[
    str, typer.Option(help="none, or table-i: reading a sample takes as long as in Table I of Synchronised HIL.")
]
Wait = Annotated[float, typer.Option(help="Seconds to wait for the first pilot.")]
Hang = Annotated[float, typer.Option(help="Seconds without a message after which your software is disconnected.")]
Speeds = Annotated[str, typer.Option(metavar="LOW..HIGH", help="The speeds to try: a range, or numbers with commas.")]
Steps = Annotated[int, typer.Option(help="The number of speeds from LOW to HIGH, in equal ratios.")]
Runs = Annotated[int, typer.Option(help="The number of flights at every speed, each with another seed.")]
JudgeName = Annotated[
    str | None,
    typer.Option(
        metavar="WHAT<LIMIT",
        help="The success criterion, on the ground truth: anchor<0.05 (heading error, rad), abeam<0.5, start<1, "
        "goal:X,Y,Z<0.5, goals<0.5, tracking<0.3, estimate<0.3 (m), missed<0.3 (share of people) or "
        "FILE.py:NAME<LIMIT. Each shipped task has a default.",
    ),
]
Board = Annotated[
    Path | None,
    typer.Option(metavar="FILE.json", help="The output of `skyloop-client calibrate --json` on a real board."),
]
Out = Annotated[Path | None, typer.Option("--out", help="The run folder; it must be new or empty.")]


@app.command(opens_code=True)
def loop(
    *,
    scenario: str,
    sut: Suts = None,
    pilot: LoopPilots = None,
    task: LoopTasks = None,
    estimator: LoopEstimator = None,
    pilots_inside: PilotsInside = False,
    target: Targets = None,
    speed: OfComputers = None,
    mode: Annotated[str, typer.Option(help="How time is synchronised: sync, none or realtime.")] = "sync",
    listen: Listen = None,
    ports: Ports = 1,
    pace: Pacing = None,
    delays: Delays = "none",
    deadline: Deadlines = None,
    power: Power = "2.7,6.4",
    wait: Wait = 60.0,
    hang: Hang = 60.0,
    set_: Sets = None,
    seed: Seed = None,
    out_: Out = None,
    link: Links = None,
    foxglove: Foxglove = None,
    ros2: Ros2 = False,
    cockpit: Cockpit = None,
    json_: Json = False,
) -> None:
    """Fly a scenario with your software outside the simulator: in another process or on another machine.

    The scenario's own pilots do not fly, unless only an estimator runs outside. With several vehicles give --sut,
    --pilot, --task, --target, --speed and --deadline once for each, as VEHICLE=VALUE; vehicles without one are flown by
    the scenario's own pilots.

    Examples: `skyloop loop hover --pilot my.py:pilot` · `skyloop loop my.yaml --sut ./sut --target frozen --speed 0.1`
    · `skyloop loop my.yaml --estimator my_vio.py:Vio --speed 0.2` · `skyloop loop room-nav --pilot scenario`
    · `skyloop loop two-drones --pilot big=a.py:fly --pilot small=b.py:fly --speed small=0.1`
    """
    from skyloop.run import run_scenario

    check_options(pilot, set_)
    loaded = load(scenario, set_, seed)
    programs = programs_from(loaded, sut=sut, pilot=pilot, task=task, target=target, speed=speed, deadline=deadline)
    address = listen or ("0.0.0.0:0" if any(one.target == "remote" for one in programs) else "127.0.0.1:0")
    loaded, how = outside(loaded, programs, estimator, pilots_inside=pilots_inside)
    config = loop_config(
        mode=mode, address=address, ports=ports, pace=pace, delays=delays, hang_s=hang, wait_s=wait,
        power=power_from(power), **how,
    )  # fmt: skip
    links = links_from(link, foxglove=foxglove, ros2=ros2, cockpit=cockpit)
    folder = out_ or next_folder(loaded.name)
    with shown_flight(loaded, folder, quiet=json_) as (progress, tell):
        summary = run_scenario(loaded, folder, progress, [config, *links], tell=tell)
    print(json.dumps({**summary, "folder": str(folder)}, indent=2)) if json_ else _print(summary, folder)


@app.command(opens_code=True)
def size(
    *,
    scenario: str,
    speed: Speeds = "0.05..2",
    steps: Steps = 6,
    runs: Runs = 3,
    sut: Sut = None,
    pilot: LoopPilot = None,
    task: LoopTask = None,
    estimator: LoopEstimator = None,
    target: TargetName = "local",
    judge: JudgeName = None,
    deadline: Deadline = None,
    power: Power = "2.7,6.4",
    board: Board = None,
    set_: Sets = None,
    seed: Seed = None,
    out_: Out = None,
    json_: Json = False,
) -> None:
    """Find the slowest computer on which your software completes the mission; slower computers are simulated.

    Examples: `skyloop size face-anchor --task face-anchor` · `skyloop size my.yaml --sut ./sut --judge "start<0.5"`
    """
    from skyloop.campaigns.size import board_speed, board_verdict, slowest_good, speeds_from, verdict
    from skyloop.campaigns.size import size as fly_all
    from skyloop.campaigns.truth_judges import TASK_JUDGES, judge_from
    from skyloop.recording.run_folder import make_empty_folder

    loaded = load(scenario, set_, seed)
    judge, (task, estimator) = judge or TASK_JUDGES.get(task or ""), task_or_estimator(loaded, task, estimator)
    folder, own = out_ or next_folder(f"size-{loaded.name}"), loaded

    def target_of(fast: float) -> Target:
        made = target_from(target, sut, pilot, task, fast, deadline=deadline, scenario=own)
        all_of_it = together([made, None if estimator is None else estimator_from(own, estimator, target, fast)[1]])
        if all_of_it is None:
            raise LinkError("nothing to run; give --sut, --pilot, --task or --estimator")
        return all_of_it

    inside = estimator is not None and sut is pilot is task is None
    speeds, options = speeds_from(speed, steps), loop_config(power=power_from(power), pilots_inside=inside)
    target_of(speeds[0])
    loaded = own if estimator is None else estimator_from(own, estimator, target, speeds[0])[0]
    judged = None if judge is None else judge_from(judge)
    ratio = None if board is None else board_speed(board)
    make_empty_folder(folder)
    tell = (lambda _: None) if json_ else (lambda flight: _tell_flight(flight, "" if judged is None else judged.unit))
    flights = fly_all(loaded, target_of, speeds, folder, runs=runs, options=options, judge=judged, progress=tell)
    if json_:
        told = {"slowest_good": slowest_good(flights), "judge": judge, "board": None if ratio is None else ratio.speed}
        print(json.dumps({**told, "flights": [asdict(flight) for flight in flights]}, indent=2))
        return
    by = "judged by the software's own report; --judge uses the truth" if judged is None else f"judged by {judged.text}"
    boards = [] if ratio is None else [f"{ratio.text}: {board_verdict(flights, ratio.speed)}"]
    for line in (f"[bold]{loaded.name}[/] {verdict(flights)}, {by}", *boards):
        out.print(line, highlight=False)
    out.print(f"table and plot: {folder} (size.csv, size.png)")


def _tell_flight(flight: SizingFlight, unit: str) -> None:
    error = "" if flight.error is None else f", error {flight.error:.3g} {unit}".rstrip()
    cycle = f", {1e3 * flight.cycle_p50:.3g} ms per cycle (99%: {1e3 * flight.cycle_p99:.3g})"
    missed = f", {flight.deadlines_missed} deadlines missed" if flight.deadlines_missed else ""
    how = "[green]succeeded[/] in" if flight.success else "[red]failed[/] after"
    why = "" if flight.success else f": {escape(flight.trouble)}"
    line = f"speed {flight.speed:g}, seed {flight.seed}: {how} {flight.time:.2f} s{error}{cycle}{missed}{why}"
    out.print(line, highlight=False)


def _print(summary: Summary, folder: Path) -> None:
    print_summary(summary, folder)
    link = summary["links"]["loop"]
    out.print(f"  link, mode {link['mode']}: {link['interactions']} interactions, {link['violations']} out of order")
    for pilot in link["pilots"]:
        cycle = pilot["cycle_s"]
        missed = f"{pilot['deadlines_missed']} deadlines missed, " if pilot["deadlines_declared"] else ""
        out.print(
            f"    {pilot['role']} of {pilot['vehicle']}: computed {pilot['computed_s']:.3f} s, "
            f"{missed}its computer used {pilot['computer_energy_j']:.0f} J"
        )
        out.print(
            f"      {cycle['count']} cycles, ms: "
            + ", ".join(f"{name} {1e3 * cycle[name]:.3g}" for name in ("p50", "p90", "p99", "max"))
        )
    for line in deadline_table(link["vehicles"]) if len(link["vehicles"]) > 1 else ():
        out.print(f"    {line}", markup=False, highlight=False)
    for line in shortened(link["news"], sum(pilot["deadlines_missed"] for pilot in link["pilots"])):
        out.print(f"    {line}", highlight=False)
    print_verdict(summary)


COLUMNS = ("deadlines met", "missed", "late by, s", "cycles", "p50, ms", "p99, ms", "computed, s")


def deadline_table(vehicles: dict[str, Summary]) -> Iterator[str]:
    """A line per vehicle: the deadlines of its programs, and how long they computed."""
    wide = max(len(name) for name in ["vehicle", *vehicles])
    yield f"{'vehicle':{wide}}  {'  '.join(COLUMNS)}"
    for name, row in vehicles.items():
        cycle = row["cycle_s"]
        cells = (
            f"{row['deadlines_met']}", f"{row['deadlines_missed']}", f"{row['late_s']:.3f}", f"{cycle['count']}",
            f"{1e3 * cycle['p50']:.3g}", f"{1e3 * cycle['p99']:.3g}", f"{row['computed_s']:.3f}",
        )  # fmt: skip
        yield f"{name:{wide}}  " + "  ".join(f"{cell:>{len(head)}}" for cell, head in zip(cells, COLUMNS, strict=True))


def shortened(news: list[str], missed: int) -> list[str]:
    """The first few missed deadlines one by one, and all further ones of `missed` in one line."""
    from skyloop_client.messages import EventKind

    mark = f" {EventKind.DEADLINE_MISSED}: "
    late = [line for line in news if mark in line]
    if len(late) <= MOST_MISSES:
        return news
    where = news.index(late[MOST_MISSES])
    further = f"and {max(missed, len(late)) - MOST_MISSES} further missed deadlines, in streams/link of the run folder"
    return [*news[:where], further, *(line for line in news[where:] if mark not in line)]
