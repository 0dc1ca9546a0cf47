"""Recordings cut off and resumed, damaged, on a full disk: the same bytes, or a shorter valid dataset."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from in_process import record_here, worker_here
from left_out import leave_out
from skyloop.cli import main
from skyloop.cli.verbs import execute
from skyloop.datasets.checking import check
from skyloop.datasets.recording_run import plan_recording, record
from skyloop.datasets.rig import RecordOptions, rig_scenario
from skyloop.recording.journal import is_complete
from skyloop.recording.recording import open_recording

pytestmark = pytest.mark.processes

HERE = Path(__file__).parent
FRAMES = 25
TINY = RecordOptions(world="flat", frames=FRAMES, rate_hz=20.0, speed=2.0, altitude=0.8, sensors=("lidar", "imu"))
"""Without cameras no renderer starts; test_two_vehicles and test_flying_once have them."""
SEEING = replace(TINY, sensors=("rgb", "imu"), size=(80, 60))


def planned(folder: Path, formats: tuple[str, ...] = ("asl",), options: RecordOptions = TINY) -> Path:
    plan_recording(rig_scenario(options), folder, frames=options.frames, rate_hz=options.rate_hz, formats=formats)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Every file but those that hold wall time or the number of workers."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "summary.json"
    }


def assert_same(a: Path, b: Path) -> None:
    first, second = contents(a), contents(b)
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = planned(tmp_path_factory.mktemp("undisturbed") / "dataset")
    summary = record_here(folder)
    assert summary["frames_flown_now"] == FRAMES
    assert check(folder) == []
    return folder


@pytest.fixture
def copy(undisturbed: Path, tmp_path: Path) -> Path:
    shutil.copytree(undisturbed, tmp_path / "dataset")
    return tmp_path / "dataset"


def test_the_plan_is_told_and_the_journal_holds_every_sample_once(undisturbed: Path) -> None:
    plan = json.loads((undisturbed / "plan.json").read_text(encoding="utf-8"))
    assert (plan["frames"], plan["n_groups"], plan["formats"]) == (FRAMES, 3, ["asl"])
    recording = open_recording(undisturbed)
    for stream, count in (("drone/lidar0", FRAMES), ("drone/imu0", FRAMES * 10), ("truth/drone/imu0", FRAMES * 10)):
        info = recording.infos[stream]
        messages = list(recording.messages([stream]))
        indices = [message.index for message in messages]
        assert indices == list(range(indices[0], indices[0] + count))
        assert info.rate is not None
        assert [message.t_ns for message in messages] == [info.rate.due_ns(index) for index in indices]
        assert all(message.data.t_ns == message.t_ns for message in messages)


def resume_command(folder: Path) -> list[str]:
    words = ["record", "--out", str(folder), "--resume", "--workers", "1", "--no-report"]
    return [sys.executable, "-m", "skyloop", *words]


def start(folder: Path) -> subprocess.Popen[bytes]:
    quiet = subprocess.DEVNULL
    return subprocess.Popen(resume_command(folder), stdout=quiet, stderr=quiet, start_new_session=True)


def kill_when(folder: Path, due: Callable[[], bool]) -> None:
    """Kill the recording with all its processes when something holds, unless it has ended by then."""
    process = start(folder)
    deadline = time.monotonic() + 180.0
    while not due() and process.poll() is None:
        # nothing signals what another process writes
        assert time.monotonic() < deadline
        time.sleep(0.002)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(30)
    if (folder / "mav0").exists():
        assert valid_asl(folder / "mav0")


def valid_asl(mav: Path) -> bool:
    """As another tool would see it: whole rows in order, and a readable file for each."""
    for table in mav.glob("*/data.csv"):
        lines = table.read_text(encoding="utf-8").split("\n")
        assert lines[0].startswith("#")
        assert lines[-1] == ""
        stamps = [int(line.split(",")[0]) for line in lines[1:-1]]
        assert stamps == sorted(set(stamps))
        widths = {line.count(",") for line in lines[1:-1]}
        assert len(widths) <= 1
        for line in lines[1:-1]:
            name = line.split(",")[-1]
            if name.endswith((".png", ".bin", ".npy")):
                assert (table.parent / "data" / name).stat().st_size > 0
    return True


def test_killed_and_resumed_by_the_command(undisturbed: Path, tmp_path: Path) -> None:
    folder = planned(tmp_path / "dataset")
    kill_when(folder, (folder / "journal" / "group-000000.bin").exists)
    done = subprocess.run(resume_command(folder), capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert_same(undisturbed, folder)


@pytest.mark.slow("kills 25 recordings, each after up to 9 s")
@pytest.mark.renders
def test_killed_anywhere_twenty_five_times(tmp_path: Path) -> None:
    """Anywhere in the wall time that the recording needs."""
    undisturbed = planned(tmp_path / "undisturbed", options=SEEING)
    record(undisturbed, 1)
    folder = planned(tmp_path / "dataset", options=SEEING)
    random = np.random.default_rng(2)
    for _ in range(25):
        until = time.monotonic() + random.uniform(0.5, 9.0)
        kill_when(folder, lambda until=until: time.monotonic() >= until)  # type: ignore[misc]
    assert start(folder).wait(120) == 0
    assert_same(undisturbed, folder)


def killed_in_writes(folder: Path, *numbers: int) -> None:
    """One process after another goes on with the recording, and is killed within its n-th write."""
    command = [sys.executable, str(HERE / "killed_writer.py"), str(folder), *map(str, numbers)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert process.returncode == 0, process.stderr


@pytest.mark.slow("records and kills many times")
def test_killed_inside_writes(undisturbed: Path, tmp_path: Path) -> None:
    """Four times within a record of the journal; each time only what follows the last whole instant is flown anew."""
    folder = planned(tmp_path / "dataset")
    killed_in_writes(folder, 1, 40, 3, 200)
    summary = record_here(folder)
    assert 0 < summary["frames_flown_now"] < FRAMES
    assert_same(undisturbed, folder)


@pytest.mark.slow("records until the disk is full")
def test_a_full_disk(tmp_path: Path) -> None:
    """One clear line, exit code 1, and what fitted is a valid shorter dataset."""
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        leave_out("user and mount namespaces")
    planned(tmp_path / "dataset")
    (tmp_path / "small").mkdir()
    fly = [sys.executable, "-m", "skyloop", "record", "--resume", "--workers", "1", "--out", "small/dataset"]
    script = (
        f"mount -t tmpfs -o size=2m tmpfs small && cp -r dataset small && "
        f"{shlex.join(fly)}; code=$?; cp -r small/dataset left; exit $code"
    )
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 1, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("skyloop: cannot write")]
    assert len(lines) == 1
    assert "No space left on device" in lines[0]
    left = tmp_path / "left"
    if (left / "mav0").exists():
        assert valid_asl(left / "mav0")
    assert open_recording(left).complete_groups() >= 1
    record_here(left)
    assert check(left) == []


def test_a_folder_in_use_is_left_alone(
    undisturbed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(undisturbed)
    monkeypatch.setattr(sys, "argv", ["skyloop", "record", "--out", str(undisturbed)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 1
    assert "exists and is not empty" in capsys.readouterr().err
    assert contents(undisturbed) == before


def flip(path: Path, place: int | None = None) -> None:
    """One bit, in the middle unless told otherwise."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2 if place is None else place] ^= 1
    path.write_bytes(data)


def resumed(folder: Path, capfd: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the command, whose worker works in this process."""
    capfd.readouterr()
    with worker_here():
        code = execute(["record", "--out", str(folder), "--resume", "--workers", "2", "--no-report"])
    return code, *capfd.readouterr()


def test_a_flipped_byte_in_the_journal_is_found_and_its_group_flown_again(
    undisturbed: Path, copy: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What is whole is not flown again."""
    flip(copy / "journal" / "group-000001.bin")
    code, out, err = resumed(copy, capfd)
    assert code == 0, err
    assert "10 recorded now" in out
    assert "group-000001.bin" in err and "are flown again" in err
    assert f"skyloop: preparing the recording of {FRAMES} frames in " in err
    assert_same(undisturbed, copy)
    assert check(copy) == []


def test_a_lost_group_and_one_of_another_recording_are_flown_again(undisturbed: Path, copy: Path) -> None:
    """The records of the other one are whole, but they are not those the manifest lists."""
    journal = copy / "journal"
    assert is_complete(journal / "group-000001.bin")
    (journal / "group-000001.bin").unlink()
    shutil.copy(journal / "group-000000.bin", journal / "group-000002.bin")
    assert record_here(copy)["frames_flown_now"] == FRAMES - 10
    assert_same(undisturbed, copy)


@pytest.mark.parametrize("listed", [True, False], ids=["manifest", "no manifest"])
def test_a_format_that_was_changed_is_written_again(undisturbed: Path, copy: Path, listed: bool) -> None:
    flip(sorted((copy / "mav0" / "lidar0" / "data").iterdir())[3])
    if not listed:
        (copy / "manifest.json").unlink()
    assert record_here(copy)["frames_flown_now"] == 0
    assert_same(undisturbed, copy)


def test_a_plan_that_was_changed_is_not_resumed(copy: Path, capfd: pytest.CaptureFixture[str]) -> None:
    plan = copy / "plan.json"
    plan.write_text(plan.read_text(encoding="utf-8").replace('"seed": 1', '"seed": 2'), encoding="utf-8")
    code, _, err = resumed(copy, capfd)
    assert code == 1
    (line,) = err.splitlines()
    assert "plan.json" in line and "record into a new folder" in line
