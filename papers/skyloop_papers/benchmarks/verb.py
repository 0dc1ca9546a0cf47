"""The verb `bench`, and the table of benches, made from their functions."""

from __future__ import annotations

import importlib
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


MODULES = {
    "airsim": "airsim", "batch": "gym", "camera": "camera", "campaign": "runs", "cockpit": "cockpit",
    "detect": "perception", "fabric": "perception", "flight": "flight", "gym": "gym", "landing": "perception",
    "lidar": "lidar", "link": "link", "maps": "maps", "physics": "physics", "plan": "plan", "radar": "radar",
    "record": "runs", "ros2": "ros2", "vio": "vio", "vio-backends": "vio",
}  # fmt: skip
"""Of each bench, beside this file."""


def load(name: str) -> Bench:
    if name not in MODULES:
        raise unknown_name("bench", name, MODULES)
    module = importlib.import_module(f"skyloop_papers.benchmarks.{MODULES[name]}")
    function: Bench = getattr(module, name.replace("-", "_"))
    return function


def benches() -> dict[str, Bench]:
    """By name. All of them are imported, which takes a second."""
    return {name: load(name) for name in MODULES}


def listed() -> dict[str, str]:
    """For `skyloop list`: names with one line each."""
    return {name: (inspect.getdoc(function) or "").splitlines()[0] for name, function in benches().items()}


class _WithNames(TyperCommand):
    """Lists the benches below the options."""

    def get_help(self, ctx: Any) -> str:
        self.epilog = "Benches: " + ", ".join(MODULES)
        return super().get_help(ctx)


@app.command(cls=_WithNames)
def bench(name: Annotated[str, typer.Argument(help="One of the benches.")], json_: Json = False) -> None:
    """Measure a performance figure on this machine, beside a peer or a limit in the same run.

    Examples: `skyloop bench physics` · `skyloop bench physics --json`
    """
    from skyloop.core.machine_info import machine_description

    measurements = load(name)()
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
