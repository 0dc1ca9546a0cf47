"""What changed between two campaigns."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from campaign_rig import campaign, completed

from skyloop import cli
from skyloop.campaigns.compare import compare, lines
from skyloop_client.errors import RunFolderError

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same runs, judged by another rule."""
    root = tmp_path_factory.mktemp("two")
    plan: dict[str, Any] = {"task": "tasks.py:squared", "space": {"x": [k / 5 for k in range(15)]}, "seeds": [1]}
    for name, limit in (("old", 9), ("new", 2)):
        completed(campaign(**plan, success=f"squared < {limit}"), root / name)
    return root / "old", root / "new"


def test_runs_that_turned_are_told(two: tuple[Path, Path]) -> None:
    told = compare(*two)
    assert told.before == (15, 15) and told.after == (8, 15) and told.same == 15
    assert len(told.broken) == 7 and not told.mended
    assert told.change == pytest.approx(-7 / 15) and told.interval[1] < 0.0 and told.verdict == "worse"
    (squared,) = (metric for metric in told.metrics if metric.name == "squared")
    assert squared.paired and squared.change == 0.0 and squared.n == 15
    assert ("success", "squared < 9", "squared < 2") in told.plan
    assert compare(two[1], two[0]).verdict == "better" and len(compare(two[1], two[0]).mended) == 7
    assert compare(two[0], two[0]).verdict == "no difference that these runs could show"
    assert lines(told)[0].startswith("success 100.0 % (15 of 15) -> 53.3 % (8 of 15): -46.7 points")


def test_the_verb_prints_and_leaves_a_page(
    two: tuple[Path, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for more in ([], ["--json"]):
        monkeypatch.setattr(sys, "argv", ["skyloop", "campaign", "compare", *map(str, two), *more])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        assert stop.value.code == 0
    said, as_json = capsys.readouterr().out.split("{", 1)
    assert "15 runs are in both: 7 fail now, 0 succeed now" in said
    assert json.loads("{" + as_json)["verdict"] == "worse"
    page = (two[1] / "compared-with-old.html").read_text(encoding="utf-8")
    assert "Runs whose verdict turned" in page and "fails now" in page


def test_a_folder_that_is_no_campaign(tmp_path: Path, two: tuple[Path, Path]) -> None:
    with pytest.raises(RunFolderError, match="no finished campaign"):
        compare(tmp_path, two[0])
