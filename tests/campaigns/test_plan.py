"""A plan says what is run; what it cannot mean is refused in one line with the key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from skyloop.campaigns.campaign import Campaign
from skyloop.campaigns.plan import load_plan, make_plan, planned_runs, runs_planned
from skyloop_client.errors import ScenarioError, SkyloopError

PLAN: dict[str, Any] = {"scenario": "circle-wind", "space": {"wind.mean.0": [0, 5], "wind.w20_kt": [10, 20, 30]}}


def plan(**changes: Any) -> Any:
    return Campaign(make_plan({**PLAN, **changes}, "plan.yaml", Path.cwd())).plan


def test_runs_have_numbers_points_and_seeds() -> None:
    made = planned_runs(plan(repeats=2))
    assert len(made) == 12 == runs_planned(plan(repeats=2))
    assert [run.number for run in made] == list(range(12))
    assert len({run.seed for run in made}) == 12, "each has a seed of its own"
    # every point before any is repeated
    assert [run.point for run in made[:6]] == list(range(6)) and {run.repeat for run in made[:6]} == {0}
    listed = planned_runs(plan(seeds="3..5", repeats=2))
    assert len(listed) == 36 == runs_planned(plan(seeds="3..5", repeats=2))
    assert {run.seed for run in listed} == {3, 4, 5} and sum(run.seed == 4 and run.point == 0 for run in listed) == 2
    assert len(planned_runs(plan(design="list", space=[{"wind.w20_kt": 10}, {"wind.w20_kt": 40}]))) == 2
    span = {"wind.w20_kt": {"least": 0, "most": 45}}
    assert len(planned_runs(plan(design="random", points=7, space=span))) == 7


def test_a_file_is_read_and_names_its_campaign(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("vehicles: [{pilot: {kind: hover, altitude: 1.0, duration: 1.0}}]\n")
    (tmp_path / "first.yaml").write_text(yaml.safe_dump({"scenario": "own.yaml", "space": {"duration": [3, 4]}}))
    loaded = load_plan(tmp_path / "first.yaml")
    assert loaded.plan.name == "first" and loaded.scenario_folder == tmp_path
    assert loaded.scenario["vehicles"][0]["pilot"]["kind"] == "hover"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"scenario": "circle-wnd"}, "did you mean 'circle-wind'"),
        ({"scenario": None}, "give a scenario or a task"),
        ({"scenario": None, "task": "mine"}, "write file.py:function"),
        ({"scenario": None, "task": "none.py:fly"}, "no file"),
        ({"design": "random"}, "points is missing"),
        ({"points": 3}, "leave it out"),
        ({"design": "list"}, "list of points"),
        ({"space": {"wind.mean.0": {"least": 0, "most": 5}}}, "space.wind.mean.0: steps is missing"),
        ({"space": {"wind.mean.0": {"least": 5, "most": 0, "steps": 2}}}, "space.wind.mean.0"),
        ({"space": {"wind.w20": [3]}}, "unknown key 'w20'; did you mean 'w20_kt'"),
        # the last of many values
        ({"space": {"wind.w20_kt": [1, 2, -1]}}, "wind.w20_kt"),
        ({"success": "error <"}, "success: cannot read 'error <'"),
        ({"metrics": ["wind.w20_kt"]}, "'wind.w20_kt' would be the name of two columns"),
        ({"metrics": ["none.py:far"]}, "no file"),
        ({"seeds": "5..1"}, "seeds"),
        ({"repeats": 5_000_000}, "10,000,000 are the most"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(SkyloopError) as refused:
        plan(**changes)
    assert told in str(refused.value) and "\n" not in str(refused.value)


def test_a_plan_is_a_mapping(tmp_path: Path) -> None:
    (tmp_path / "list.yaml").write_text("- 1\n")
    with pytest.raises(ScenarioError, match="a plan is a mapping"):
        load_plan(tmp_path / "list.yaml")
