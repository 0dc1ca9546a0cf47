"""The verb that flies a scenario: it parses, calls one function and prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from skyloop.cli.console import (
    Cockpit,
    Foxglove,
    Home,
    Json,
    Links,
    Ros2,
    Ros2Lockstep,
    Seed,
    Sets,
    links_from,
    load_with_pilot,
    next_folder,
    print_summary,
    print_verdict,
    shown_flight,
)
from skyloop.cli.exit_codes import FAILED
from skyloop.cli.logs import Verbs
from skyloop.cli.seeds import check_alone, run_many

app = Verbs()


Pilot = Annotated[
    str | None,
    typer.Option(metavar="FILE.py:NAME", help="Fly the first vehicle with your own function or class."),
]
Autopilot = Annotated[
    str | None,
    typer.Option(
        metavar="KIND[:PATH]", help="Start this autopilot and let it fly: px4:PATH, ardupilot:PATH or betaflight."
    ),
]
Seeds = Annotated[
    str | None,
    typer.Option(
        metavar="SEEDS", help="Fly once with each seed, e.g. 1..50 or 3,9,12: a run folder per seed, and a table."
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", help="The run folder; it must be new or empty. Default: runs/<scenario>-<n>."),
]
Commands = Annotated[
    Path | None,
    typer.Option(metavar="FILE.csv", help="Repeat the commands of a cockpit flight: its commands.csv."),
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit code 3 if a flight failed; without it the code is 0.")]


@app.command(opens_code=True)
def run(
    *,
    scenario: str,
    pilot: Pilot = None,
    autopilot: Autopilot = None,
    home: Home = None,
    set_: Sets = None,
    seed: Seed = None,
    seeds: Seeds = None,
    out_: Out = None,
    link: Links = None,
    foxglove: Foxglove = None,
    ros2: Ros2 = False,
    ros2_lockstep: Ros2Lockstep = None,
    cockpit: Cockpit = None,
    commands: Commands = None,
    strict: Strict = False,
    json_: Json = False,
) -> None:
    """Fly a scenario and write a run folder: the full scenario, every stream as CSV, a summary and a plot.

    Examples: `skyloop run first-flight` · `skyloop run my.yaml --seeds 1..50 --set wind.kind=calm --out runs/calm`
    """
    loaded = load_with_pilot(scenario, pilot, set_, seed, home)
    if seeds is not None:
        check_alone(seed, link, autopilot, foxglove, ros2 or None, cockpit, commands)
        run_many(loaded, seeds, out_, strict=strict, json_=json_)
        return
    links = links_from(
        link, foxglove=foxglove, cockpit=cockpit, ros2=ros2, lockstep=ros2_lockstep, autopilot=autopilot,
        commands=commands,
    )  # fmt: skip
    folder = out_ or next_folder(loaded.name)
    with shown_flight(loaded, folder, quiet=json_) as (progress, tell):
        from skyloop.run import run_scenario

        summary = run_scenario(loaded, folder, progress, links, tell=tell)
    if json_:
        print(json.dumps({**summary, "folder": str(folder)}, indent=2))
    else:
        print_summary(summary, folder)
        print_verdict(summary)
    if strict and not summary["success"]:
        raise typer.Exit(FAILED)
