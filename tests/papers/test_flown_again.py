"""`reproduce NAME --again K`: which runs are flown again, what is compared, and what the pages say afterwards."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import throws

from skyloop.cli.verbs import execute
from skyloop_papers import again, catalogue, pages
from skyloop_papers.again import Comparison, chosen
from skyloop_papers.e2es_missions.experiment import EXPERIMENT as MISSIONS
from skyloop_papers.experiment import Cell, RunByRun
from skyloop_papers.runner import reproduce

PAGE = "<!-- results: throws state -->\n<!-- end -->\n"
YESTERDAY, TODAY = "aaaaaaaaaaaa", "bbbbbbbbbbbb"
THROWS = throws.Throws()


class Checkout:
    """A checkout with one experiment, flown with yesterday's code."""

    def __init__(self, root: Path) -> None:
        self.runs = root / "runs" / "throws"
        self.page = root / "docs" / "throws.md"
        self.page.parent.mkdir()
        self.page.write_text(PAGE, encoding="utf-8")

    @property
    def says(self) -> str:
        return " ".join(self.page.read_text(encoding="utf-8").split())

    @property
    def state(self) -> str:
        published = pages.read("throws")
        assert published is not None
        return pages.state_in_a_word(published)


@pytest.fixture(scope="module")
def thrown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Cell]]:
    """Flown once; each test has a copy."""
    folder = tmp_path_factory.mktemp("throws")
    return folder, reproduce(THROWS, folder=folder)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, thrown: tuple[Path, list[Cell]]) -> Checkout:
    made = Checkout(tmp_path)
    monkeypatch.setattr(pages, "DOCS", tmp_path / "docs")
    throws.put_in_catalogue(monkeypatch, {"throws": THROWS})
    monkeypatch.setattr(pages, "code_version", lambda: YESTERDAY)
    shutil.copytree(thrown[0], made.runs)
    pages.write("throws", thrown[1], (), None)
    monkeypatch.setattr(pages, "code_version", lambda: TODAY)
    monkeypatch.setattr(again, "code_version", lambda: TODAY)
    assert made.state == f"`{YESTERDAY}`" and f"Measured at commit `{YESTERDAY}` on " in made.says
    return made


def test_the_code_and_the_names_alone_choose_the_runs() -> None:
    names = [f"run-{k}" for k in range(200)]
    first = chosen(names, 10, TODAY)
    assert len(set(first)) == 10 and first == chosen(reversed(names), 10, TODAY)
    assert first == chosen(names, 20, TODAY)[:10], "more runs are more of the same order"
    assert first != chosen(names, 10, "cccccccccccc")
    counts = [sum(name in chosen(names, 10, str(day)) for day in range(200)) for name in names[:20]]
    assert min(counts) > 0 and max(counts) < 30, "each is as likely: 10 times of 200"


@pytest.mark.processes
def test_the_page_says_that_the_figures_are_the_same(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in (checkout.runs / "runs").iterdir()}
    assert execute(["reproduce", "throws", "--again", "2"]) == 0
    said = capsys.readouterr()
    assert "left out: processor_s (processor time); clock (a run that is timed)" in said.out
    # in each run a distance, five points and a place
    assert "2 of 5 runs, 34 figures: the same to the last digit" in said.out and "written: " in said.err
    kept = json.loads(pages.results_file("throws").read_text(encoding="utf-8"))["flown_again"]
    assert kept["runs"] == chosen([f"throw-{k}" for k in range(1, 6)], 2, TODAY) and kept["commit"] == TODAY
    assert {"date", "machine"} <= set(kept) and kept["machine"]["cores"] > 0
    same = f"; 2 of 5 runs flown again at commit `{TODAY}` gave the same figures to the last digit."
    assert f"Measured at commit `{YESTERDAY}` on " in checkout.says and same in checkout.says
    assert checkout.state == f"`{YESTERDAY}`; 2 of 5 runs again at `{TODAY}`"
    assert {path.name: path.stat().st_mtime_ns for path in (checkout.runs / "runs").iterdir()} == before


@pytest.mark.processes
def test_one_digit_is_reported_and_nothing_is_written(
    checkout: Checkout, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(throws.GRAVITY, "9.8100000000000023")
    file = pages.results_file("throws")
    before = file.read_bytes(), checkout.page.read_bytes()
    assert execute(["reproduce", "throws", "--again", "1"]) == 1
    said = capsys.readouterr()
    (run,) = chosen([f"throw-{k}" for k in range(1, 6)], 1, TODAY)
    lines = [line for line in said.out.splitlines() if line.startswith(run)]
    assert len(lines) == 2 and lines[0].startswith(f"{run}: distance was ")
    assert "track was " in lines[1] and "that differ" in lines[1]
    assert "nothing is said to be the same" in said.err and "last digits" in said.err
    assert (file.read_bytes(), checkout.page.read_bytes()) == before


@pytest.mark.processes
def test_a_difference_takes_an_earlier_record_away(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    again.fly_again("throws", 1, checkout.runs)
    assert "again" in checkout.state
    monkeypatch.setenv(throws.GRAVITY, "9.8100000000000023")
    assert again.fly_again("throws", 2, checkout.runs).differing
    assert checkout.state == f"`{YESTERDAY}`" and "again" not in checkout.says


@pytest.mark.processes
def test_new_results_need_no_record(checkout: Checkout) -> None:
    again.fly_again("throws", 1, checkout.runs)
    pages.write("throws", reproduce(THROWS, folder=checkout.runs), (), None)
    published = pages.read("throws")
    assert checkout.state == f"`{TODAY}`" and published is not None and published.flown_again is None


@pytest.mark.processes
def test_runs_that_are_too_many_not_there_or_of_other_results_are_refused(
    checkout: Checkout, tmp_path: Path, capsys: Any
) -> None:
    for count in ("0", "6", "-1"):
        assert execute(["reproduce", "throws", "--again", count]) == 1
        assert "give 1 to 5" in capsys.readouterr().err
    assert execute(["reproduce", "throws", "--again", "1", "--quick"]) == 1
    assert "--again takes --out and --json only" in capsys.readouterr().err
    assert execute(["reproduce", "throws", "--again", "1", "--out", str(tmp_path / "nowhere")]) == 1
    assert "has no figures of single runs" in capsys.readouterr().err
    results = checkout.runs / "results.json"
    results.write_text(results.read_text(encoding="utf-8").replace('"ours": 0.', '"ours": 1.', 1), encoding="utf-8")
    assert execute(["reproduce", "throws", "--again", "1"]) == 1
    assert "has other results than docs/results/throws.json" in capsys.readouterr().err


@pytest.mark.parametrize("name", [name for name in catalogue.listed() if catalogue.load(name).not_run_by_run])
def test_an_experiment_of_times_is_refused_with_the_reason(name: str, capsys: Any) -> None:
    """Neither flown again nor on another machine."""
    for option, value, advice in (("--again", "1", "--update-docs"), ("--address", "head:6379", "leave it out")):
        assert execute(["reproduce", name, option, value]) == 1
        said = " ".join(capsys.readouterr().err.split())
        assert catalogue.load(name).not_run_by_run in said and advice in said


def test_what_is_compared() -> None:
    run = {"x": 0.1, "failed": "late", "track": [[1, 2.0], [3, float("nan")]], "scores": {"a": 1}, "stages": {"b": 2}}
    compared = Comparison()
    compared.add("one", run, {**run, "stages": {"b": 9}, "scores": {"a": 1}})
    assert compared.differing == [] and compared.figures == 7 and list(compared.left_out) == ["stages"]
    other = {"x": -0.1, "track": [[1, 2.0], [3.5, 4.0]], "scores": {"a": 1.0, "c": None}, "more": 1}
    compared.add("two", run, other)
    assert compared.differing == [
        "two: failed is stored, but was not given now", "two: more was not stored",
        "two: scores.a was 1, is 1.0", 'two: scores.c was "(not there)", is null',
        "two: track was 3, is 3.5, the first of 2 that differ", "two: x was 0.1, is -0.1",
    ]  # fmt: skip


# ---- the real experiments


def test_the_published_missions_have_figures_of_each_flight(tmp_path: Path) -> None:
    published = pages.read("e2es-missions")
    assert published is not None
    kept = MISSIONS.published_runs(MISSIONS.plan(), published.cells)
    assert set(kept) == {job.name for job in MISSIONS.jobs(MISSIONS.plan(), tmp_path)}
    assert all(len(figures) >= 2 for figures in kept.values())
    room = kept["mission-room-81"]
    way = next(result for result in published.cells if result.name == "room: way")
    assert room["way_m"] == way.conditions["values"][0] and room["failed"] == ""
    flown = {**room, "way_m": room["way_m"] + 4e-6, "processor_s": 1.0, "map_on_vio": {"iou": 0.5}}
    shown = MISSIONS.as_published(flown, room)
    assert shown["way_m"] == room["way_m"] and shown["map_on_vio IoU"] == 0.5
    assert "processor_s" not in shown


def test_an_experiment_is_flown_run_by_run_or_says_why_not(tmp_path: Path) -> None:
    for name in catalogue.listed():
        experiment = catalogue.load(name)
        assert isinstance(experiment, RunByRun) is (not experiment.not_run_by_run), name
        if isinstance(experiment, RunByRun):
            jobs = experiment.jobs(experiment.plan(), tmp_path)
            assert {job.timed for job in jobs} == ({True, False} if name == "unknown-city" else {False})
