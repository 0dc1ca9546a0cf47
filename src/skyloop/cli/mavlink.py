"""The verbs for vehicles flown by MAVLink clients and by hand: each parses, calls one function and prints."""

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
    Seed,
    Sets,
    err,
    links_from,
    load,
    next_folder,
    out,
    print_summary,
    print_verdict,
    shown_flight,
    telling_where,
)
from skyloop.cli.logs import Verbs
from skyloop_client.errors import LinkError

app = Verbs()

PortOffset = Annotated[
    int, typer.Option(help="A number added to every MAVLink port, for several simulators on one machine.")
]
Remote = Annotated[str, typer.Option(metavar="HOST", help="The machine of the ground station and the companion.")]


@app.command(opens_code=True)
def mavlink(
    *,
    scenario: str,
    port_offset: PortOffset = 0,
    listen: Annotated[
        str, typer.Option(metavar="HOST", help="The address to listen on; 0.0.0.0 lets other machines connect.")
    ] = "127.0.0.1",
    remote: Remote = "127.0.0.1",
    pace: Annotated[
        float, typer.Option(help="Simulated seconds per second; some clients cannot keep up above 1.")
    ] = 1.0,
    duration: Annotated[
        float, typer.Option(help="End after this many simulated seconds; Ctrl-C ends it earlier.")
    ] = 3600.0,
    until_landed: Annotated[bool, typer.Option("--until-landed", help="End when all vehicles have landed.")] = False,
    home: Home = None,
    set_: Sets = None,
    seed: Seed = None,
    out_: Annotated[Path | None, typer.Option("--out", help="The run folder; it must be new or empty.")] = None,
    link: Links = None,
    foxglove: Foxglove = None,
    cockpit: Cockpit = None,
    json_: Json = False,
) -> None:
    """Fly a scenario from QGroundControl, MAVSDK or pymavlink: every vehicle presents itself as a PX4.

    The scenario's own pilots do not fly.

    Examples: `skyloop mavlink hover --home px4-zurich` · `skyloop mavlink park-square --port-offset 100 --until-landed`
    """
    from skyloop.links.mavlink.link import MavlinkConfig
    from skyloop.run import run_scenario

    clients = MavlinkConfig(pace=pace, host=listen, remote=remote, port_offset=port_offset, until_landed=until_landed)
    links = [clients, *links_from(link, foxglove=foxglove, cockpit=cockpit)]
    loaded = load(scenario, set_, seed, home).model_copy(update={"duration": duration})
    folder = out_ or next_folder(loaded.name)
    with shown_flight(loaded, folder, quiet=json_) as (progress, tell):
        summary = run_scenario(loaded, folder, progress, links, tell=tell)
    if json_:
        print(json.dumps({**summary, "folder": str(folder)}, indent=2))
        return
    print_summary(summary, folder)
    for vehicle in summary["links"]["mavlink"]["vehicles"]:
        out.print(f"  MAVLink system {vehicle['system_id']}: {vehicle['messages_received']} messages received")
    print_verdict(summary)


@app.command(opens_code=True)
def fly(
    *,
    scenario: Annotated[str, typer.Argument()] = "hover",
    keyboard: Annotated[bool, typer.Option("--keyboard", help="Fly with the keys of this terminal.")] = False,
    gamepad: Annotated[bool, typer.Option("--gamepad", help="Fly with the gamepad at /dev/input/js0.")] = False,
    pace: Annotated[float, typer.Option(help="Simulated seconds per second.")] = 1.0,
    duration: Annotated[float, typer.Option(help="End after this many simulated seconds.")] = 3600.0,
    set_: Sets = None,
    seed: Seed = None,
    out_: Annotated[Path | None, typer.Option("--out", help="The run folder; it must be new or empty.")] = None,
    link: Links = None,
    foxglove: Foxglove = None,
    cockpit: Cockpit = None,
) -> None:
    """Fly the first vehicle of a scenario manually, in real time.

    Keys: 1 take off, 2 land, w/s up and down, a/d turn, y/h forward and back, g/j left and right, space hover, q end.

    Examples: `skyloop fly --keyboard` · `skyloop fly park-square --gamepad`
    """
    from skyloop.links.manual_control import GamepadConfig, KeyboardConfig
    from skyloop.run import run_scenario

    if keyboard == gamepad:
        raise LinkError("give --keyboard or --gamepad")
    by_hand = (GamepadConfig if gamepad else KeyboardConfig)(
        pace=pace, show=lambda line: err.print(line, highlight=False, end="\r\n")
    )
    links = [by_hand, *links_from(link, foxglove=foxglove, cockpit=cockpit)]
    loaded = load(scenario, set_, seed).model_copy(update={"duration": duration})
    folder = out_ or next_folder(loaded.name)
    with telling_where(folder):
        # the link itself shows the events, on a terminal that is set to single keys
        summary = run_scenario(loaded, folder, links=links)
    print_summary(summary, folder)
    print_verdict(summary)
