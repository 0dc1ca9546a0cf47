"""`skyloop reproduce online`: a few frames through every configuration, and what is written of them."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from skyloop_client.errors import LinkError
from skyloop_papers.experiment import Cell
from skyloop_papers.online import experiment as online
from skyloop_papers.runner import reproduce
from skyloop_papers.two_machines import why_not_apart

FRAMES, RUNS = 6, 2
SIZES = online.OnlinePlan(frames=FRAMES, runs=RUNS, world="flat", radar=(False,))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("online")


@pytest.fixture(scope="module")
def results(folder: Path) -> list[Cell]:
    return reproduce(online.EXPERIMENT, folder=folder, plan=SIZES)


@pytest.mark.slow("starts an engine, a board and links for each configuration")
def test_the_papers_three_configurations_and_one_more(results: list[Cell]) -> None:
    """In the paper's "same machine" SUT and CUT share the board and pull from an engine elsewhere."""
    cells = [result for result in results if result.table == "Table 6"]
    assert [cell.published for cell in cells] == [8.45, 11.72, 8.44, None]
    assert [cell.conditions["ports"] for cell in cells] == [1, 1, 5, 1]
    assert "on board, engine remote" in cells[0].name
    for cell in cells:
        assert cell.ours > 0.0 and cell.n == RUNS and cell.sd is not None
        # camera, depth, scan and fix of every frame are of one instant, and no command came before its time
        assert cell.conditions["unaligned"] == cell.conditions["violations"] == 0
        assert cell.conditions["bytes_per_frame"] > 320 * 240 * (3 + 4)
        assert cell.conditions["turned_deg"] > 5.0
    networks = [cell.conditions["network"] for cell in cells]
    apart = "loopback, for two machines" if why_not_apart() else "network namespaces joined by veth"
    assert networks[-1].startswith("loopback;") and all(each.startswith(apart) for each in networks[:-1])


@pytest.mark.slow("starts an engine, a board and links for each configuration")
def test_the_times_of_all_frames_add_up(results: list[Cell], folder: Path) -> None:
    rows = list(csv.DictReader((folder / "times.csv").read_text().splitlines()))
    assert len(rows) == 4 * RUNS * FRAMES
    seconds = 1e-3 * np.array([[float(row[column]) for column in online.COLUMNS] for row in rows])
    assert (seconds >= 0.0).all()
    for k, cell in enumerate(result for result in results if result.table == "Table 6"):
        own = seconds[k * RUNS * FRAMES : (k + 1) * RUNS * FRAMES].reshape(RUNS, -1)
        assert np.mean(FRAMES / own.sum(axis=1)) == pytest.approx(cell.ours, rel=1e-3)
    percentiles = list(csv.DictReader((folder / "percentiles.csv").read_text().splitlines()))
    assert [row["percentile"] for row in percentiles] == ["50", "90", "99"] * 4
    assert (folder / "online.png").stat().st_size > 10_000


@pytest.mark.slow("starts an engine, a board and links for each configuration")
def test_the_page_can_be_made_of_the_results(
    results: list[Cell], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(online, "flown", None)  # what was flown is not flown again
    assert reproduce(online.EXPERIMENT, folder=folder, plan=SIZES) == results
    blocks = online.EXPERIMENT.page(results)
    assert f"{RUNS} runs of {FRAMES} frames each" in blocks["conditions"]
    assert blocks["rates"].count("\n") == 2 + len(online.CONFIGURATIONS)
    assert "![mean times per frame](../images/online.png)" in blocks["share"] and "%" in blocks["share"]


@pytest.mark.slow("starts an engine, a board and links for each configuration")
def test_on_board_a_burst_that_arrives_after_its_stamp_is_waited_for() -> None:
    sizes = online.OnlinePlan(frames=5, world="flat")
    seen = online.flown(online.CONFIGURATIONS[0], True, sizes, why_not_apart())
    assert len(seen["rows"]) == 5 and online.CONFIGURATIONS[2].ports(True) == 6
    assert seen["conditions"]["unaligned"] == 0


@pytest.mark.renders
def test_what_went_wrong_is_said() -> None:
    with pytest.raises(LinkError, match="no world named 'nowhere'"):
        online.flown(online.CONFIGURATIONS[0], False, online.OnlinePlan(frames=1, world="nowhere"), "")
