"""Long reproductions: what was made is kept, and nothing goes on after the process that began it was killed."""

from __future__ import annotations

import csv
import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import throws

from skyloop.campaigns.pools import LocalPool, local_pool
from skyloop.cli.verbs import execute
from skyloop_client.errors import RunFolderError, SetupError, SkyloopError
from skyloop_papers import runs
from skyloop_papers.runner import reproduce
from skyloop_papers.runs import Job, all_runs

PARENT = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_missing_runs import endless
from skyloop.campaigns.pools import local_pool
from skyloop_papers.runs import Job, all_runs
if __name__ == "__main__":
    folder = Path({folder!r})
    jobs = [Job(str(k), folder / f"{{k}}.json", endless, (str(folder / f"{{k}}.pid"),)) for k in range(2)]
    all_runs(jobs, local_pool(2), print, str)
"""
PATIENCE_S = 60.0


def squared(number: int) -> dict[str, int]:
    return {"squared": number * number}


def endless(file: str) -> dict[str, int]:
    path = Path(file)
    path.with_suffix(".new").write_text(str(os.getpid()), encoding="utf-8")
    path.with_suffix(".new").replace(path)
    signal.alarm(600)
    signal.pause()
    return {}


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def waited_for(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.processes
def test_only_what_is_missing_is_made(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text(json.dumps({"squared": -1}), encoding="utf-8")
    lines: list[str] = []
    jobs = [Job(str(k), tmp_path / f"{k}.json", squared, (k,)) for k in (1, 2)]
    assert all_runs(jobs, local_pool(1), lines.append, str) == {"1": {"squared": -1}, "2": {"squared": 4}}
    assert lines == ["2 (1 of 1): {'squared': 4}"]


@pytest.mark.processes
def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    tests = str(Path(__file__).parent)
    script.write_text(PARENT.format(tests=tests, folder=str(tmp_path)), encoding="utf-8")
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.DEVNULL)
    try:
        assert waited_for(lambda: len(list(tmp_path.glob("*.pid"))) == 2)
        workers = [int(path.read_text(encoding="utf-8")) for path in tmp_path.glob("*.pid")]
        assert all(is_running(pid) for pid in workers)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        assert waited_for(lambda: not any(is_running(pid) for pid in workers))
    finally:
        parent.kill()
        parent.wait()


class FarPool(LocalPool):
    """Processes of this machine that are used as if they were of another."""

    is_far = True


@contextmanager
def far_pool(workers: int | None, address: str, cores: float) -> Iterator[FarPool]:
    pool = FarPool(2)
    try:
        yield pool
    finally:
        pool.close()


def photographed(picture: str, where: str) -> dict[str, str]:
    Path(picture).write_bytes(b"png")
    return {"picture": picture, "elsewhere": str(Path(picture).parent != Path(where))}


def dies() -> dict[str, int]:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def unready() -> dict[str, int]:
    raise SetupError("there is no QEMU")


@pytest.mark.processes
def test_a_picture_comes_back_from_another_disk(tmp_path: Path) -> None:
    picture = tmp_path / "pictures" / "0.5-one.png"
    job = Job("one", tmp_path / "one.json", photographed, (str(picture), str(picture.parent)), leaves=picture)
    made = all_runs([job], far_pool(None, "", 1.0), print, str)
    assert made == {"one": {"picture": str(picture), "elsewhere": "True"}} and picture.read_bytes() == b"png"
    assert [path.name for path in picture.parent.iterdir()] == [picture.name]


@pytest.mark.slow("worker processes that are killed")
@pytest.mark.processes
def test_a_lost_run_costs_no_other(tmp_path: Path) -> None:
    lines: list[str] = []
    jobs = [Job("bad", tmp_path / "bad.json", dies, ())]
    jobs += [Job(str(k), tmp_path / f"{k}.json", squared, (k,)) for k in range(3)]
    with pytest.raises(SkyloopError, match=r"lost: bad: .*SIGKILL; the same command goes on from here"):
        all_runs(jobs, local_pool(1), lines.append, str)
    assert sorted(path.stem for path in tmp_path.glob("*.json")) == ["0", "1", "2"] and len(lines) == 4


@pytest.mark.processes
def test_a_machine_of_the_cluster_that_cannot_fly_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job("one", tmp_path / "one.json", unready, ())
    with pytest.raises(SetupError, match=rf"on {platform.node()}: there is no QEMU"):
        all_runs([job], far_pool(None, "", 1.0), print, str)
    monkeypatch.setattr(runs, "code_version", lambda: "of another day")
    with pytest.raises(SetupError, match=r"other code of skyloop .* than the machine that asks"):
        all_runs([job], far_pool(None, "", 1.0), print, str)


@pytest.mark.processes
def test_the_command_s_address_and_cores_reach_the_pool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Any] = []

    def far(*arguments: Any) -> Any:
        asked.append(arguments)
        return far_pool(*arguments)

    def near(slots: int) -> Any:
        asked.append(slots)
        return local_pool(slots)

    throws.put_in_catalogue(monkeypatch, {"throws": throws.Throws()})
    monkeypatch.setattr(runs, "ray_pool", far)
    monkeypatch.setattr(runs, "local_pool", near)
    there, here = tmp_path / "there", tmp_path / "here"
    assert execute(["reproduce", "throws", "--address", "head:6379", "--out", str(there)]) == 0
    assert execute(["reproduce", "throws", "--workers", "1", "--out", str(here)]) == 0
    assert asked == [(None, "head:6379", 1), 1]
    assert (there / "results.json").read_bytes() == (here / "results.json").read_bytes()
    machines = [json.loads((folder / "measured-by.json").read_text())["machine"] for folder in (there, here)]
    assert machines[0].pop("cluster") is True and machines[0] == machines[1]
    capsys.readouterr()
    for words in (["--address", "head:6379", "--workers", "2"], ["--workers", "-1"]):
        assert execute(["reproduce", "throws", *words]) == 1 and "a cluster has its own" in capsys.readouterr().err


@pytest.mark.processes
def test_results_are_written_three_times_and_a_folder_belongs_to_one_plan(tmp_path: Path) -> None:
    experiment = throws.Throws()
    cells = reproduce(experiment, folder=tmp_path)
    written = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert written == experiment.plain(cells) and {row["paper"] for row in written} == {"airloop"}
    with (tmp_path / "results.csv").open(newline="", encoding="utf-8") as file:
        assert [float(row["ours"]) for row in csv.DictReader(file)] == [cell.ours for cell in cells]
    assert "| text | throw-1 |  | 0.1019 | m | 1 |  | not published |" in (tmp_path / "results.md").read_text()
    with pytest.raises(RunFolderError, match="another plan"):
        reproduce(experiment, folder=tmp_path, plan=throws.ThrowsPlan((7.0,)))
