"""The pages' numbers: each is what docs/results has, measured under the constants the code has now."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skyloop_papers import catalogue, pages, tables
from skyloop_papers.catalogue import listed as experiments
from skyloop_papers.experiment import Cell
from skyloop_papers.mission import experiment as mission_experiment


def page_of(name: str) -> Path:
    return pages.DOCS / "reproductions" / f"{name}.md"


@pytest.mark.slow("imports all experiments")
@pytest.mark.parametrize("name", pages.page_names())
def test_a_page_says_what_its_results_say(name: str) -> None:
    """A new results file, or a number changed by hand, needs `skyloop reproduce NAME --update-docs`."""
    text = page_of(name).read_text(encoding="utf-8")
    assert pages.names_in(text) == {name}
    assert text == pages.rendered(text)
    assert pages.out_of_date(name) == []
    published = pages.read(name) if name in experiments() else None
    if published is not None:
        # "state" is written for every page alike
        blocks = {*catalogue.load(name).page(published.cells), "state"}
        assert blocks == {match[3] for match in pages.BLOCK.finditer(text)}


def test_every_reproduction_has_a_page_and_every_results_file_a_command() -> None:
    shown = {page.stem for page in pages.pages()}
    assert set(experiments()) <= shown
    assert {path.stem for path in (pages.DOCS / "results").glob("*.json")} <= {*experiments(), pages.BENCHES}
    listed = (pages.DOCS / "reproductions" / "index.md").read_text(encoding="utf-8")
    for name in experiments():
        assert f"({name}.md)" in listed and f"`skyloop reproduce {name}`" in listed


@pytest.fixture
def mission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page of its own with the mission's results; the path of the page."""
    known = pages.read("mission")
    assert known is not None
    page = tmp_path / "page.md"
    page.write_text(page_of("mission").read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(pages, "DOCS", tmp_path)
    monkeypatch.setattr(pages, "code_version", lambda: "today")
    pages.write("mission", known.cells)
    assert pages.out_of_date("mission") == []
    return page


def test_a_number_changed_in_a_page_is_found(mission: Path) -> None:
    text = mission.read_text(encoding="utf-8")
    changed = text.replace(" | 0.", " | 9.", 1)
    assert changed != text and pages.rendered(changed) == text
    lasted = next(line for line in text.splitlines() if "From arming to disarming it takes" in line)
    mission.write_text(text.replace("From arming to disarming it takes", "It takes"), encoding="utf-8")
    assert "does not say: From arming to disarming" in pages.out_of_date("mission")[0], lasted


def test_a_constant_changed_in_the_code_is_found(mission: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mission_experiment, "SPEED", 5.0)
    assert "of another plan: run `skyloop reproduce mission" in pages.out_of_date("mission")[0]
    path = pages.results_file("mission")
    plain = json.loads(path.read_text(encoding="utf-8"))
    assert plain["protocol"]["speed"] == 4.0


def test_a_figure_the_command_no_longer_gives_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = Cell("text", "corner passed at", "", None, 0.5, "m")
    monkeypatch.setattr(pages, "DOCS", tmp_path)
    (tmp_path / "results").mkdir()
    pages.results_file("mission").write_text(json.dumps({"results": [], "quick": {"corner passed at": 0.6}}))
    assert pages.differing("mission", [result]) == ["corner passed at: 0.5, docs/results/mission.json has 0.6"]
    timed = Cell("text", "corner passed at", "", None, 0.5, "ms")
    assert pages.differing("mission", [timed]) == [], "a time is another one on every machine"


def test_results_are_of_the_machine_and_code_that_began_them(
    mission: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs may be made elsewhere and published here."""
    known = pages.read("mission")
    assert known is not None
    folder = tmp_path / "runs"
    folder.mkdir()
    monkeypatch.setattr(mission_experiment.MissionExperiment, "pictures", ())
    pages.begin(folder)
    kept = json.loads((folder / pages.MEASURED_BY).read_text(encoding="utf-8"))
    kept["machine"] |= {"cores": 999, "gpu": "one"}
    kept["commit"] = "0123456789ab"
    (folder / pages.MEASURED_BY).write_text(json.dumps(kept), encoding="utf-8")
    pages.begin(folder)
    pages.write("mission", known.cells, folder=None)
    assert "Measured at commit `today`" in mission.read_text(encoding="utf-8")
    changed = [path for path in pages.write("mission", known.cells, (), folder) if path.suffix == ".md"]
    assert changed == [mission]
    text = mission.read_text(encoding="utf-8")
    assert "Measured at commit `0123456789ab` on 999 cores" in " ".join(text.split()) and "with a GPU" in text


# ---- tables of cells


def test_a_form_shows_fields_and_conditions_and_leaves_out_what_is_unknown() -> None:
    cell = Cell("Table 1", "here", "time", None, 2.5, "s", 3, None, {"worst": 4.0, "aim": None, "lost": "never"})
    assert [tables.shown(cell, form) for form in (".2f", "{ours:g} of {n}", "{name}", "{lost:.2f}", "")] == [
        "2.50", "2.5 of 3", "here: time", "never", "",
    ]  # fmt: skip
    assert tables.shown(cell, "{ours:g}[ ± {sd:g}] (worst {worst:.1f}[, aim {aim:g}])") == "2.5 (worst 4.0)"
    assert tables.shown(cell, "{ours:g}, paper {published:g}") == tables.shown(None, ".2f") == ""
    assert tables.shown(cell, lambda one: one.unit) == "s"


def test_tables_of_cells_by_row_by_figure_and_line_by_line() -> None:
    cells = [Cell("t", row, column, None, ours, "m") for row, column, ours in (("a", "x", 1.0), ("b", "y", 2.0))]
    found = tables.Cells(cells)
    figures: tables.Figures = {"the x": ("x", ".1f"), "the y": ("y", "g")}
    assert found.by_row("", ["a", "b", "c"], figures, right=None).splitlines()[2:] == ["| a | 1.0 |  |", "| b |  | 2 |"]
    by_figure = found.by_figure("of", figures, {"first": "a", "second": "b"})
    assert by_figure.splitlines() == [
        "| of | first | second |", "|---|---:|---:|", "| the x | 1.0 |  |", "| the y |  | 2 |",
    ]  # fmt: skip
    assert tables.lines(cells, {"": "{row}", " ": "g"}).splitlines()[0] == "|  |  |"
