"""The verb for landings with a board: it parses, calls one function and prints."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Annotated, Any

import typer

from skyloop.cli.console import (
    Foxglove,
    Json,
    Links,
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

app = Verbs()
log = logging.getLogger(__name__)

Video = Annotated[
    str | None,
    typer.Option(
        metavar="OUTPUT",
        help="Where the camera's 1280 x 720 video goes: window (full screen), shm:NAME, y4m:FILE or raw:FILE.",
    ),
]
Logic = Annotated[
    str,
    typer.Option(
        metavar="LOGIC",
        help="What detects the objects for python and qemu: reference, or amaranth (the simulated logic, slow).",
    ),
]


@app.command(opens_code=True)
def land(
    *,
    scenario: Annotated[str, typer.Argument()] = "landing",
    board: Annotated[
        str,
        typer.Option(
            metavar="BOARD",
            help="python, qemu (the firmware, emulated), arty:/dev/ttyUSB1 (a real board), pty:PATH or tcp:HOST:PORT.",
        ),
    ] = "python",
    video: Video = None,
    logic: Logic = "reference",
    clock_mhz: Annotated[float, typer.Option(help="The clock of the emulated board, in MHz.")] = 650.0,
    cycles_per_instruction: Annotated[float, typer.Option(help="Of the emulated board, on average.")] = 1.0,
    slower: Annotated[float, typer.Option(help="A factor on the board's computing time.")] = 1.0,
    latency: Annotated[float, typer.Option(help="An additional latency of every reply of the board, s.")] = 0.0,
    pace: Annotated[
        float | None,
        typer.Option(help="Simulated seconds per second; left out: real time for a real board or a window."),
    ] = None,
    set_: Sets = None,
    seed: Seed = None,
    out_: Annotated[Path | None, typer.Option("--out", help="The run folder; it must be new or empty.")] = None,
    link: Links = None,
    foxglove: Foxglove = None,
    json_: Json = False,
) -> None:
    """Let a board land the vehicle: it gets the camera's video, and sends commands over a serial line of 57600 baud.

    Without a board of your own, python and qemu stand in for it.

    Examples: `skyloop land --board qemu` · `skyloop land --board arty:/dev/ttyUSB1 --video window`
    """
    from skyloop_landing.board.choice import BoardOptions
    from skyloop_landing.land import landing_pilot, run_landing

    loaded = load(scenario, set_, seed)
    pilot = landing_pilot(loaded)
    options = BoardOptions(
        clock_mhz, cycles_per_instruction, slower, latency, rules=pilot.rules, control=pilot.control, logic=logic
    )
    folder = out_ or next_folder(loaded.name)
    links = links_from(link, foxglove=foxglove)
    with shown_flight(loaded, folder, quiet=json_) as (progress, tell):
        summary = run_landing(
            loaded, folder, board, options, video=video, pace=pace, progress=progress, report=log.info, links=links,
            tell=tell,
        )  # fmt: skip
    if json_:
        print(json.dumps({**summary, "folder": str(folder)}, indent=2))
        return
    print_summary(summary, folder)
    _say_how_it_went(summary["landing"])
    print_verdict(summary)


def _say_how_it_went(landing: dict[str, Any]) -> None:
    if landing["landed"] and not landing["gave_up"]:
        beside = f"{100 * landing['error_x_m']:+.1f} cm in x and {100 * landing['error_y_m']:+.1f} cm in y"
        out.print(f"  landed {beside} from the marker's middle; the board was {landing['board']}")
    else:
        out.print(f"  not landed; the board was {landing['board']}")
    for line in landing["news"]:
        out.print(f"  {line}")
