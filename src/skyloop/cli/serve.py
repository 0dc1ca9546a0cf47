"""The verb for AirSim's clients: it parses, calls one function, prints."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Annotated

import typer

from skyloop.cli.logs import Verbs
from skyloop.cli.mavlink import PortOffset, Remote, checked_offset
from skyloop.cli.parts import Foxglove, Json, looking_on, out
from skyloop_client.errors import ScenarioError

app = Verbs()
log = logging.getLogger(__name__)


@app.command()
def serve(
    settings: Annotated[
        Path | None, typer.Option(metavar="FILE", help="AirSim's settings.json; left out, one SimpleFlight drone.")
    ] = None,
    world: Annotated[str | None, typer.Option(help="A world of `skyloop list`; blocks when left out.")] = None,
    port: Annotated[int | None, typer.Option(help="41451 when left out, or what the settings say; 0: any.")] = None,
    host: Annotated[str | None, typer.Option(help="127.0.0.1 when left out: clients of this machine only.")] = None,
    speed: Annotated[
        float | None, typer.Option(help="Simulated seconds per second; the settings' ClockSpeed when left out.")
    ] = None,
    quality: Annotated[str, typer.Option(help="Of pictures: low, medium, high, epic or cinematic.")] = "medium",
    seed: Annotated[int, typer.Option(help="Of the world and of all noise.")] = 1,
    dialect: Annotated[
        str | None, typer.Option(help="airsim or cosys: what clients speak that have not shown it yet.")
    ] = None,
    paused: Annotated[bool, typer.Option("--paused", help="Time stands still until a client lets it go on.")] = False,
    deterministic: Annotated[
        bool, typer.Option("--deterministic", help="Time stands still while pictures are painted.")
    ] = False,
    mavlink: Annotated[
        bool, typer.Option("--mavlink", help="MAVSDK and ground stations may fly the same vehicles, as in `mavlink`.")
    ] = False,
    port_offset: PortOffset = 0,
    remote: Remote = "127.0.0.1",
    lasts: Annotated[float | None, typer.Option(help="End after so many simulated seconds.")] = None,
    foxglove: Foxglove = None,
    json_: Json = False,
) -> None:
    """Be an AirSim server: scripts for AirSim's Python client connect and fly, without Unreal. Ctrl-C ends it.

    Examples: `skyloop serve --settings settings.json --world park` · `skyloop serve --mavlink`
    """
    from dataclasses import replace

    from skyloop.apps.serve import serve as run
    from skyloop.links.airsim.dialect import Dialect
    from skyloop.links.airsim.settings import read_settings
    from skyloop.rendering.quality import QUALITIES
    from skyloop.sim.scenario import make_scenario

    if quality not in QUALITIES:
        raise ScenarioError(f"no quality '{quality}'; choose of {', '.join(QUALITIES)}")
    read = read_settings(_text(settings), str(settings or "settings"), world=world)
    if dialect not in (None, *(known.value for known in Dialect)):
        raise ScenarioError(f"no dialect '{dialect}'; choose airsim or cosys")
    spoken = read.options.dialect if dialect is None else Dialect(dialect)
    for warning in read.warnings:
        log.warning("%s", warning)
    beside = {"host": host or read.host, "remote": remote, "port_offset": checked_offset(port_offset)}
    with looking_on(foxglove) as watch:
        summary = run(
            make_scenario({**read.scenario, "seed": seed}, place=str(settings or "settings")),
            replace(read.options, quality=quality, deterministic=deterministic, dialect=spoken),
            host=host or read.host,
            port=read.port if port is None else port,
            clock_speed=speed or read.clock_speed,
            lasts_s=lasts,
            paused=paused,
            mavlink=beside if mavlink else None,
            opened=lambda address: log.info("AirSim clients may connect to %s", address),
            watch=watch,
            say=log.info,
        )
    if json_:
        print(json.dumps(summary, indent=2))
        return
    link = summary["airsim"]
    out.print(
        f"served {summary['simulated_s']:.1f} s of simulated time, {link['calls']} calls, {link['failed']} failed"
    )


def _text(settings: Path | None) -> str:
    try:
        return "" if settings is None else settings.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"cannot read {settings}: {error}") from None
