"""One report for all papers: verdicts by one rule, stale figures are known, failures are told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from skyloop.cli.verbs import execute
from skyloop.core.results import Result
from skyloop_client.errors import LinkError, RunFolderError
from skyloop_papers import all_papers, code_state, pages
from skyloop_papers.all_papers import reproduce_all
from skyloop_papers.code_state import changed_rooms, state_name
from skyloop_papers.registry import REPRODUCTIONS
from skyloop_papers.report import write_report
from skyloop_papers.verdicts import (
    HELD,
    NOT_COMPARABLE,
    NOT_HELD,
    NOT_PUBLISHED,
    UNDECIDED,
    interval,
    judged,
    rule_of,
)


def cell(published: float | None, measured: float, n: int = 1, sd: float | None = None, **other: str) -> Result:
    told: dict[str, Any] = {
        "paper": "airloop",
        "table": "Table 6",
        "cell": "SUT with the engine",
        "unit": "1/s",
        **other,
    }
    return Result(published=published, measured=measured, n=n, sd=sd, **told)


def test_the_interval_is_that_of_scipy() -> None:
    values = np.random.default_rng(1).normal(7.0, 2.0, 12)
    low, high = interval(cell(None, float(values.mean()), 12, float(values.std(ddof=1))))
    assert (low, high) == pytest.approx(stats.t.interval(0.95, 11, values.mean(), stats.sem(values)))


@pytest.mark.parametrize(
    ("name", "result", "word"),
    [
        ("online", cell(10.0, 12.0, 9, 1.0), HELD),
        ("online", cell(10.0, 8.0, 9, 1.0), NOT_HELD),
        ("online", cell(10.0, 10.3, 9, 1.0), UNDECIDED),
        ("online", cell(10.0, 9.7, 9, 1.0), UNDECIDED),
        ("online", cell(10.0, 10.0), HELD),
        ("online", cell(None, 10.0), NOT_PUBLISHED),
        ("e2es", cell(0.3, 0.2, 10, 0.05, table="accuracy"), HELD),
        ("e2es", cell(0.3, 0.4, 10, 0.05, table="accuracy"), NOT_HELD),
        ("e2es", cell(0.3, 0.29, 10, 0.05, table="accuracy"), UNDECIDED),
        ("radar", cell(3.0, 3.29, table="Table 3"), HELD),
        ("radar", cell(3.0, 3.31, table="Table 3"), NOT_HELD),
        ("radar", cell(3.0, 2.69, table="Table 3"), NOT_HELD),
        ("radar", cell(3.0, 3.2, 4, 1.0, table="Table 3"), UNDECIDED),
        ("radar", cell(-3.0, -2.8, table="Table 3"), HELD),
        ("unknown-city", cell(1.0, 20.0, 20, cell="with GNSS: goal reached"), HELD),
        ("unknown-city", cell(1.0, 19.0, 20, cell="with GNSS: goal reached"), NOT_HELD),
        ("sync-hil", cell(1.0, 0.0, table="claims"), NOT_HELD),
        ("sync-hil", cell(0.05, 0.05, table="Table I", cell="host: camera"), NOT_COMPARABLE),
        ("online", cell(1.0, 2.0, table="Table 99"), NOT_COMPARABLE),
    ],
)
def test_verdicts(name: str, result: Result, word: str) -> None:
    assert judged(name, result).word == word


@pytest.mark.parametrize("name", REPRODUCTIONS)
def test_every_published_cell_has_a_rule_and_every_doubt_a_reason(name: str) -> None:
    published = pages.read(name)
    for result in [] if published is None else published.results:
        if result.published is not None:
            assert rule_of(name, result) is not None, result.cell
            said = judged(name, result)
            assert said.word == HELD or said.why, result.cell


# ---- what figures depend on


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A small package in place of skyloop: an experiment that needs physics, and a module that it does not need."""
    texts = {
        "__init__": "",
        "reproductions/__init__": "",
        "reproductions/drop": '"""A fall."""\nfrom skyloop.vehicle import physics\nP = "skyloop.tasks.land:Land"\n',
        "vehicle/__init__": "",
        "vehicle/names": "NAME = 'hover'\ndef name(world):\n    return f'{world}-fall'\n",
        "vehicle/physics": "from skyloop.vehicle import names\ndef g():\n    return 9.81\n",
        "tasks/__init__": "",
        "tasks/land": "class Land: ...\n",
        "sensors/__init__": "",
        "sensors/imu": "RATE = 200\n",
    }
    for name, text in texts.items():
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "sim" / "scenarios").mkdir(parents=True)
    for name in ("hover", "room-fall", "park-walk"):
        (tmp_path / "sim" / "scenarios" / f"{name}.yaml").write_text("seed: 1\n")
    monkeypatch.setattr(code_state, "ROOTS", {"skyloop": tmp_path})
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    code_state._facts.cache_clear()
    code_state._file.cache_clear()
    code_state._strings.cache_clear()


@pytest.mark.parametrize(
    ("file", "before", "after", "changed"),
    [
        ("vehicle/physics.py", "9.81", "9.80", ["vehicle"]),
        ("vehicle/physics.py", "    return", "    # said plainly\n    return", []),
        ("reproductions/drop.py", "A fall.", "The fall.", []),
        ("tasks/land.py", "...", "gentle = True", ["tasks"]),
        ("sensors/imu.py", "200", "400", []),
        ("sim/scenarios/hover.yaml", "1", "2", ["scenarios"]),
        ("sim/scenarios/room-fall.yaml", "1", "2", ["scenarios"]),
        ("sim/scenarios/park-walk.yaml", "1", "2", []),
    ],
)
def test_a_change_is_seen_where_a_figure_depends_on_it(
    package: Path, file: str, before: str, after: str, changed: list[str]
) -> None:
    kept, name = code_state.code_state("skyloop.reproductions.drop"), state_name("skyloop.reproductions.drop")
    path = package / file
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))
    forget()
    assert changed_rooms(kept, code_state.code_state("skyloop.reproductions.drop")) == changed
    assert (state_name("skyloop.reproductions.drop") != name) is bool(changed)


def test_a_new_scenario_makes_nothing_stale(package: Path) -> None:
    kept = code_state.code_state("skyloop.reproductions.drop")
    (package / "sim" / "scenarios" / "new-fall.yaml").write_text("seed: 1\n")
    assert changed_rooms(kept, code_state.code_state("skyloop.reproductions.drop")) == []


def test_scenarios_kept_before_only_the_named_ones_were_make_nothing_stale(package: Path) -> None:
    now = code_state.code_state("skyloop.reproductions.drop")
    assert "scenarios/park-walk" not in now
    assert changed_rooms({**now, "scenarios/park-walk": "0"}, now) == []
    assert changed_rooms({**now, "scenarios/hover": "0", "tasks": "0"}, now) == ["scenarios", "tasks"]


def test_a_page_says_that_its_figures_are_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    published = pages.read("mission")
    assert published is not None
    now = {"vehicle": "1", "sensors": "2"}
    monkeypatch.setattr(pages, "code_state", lambda module: now)
    fresh = pages.Published(published.results, {}, None, now)
    old = pages.Published(published.results, {}, None, {**now, "vehicle": "0"})
    assert pages.state_in_words("mission", fresh) == "Measured by the code as it is now."
    assert "**Stale**: measured, before the code in vehicle was changed." in pages.state_in_words("mission", old)


# ---- the report


class Experiments:
    """Two experiments in place of the real ones. The second fails while `broken`."""

    def __init__(self) -> None:
        self.flown: list[str] = []
        self.broken = True

    def first(self, *, quick: bool, folder: Path) -> list[Result]:
        self.flown.append("first")
        (folder / "plot.png").write_bytes(b"")
        return [cell(10.0, 12.0, 9, 1.0), cell(None, 5.0, cell="more <of> it")]

    def second(self, *, quick: bool, folder: Path, told: Any) -> list[Result]:
        self.flown.append("second")
        if self.broken:
            raise LinkError("no board came")
        return [cell(0.3, 0.2, 10, 0.05, table="accuracy", paper="e2es")]


@pytest.fixture
def experiments(monkeypatch: pytest.MonkeyPatch) -> Experiments:
    made = Experiments()
    kinds = {"online": made.first, "e2es": made.second}
    listed = {name: (f"skyloop_papers.{name}.experiment", f"the {name} experiment") for name in kinds}
    monkeypatch.setattr(all_papers, "REPRODUCTIONS", listed)
    for name, reproduce in kinds.items():
        monkeypatch.setattr(f"skyloop_papers.{name}.experiment.reproduce", reproduce)
    monkeypatch.setattr(all_papers, "RESUMES", ("e2es",))
    return made


NAMES = ("online", "e2es")


@pytest.mark.slow("runs an experiment twice and draws the report")
def test_an_experiment_that_fails_is_told_and_tried_again(tmp_path: Path, experiments: Experiments) -> None:
    out = tmp_path / "report"
    first, second = reproduce_all(out, NAMES)
    page = write_report(out, [first, second], quick=False).read_text(encoding="utf-8")
    assert second.failed == "no board came" and "no board came" in page and "more &lt;of&gt; it" in page
    assert f'href="runs/{first.folder.name}/"' in page and (out / "report.pdf").read_bytes().startswith(b"%PDF")
    experiments.broken = False
    again = reproduce_all(out, NAMES)
    assert experiments.flown == ["first", "second", "second"], "what is finished is not flown again"
    assert [one.failed for one in again] == ["", ""] and again[0].results == first.results


@pytest.mark.slow("flies an experiment twice")
def test_other_code_flies_again_and_mixes_nothing(
    tmp_path: Path, experiments: Experiments, monkeypatch: pytest.MonkeyPatch
) -> None:
    (before,) = reproduce_all(tmp_path, ["online"])
    (quick,) = reproduce_all(tmp_path, ["online"], quick=True)
    monkeypatch.setattr(all_papers, "state_name", lambda module: "ffff")
    (after,) = reproduce_all(tmp_path, ["online"])
    assert experiments.flown == ["first"] * 3
    assert len({before.folder, quick.folder, after.folder}) == 3


def test_a_stopped_experiment_begins_anew_and_a_damaged_result_is_no_result(
    tmp_path: Path, experiments: Experiments
) -> None:
    (made,) = reproduce_all(tmp_path, ["online"])
    (made.folder / "measured.json").write_text("{")
    (made.folder / "half.csv").write_text("x")
    reproduce_all(tmp_path, ["online"])
    assert experiments.flown == ["first", "first"] and not (made.folder / "half.csv").exists()


def test_the_same_results_give_the_same_bytes(tmp_path: Path, experiments: Experiments) -> None:
    measured = reproduce_all(tmp_path, NAMES)
    kept = []
    for _ in range(2):
        write_report(tmp_path, measured, quick=True)
        kept.append([(tmp_path / name).read_bytes() for name in ("index.html", "report.pdf")])
    assert kept[0] == kept[1]


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(RunFolderError, match="is no report"):
        reproduce_all(tmp_path, ["online"])


def test_on_the_command_line(tmp_path: Path, experiments: Experiments, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "report"
    assert execute(["reproduce", "all", "--quick", "--out", str(out)]) == 1
    said = capsys.readouterr()
    assert (out / "index.html").exists() and "e2es failed; the report says why" in said.err
    experiments.broken = False
    assert execute(["reproduce", "all", "--quick", "--json", "--out", str(out)]) == 0
    assert set(json.loads(capsys.readouterr().out)) == set(NAMES)
    assert execute(["reproduce", "all", "--update-docs"]) == 1
    assert "'all' takes --quick, --out and --json only" in capsys.readouterr().err
