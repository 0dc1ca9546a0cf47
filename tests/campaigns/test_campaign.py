"""Campaigns as users see them: results, failed runs that can be flown again, and the same whatever made them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas
import pytest
from campaign_rig import COSTS, HERE, WINDY, campaign, completed
from pandas.testing import assert_frame_equal
from pyarrow import parquet

from skyloop import cli
from skyloop.campaigns.campaign import results
from skyloop.campaigns.pools import local_pool
from skyloop_client.errors import RunFolderError, ScenarioError

pytestmark = pytest.mark.processes
DRIVER = """
import sys
sys.path.insert(0, {here!r})
from pathlib import Path
from campaign_rig import campaign, completed
made = campaign(task="tasks.py:slow", space={{"x": list(range(40))}}, settings={{"log": {log!r}}})
completed(made, Path({folder!r}), progress=lambda n, planned, outcomes: print(n, flush=True))
"""


@pytest.fixture(scope="module")
def flown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("flown") / "windy"
    completed(campaign(**WINDY), folder, 1, report=True)
    return folder


def test_results_have_every_parameter_and_metric(flown: Path) -> None:
    table = parquet.read_table(flown / "results.parquet")
    assert table.column_names == [
        "run", "point", "repeat", "seed", "wind.mean.0", "flown_m", "highest_m", "crashed", "outcome", "cause",
        "attempts", "processor_s", "wall_s",
    ]  # fmt: skip
    frame = results(flown)
    assert frame["wind.mean.0"].tolist() == [0, 9, 18] and frame["flown_m"].is_monotonic_increasing
    assert frame["outcome"].tolist() == ["success", "success", "failed"]
    assert frame["cause"][2].startswith("flown_m is ") and (frame["processor_s"] > 0).all()


def test_a_failed_run_is_replayed_with_the_same_bytes(
    flown: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (failed,) = (flown / "failed").iterdir()
    assert failed.name == "000002" and (failed / "flight.png").stat().st_size > 10_000
    again = tmp_path / "again"
    monkeypatch.setattr(sys, "argv", ["skyloop", "run", str(failed / "scenario.yaml"), "--out", str(again), "--json"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 0
    streams = [path.relative_to(failed) for path in (failed / "streams").rglob("*") if path.is_file()]
    assert len(streams) >= 5
    for name in (*streams, Path("scenario.yaml")):
        assert (failed / name).read_bytes() == (again / name).read_bytes(), name


def test_the_report_tells_what_was_found(flown: Path) -> None:
    page = (flown / "report.html").read_text(encoding="utf-8")
    assert "3 runs, 66.7 % succeeded (95 % interval: 20.8 % to 93.9 %), 1 failed" in page
    assert "Success by parameter" in page and "skyloop run failed/000002/scenario.yaml" in page
    # one plot of success, two of metrics in one row, and each run pictured, also those that were not kept
    assert page.count("data:image/png;base64") >= 2 and page.count("data:image/jpeg;base64") == 3
    assert sorted(path.name for path in (flown / "worst").iterdir()) == ["000000", "000001"]


def test_the_same_results_whatever_the_number_of_workers(tmp_path: Path) -> None:
    """And whatever a process has made before: a user's module is loaded anew for each run."""
    plan: dict[str, Any] = {"task": "tasks.py:squared", "design": "latin-hypercube", "points": 30}
    plan |= {"space": {"x": {"least": 0, "most": 4}}, "stop": {"half_width": 0.18, "at_least": 10}}
    frames = []
    for workers in (1, 3):
        folder = tmp_path / str(workers)
        completed(campaign(**plan), folder, workers)
        frames.append(results(folder).drop(columns=COSTS))
    assert_frame_equal(*frames)
    assert 10 <= len(frames[0]) < 30, "stopped by the rule, at the same run"
    assert (frames[0]["calls"] == 1).all() and frames[0]["seed"].is_unique


def test_a_killed_campaign_goes_on(tmp_path: Path) -> None:
    log, folder = tmp_path / "log", tmp_path / "made"
    script = tmp_path / "driver.py"
    script.write_text(DRIVER.format(here=str(HERE), log=str(log), folder=str(folder)), encoding="utf-8")
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as driver:
        try:
            assert driver.stdout is not None
            assert any(int(line) >= 6 for line in driver.stdout), "it ended before"
        finally:
            driver.send_signal(signal.SIGKILL)
    with (folder / "runs.jsonl").open("ab") as file:
        file.write(b'{"run": 39, "out')  # as a kill within a write would leave it
    done = len((folder / "runs.jsonl").read_bytes().splitlines()) - 2
    told: list[int] = []
    made = campaign(task="tasks.py:slow", space={"x": list(range(40))}, settings={"log": str(log)})
    summary = completed(made, folder, progress=lambda n, planned, outcomes: told.append(n))
    assert told[0] == done and told[-1] == 40
    assert summary["runs"] == summary["success"] == 40 and summary["made_now"] == 40 - done
    assert results(folder)["doubled"].tolist() == [2 * x for x in range(40)]
    begun = [float(line) for line in log.read_text().splitlines()]
    # what was on disk is not made again; what was under way, is
    assert set(begun) == set(range(40)) and len(begun) <= 40 + 4
    assert completed(made, folder)["made_now"] == 0


def test_a_folder_belongs_to_one_plan(flown: Path, tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="of another plan"):
        completed(campaign(**{**WINDY, "success": "flown_m < 7"}), flown)
    (tmp_path / "other").write_text("mine")
    with pytest.raises(RunFolderError, match="not empty"):
        completed(campaign(**WINDY), tmp_path)


def test_a_slip_of_the_pen_ends_it_early_and_leaves_nothing(tmp_path: Path) -> None:
    plan: dict[str, Any] = {"task": "tasks.py:squared", "space": {"x": list(range(100))}, "metrics": ["sqared"]}
    with pytest.raises(ScenarioError, match=r"no run has 'sqared' in its summary; did you mean 'squared'\?"):
        completed(campaign(**plan), tmp_path / "new" / "one")
    with pytest.raises(ScenarioError, match=r"all ended with an error: PartError: task tasks.py:squared.*unexpected"):
        completed(campaign(task="tasks.py:squared", space={"y": list(range(100))}), tmp_path / "new" / "two")
    assert not (tmp_path / "new").exists()


def test_an_error_within_a_flight_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def pilot(bundle):\n    if bundle.t_ns > 5e8:\n        1 / 0\n")
    own = {**WINDY, "settings": {"duration": 2, "pilot": f"{tmp_path}/mine.py:pilot"}, "space": {}}
    summary = completed(campaign(**own), tmp_path / "made", 1)
    assert (summary["failed"], summary["lost"]) == (1, 0)
    (row,) = results(tmp_path / "made").to_dict("records")
    assert "ZeroDivisionError" in row["cause"] and row["flown_m"] >= 0.0
    assert (tmp_path / "made" / "failed" / "000000" / "streams").is_dir()


def test_few_failed_folders_are_kept_whole(tmp_path: Path) -> None:
    made = campaign(task="tasks.py:bulky", space={"x": [1, 2, 3]}, failed_folders=1)
    completed(made, tmp_path / "made", 1)
    held = sorted((tmp_path / "made" / "failed").iterdir())
    assert len(held) == 3 and sum((folder / "bulk.bin").exists() for folder in held) == 1
    assert all(json.loads((folder / "run.json").read_text())["outcome"] == "failed" for folder in held)


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    # of an owner that was killed: nobody has it locked
    (tmp_path / "skyloop-runs-gone").mkdir()
    with local_pool(1) as pool:
        from skyloop.campaigns.pools import outcomes
        from skyloop.campaigns.run_process import RemoteCall

        assert [outcome.result for _, outcome in outcomes([(0, RemoteCall.of(os.path.getsize, ("/",)))], pool, 0)]
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []


def test_values_of_any_kind_become_columns() -> None:
    from skyloop.campaigns.folder import table_of

    costs = {"outcome": "success", "cause": "", "attempts": 1, "processor_s": 1.0, "wall_s": 1.0}
    told = [(1, [1.0, 2]), (2.5, "far"), (None, None)]
    rows = [
        {"run": k, "point": k, "repeat": 0, "seed": k, "parameters": {"p": p}, "metrics": {"m": m}, **costs}
        for k, (p, m) in enumerate(told)
    ]
    frame: pandas.DataFrame = table_of(rows).to_pandas()
    assert frame["p"].tolist()[:2] == [1.0, 2.5] and frame["m"].tolist()[:2] == ["[1.0, 2]", '"far"']
