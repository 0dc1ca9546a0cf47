"""Metrics and the success rule: what may be written, and what it means."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from skyloop.campaigns.scores import measured, metric_name
from skyloop.recording.verdict import in_summary, success_rule
from skyloop_client.errors import PartError, ScenarioError

SUMMARY = {
    "simulated_s": 12.0,
    "vehicles": {
        "drone": {"crashed": False, "landing_error_m": 0.2, "navigation": {"goals_reached": 3}, "mode": "disarmed"}
    },
}


def holds(text: str, **metrics: object) -> bool:
    return all(rule.holds(metrics) for rule in success_rule(text, "success"))


def test_a_rule_is_comparisons_joined_by_and() -> None:
    assert holds("error < 0.3 and not crashed", error=0.2, crashed=False)
    assert not holds("error < 0.3 and not crashed", error=0.2, crashed=True)
    assert not holds("error < 0.3", error=0.3) and holds("error <= 0.3", error=0.3)
    assert holds("mode == disarmed and n >= 2 and m != 3", mode="disarmed", n=2, m=4)
    assert holds("landed", landed=True) and not holds("landed", landed=False)
    # what was not measured is no success
    assert not holds("error < 0.3", error=None) and not holds("not crashed") and not holds("error < 1", error="none")
    assert not holds("error < 0.3", error=math.nan)


@pytest.mark.parametrize("text", ["", "error <", "error << 1", "error < fast", "a or b", "1 < error", "error < [1]"])
def test_a_rule_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError, match="success"):
        success_rule(text, "plan.yaml: success")


def test_names_are_looked_for_in_the_summary_and_in_the_first_vehicle() -> None:
    assert in_summary(SUMMARY, "simulated_s") == (12.0, True)
    assert in_summary(SUMMARY, "landing_error_m") == (0.2, True)
    assert in_summary(SUMMARY, "navigation.goals_reached") == (3, True)
    assert in_summary(SUMMARY, "vehicles.drone.mode") == ("disarmed", True)
    assert in_summary(SUMMARY, "landing_eror_m") == (None, False)


def test_a_function_gets_the_folder_and_gives_one_or_several(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "def size(folder): return len(list(folder.iterdir()))\n"
        "def two(folder): return {'a': 1.5, 'far': float('inf')}\n"
        "def broken(folder): return folder.nothing\n"
        "def strange(folder): return [1]\n"
    )
    folder = tmp_path / "run"  # of its own: Python may keep what it compiled beside mine.py
    folder.mkdir()
    (folder / "summary.json").touch()
    found, absent = measured(["mode", "mine.py:size", "mine.py:two", "a", "none"], SUMMARY, folder, tmp_path)
    assert found == {"mode": "disarmed", "size": 1, "a": 1.5, "far": math.inf, "none": None} and absent == ["none"]
    assert metric_name("mine.py:size") == "size"
    with pytest.raises(PartError, match=r"mine.py:broken.*AttributeError.*mine.py, line 3"):
        measured(["mine.py:broken"], SUMMARY, tmp_path, tmp_path)
    with pytest.raises(ScenarioError, match="'strange' is list"):
        measured(["mine.py:strange"], SUMMARY, tmp_path, tmp_path)
