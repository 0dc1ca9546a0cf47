"""The search for the worst case finds it, the same way for any number of workers, and says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from campaign_rig import COSTS, campaign, completed
from pandas.testing import assert_frame_equal

from skyloop.campaigns.campaign import results
from skyloop.campaigns.plan import make_plan
from skyloop.campaigns.search import badness, generations
from skyloop_client.errors import ScenarioError

SPACE = {"wind": {"least": 0.0, "most": 20.0}, "light": {"least": 0.0, "most": 1.0}}


def searched(error: Any, **plan: Any) -> list[dict[str, Any]]:
    """Rows of a search in which `error` stands for the flight; nothing is flown."""
    data = {"task": "tasks.py:squared", "space": SPACE, "success": "error < 1", **plan}
    loaded = make_plan(data, "plan.yaml", Path(__file__).parent)
    rows: dict[int, dict[str, Any]] = {}
    for runs in generations(loaded.plan, rows):
        for run in runs:
            made = error(**run.parameters)
            outcome = "success" if made < 1 else "failed"
            rows[run.number] = {"run": run.number, "parameters": run.parameters, "outcome": outcome,
                                "metrics": {"error": made}}  # fmt: skip
    return list(rows.values())


def test_it_finds_a_narrow_place_that_chance_would_miss() -> None:
    """A gust of resonance: it fails only within 2 % of the wind and 10 % of the light."""

    def error(wind: float, light: float) -> float:
        return 1.2 - 0.15 * abs(wind - 13.0) - 2.0 * abs(light - 0.15)

    rows = searched(error)
    assert len(rows) == 8 * 24
    worst = max(rows, key=lambda row: row["metrics"]["error"])
    assert worst["outcome"] == "failed" and worst["parameters"]["wind"] == pytest.approx(13.0, abs=0.7)
    failed = [row["run"] for row in rows if row["outcome"] == "failed"]
    assert len(failed) > 20 > sum(run < 24 for run in failed) + 15, "more and more of them"


def test_it_finds_both_ends_where_the_middle_is_good() -> None:
    """Wind from either side breaks it, if the light is low too."""
    rows = searched(lambda wind, light: abs(wind - 10.0) / 9.0 - 0.3 * light, search={"generations": 5, "runs": 32})
    failed = [[row["parameters"]["wind"] for row in rows if row["run"] // 32 == k and row["outcome"] == "failed"]
              for k in range(5)]  # fmt: skip
    assert len(failed[0]) < 4 and len(failed[4]) > 12, "more and more of them"
    assert min(failed[4]) < 1.0 and max(failed[4]) > 19.0


def test_it_goes_to_a_corner_and_by_an_objective() -> None:
    rows = searched(lambda wind, light: wind - 10 * light, search={"objective": "error", "generations": 5})
    worst = max(rows, key=lambda row: row["metrics"]["error"])["parameters"]
    assert worst["wind"] > 19.0 and worst["light"] < 0.1
    least = searched(lambda wind, light: wind, search={"objective": "error", "worst": "least", "generations": 4})
    assert min(row["parameters"]["wind"] for row in least) < 0.3


def test_badness_is_in_units_of_the_limits() -> None:
    plan = make_plan(
        {"task": "tasks.py:squared", "space": SPACE, "success": "a < 2 and b > 10"}, "p", Path(__file__).parent
    ).plan
    row = {"outcome": "failed", "metrics": {"a": 1.0, "b": 5.0}}
    assert badness(plan, row) == pytest.approx(0.5)
    assert badness(plan, {"outcome": "success", "metrics": {"a": 1.0, "b": 30.0}}) == pytest.approx(-0.5)
    assert badness(plan, {"outcome": "failed", "metrics": {}}) == float("inf")


@pytest.mark.slow("flies the generations of a search")
@pytest.mark.processes
def test_a_search_is_run_and_told(tmp_path: Path) -> None:
    plan: dict[str, Any] = {"task": "tasks.py:squared", "space": {"x": {"least": 0.0, "most": 4.0}}}
    plan |= {"success": "squared < 9", "search": {"generations": 3, "runs": 8}}
    frames = []
    for workers in (1, 3):
        folder = tmp_path / str(workers)
        summary = completed(campaign(searching=True, **plan), folder, workers, report=workers == 3)
        frames.append(results(folder).drop(columns=COSTS))
    assert_frame_equal(*frames)
    assert summary["runs"] == 24 and summary["search"]["worst"]["parameters"]["x"] > 3.5
    low, high = summary["search"]["failed_between"]["x"]
    assert 3.0 <= low < high <= 4.0
    assert "The search for the worst case" in (folder / "report.html").read_text(encoding="utf-8")
    assert completed(campaign(searching=True, **plan), folder)["made_now"] == 0, "it goes on, and nothing is missing"


def test_what_cannot_be_searched_is_refused() -> None:
    with pytest.raises(ScenarioError, match="needs spans or lists"):
        campaign(searching=True, task="tasks.py:squared", design="list", space=[{"x": 1}])
    with pytest.raises(ScenarioError, match=r"search.objective is missing"):
        campaign(searching=True, task="tasks.py:squared", space={"x": [1, 2]})
