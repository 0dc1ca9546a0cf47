"""The verbs of datasets; `cli.py` takes them in."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

app = typer.Typer()
out = Console(soft_wrap=True, width=None if sys.stdout.isatty() else 140)

Dataset = Annotated[Path, typer.Argument(metavar="DIR", help="A folder `skyloop record` made.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of lines.")]


@app.command()
def check(
    folder: Dataset,
    repair_: Annotated[
        bool, typer.Option("--repair", help="First put right what the journal allows, and say what was done.")
    ] = False,
    json_: Json = False,
) -> None:
    """Say precisely what is wrong with a dataset; exit code 1 if anything is an error.

    Examples: `skyloop check datasets/park` · `skyloop check datasets/park --repair`
    """
    from skyloop.datasets.checking import check as find
    from skyloop.datasets.checking import repair

    done = repair(folder) if repair_ else []
    findings = find(folder)
    errors = sum(finding.severity == "error" for finding in findings)
    if json_:
        told = [{"severity": f.severity, "where": f.where, "what": f.what} for f in findings]
        print(json.dumps({"done": done, "findings": told}, indent=2))
    else:
        for line in done:
            out.print(f"repair: {line}", markup=False, highlight=False)
        for finding in findings:
            out.print(str(finding), markup=False, highlight=False, style="red" if finding.severity == "error" else None)
        warnings = len(findings) - errors
        counts = [f"{n} {word}{'s' * (n > 1)}" for n, word in ((errors, "error"), (warnings, "warning")) if n]
        out.print(f"{folder}: {', '.join(counts) or 'nothing is wrong'}", markup=False, highlight=False)
    if errors:
        raise typer.Exit(1)


@app.command()
def report(folder: Dataset) -> None:
    """Write DIR/report.html: images, flight, rates and gaps, labels, noise and provenance in one file.

    Examples: `skyloop report datasets/park`
    """
    from skyloop.datasets.report import write_report

    path = write_report(folder)
    out.print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, opens in any browser", markup=False, highlight=False)


@app.command()
def view(
    folder: Dataset,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE.rrd", help="Write a file instead of opening the viewer.")
    ] = None,
) -> None:
    """Show a dataset in the Rerun viewer, on one timeline (needs the extra `view`).

    Examples: `skyloop view datasets/park` · `skyloop view datasets/park --save park.rrd`
    """
    from skyloop.datasets.viewing import view as show

    count = show(folder, save)
    out.print(f"{count} messages " + ("sent to the viewer" if save is None else f"in {save}"), markup=False)
