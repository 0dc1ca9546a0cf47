"""The verb for campaigns: it parses, calls one function and prints."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from skyloop.cli.console import Json, err, out
from skyloop.cli.logs import Verbs, is_quiet
from skyloop_client.errors import Interrupted, ScenarioError

if TYPE_CHECKING:
    from skyloop.recording.run_folder import Summary

app = Verbs()

What = Annotated[str, typer.Argument(metavar="PLAN.yaml | compare", help="A plan, or the word compare.")]
Folders = Annotated[
    list[Path] | None, typer.Argument(metavar="[A B]", help="After compare: two campaign folders, the older one first.")
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", help="The folder; one of the same plan is resumed. Default: campaigns/<plan>. With compare: the page."
    ),
]
Workers = Annotated[int, typer.Option(help="The number of cores to use; 0 is all.")]
Address = Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Fly on the Ray cluster at this address.")]
SearchFor = Annotated[
    str | None, typer.Option("--search", metavar="worst", help="Search for the worst case, instead of the design.")
]


@app.command(opens_code=True)
def campaign(
    *,
    what: What,
    folders: Folders = None,
    out_: Out = None,
    workers: Workers = 0,
    address: Address = None,
    search: SearchFor = None,
    json_: Json = False,
) -> None:
    """Fly a plan many times on many cores or machines, and write a table, the failed runs and a report.

    The same command again resumes where it was stopped. `compare` shows the changes between two campaigns.

    Examples: `skyloop campaign wind.yaml` · `skyloop campaign wind.yaml --search worst --out campaigns/worst` ·
    `skyloop campaign compare campaigns/old campaigns/new`
    """
    if what == "compare":
        _compare(folders or [], out_, json_=json_)
        return
    if folders:
        raise ScenarioError(f"campaign {what} {folders[0]}: give one plan; two folders go with compare")
    if workers < 0 or (workers and address is not None):
        raise ScenarioError(f"--workers {workers}: give 1 or more, or 0 for all cores; a cluster has its own")
    if search not in (None, "worst"):
        raise ScenarioError(f"--search {search}: give worst")
    from skyloop.campaigns.campaign import Campaign
    from skyloop.campaigns.plan import load_plan
    from skyloop.campaigns.pools import ray_pool

    made = Campaign(load_plan(Path(what)), search=search is not None)
    folder = out_ or Path("campaigns") / (made.plan.name + ("-worst" if made.search else ""))
    # Ray prints to stdout when a worker dies
    with _Bar(made.plan.name, quiet=json_) as bar, redirect_stdout(sys.stderr):
        try:
            summary = made.complete(folder, lambda: ray_pool(workers or None, address, made.plan.cores), bar.show)
        except KeyboardInterrupt:
            raise Interrupted(f"stopped by Ctrl-C; the same command resumes it ({folder})") from None
    if json_:
        print(json.dumps({**summary, "folder": str(folder)}, indent=2, default=str))
    else:
        _print(summary, folder)


def _print(summary: Summary, folder: Path) -> None:
    from skyloop.campaigns.report import in_words

    out.print(f"[bold]{summary['name']}[/]: {in_words(summary)}", highlight=False)
    if summary["made_again"]:
        out.print(f"  {summary['made_again']} attempts were lost and repeated", highlight=False)
    worst = summary.get("search", {}).get("worst")
    if worst is not None:
        told = ", ".join(f"{name} {value}" for name, value in {**worst["parameters"], **worst["metrics"]}.items())
        out.print(f"  worst: run {worst['run']} ({worst['outcome']}): {told}", highlight=False, markup=False)
    held = ["report.html", "results.parquet", *(["failed"] if summary["failed"] else [])]
    out.print(f"campaign: {folder} ({', '.join(held)})", highlight=False, markup=False)


def _compare(folders: list[Path], page: Path | None, *, json_: bool) -> None:
    from dataclasses import asdict

    from skyloop.campaigns.compare import compare, lines, write_comparison

    if len(folders) != 2:
        raise ScenarioError("campaign compare: give two campaign folders, the older one first")
    older, newer = folders
    told = compare(older, newer)
    where = page or newer / f"compared-with-{older.resolve().name}.html"
    write_comparison(told, older, newer, where)
    if json_:
        print(json.dumps({**asdict(told), "verdict": told.verdict, "page": str(where)}, indent=2))
        return
    for line in lines(told):
        out.print(line, highlight=False, markup=False)
    out.print(f"page: {where}", highlight=False, markup=False)


class _Rate(ProgressColumn):
    """Runs per second, or per minute where they are long."""

    def render(self, task: Task) -> Text:
        rate = task.speed or 0.0
        return Text(f"{rate:.1f}/s" if rate >= 1.0 else f"{60 * rate:.1f}/min")


class _Bar(Progress):
    def __init__(self, name: str, *, quiet: bool) -> None:
        super().__init__(
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total} runs"),
            TextColumn("{task.fields[told]}"), _Rate(), TimeRemainingColumn(), console=err, transient=True,
            speed_estimate_period=120.0, disable=quiet or is_quiet() or not err.is_terminal,
        )  # fmt: skip
        self._name = name
        self._mine: TaskID | None = None

    def show(self, done: int, planned: int, outcomes: dict[str, int]) -> None:
        told = ", ".join(f"{outcomes[name]} {name}" for name in ("failed", "lost") if outcomes.get(name))
        if self._mine is None:
            # runs of an earlier start are not of this start's rate
            self._mine = self.add_task(self._name, total=planned, completed=done, told=told)
        self.update(self._mine, completed=done, told=told)
