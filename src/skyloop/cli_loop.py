"""The verbs for software under test outside the simulator: each parses, calls one function, prints."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from skyloop.cli_parts import Json, Seed, Sets, absolute, err, load, next_folder, out, print_summary, progress_bar
from skyloop.errors import LinkError

app = typer.Typer()


@app.command()
def loop(
    scenario: str,
    sut: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Start this; SKYLOOP_ADDRESS tells it where.")
    ] = None,
    pilot: Annotated[
        str | None, typer.Option(metavar="FILE.py:NAME", help="Start a process that flies with this Python function.")
    ] = None,
    mode: Annotated[str, typer.Option(help="sync, none or realtime.")] = "sync",
    listen: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="Where pilots connect; port 0: any free one."),
    ] = "127.0.0.1:0",
    ports: Annotated[int, typer.Option(help="How many ports: 5 for one per sensor and one for commands.")] = 1,
    pace: Annotated[float | None, typer.Option(help="Simulated seconds per second at most.")] = None,
    delays: Annotated[
        str, typer.Option(help="none, or table-i: acquiring a sample takes as long as on real sensors.")
    ] = "none",
    wait: Annotated[float, typer.Option(help="Seconds to wait for the first pilot.")] = 60.0,
    hang: Annotated[float, typer.Option(help="Seconds without a sign of life before a SUT is given up.")] = 60.0,
    set_: Sets = None,
    seed: Seed = None,
    out_: Annotated[Path | None, typer.Option("--out", help="Run folder; must be new or empty.")] = None,
    json_: Json = False,
) -> None:
    """Fly a scenario with the software under test outside: in another process, or on another machine.

    Pilots of the scenario itself do not fly.

    Examples: `skyloop loop hover --pilot my.py:pilot` · `skyloop loop my.yaml --listen 0.0.0.0:4700`
    """
    from skyloop.links.coordinator import TABLE_I
    from skyloop.links.targets import LocalProcess
    from skyloop.looping import LoopOptions, run_loop

    if sut is not None and pilot is not None:
        raise LinkError("give --sut or --pilot, not both")
    if delays not in ("none", "table-i"):
        raise LinkError(f"--delays {delays}: give none or table-i")
    loaded = load(scenario, set_, seed)
    host, _, port = listen.rpartition(":")
    if not host or not port.isdecimal() or not 1 <= ports <= 64:
        raise LinkError(f"--listen {listen} --ports {ports}: give HOST:PORT and 1 to 64 ports")
    first = int(port)
    options = LoopOptions(
        mode=mode, host=host, ports=tuple(first + k if first else 0 for k in range(ports)), pace=pace,
        delays=TABLE_I if delays == "table-i" else {}, hang_s=hang, wait_s=wait,
    )  # fmt: skip
    command = (
        shlex.split(sut)
        if sut
        else [sys.executable, "-m", "skyloop.client", "pilot", absolute(pilot)]
        if pilot
        else None
    )
    target = None if command is None else LocalProcess(command)
    folder = out_ or next_folder(loaded.name)
    with progress_bar(f"flying {loaded.name}", loaded.duration, quiet=json_) as progress:
        summary = run_loop(loaded, folder, options, target, progress=progress, opened=_say_where(target is None))
    if json_:
        print(json.dumps({**summary, "folder": str(folder)}, indent=2))
        return
    _print(summary, folder)


def _say_where(wanted: bool) -> Any:
    return lambda address: err.print(f"skyloop: waiting for a pilot at {address}") if wanted else None


def _print(summary: dict[str, Any], folder: Path) -> None:
    print_summary(summary, folder)
    link = summary["links"]["loop"]
    out.print(f"  link, mode {link['mode']}: {link['interactions']} interactions, {link['violations']} out of order")
    for pilot in link["pilots"]:
        out.print(
            f"    {pilot['vehicle']}: computed {pilot['computed_s']:.3f} s, "
            f"{pilot['deadlines_missed']} deadlines missed, its computer used {pilot['computer_energy_j']:.0f} J"
        )
    for line in link["news"]:
        out.print(f"    {line}", highlight=False)
