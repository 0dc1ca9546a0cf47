"""Campaigns and reproductions on Ray: the page's commands, a worker and a run's process killed, nothing lost."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pandas
import pytest
import yaml
from campaign_rig import campaign
from drops import drops

from skyloop import cli
from skyloop.campaigns import report
from skyloop.campaigns.campaign import results
from skyloop.campaigns.pools import RayPool, ray_pool
from skyloop.datasets.worker_processes import descendants
from skyloop_papers.runs import ALL_CORES, RunWorkers, all_runs

pytestmark = pytest.mark.slow("starts Ray, whose servers take both cores for half a minute")
PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "campaigns.md").read_text(encoding="utf-8")
PATIENCE_S = 60.0
TWO_WORKERS = 2
SMALL = {"points": 3, "search": {"objective": "tracking_error_rms_m", "generations": 1, "runs": 4}}
"""In place of the page's own numbers."""
SHORT = {"duration": 12}


@pytest.fixture(scope="module")
def ray() -> Iterator[RayPool]:
    """One for all tests: its start takes longer than they do. Campaigns use a Ray that runs already."""
    with ray_pool(TWO_WORKERS) as pool:
        yield pool


def listening(pids: set[int]) -> set[str]:
    """Addresses, as the kernel writes them, on which these processes listen."""
    sockets = set()
    for pid in pids:
        for link in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                sockets.add(str(link.readlink()))
            except OSError:
                continue
    found = set()
    for table in ("tcp", "tcp6"):
        for row in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = row.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                found.add(fields[1].split(":")[0])
    return found


def killed(log: Path, x: str, which: int) -> None:
    """Kill the process of a run (1) or the worker that watches it (2) as soon as the run has begun."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        for note in log.glob(f"{x}-*"):
            os.kill(int(note.name.split("-")[which]), signal.SIGKILL)
            return
        time.sleep(0.02)


def test_a_killed_worker_and_a_killed_run_lose_nothing(ray: RayPool, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.mkdir()
    made = campaign(
        task="tasks.py:doomed_once", space={"x": list(range(8))}, settings={"log": str(log), "doomed": [1, 4]}
    )
    killers = [threading.Thread(target=killed, args=(log, *what)) for what in (("1", 2), ("4", 1))]
    for killer in killers:
        killer.start()
    frame = made.run(tmp_path / "made")
    for killer in killers:
        killer.join()
    assert isinstance(frame, pandas.DataFrame) and frame["doubled"].tolist() == [2 * x for x in range(8)]
    assert (frame["outcome"] == "success").all()
    # the other run of a worker that died may have waited for it, too
    assert frame["attempts"][1] >= 2 and frame["attempts"][4] >= 2 and frame["attempts"].sum() <= 12


def test_a_reproduction_flies_there_and_a_killed_worker_costs_one_run(ray: RayPool, tmp_path: Path) -> None:
    """The same files as here: results, what the runs wrote, and where they say it is."""
    far, here = drops(tmp_path / "far", 4, doomed=1), drops(tmp_path / "here", 4)
    killer = threading.Thread(target=killed, args=(tmp_path / "far" / "log", "1", 2))
    killer.start()
    told: list[str] = []
    made = all_runs(far, RunWorkers(address="auto").pool(1.0), told.append, str)
    killer.join()
    assert len(told) == 4 and len(list((tmp_path / "far" / "log").glob("1-*"))) >= 2, "one was made again"
    same = all_runs(here, ALL_CORES.pool(1.0), told.append, str)
    assert json.dumps(made).replace("/far/", "/here/") == json.dumps(same)
    for job in far:
        assert job.leaves is not None and (job.leaves / "plots" / "drop.txt").read_text().endswith(" m")
    assert sorted(path.name for path in (tmp_path / "far" / "failed").iterdir()) == [f"drop-{h}" for h in range(4)]


def test_ray_listens_on_this_machine_only_and_tells_nobody(ray: RayPool) -> None:
    """127.0.0.1 as IPv4, and as IPv6 writes it."""
    addresses = listening({os.getpid(), *(pid for pid, _ in descendants(os.getpid()))})
    assert addresses and addresses <= {"0100007F", "0000000000000000FFFF00000100007F"}
    assert os.environ["RAY_AUTH_MODE"] == "token"
    from ray._common.usage import usage_lib

    assert not usage_lib.usage_stats_enabled()


@pytest.fixture(scope="module")
def page(ray: RayPool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Every command of the page in order, with few and short runs; what each printed."""
    said: dict[str, str] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("page"))
        patch.setattr(report, "WORST_SHOWN", 1)
        plan, changed = (yaml.safe_load(block) for block in blocks("yaml")[:2])
        for name, data in (("wind.yaml", plan), ("wind-x500.yaml", {**plan, **changed})):
            data["settings"] |= SHORT
            Path(name).write_text(yaml.safe_dump({**data, **SMALL}, sort_keys=False), encoding="utf-8")
        for command in blocks("bash")[0].splitlines():
            words = shlex.split(command, comments=True)
            patch.setattr(sys, "argv", words)
            with redirect_stdout(io.StringIO()) as out, pytest.raises(SystemExit) as stop:
                cli.main()
            assert not stop.value.code, command
            said[command] = out.getvalue()
        yield said


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def test_the_page_s_commands_do_what_it_says(page: dict[str, str]) -> None:
    first, again, worst, other, compared = page.values()
    assert "wind: 3 runs, " in first and again.splitlines()[0] == first.splitlines()[0]
    assert "4 runs, " in worst and "worst: run " in worst
    assert "wind-x500: 3 runs" in other and "3 runs are in both" in compared
    folder = Path("campaigns/wind")
    told = re.findall(r"^\| `([\w.-]+)/?` \|", PAGE[PAGE.index("## What is in the folder") :], flags=re.MULTILINE)
    here = {path.name for path in folder.iterdir()}
    assert {"results.parquet", "report.html", "runs.jsonl"} <= set(told) & here
    assert here - {"compared-with-wind.html"} <= set(told)
    assert (folder.with_name("wind-x500") / "compared-with-wind.html").exists()


def test_the_page_s_python_runs(page: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(blocks("python")[0].replace("points=200", "points=2, settings={'duration': 12}"), names)
    assert capsys.readouterr().out.count("\n") >= 3
    exec(blocks("python")[1], names)
    assert 0.0 <= float(capsys.readouterr().out.split()[-1]) <= 1.0
    assert len(results("campaigns/wind")) == 3 and len(results("campaigns/throws")) == 20
