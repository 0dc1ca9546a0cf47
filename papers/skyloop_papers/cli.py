"""The verb for the papers' experiments: it parses, calls one function and prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from skyloop.cli.console import Json, err, next_folder, out
from skyloop.cli.logs import Verbs
from skyloop_client.errors import RunFolderError, ScenarioError, SkyloopError
from skyloop_papers import catalogue

if TYPE_CHECKING:
    from skyloop_papers.experiment import Cell, Experiment
    from skyloop_papers.runs import RunWorkers

app = Verbs()


Quick = Annotated[bool, typer.Option("--quick", help="Run a short form with fewer or shorter flights.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="The folder for tables and plots: new, empty, or of a run of sync-hil, online... to continue. "
        "With --again: the stored runs, runs/NAME if left out.",
    ),
]
UpdateDocs = Annotated[
    bool, typer.Option("--update-docs", help="In a checkout: put the results into docs/results and the page.")
]
Recording = Annotated[
    Path | None,
    typer.Option("--recording", metavar="FILE.npy", help="Only for radar: compare with bursts of a real BGT60TR13C."),
]
Again = Annotated[
    int | None,
    typer.Option(
        "--again",
        metavar="K",
        help="In a checkout: fly K of the stored runs again and compare every figure to the last digit. "
        "If all are the same, the page says so.",
    ),
]
Cores = Annotated[
    int,
    typer.Option(help="For landing, fusion, e2es-missions, unknown-city: cores of this machine that fly; 0 is all."),
]
Address = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="For the same: fly the missing runs on the Ray cluster at this address."),
]


@app.command()
def reproduce(
    *,
    name: str,
    json_: Json = False,
    quick: Quick = False,
    out_: Out = None,
    update_docs: UpdateDocs = False,
    recording: Recording = None,
    again: Again = None,
    workers: Cores = 0,
    address: Address = None,
) -> None:
    """Repeat an experiment of a paper and print the results beside the published ones.

    `all` repeats every experiment, resumes if interrupted, and writes one report with a verdict for each number.

    Examples: `skyloop reproduce drag --quick` · `skyloop reproduce all --out report`
    """
    if name == "all":
        other = update_docs or recording is not None or again is not None or workers != 0 or address is not None
        _reproduce_all(out_ or next_folder("report"), quick=quick, json_=json_, other=other)
        return
    experiment = catalogue.load(name)
    if recording is not None and name != "radar":
        raise ScenarioError(f"--recording works with 'radar' only, not with '{name}'; leave it out")
    if update_docs and (quick or recording is not None):
        raise ScenarioError("--update-docs is for the full form; leave out --quick and --recording")
    if again is not None:
        if quick or update_docs or recording is not None or workers or address is not None:
            raise ScenarioError("--again takes --out and --json only")
        _fly_again(name, again, out_, json_=json_)
        return
    if recording is not None:
        from skyloop_papers.radar.experiment import RadarRecording

        experiment = RadarRecording(recording)
    from skyloop_papers.runner import reproduce as run

    chosen = _workers(name, experiment, workers, address)
    folder = out_ or (None if json_ else next_folder(f"reproduce-{name}"))
    progress = _noting(folder, cluster=address is not None) if experiment.resumes else _say
    # Ray prints to stdout when a worker dies
    with _only_if_used(folder, goes_on=experiment.resumes), redirect_stdout(sys.stderr):
        cells = run(experiment, quick=quick, folder=folder, progress=progress, workers=chosen)
    if update_docs:
        _put_into_docs(name, experiment, cells, folder)
    if json_:
        print(json.dumps(experiment.plain(cells), indent=2))
        return
    _print_cells(cells)
    out.print(f"tables and plots: {folder}")


def _fly_again(name: str, count: int, folder: Path | None, *, json_: bool) -> None:
    from skyloop_papers.again import fly_again

    flown = fly_again(name, count, folder, _say)
    record = flown.record
    if json_:
        print(json.dumps({**record, "differing": flown.differing}, indent=2))
    else:
        for line in flown.differing:
            out.print(line, highlight=False, markup=False)
        left_out = "; ".join(f"{figure} ({why})" for figure, why in record["left_out"].items())
        out.print(f"left out: {left_out or 'nothing'}", highlight=False, markup=False)
    if flown.differing:
        raise SkyloopError(
            f"{name}: {len(flown.differing)} figures of {count} runs are not the stored ones, so nothing is said to be "
            f"the same; those are of {flown.stored_on}, and other processors and renderers may change the last digits"
        )
    said = f"{count} of {record['of']} runs, {record['figures']} figures: the same to the last digit"
    _say(said) if json_ else out.print(said, highlight=False)
    for path in flown.written:
        _say(f"written: {path}")


def _workers(name: str, experiment: Experiment[Any, Any], workers: int, address: str | None) -> RunWorkers:
    """Who flies."""
    from skyloop_papers.runs import RunWorkers

    if (workers or address is not None) and experiment.not_run_by_run:
        option = "--workers" if address is None else "--address"
        raise ScenarioError(f"{option}: {name} is not flown run by run: {experiment.not_run_by_run}; leave it out")
    if workers < 0 or (workers and address is not None):
        raise ScenarioError(f"--workers {workers}: give 1 or more, or 0 for all cores; a cluster has its own")
    return RunWorkers(workers or None, address)


def _noting(folder: Path | None, *, cluster: bool) -> Callable[[str], None]:
    """Says a line. The first one comes with the first result, and then the folder notes what made it."""
    from skyloop_papers import pages

    def progress(line: str) -> None:
        if folder is not None:
            pages.begin(folder, cluster=cluster)
        _say(line)

    return progress


@contextmanager
def _only_if_used(folder: Path | None, *, goes_on: bool) -> Iterator[None]:
    """Make the folder of a reproduction. If it fails before anything is in it, there is none."""
    created: list[Path] = []
    if folder is not None and not (goes_on and (folder / "protocol.json").exists()):
        from skyloop.recording.run_folder import make_empty_folder

        created = make_empty_folder(folder)
    try:
        yield
    except SkyloopError:
        for path in created:
            if not any(path.iterdir()):
                path.rmdir()
        raise


def _reproduce_all(folder: Path, *, quick: bool, json_: bool, other: bool) -> None:
    if other:
        raise ScenarioError("'all' takes --quick, --out and --json only; update a page by its own name")
    from skyloop_papers.report import write_report
    from skyloop_papers.runner import reproduce_all

    measured = reproduce_all(folder, quick=quick, progress=_say)
    path = write_report(folder, measured, quick=quick)
    if json_:
        print(json.dumps({one.name: catalogue.load(one.name).plain(one.cells) for one in measured}, indent=2))
    else:
        out.print(f"report: {path} and report.pdf")
    failed = [one.name for one in measured if one.failed]
    if failed:
        raise RunFolderError(f"{', '.join(failed)} failed; the report says why, and the same command tries again")


def _say(line: str) -> None:
    err.print(f"skyloop: {line}", highlight=False, markup=False)


def _put_into_docs(name: str, experiment: Experiment[Any, Any], cells: Sequence[Cell], folder: Path | None) -> None:
    """Includes the cells of the quick form, if a test can measure those again."""
    from skyloop_papers import pages
    from skyloop_papers.runner import reproduce as run

    quick = [] if experiment.resumes else run(experiment, quick=True)
    for path in pages.write(name, cells, quick, folder):
        _say(f"written: {path}")
    for line in pages.out_of_date(name):
        _say(line)


def _print_cells(cells: Sequence[Cell]) -> None:
    from skyloop_papers.experiment import CELL_HEAD

    table = Table(*CELL_HEAD, box=None)
    for cell in cells:
        table.add_row(*cell.texts())
    out.print(table)
