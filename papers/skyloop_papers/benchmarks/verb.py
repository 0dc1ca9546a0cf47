"""The verb `bench`, and the table of benches, made from their functions."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from skyloop.cli.console import Json, out
from skyloop.cli.logs import Verbs
from skyloop_client.errors import unknown_name

if TYPE_CHECKING:
    from skyloop_papers.benchmarks.measurement import Bench

app = Verbs()


def benches() -> dict[str, Bench]:
    """By name. All are imported here, and only here, because that takes a second."""
    from skyloop_papers.benchmarks import (
        airsim,
        camera,
        cockpit,
        flight,
        gym,
        lidar,
        link,
        maps,
        perception,
        physics,
        plan,
        radar,
        ros2,
        runs,
        vio,
    )

    functions: tuple[Bench, ...] = (
        airsim.airsim, gym.batch, camera.camera, runs.campaign, cockpit.cockpit, perception.detect, perception.fabric,
        flight.flight, gym.gym, perception.landing, lidar.lidar, link.link, maps.maps, physics.physics, plan.plan,
        radar.radar, runs.record, ros2.ros2, vio.vio, vio.vio_backends,
    )  # fmt: skip
    return {function.__name__.replace("_", "-"): function for function in functions}


def listed() -> dict[str, str]:
    """For `skyloop list`: names with one line each."""
    return {name: (inspect.getdoc(function) or "").splitlines()[0] for name, function in benches().items()}


class _WithNames(TyperCommand):
    """Lists the benches below the options."""

    def get_help(self, ctx: Any) -> str:
        self.epilog = "Benches: " + ", ".join(benches())
        return super().get_help(ctx)


@app.command(cls=_WithNames)
def bench(name: Annotated[str, typer.Argument(help="One of the benches.")], json_: Json = False) -> None:
    """Measure a performance figure on this machine, beside a peer or a limit in the same run.

    Examples: `skyloop bench physics` · `skyloop bench physics --json`
    """
    from skyloop.core.machine_info import machine_description

    known = benches()
    if name not in known:
        raise unknown_name("bench", name, known)
    measurements = known[name]()
    if json_:
        figures = [measurement.plain() for measurement in measurements]
        print(json.dumps({"name": name, "machine": machine_description(), "figures": figures}, indent=2))
        return
    for each in measurements:
        verdict = ""
        if each.holds is not None:
            sign = "≤" if each.lower_is_better else "≥"
            verdict = f", aim {sign} {each.aim:g}: " + ("[green]holds[/]" if each.holds else "[red]missed[/]")
        out.print(f"[bold]{each.key}[/] {each.value:,.4g} {each.unit}{verdict}\n    [dim]{each.note}[/]")
