"""The command line: each verb parses, calls one library function and prints its result."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

import skyloop
from skyloop.cli.console import (
    Json,
    Seed,
    Sets,
    err,
    give_back_empty_folders,
    out,
    overrides,
    with_places,
)
from skyloop.cli.exit_codes import INTERRUPTED
from skyloop.cli.logs import Quiet, Verbose, Verbs, log_lines
from skyloop.core.plugins import Registry
from skyloop_client.errors import Interrupted, ScenarioError, SkyloopError

app = Verbs(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A UAV simulator for testing your algorithms in the loop.\n\n"
    "Examples: `skyloop run first-flight` · `skyloop show hover`",
)

VERBS: Registry[typer.Typer] = Registry("verbs", "verb")
# a plugin that cannot be loaded is reported like any other warning
with log_lines(err):
    for _verbs in VERBS.loadable().values():
        app.add_typer(_verbs)


@app.command("list")
def list_(json_: Json = False) -> None:
    """List scenarios, airframes, worlds, sensors, pilots, links, formats, commands and whatever else has a name.

    Examples: `skyloop list` · `skyloop list --json`
    """
    from skyloop.cli.catalogue import catalogue, origins

    everything = catalogue()
    if json_:
        print(json.dumps(everything, indent=2))
        return
    brought = origins()
    for heading, items in everything.items():
        table = Table(title=heading, title_justify="left", title_style="bold", show_header=False, box=None)
        for name, text in items.items():
            origin = brought.get(heading, {}).get(name)
            table.add_row(f"  {name}", text, Text("" if origin is None else f"from {origin}", style="dim"))
        out.print(table)


@app.command()
def show(
    what: Annotated[
        str | None,
        typer.Argument(metavar="[SCENARIO | TOPIC]", help="A scenario, or sensor, airframe, world, pilot..."),
    ] = None,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="An entry of that topic, such as imu.")] = None,
    set_: Sets = None,
    seed: Seed = None,
    json_: Json = False,
) -> None:
    """Print a scenario with every default filled in, or the options of a sensor, airframe, world, pilot, message...

    The printed scenario is a valid scenario file. `skyloop show` without arguments lists all topics.

    Examples: `skyloop show hover --set seed=3` · `skyloop show sensor imu`
    """
    from skyloop.cli.show import show_scenario, show_topic

    if show_topic(what, name, json_, changed=bool(set_) or seed is not None):
        return
    show_scenario(str(name or what), set_, seed, json_)


@app.command()
def look(
    *,
    world: str,
    out_: Annotated[Path, typer.Option("--out", help="The PNG or JPEG file to write.")] = Path("look.png"),
    eye: Annotated[str, typer.Option("--from", metavar="X,Y,Z", help="The camera's position, m.")] = "-6,-6,4",
    target: Annotated[str, typer.Option("--at", metavar="X,Y,Z", help="The point it looks at, m.")] = "4,4,1.5",
    quality: Annotated[str, typer.Option(help="The quality: low, medium, high, epic or cinematic.")] = "high",
    size: Annotated[str, typer.Option(metavar="WxH", help="The size of the picture, px.")] = "960x600",
    t: Annotated[float, typer.Option("--time", help="The simulated time, s; people and cars move.")] = 0.0,
    set_: Sets = None,
    seed: Seed = None,
) -> None:
    """Make a picture of a world, without flying.

    Examples: `skyloop look park` · `skyloop look urban --from=-20,-20,15 --set weather.rain=20 --out rain.jpg`
    """
    from skyloop.recording.stream_pictures import save
    from skyloop.sim.look import views_of
    from skyloop.sim.scenario import make_scenario
    from skyloop.world.world import WORLD_FILES

    key = "file" if Path(world).suffix.lower() in WORLD_FILES else "name"
    start = {"name": "look", "world": {key: world}, "seed": 1 if seed is None else seed}
    scenario = make_scenario(start, overrides(set_), place="look")
    places = [(_numbers(eye, 3, "--from"), _numbers(target, 3, "--at"))]
    width, height = (int(n) for n in _numbers(size.replace("x", ","), 2, "--size"))
    save(views_of(scenario, places, quality=quality, size=(width, height), t=t)[0].colour, out_)
    out.print(f"{out_}: {world} (seed {scenario.seed}), {quality}")


def _numbers(text: str, n: int, option: str) -> list[float]:
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if len(values) != n or not all(abs(value) < 1e5 for value in values):
        raise ScenarioError(f"{option} is '{text}'; give {n} numbers, as in the help")
    return values


@app.command()
def doctor(json_: Json = False) -> None:
    """Check this machine: what is installed, what is missing, and how to install it.

    Examples: `skyloop doctor` · `skyloop doctor --json`
    """
    from skyloop.cli.doctor import examine

    findings = examine()
    if json_:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
        return
    table = Table(box=None, show_header=False)
    colours = {"ok": "green", "missing": "red", "optional": "yellow"}
    for finding in findings:
        table.add_row(
            # as Text, because rich reads the brackets of skyloop[gym] in a string as markup
            Text(finding.name),
            Text(finding.state, style=colours[finding.state]),
            Text(finding.found),
            Text(finding.advice, style="dim"),
        )
    out.print(table)


def execute(words: list[str]) -> int:
    """Run a verb. A known error becomes one line and exit code 1."""
    try:
        with log_lines(err):
            code = app(with_places(words), standalone_mode=False)
    except Interrupted as interruption:
        _complain(interruption)
        return INTERRUPTED
    except SkyloopError as error:
        _complain(error)
        return 1
    except typer.Abort:
        raise KeyboardInterrupt from None
    except Exception as error:
        if not type(error).__module__.startswith(("click", "typer")):
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            return 0
        _complain(f"{error.format_message()} Try skyloop --help.")  # type: ignore[attr-defined]
        return 1
    finally:
        give_back_empty_folders()
    if code == INTERRUPTED:
        # Typer's exception for Ctrl-C
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


def _complain(error: SkyloopError | str) -> None:
    """Print the error in one line."""
    line = " ".join(str(error).split())
    err.print(f"skyloop: {line}", style="red", markup=False, highlight=False)


def _version(value: bool) -> None:
    if value:
        print(skyloop.__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    device: Annotated[
        str,
        typer.Option(help="The device that renders images: cpu, gpu, or auto (a GPU if one works)."),
    ] = "",
) -> None:
    if device:
        from skyloop.rendering.egl_devices import VARIABLE, check_choice

        # renderers are processes of their own, some started by workers
        os.environ[VARIABLE] = check_choice(device)
