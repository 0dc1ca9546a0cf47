"""Tables I to V of synchronised-hil: the same software on the host, on a slow board, and there without synchronisation.

Every finished run is written to the folder at once, so a stopped command continues where it was."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np

from skyloop_client.messages import Array
from skyloop_papers.experiment import Cell, Experiment, Rule
from skyloop_papers.paired_tests import equal, larger, power
from skyloop_papers.runs import Progress, Run, RunWorkers
from skyloop_papers.sync_hil.claims import Samples, claims
from skyloop_papers.sync_hil.flights import AT_ONCE, fly_all, runs_of
from skyloop_papers.sync_hil.plan import (
    BOARD,
    CLAIMS,
    FREE,
    HOST,
    LEVEL,
    OSCILLATIONS,
    PUBLISHED,
    QUICK,
    REAL,
    SENSORS,
    TABLES,
    TARGET,
    TIME,
    Claim,
    SyncPlan,
)
from skyloop_papers.tables import Cells, Form, by_table, lines, paragraph, shown, table

NUMBERS = ("I", "II", "III", "IV", "V")
BOTH: dict[str, Form] = {"paper": "{published:g}[ ± {published_sd:g}]", "here": "{ours:.3g}[ ± {sd:.2g}]"}
TESTED: dict[str, Form] = {
    "": "{number}", "claim": "{name}", "test": "{test}",
    "verdict": lambda cell: "holds" if cell.ours else "not shown", "p": "{p:g}", "p, Holm": "{p_holm:g}",
    "seen": "{seen}",
}  # fmt: skip
Draw = Callable[[np.random.Generator, int], Array]


class SynchronisedHilExperiment(Experiment[SyncPlan, Samples]):
    paper = "synchronised-hil"
    plans = SyncPlan(), QUICK
    rules = (
        Rule("input", "the link has these times from the paper", table="Table I"),
        Rule("other", "theirs looks at a dozen images, ours at one", table="Table II", column=re.escape(TIME)),
        Rule("input", "chosen to last as long as the paper's", table="Table (IV|V)", column=re.escape(TIME)),
        Rule("claim", "the page says what came out instead", table="claims"),
        Rule("same", "vehicle and world are others; the claims are compared", "Table (II|III|IV|V)", simulated=True),
    )
    not_run_by_run = "its targets keep the pace of this machine's clock"

    def fly(self, plan: SyncPlan, folder: Path, progress: Progress, workers: RunWorkers) -> Samples:
        runs = list(runs_of(plan))
        flown: dict[str, Run] = {}
        for setup in (HOST, TARGET, REAL, FREE):
            chosen = (run for run in runs if run.setup == setup)
            flown |= fly_all(chosen, folder, progress, AT_ONCE.get(setup, 2))
        samples: Samples = {}
        for run in runs:
            name = run.setup if not run.stream else f"{run.setup}: {SENSORS[run.stream]}"
            samples.setdefault(run.table.name, {}).setdefault(name, []).append(flown[run.name])
        return samples

    def judge(self, plan: SyncPlan, runs: Samples) -> list[Cell]:
        cells = [cell for name, by_setup in runs.items() for cell in table_cells(name, by_setup)]
        return cells + [claim.cell() for claim in claims(runs, plan.claims, plan.level)]

    def page(self, cells: Sequence[Cell]) -> dict[str, str]:
        found = by_table(cells)
        tables = {f"table-{number.lower()}": _table(found[f"Table {number}"]) for number in NUMBERS}
        return {**tables, "claims": lines(found["claims"], TESTED, right=None), "board": _board(found)}

    def plan_page(self) -> dict[str, str]:
        return {"flown": _flown(), "claims": _claims(), "power": _powers()}


EXPERIMENT = SynchronisedHilExperiment()


def table_cells(name: str, by_setup: dict[str, list[Run]]) -> list[Cell]:
    """Mean and standard deviation over the finished runs, and their number."""
    cells = []
    for setup, rows in by_setup.items():
        finished = [row for row in rows if "unfinished" not in row]
        conditions = {"runs": len(rows), "finished": len(finished)}
        if not finished:
            cells.append(Cell(name, setup, "finished", None, 0.0, "1", len(rows), None, conditions))
        for what in finished[0] if finished else ():
            values = [row[what] for row in finished]
            published, sd = PUBLISHED.get(name, {}).get(setup, {}).get(what, (None, None))
            extra = {} if sd is None else {"published_sd": sd}
            unit = what.rpartition("(")[2].rstrip(")") if "(" in what else "1"
            spread = statistics.stdev(values) if len(values) > 1 else None
            mean, about = statistics.mean(values), {**conditions, **extra}
            lost = len(rows) - len(finished)
            cells.append(Cell(name, setup, what, published, mean, unit, len(values), spread, about, left_out=lost))
    return cells


# ---- the pages


def _table(cells: Sequence[Cell]) -> str:
    """A row for each set-up, two columns for each score."""
    by, rows = Cells(cells), []
    scores = [column for column in dict.fromkeys(cell.column for cell in cells) if column != "finished"]
    for setup in by.rows:
        first = next(cell for cell in cells if cell.row == setup)
        numbers = (by.shown(setup, score, form) for score in scores for form in BOTH.values())
        rows.append([setup, shown(first, "{finished} of {runs}"), *numbers])
    heads = (f"{score}, {which}" for score in scores for which in BOTH)
    return table(["software on", "finished", *heads], rows, right=1)


def _board(found: dict[str, list[Cell]]) -> str:
    host, target = (1e3 * Cells(found["Table II"]).value(setup, "computing (s)") for setup in (HOST, TARGET))
    return paragraph(
        f"The board is a computer of {BOARD:g} of this machine's speed: an image takes {host:.2f} ms of processor time",
        f"on the host and {target:.1f} ms on the target.",
    )


def _flown() -> str:
    rows = []
    for one in TABLES:
        runs = ", ".join(f"{setup} {one.runs[setup]}" for setup in (HOST, TARGET, FREE, REAL) if setup in one.runs)
        rows.append([one.name, one.about, runs, f"{one.limit:g} s"])
    return table(["table", "task", "runs", "limit"], rows)


def _claims() -> str:
    rows = [[str(c.number), f"{c.table}: {c.text} ({c.one} against {c.other}, {c.score})", c.test] for c in CLAIMS]
    return table(["", "claim", "test"], rows)


@cache
def _powers() -> str:
    """Power with the paper's own means and standard deviations, with independent pairs."""
    rows = []
    levels = [LEVEL / len(CLAIMS), LEVEL]
    by_name = {one.name: one for one in TABLES}
    for claim in CLAIMS:
        pairs = min(by_name[claim.table].runs[setup] for setup in (claim.one, claim.other))
        test = larger if claim.margin is None else partial(equal, margin=claim.margin)
        worst, best = power(test, _drawn(claim, claim.one), _drawn(claim, claim.other), pairs, levels, trials=600)
        rows.append([str(claim.number), claim.table, claim.test, str(pairs), f"{worst:.0%}", f"{best:.0%}"])
    return table(["claim", "table", "test", "pairs", "power at worst", "power at best"], rows, right=3)


def _drawn(claim: Claim, setup: str) -> Draw:
    """Random runs with the published mean and standard deviation: counts, or positive numbers."""
    mean, sd = PUBLISHED[claim.table][setup][claim.score]
    if not mean or not sd:
        return lambda rng, n: np.full(n, mean)
    if claim.score == OSCILLATIONS:
        share = mean / sd**2
        return lambda rng, n: rng.negative_binomial(mean * share / (1.0 - share), share, n).astype(float)
    return lambda rng, n: rng.gamma((mean / sd) ** 2, sd**2 / mean, n)
