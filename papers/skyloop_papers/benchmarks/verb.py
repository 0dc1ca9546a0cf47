"""The verb `bench`."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table
from typer.core import TyperCommand

from skyloop.cli.console import Json, err, out
from skyloop.cli.logs import Verbs, is_quiet
from skyloop_client.errors import SetupError, unknown_name
from skyloop_papers.benchmarks.benches import BENCHES, load

if TYPE_CHECKING:
    from skyloop_papers.benchmarks.measurement import Measurement

app = Verbs()
ALL = "all"
COLUMNS = ("bench", "what", "aim", "page", "now", "verdict")


class _WithNames(TyperCommand):
    """Lists the benches below the options."""

    def get_help(self, ctx: Any) -> str:
        self.epilog = "Benches: " + ", ".join(BENCHES)
        return super().get_help(ctx)


@app.command(cls=_WithNames)
def bench(
    name: Annotated[str, typer.Argument(help="One of the benches, or 'all'.")],
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="The short form: is a ratio worse than its aim, or than the page by 15 %? Then the exit code is 1.",
        ),
    ] = False,
    update_docs: Annotated[
        bool, typer.Option("--update-docs", help="Write the figures to docs/results and the pages of the checkout.")
    ] = False,
    json_: Json = False,
) -> None:
    """Measure a performance figure on this machine, beside a peer or a limit in the same run.

    Examples: `skyloop bench physics --json` · `skyloop bench all --check`
    """
    if check and update_docs:
        raise SetupError("the pages show the full form; leave out --check or --update-docs")
    if name not in (ALL, *BENCHES):
        raise unknown_name("bench", name, BENCHES)
    names = list(BENCHES) if name == ALL else [name]
    if check:
        _check(names, json_=json_)
        return
    reports = [_measured(each, update_docs=update_docs, json_=json_) for each in names]
    if json_:
        print(json.dumps(reports if name == ALL else reports[0], indent=2))


def _measured(name: str, *, update_docs: bool, json_: bool) -> dict[str, Any]:
    from skyloop.core.machine_info import machine_description
    from skyloop_papers import pages

    figures = []
    for each in load(name)():
        figures.append(each.plain())
        if not json_:
            _print(each)
    if update_docs:
        for path in pages.write_bench(name, figures):
            err.print(f"skyloop: written: {path}", highlight=False, markup=False)
    return {"name": name, "machine": machine_description(), "figures": figures}


def _print(each: Measurement) -> None:
    if math.isnan(each.value):
        out.print(f"[bold]{each.key}[/] [red]not measured[/]\n    [dim]{each.note}[/]")
        return
    from skyloop_papers import pages

    verdict = ""
    if each.holds is not None:
        verdict = f", aim {pages.limit(each.plain())}: " + ("[green]holds[/]" if each.holds else "[red]missed[/]")
    out.print(f"[bold]{each.key}[/] {each.value:,.4g} {each.unit}{verdict}\n    [dim]{each.note}[/]")


def _check(names: list[str], *, json_: bool) -> None:
    from skyloop_papers import pages
    from skyloop_papers.benchmarks import checking

    def tell(line: str) -> None:
        if not is_quiet():
            err.print(f"skyloop: {line}", highlight=False, markup=False)

    rows = checking.check(names, tell)
    if json_:
        print(json.dumps([asdict(row) for row in rows], indent=2))
    else:
        table = Table(*COLUMNS)
        for row in rows:
            shown = (pages.limit(asdict(row)), *("" if x is None else pages.short(x) for x in (row.page, row.now)))
            table.add_row(row.bench, row.key, *shown, escape(row.verdict), style="green" if row.holds else "red")
        out.print(table)
    failed = sum(not row.holds for row in rows)
    new = sum(row.is_new for row in rows)
    others = f"; {failed} do not, {new} of them not as on the page" if failed else ""
    tell(f"{len(rows) - failed} of {len(rows)} hold{others}")
    if failed:
        raise typer.Exit(1)
