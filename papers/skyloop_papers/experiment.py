"""What an experiment of a paper is: a plan fixed beforehand, flights, cells beside the published ones, and a page."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from skyloop_client.messages import Array
from skyloop_papers.runs import ALL_CORES, Job, Progress, Run, RunWorkers, all_runs, silent

HELD, NOT_HELD, UNDECIDED = "held", "not held", "undecided"
SPEED, INPUT = "given by the computer", "given as an input"
REPEAT, SURVIVORS = "counted elsewhere", "of survivors only"
NOT_COMPARABLE, NOT_PUBLISHED = "not comparable", "not published"
JUDGED = (HELD, NOT_HELD, UNDECIDED)
UNJUDGED = (SPEED, INPUT, REPEAT, SURVIVORS, NOT_COMPARABLE)
"""Though the paper has a number."""
COMPUTER_TIMES = ("ms", "µs", "1/s", "core-ms", "% of the time")
"""Units of what another computer gives in another number."""
SAME_WITHIN = 0.1
"""Of the published number."""
LEVEL = 0.975

PAPERS = {
    "airloop": "AirLoop",
    "depth-noise-and-rotor-drag": "Depth noise and rotor drag",
    "e2es": "E2ES",
    "fpga-landing-hil": "Landing by an FPGA",
    "synchronised-hil": "Synchronised HIL",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a paper's table or figure beside ours."""

    table: str
    """"Table 2", "Fig. 16", or "text"."""
    row: str
    column: str
    """Empty where the row alone names the number."""
    published: float | None
    """None where the paper gives no number."""
    ours: float
    unit: str
    n: int = 1
    """How many samples or runs `ours` is the mean of."""
    sd: float | None = None
    conditions: dict[str, Any] = field(default_factory=dict)
    verdict: str = ""
    why: str = ""
    """Why it is not judged, or why it does not hold. Of a speed, the paper's machine."""
    left_out: int = 0
    """Runs that failed, so that `ours` is of the others only."""

    @classmethod
    def mean(
        cls,
        table: str,
        row: str,
        column: str,
        published: float | None,
        values: Array | Sequence[float],
        unit: str,
        conditions: dict[str, Any] | None = None,
    ) -> Cell:
        """Of these values, with their standard deviation."""
        import numpy as np

        average, sd = float(np.mean(values)), float(np.std(values))
        return cls(table, row, column, published, average, unit, len(values), sd, conditions or {})

    @property
    def name(self) -> str:
        return ": ".join(part for part in (self.row, self.column) if part)

    @property
    def repeats(self) -> bool:
        """Whether the same machine gives the same number again. A time does not."""
        return self.unit not in COMPUTER_TIMES

    def plain(self) -> dict[str, Any]:
        return asdict(self)

    def texts(self) -> list[str]:
        """As a line of a table under CELL_HEAD."""
        published = "" if self.published is None else f"{self.published:.4g}"
        sd = "" if self.sd is None else f"{self.sd:.2g}"
        return [self.table, self.name, published, f"{self.ours:.4g}", self.unit, str(self.n), sd]


CELL_HEAD = ("table", "cell", "published", "measured", "unit", "n", "sd")


# ---- does a published number hold here? docs/reproductions/report.md tells the rules to readers

Kind = Literal["less", "more", "same", "all", "claim", "speed", "input", "repeat", "other"]
NO_VERDICT = {"speed": SPEED, "input": INPUT, "repeat": REPEAT, "other": NOT_COMPARABLE}


@dataclass(frozen=True, slots=True)
class Rule:
    """How cells are judged whose table, row and column match these expressions as a whole.

    A number is judged if it is the same quantity of the same work, and does not depend on whose computer it was."""

    kind: Kind
    why: str = ""
    """Why it is not judged, or why it does not hold where it does not. Of a speed, the paper's machine."""
    table: str = ".*"
    row: str = ".*"
    column: str = ".*"
    simulated: bool = False
    """Times and rates of these cells are of simulated time, which is the same on every computer."""

    def __post_init__(self) -> None:
        if self.kind in NO_VERDICT and not self.why:
            raise ValueError(f"a rule of kind '{self.kind}' says why: {self}")

    def covers(self, cell: Cell) -> bool:
        pairs = ((self.table, cell.table), (self.row, cell.row), (self.column, cell.column))
        return all(re.fullmatch(pattern, text) for pattern, text in pairs)


def judged(cells: Iterable[Cell], rules: Sequence[Rule]) -> list[Cell]:
    """With their verdicts. The first rule that covers a cell counts."""
    return [_judged(cell, next((rule for rule in rules if rule.covers(cell)), None)) for cell in cells]


def _judged(cell: Cell, rule: Rule | None) -> Cell:
    if cell.published is None:
        return replace(cell, verdict=NOT_PUBLISHED, why="")
    if rule is None:
        return replace(cell, verdict=NOT_COMPARABLE, why="no rule was set for this cell beforehand")
    if rule.kind in NO_VERDICT:
        return replace(cell, verdict=NO_VERDICT[rule.kind], why=rule.why)
    if cell.unit in ("s", *COMPUTER_TIMES) and not rule.simulated:
        return replace(cell, verdict=SPEED, why="its rule does not say that it is simulated time")
    if cell.left_out:
        return replace(cell, verdict=SURVIVORS, why=f"{cell.left_out} more runs failed")
    verdict = _verdict(rule.kind, cell, cell.published)
    return replace(cell, verdict=verdict, why="" if verdict == HELD else rule.why)


def _verdict(kind: Kind, cell: Cell, published: float) -> str:
    if kind == "claim":
        return HELD if cell.ours == published else NOT_HELD
    if kind == "all":
        # the paper's runs all succeeded: so must ours
        return HELD if cell.ours == cell.n else NOT_HELD
    low, high = interval(cell)
    if kind == "same":
        lowest, highest = sorted((published * (1.0 - SAME_WITHIN), published * (1.0 + SAME_WITHIN)))
        return HELD if lowest <= low and high <= highest else NOT_HELD if high < lowest or low > highest else UNDECIDED
    if kind == "more":
        low, high, published = -high, -low, -published
    return HELD if high <= published else NOT_HELD if low > published else UNDECIDED


def interval(cell: Cell) -> tuple[float, float]:
    """Of the mean at 95 % (Student's t). A number without a spread stands for itself."""
    if cell.sd is None or cell.n < 2:
        return cell.ours, cell.ours
    from scipy.stats import t

    half = float(t.ppf(LEVEL, cell.n - 1)) * cell.sd / math.sqrt(cell.n)
    return cell.ours - half, cell.ours + half


def verdict_counts(cells: Iterable[Cell]) -> Counter[str]:
    return Counter(cell.verdict for cell in cells)


def in_words(counted: Counter[str], words: Sequence[str]) -> str:
    """As "3 held, 1 undecided", or "none"."""
    return ", ".join(f"{counted[word]} {word}" for word in words if counted[word]) or "none"


# ---- the experiment


@dataclass(frozen=True, slots=True)
class ExperimentPlan:
    """What is flown and how it is judged. Nothing of it may change once flights that count have begun: a folder of runs
    holds a copy, and a different plan is refused."""

    def plain(self) -> dict[str, Any]:
        """All constants that decide the results."""
        return asdict(self)


Plan = TypeVar("Plan", bound=ExperimentPlan)
Runs = TypeVar("Runs")


class Experiment(ABC, Generic[Plan, Runs]):
    """One experiment. `skyloop_papers/NAME/experiment.py` has it as EXPERIMENT."""

    paper: str
    """One of PAPERS."""
    plans: tuple[Plan, Plan]
    """In full, and in the quick form."""
    rules: tuple[Rule, ...] = ()
    """Set before the flights."""
    pictures: tuple[str, ...] = ()
    """Of those that `write` leaves, the ones that the pages show."""
    resumes = True
    """A stopped one goes on in its folder."""
    not_run_by_run = ""
    """Why single runs cannot be flown apart from each other: again, or on a cluster."""

    def plan(self, *, quick: bool = False) -> Plan:
        return self.plans[quick]

    @abstractmethod
    def fly(self, plan: Plan, folder: Path, progress: Progress, workers: RunWorkers) -> Runs: ...

    @abstractmethod
    def judge(self, plan: Plan, runs: Runs) -> list[Cell]:
        """The cells of the paper's tables, and ours beyond them; without verdicts."""

    @abstractmethod
    def page(self, cells: Sequence[Cell]) -> dict[str, str]:
        """The blocks of the page in docs/reproductions."""

    def write(self, folder: Path, plan: Plan, runs: Runs, cells: Sequence[Cell]) -> None:
        """Pictures, and files besides results.json, results.csv and results.md."""

    def plan_page(self) -> dict[str, str]:
        """The blocks of the page about what is flown, which exists before the flights; none without such a page."""
        return {}

    def sentences(self, cells: Sequence[Cell]) -> list[str]:
        """Sentences outside the blocks that repeat a measured number: a page that lacks one of them is out of date."""
        return []

    def judged(self, cells: Iterable[Cell]) -> list[Cell]:
        return judged(cells, self.rules)

    def plain(self, cells: Iterable[Cell]) -> list[dict[str, Any]]:
        """For JSON."""
        return [{"paper": self.paper, **cell.plain()} for cell in cells]


class RunByRun(Experiment[Plan, dict[str, Run]]):
    """An experiment of single runs, each in a process of its own, on this machine or a cluster."""

    cores: float = 1
    """That a run keeps busy."""

    @abstractmethod
    def jobs(self, plan: Plan, folder: Path) -> list[Job]: ...

    @abstractmethod
    def describe(self, run: Run) -> str:
        """In one line."""

    def fly(
        self, plan: Plan, folder: Path, progress: Progress = silent, workers: RunWorkers = ALL_CORES
    ) -> dict[str, Run]:
        return all_runs(self.jobs(plan, folder), workers.pool(self.cores), progress, self.describe)

    def published_runs(self, plan: Plan, cells: Sequence[Cell]) -> dict[str, Run] | None:
        """Figures of single runs that the results file has; None if it has none."""
        return None

    def as_published(self, run: Run, published: Run) -> Run:
        """Those figures of a run that were published of it, with as many digits."""
        return run
