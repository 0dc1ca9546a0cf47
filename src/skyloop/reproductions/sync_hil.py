"""Tables I to V of synchronised-hil: the same software on the host, on a slow board, and there without synchronisation.

The flights and their evaluation are in `sync_hil_protocol`. Every finished run is written to the folder at once, so a
stopped command continues where it was."""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skyloop.apps.run import run_scenario
from skyloop.campaigns.pools import local_pool
from skyloop.core.results import Result
from skyloop.reproductions.missing_runs import Job, make_missing
from skyloop.reproductions.result_files import begin_or_go_on, write_results
from skyloop.reproductions.sync_hil_claims import Samples, claims
from skyloop.reproductions.sync_hil_protocol import (
    COMPUTING_S,
    DELAYED,
    DELAYED_RATE_HZ,
    FREE,
    HOST,
    PAPER,
    SAMPLES,
    SENSORS,
    TABLES,
    TARGET,
    Protocol,
    Table,
    run_of,
)
from skyloop.reproductions.sync_hil_published import PUBLISHED
from skyloop.reproductions.sync_hil_scores import SCORES, read_run
from skyloop.reproductions.sync_hil_targets import computer, options_for, speed_for, told
from skyloop_client.errors import LinkError, SkyloopError

AT_ONCE = {FREE: 12}
"""Runs at a tenth of real time mostly sleep. All others run two at a time, one for each core."""
BOARD_RUNS = "Table II", HOST
"""The runs whose processor time gives the board's speed."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run to be flown."""

    table: Table
    setup: str
    k: int
    stream: str = ""
    """The sensor, for Table I."""

    @property
    def name(self) -> str:
        words = [self.table.name, self.setup, self.stream, str(self.k)]
        return "-".join(word.lower().replace(", ", "-").replace(" ", "-") for word in words if word)

    @property
    def arguments(self) -> list[str]:
        more = ["--stream", self.stream, "--samples", str(SAMPLES)] if self.stream else []
        return [self.table.task, *self.table.arguments, *more]


def reproduce(
    *,
    quick: bool = False,
    folder: Path | None = None,
    told: Callable[[str], None] = lambda line: None,
    tables: tuple[Table, ...] = TABLES,
) -> list[Result]:
    """All five tables. The quick form flies two runs each of Tables I to III."""
    protocol = Protocol(_shortened(tables) if quick else tables)
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="skyloop-sync-hil-") as made:
            return _reproduce(protocol, Path(made), told)
    return _reproduce(protocol, folder, told)


def _shortened(tables: tuple[Table, ...]) -> tuple[Table, ...]:
    return tuple(replace(table, runs=dict.fromkeys(table.runs, 2)) for table in tables[:3])


def _reproduce(protocol: Protocol, folder: Path, told: Callable[[str], None]) -> list[Result]:
    begin_or_go_on(folder, protocol.plain())
    runs = list(runs_of(protocol))
    on_host = [run for run in runs if (run.table.name, run.setup) == BOARD_RUNS]
    fly_all(on_host, 1.0, folder, told)
    board = board_speed(on_host, folder)
    told(f"the board has {board:g} of this machine's speed")
    for setup in (HOST, TARGET, DELAYED, FREE):
        fly_all([run for run in runs if run.setup == setup], board, folder, told)
    return finish(protocol, folder, board)


def runs_of(protocol: Protocol) -> Iterator[Run]:
    for table in protocol.tables:
        streams = SENSORS if table.task == "sensor-characterisation" else ("",)
        for setup, count in table.runs.items():
            yield from (Run(table, setup, k, stream) for stream in streams for k in range(count))


def fly_all(runs: list[Run], board: float, folder: Path, told: Callable[[str], None] = lambda line: None) -> None:
    """Fly the missing runs, which all have one set-up."""
    if not runs:
        return
    jobs = [Job(f"{run.table.name}, {run.setup}, run {run.k}", _kept(run, folder), fly, (run, board)) for run in runs]
    make_missing(jobs, local_pool(AT_ONCE.get(runs[0].setup, 2)), told, _in_words)


def _in_words(score: dict[str, Any]) -> str:
    return score.get("unfinished") or ", ".join(f"{what} {value:.3g}" for what, value in score.items())


def _kept(run: Run, folder: Path) -> Path:
    return folder / "runs" / f"{run.name}.json"


def fly(run: Run, board: float, pace: float | None = None) -> dict[str, Any]:
    """Its scores, or why it is unfinished. `pace` is the simulator's, if it differs from that of the set-up."""
    scenario = run_of(run.table, run.k, rate_hz=DELAYED_RATE_HZ if run.setup == DELAYED else None)
    runs_on = computer(run.arguments, speed_for(run.setup, board))
    with tempfile.TemporaryDirectory(prefix="skyloop-sync-hil-") as made:
        folder = Path(made) / "run"
        try:
            outside = options_for(run.table, run.setup, pace).model_copy(update={"target": runs_on})
            summary = run_scenario(scenario, folder, links=[outside])
            how = runs_on.ended()
            if how is not None and not how.startswith("exit code 0"):
                raise LinkError(f"{how}, after {summary['simulated_s']:.0f} s of simulated time")
            return SCORES[run.table.task](read_run(folder, summary), scenario)
        except SkyloopError as error:
            return {"unfinished": str(error)}


def scores(run: Run, folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_kept(run, folder).read_text(encoding="utf-8"))
    return found


def board_speed(on_host: list[Run], folder: Path) -> float:
    """Measured once, from Table II on the host alone, and then kept."""
    path = folder / "board.json"
    if path.exists():
        return float(json.loads(path.read_text(encoding="utf-8"))["speed"])
    flown = [scores(run, folder) for run in on_host]
    if not flown or any("unfinished" in score for score in flown):
        raise LinkError(f"Table II came to no end on the host: see {folder / 'runs'}/table-ii-host-*.json")
    mean = statistics.mean(score["computing (s)"] for score in flown)
    speed = float(f"{mean / COMPUTING_S:.2g}")
    path.write_text(
        json.dumps({"speed": speed, "computing_on_host_s": mean, "computing_on_board_s": COMPUTING_S}) + "\n",
        encoding="utf-8",
    )
    return speed


def samples_of(protocol: Protocol, folder: Path) -> Samples:
    """By table and set-up, the runs in order of k."""
    samples: Samples = {}
    for run in runs_of(protocol):
        name = run.setup if not run.stream else f"{run.setup}: {SENSORS[run.stream]}"
        samples.setdefault(run.table.name, {}).setdefault(name, []).append(scores(run, folder))
    return samples


def finish(protocol: Protocol, folder: Path, board: float) -> list[Result]:
    """Tables and verdicts from the runs in the folder."""
    samples = samples_of(protocol, folder)
    results = [result for table, by_setup in samples.items() for result in cells(table, by_setup, board)]
    results += [verdict.result(PAPER) for verdict in claims(samples, protocol.claims, protocol.level)]
    write_results(folder, results)
    return results


def cells(table: str, by_setup: dict[str, list[dict[str, Any]]], board: float) -> list[Result]:
    """Mean and standard deviation over the finished runs, and their number."""
    results = []
    for setup, rows in by_setup.items():
        whole = [row for row in rows if "unfinished" not in row]
        conditions = {"sut": told(setup.partition(":")[0], board), "runs": len(rows), "finished": len(whole)}
        if not whole:
            results.append(Result(PAPER, table, f"{setup}: finished", None, 0.0, "1", len(rows), None, conditions))
        for what in whole[0] if whole else ():
            values = [row[what] for row in whole]
            published, sd = PUBLISHED.get(table, {}).get(setup, {}).get(what, (None, None))
            extra = {} if sd is None else {"published_sd": sd}
            unit = what.rpartition("(")[2].rstrip(")") if "(" in what else "1"
            spread = statistics.stdev(values) if len(values) > 1 else None
            mean, cell = statistics.mean(values), f"{setup}: {what}"
            results.append(
                Result(PAPER, table, cell, published, mean, unit, len(values), spread, {**conditions, **extra})
            )
    return results
