"""One report for all papers: verdicts by one rule, the version of the code, and failures that are named."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from throws import put_in_catalogue

from skyloop.cli.verbs import execute
from skyloop_client.errors import LinkError
from skyloop_papers import catalogue, code_version, pages, runner
from skyloop_papers.experiment import (
    HELD,
    INPUT,
    JUDGED,
    NOT_COMPARABLE,
    NOT_HELD,
    NOT_PUBLISHED,
    REPEAT,
    SPEED,
    SURVIVORS,
    UNDECIDED,
    Cell,
    Experiment,
    ExperimentPlan,
    Rule,
    interval,
    judged,
)
from skyloop_papers.report import write_report
from skyloop_papers.runner import read_cells, reproduce_all
from skyloop_papers.runs import Progress, RunWorkers


def cell(published: float | None, ours: float, n: int = 1, sd: float | None = None, **other: str) -> Cell:
    where: dict[str, Any] = {"table": "Table 6", "row": "SUT with the engine", "column": "", "unit": "1/s", **other}
    return Cell(published=published, ours=ours, n=n, sd=sd, **where)


def test_the_interval_is_that_of_scipy() -> None:
    values = np.random.default_rng(1).normal(7.0, 2.0, 12)
    low, high = interval(cell(None, float(values.mean()), 12, float(values.std(ddof=1))))
    assert (low, high) == pytest.approx(stats.t.interval(0.95, 11, values.mean(), stats.sem(values)))


TIMES: dict[str, Any] = {"unit": "times", "table": "Table 8", "column": "optimised against torch, window"}


@pytest.mark.parametrize(
    ("name", "result", "word"),
    [
        ("detection", cell(10.0, 12.0, 9, 1.0, **TIMES), HELD),
        ("detection", cell(10.0, 8.0, 9, 1.0, **TIMES), NOT_HELD),
        ("detection", cell(10.0, 10.3, 9, 1.0, **TIMES), UNDECIDED),
        ("detection", cell(10.0, 10.0, **TIMES), HELD),
        ("detection", cell(10.0, 12.0, column="torch, window", table="Table 8"), SPEED),
        ("online", cell(None, 10.0), NOT_PUBLISHED),
        ("online", cell(10.0, 12.0, 9, 1.0), SPEED),
        ("e2es", cell(0.3, 0.2, 10, 0.05, table="accuracy", unit="m"), HELD),
        ("e2es", cell(0.3, 0.4, 10, 0.05, table="accuracy", unit="m"), NOT_HELD),
        ("e2es", replace(cell(0.3, 0.2, 9, 0.05, table="accuracy", unit="m"), left_out=1), SURVIVORS),
        ("radar", cell(3.0, 3.0, table="Table 3", unit="m"), INPUT),
        ("unknown-city", cell(1.0, 20.0, 20, row="with GNSS", column="goal reached", unit="1"), HELD),
        ("unknown-city", cell(1.0, 19.0, 20, row="with GNSS", column="goal reached", unit="1"), NOT_HELD),
        ("unknown-city", cell(1.0, 20.0, 20, row="without GNSS", column="goal reached", unit="1"), REPEAT),
        ("online", cell(1.0, 2.0, table="Table 99"), NOT_COMPARABLE),
    ],
)
def test_verdicts_of_experiments(name: str, result: Cell, word: str) -> None:
    assert catalogue.load(name).judged([result])[0].verdict == word


@pytest.mark.parametrize(
    ("result", "word"),
    [
        (cell(3.0, 3.29, unit="m"), HELD),
        (cell(3.0, 3.31, unit="m"), NOT_HELD),
        (cell(3.0, 3.2, 4, 1.0, unit="m"), UNDECIDED),
        (cell(-3.0, -2.8, unit="m"), HELD),
    ],
)
def test_the_same_is_within_a_tenth(result: Cell, word: str) -> None:
    assert judged([result], [Rule("same")])[0].verdict == word


@pytest.mark.parametrize("unit", ["s", "ms", "µs", "1/s"])
def test_a_time_or_a_rate_is_judged_only_if_it_is_simulated(unit: str) -> None:
    time = cell(2.0, 1.0, unit=unit)
    assert [judged([time], [Rule("less", simulated=s)])[0].verdict for s in (False, True)] == [SPEED, HELD]


def test_what_is_not_judged_says_why() -> None:
    with pytest.raises(ValueError, match="says why"):
        Rule("speed")


@pytest.mark.parametrize("name", catalogue.listed())
def test_every_published_cell_has_a_rule_and_every_doubt_a_reason(name: str) -> None:
    published, rules = pages.read(name), catalogue.load(name).rules
    for each in [] if published is None else published.cells:
        if each.published is not None:
            rule = next((rule for rule in rules if rule.covers(each)), None)
            assert rule is not None, each.name
            assert each.verdict == HELD or each.why, each.name
            # both machines of a speed are named, which only a rule for speeds does
            assert (each.verdict == SPEED) == (rule.kind == "speed"), each.name


@pytest.mark.parametrize("name", catalogue.listed())
def test_stored_verdicts_are_those_of_the_rules_and_no_number_is_judged_twice(name: str) -> None:
    published = pages.read(name)
    if published is None:
        return
    stored = read_cells(json.loads(pages.results_file(name).read_text(encoding="utf-8"))["results"])
    assert stored == published.cells, "run `make pages`"
    # a copy of a run gives the same digits; whole numbers may be the same by chance
    judged_ones = [each for each in stored if each.verdict in JUDGED and each.ours % 1.0]
    assert len({(each.table, each.column, each.ours) for each in judged_ones}) == len(judged_ones)


def test_readme_has_the_commit_and_the_day_of_every_experiment() -> None:
    readme = (pages.DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert readme == pages.rendered(readme)
    rows = [line.split(" | ") for line in readme.splitlines() if line.startswith("| [`") and "/reproductions/" in line]
    assert [row[0].split("`")[1] for row in rows] == list(catalogue.listed())
    for name, row in zip(catalogue.listed(), rows, strict=True):
        published = pages.read(name)
        assert published is not None and published.date
        assert row[2].startswith(f"`{published.commit}`") and row[3].startswith(published.date)


# ---- the version of the code


@pytest.mark.processes
def test_the_version_is_the_last_commit_to_the_code_and_a_hash_of_what_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*arguments: str) -> str:
        who = ("-c", "user.name=one", "-c", "user.email=one@example.org")
        command = ["git", "-C", str(tmp_path), *who, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def version() -> str:
        return code_version.code_version.__wrapped__()

    monkeypatch.setattr(code_version, "ROOT", tmp_path)
    assert version().startswith("sources-"), "no repository"
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("A = 1\n")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    first = git("rev-parse", "HEAD")[:12]
    assert version() == first
    (tmp_path / "README.md").write_text("text\n")
    git("add", ".")
    git("commit", "-qm", "a page only")
    assert version() == first
    (tmp_path / "src" / "a.py").write_text("A = 2\n")
    assert version().startswith(f"{first}+")


# ---- the report


@dataclass
class Flights:
    """What was flown, and whether e2es fails."""

    names: list[str] = field(default_factory=list)
    broken: bool = True


class Flown(Experiment[ExperimentPlan, None]):
    plans = ExperimentPlan(), ExperimentPlan()

    def __init__(self, flights: Flights, name: str, cells: list[Cell]) -> None:
        self.flights, self.name, self.cells = flights, name, cells
        real = catalogue.load(name)
        self.paper, self.rules, self.resumes = real.paper, real.rules, name == "e2es"

    def fly(self, plan: ExperimentPlan, folder: Path, progress: Progress, workers: RunWorkers) -> None:
        self.flights.names.append(self.name)
        (folder / "plot.png").write_bytes(b"")
        if self.name == "e2es" and self.flights.broken:
            raise LinkError("no board came")

    def judge(self, plan: ExperimentPlan, runs: None) -> list[Cell]:
        return self.cells

    def page(self, cells: Sequence[Cell]) -> dict[str, str]:
        return {}


@pytest.fixture
def flights(monkeypatch: pytest.MonkeyPatch) -> Flights:
    made = Flights()
    online = Flown(made, "online", [cell(10.0, 12.0, 9, 1.0), cell(None, 5.0, row="more <of> it")])
    e2es = Flown(made, "e2es", [cell(0.3, 0.2, 10, 0.05, table="accuracy")])
    put_in_catalogue(monkeypatch, {"online": online, "e2es": e2es})
    monkeypatch.setattr(runner, "code_version", lambda: "0123456789ab")
    return made


NAMES = ("online", "e2es")


@pytest.mark.slow("runs an experiment twice and draws the report")
def test_an_experiment_that_fails_is_named_and_tried_again(tmp_path: Path, flights: Flights) -> None:
    out = tmp_path / "report"
    first, second = reproduce_all(out, NAMES)
    page = write_report(out, [first, second], quick=False).read_text(encoding="utf-8")
    assert second.failed == "no board came" and "no board came" in page and "more &lt;of&gt; it" in page
    assert f'href="runs/{first.folder.name}/"' in page and (out / "report.pdf").read_bytes().startswith(b"%PDF")
    flights.broken = False
    again = reproduce_all(out, NAMES)
    assert flights.names == ["online", "e2es", "e2es"], "what is finished is not flown again"
    assert [one.failed for one in again] == ["", ""] and again[0].cells == first.cells


@pytest.mark.slow("flies an experiment twice")
def test_other_code_flies_again_and_mixes_nothing(
    tmp_path: Path, flights: Flights, monkeypatch: pytest.MonkeyPatch
) -> None:
    (before,) = reproduce_all(tmp_path, ["online"])
    (quick,) = reproduce_all(tmp_path, ["online"], quick=True)
    monkeypatch.setattr(runner, "code_version", lambda: "ffff")
    (after,) = reproduce_all(tmp_path, ["online"])
    assert flights.names == ["online"] * 3
    assert len({before.folder, quick.folder, after.folder}) == 3


def test_a_stopped_experiment_begins_anew_and_a_damaged_result_is_no_result(tmp_path: Path, flights: Flights) -> None:
    (made,) = reproduce_all(tmp_path, ["online"])
    (made.folder / "measured.json").write_text("{")
    (made.folder / "half.csv").write_text("x")
    reproduce_all(tmp_path, ["online"])
    assert flights.names == ["online", "online"] and not (made.folder / "half.csv").exists()


def test_the_same_results_give_the_same_bytes(tmp_path: Path, flights: Flights) -> None:
    measured = reproduce_all(tmp_path, NAMES)
    kept = []
    for _ in range(2):
        write_report(tmp_path, measured, quick=True)
        kept.append([(tmp_path / name).read_bytes() for name in ("index.html", "report.pdf")])
    assert kept[0] == kept[1]


def test_on_the_command_line(tmp_path: Path, flights: Flights, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "report"
    assert execute(["reproduce", "all", "--quick", "--out", str(out)]) == 1
    said = capsys.readouterr()
    assert (out / "index.html").exists() and "e2es failed; the report says why" in said.err
    flights.broken = False
    assert execute(["reproduce", "all", "--quick", "--json", "--out", str(out)]) == 0
    assert set(json.loads(capsys.readouterr().out)) == set(NAMES)
    assert execute(["reproduce", "all", "--update-docs"]) == 1
    assert "'all' takes --quick, --out and --json only" in capsys.readouterr().err
    (tmp_path / "thesis.tex").write_text("x")
    assert execute(["reproduce", "all", "--out", str(tmp_path)]) == 1 and "is no report" in capsys.readouterr().err
