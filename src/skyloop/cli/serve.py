"""The verb for AirSim's clients: it parses, calls one function and prints."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skyloop.cli.console import Cockpit, Foxglove, Json, Links, Quality, links_from, out
from skyloop.cli.logs import Verbs
from skyloop.cli.mavlink import PortOffset, Remote
from skyloop_client.errors import ScenarioError
from skyloop_client.regular_files import read_text

if TYPE_CHECKING:
    from skyloop.recording.run_folder import Summary

app = Verbs()
log = logging.getLogger(__name__)


Paused = Annotated[bool, typer.Option("--paused", help="Simulated time stands still until a client continues it.")]
Speed = Annotated[float | None, typer.Option(help="Simulated seconds per second. Default: the settings' ClockSpeed.")]
Deterministic = Annotated[
    bool, typer.Option("--deterministic", help="Simulated time stands still while images are rendered.")
]
Lasts = Annotated[float | None, typer.Option(help="End after this many simulated seconds.")]


@app.command()
def serve(
    *,
    settings: Annotated[
        Path | None, typer.Option(metavar="FILE", help="AirSim's settings.json; without it, one SimpleFlight drone.")
    ] = None,
    world: Annotated[str | None, typer.Option(help="A world of `skyloop list`. Default: blocks.")] = None,
    port: Annotated[
        int | None, typer.Option(help="The TCP port; 0 takes any free one. Default: the settings', or 41451.")
    ] = None,
    host: Annotated[
        str | None, typer.Option(help="The address to listen on. Default: 127.0.0.1, this machine only.")
    ] = None,
    speed: Speed = None,
    quality: Quality = "medium",
    seed: Annotated[int, typer.Option(help="The seed of the world and of all noise.")] = 1,
    paused: Paused = False,
    deterministic: Deterministic = False,
    mavlink: Annotated[
        bool, typer.Option("--mavlink", help="Let MAVSDK and ground stations fly the same vehicles.")
    ] = False,
    port_offset: PortOffset = 0,
    remote: Remote = "127.0.0.1",
    lasts: Lasts = None,
    link: Links = None,
    foxglove: Foxglove = None,
    cockpit: Cockpit = None,
    json_: Json = False,
) -> None:
    """Serve a world to AirSim's clients: scripts for AirSim connect and fly, without Unreal. Ctrl-C ends it.

    Examples: `skyloop serve --settings settings.json --world park` · `skyloop serve --mavlink`
    """
    from dataclasses import replace

    from skyloop.links.airsim.serve import serve as run
    from skyloop.links.airsim.settings import read_settings
    from skyloop.sim.scenario import make_scenario

    _check_quality(quality)
    place = str(settings or "settings")
    read = read_settings(_text(settings), place, world=world)
    for warning in read.warnings:
        log.warning("%s", warning)
    links = links_from(link, foxglove=foxglove, cockpit=cockpit)
    if mavlink:
        from skyloop.links.mavlink.link import MavlinkConfig

        links.append(MavlinkConfig(host=host or read.host, remote=remote, port_offset=port_offset))
    summary = run(
        make_scenario({**read.scenario, "seed": seed}, place=place),
        replace(read.options, quality=quality, deterministic=deterministic),
        host=host or read.host,
        port=read.port if port is None else port,
        clock_speed=speed or read.clock_speed,
        lasts_s=lasts,
        paused=paused,
        say=log.info,
        links=links,
    )
    _print(summary, as_json=json_)


def _check_quality(quality: str) -> None:
    from skyloop.rendering.quality import QUALITIES

    if quality not in QUALITIES:
        raise ScenarioError(f"no quality '{quality}'; choose one of {', '.join(QUALITIES)}")


def _print(summary: Summary, *, as_json: bool) -> None:
    link, lasted = summary["airsim"], summary["simulated_s"]
    if as_json:
        print(json.dumps(summary, indent=2))
    else:
        out.print(f"served {lasted:.1f} s of simulated time, {link['calls']} calls, {link['failed']} failed")


def _text(settings: Path | None) -> str:
    try:
        return "" if settings is None else read_text(settings, "utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"cannot read {settings}: {error}") from None
