"""Recordings by one worker or many, cut off and resumed, on a full disk: the same bytes, or a shorter valid dataset."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from skyloop.cli import main
from skyloop.datasets.checking import check
from skyloop.datasets.recording_run import plan_recording, record
from skyloop.datasets.rig import RecordOptions, rig_scenario
from skyloop.recording.journal import is_whole
from skyloop.recording.recording import open_recording

HERE = Path(__file__).parent
FRAMES = 25
LARGE = RecordOptions(world="flat", frames=FRAMES, rate_hz=20.0, speed=2.0, sensors=("rgb", "imu"))
"""20 MB are too small for it."""
TINY = replace(LARGE, size=(80, 60))


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
    summary = record(folder, 1)
    assert summary["frames_flown_now"] == FRAMES
    assert check(folder) == []
    return folder


def test_many_workers_write_the_same_bytes(undisturbed: Path, tmp_path: Path) -> None:
    record(planned(tmp_path / "dataset"), 2)
    assert_same(undisturbed, tmp_path / "dataset")


def test_the_journal_holds_every_sample_once(undisturbed: Path) -> None:
    recording = open_recording(undisturbed)
    for stream, count in (("drone/rgb0", FRAMES), ("truth/drone/rgb0", FRAMES), ("drone/imu0", FRAMES * 10)):
        info = recording.infos[stream]
        messages = list(recording.messages([stream]))
        indices = [message.index for message in messages]
        assert indices == list(range(indices[0], indices[0] + count))
        assert info.rate is not None
        assert [message.t_ns for message in messages] == [info.rate.due_ns(index) for index in indices]
        assert all(message.data.t_ns == message.t_ns for message in messages)


def start(folder: Path) -> subprocess.Popen[bytes]:
    code = "from skyloop.cli import main; main()"
    arguments = [
        sys.executable,
        "-c",
        code,
        "record",
        "--out",
        str(folder),
        "--resume",
        "--workers",
        "1",
        "--no-report",
    ]
    return subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def kill_uniformly(undisturbed: Path, folder: Path, kills: int, seed: int) -> None:
    """Kill the recording with all its processes so often, anywhere in the wall time it needs, then let it end."""
    random = np.random.default_rng(seed)
    for _ in range(kills):
        process = start(folder)
        began = time.monotonic()
        wait = random.uniform(0.5, 9.0)
        while time.monotonic() - began < wait and process.poll() is None:
            time.sleep(0.02)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)
        if (folder / "mav0").exists():
            assert valid_asl(folder / "mav0")
    assert start(folder).wait(120) == 0
    assert_same(undisturbed, folder)


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


def test_killed_anywhere_and_resumed(undisturbed: Path, tmp_path: Path) -> None:
    kill_uniformly(undisturbed, planned(tmp_path / "dataset"), 3, 1)


@pytest.mark.slow
def test_killed_anywhere_twenty_five_times(undisturbed: Path, tmp_path: Path) -> None:
    kill_uniformly(undisturbed, planned(tmp_path / "dataset"), 25, 2)


def killed_in_writes(folder: Path, *numbers: int) -> None:
    """One process after another goes on with the recording, and is killed within its n-th write."""
    command = [sys.executable, str(HERE / "killed_writer.py"), str(folder), *map(str, numbers)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert process.returncode == 0, process.stderr


def test_killed_inside_writes(undisturbed: Path, tmp_path: Path) -> None:
    """Five times within a record of the journal; each time only what follows the last whole instant is flown anew."""
    folder = planned(tmp_path / "dataset")
    killed_in_writes(folder, 1, 40, 90, 3, 200)
    summary = record(folder, 1)
    assert 0 < summary["frames_flown_now"] < FRAMES
    assert_same(undisturbed, folder)


def test_what_is_whole_is_not_flown_again(undisturbed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    shutil.copytree(undisturbed, folder)
    assert is_whole(folder / "journal" / "group-000001.bin")
    (folder / "journal" / "group-000001.bin").unlink()
    assert record(folder, 1)["frames_flown_now"] == 10
    assert_same(undisturbed, folder)


def test_a_full_disk(tmp_path: Path) -> None:
    """One clear line, exit code 1, and what fitted is a valid shorter dataset."""
    folder, small = tmp_path / "dataset", tmp_path / "small"
    small.mkdir()
    planned(small / "dataset", options=LARGE)
    fly = [
        sys.executable,
        "-c",
        "from skyloop.cli import main; main()",
        "record",
        "--resume",
        "--workers",
        "1",
        "--out",
    ]
    script = (
        "mount -t tmpfs -o size=20m tmpfs small && cp -r dataset small && "
        f"{shlex.join(fly)} small/dataset; code=$?; cp -r small/dataset left; exit $code"
    )
    shutil.move(small / "dataset", folder)
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
    assert open_recording(left).whole_groups() >= 1
    record(left, 1)
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


def test_the_plan_is_told(undisturbed: Path) -> None:
    plan = json.loads((undisturbed / "plan.json").read_text(encoding="utf-8"))
    assert (plan["frames"], plan["n_groups"], plan["formats"]) == (FRAMES, 3, ["asl"])


def flip(path: Path, place: int | None = None) -> None:
    """One bit, in the middle unless told otherwise."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2 if place is None else place] ^= 1
    path.write_bytes(data)


def resumed(folder: Path) -> subprocess.CompletedProcess[str]:
    """By the command, as a user does it."""
    code = "from skyloop.cli import main; main()"
    arguments = ["record", "--out", str(folder), "--resume", "--workers", "2", "--no-report"]
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=240)


def test_a_flipped_byte_in_the_journal_is_found_and_its_group_flown_again(undisturbed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    shutil.copytree(undisturbed, folder)
    flip(folder / "journal" / "group-000001.bin")
    done = resumed(folder)
    assert done.returncode == 0, done.stderr
    assert "10 recorded now" in done.stdout
    assert "group-000001.bin" in done.stderr and "are flown again" in done.stderr
    assert f"skyloop: preparing the recording of {FRAMES} frames in " in done.stderr
    assert_same(undisturbed, folder)
    assert check(folder) == []


def test_a_group_of_another_recording_is_not_taken_for_its_own(undisturbed: Path, tmp_path: Path) -> None:
    """Its records are whole, but they are not those the manifest lists."""
    folder = tmp_path / "dataset"
    shutil.copytree(undisturbed, folder)
    shutil.copy(folder / "journal" / "group-000000.bin", folder / "journal" / "group-000002.bin")
    assert record(folder, 1)["frames_flown_now"] == FRAMES - 20
    assert_same(undisturbed, folder)


@pytest.mark.parametrize("listed", [True, False], ids=["manifest", "no manifest"])
def test_a_format_that_was_changed_is_written_again(undisturbed: Path, tmp_path: Path, listed: bool) -> None:
    folder = tmp_path / "dataset"
    shutil.copytree(undisturbed, folder)
    flip(sorted((folder / "mav0" / "rgb0" / "data").iterdir())[3])
    if not listed:
        (folder / "manifest.json").unlink()
    assert record(folder, 1)["frames_flown_now"] == 0
    assert_same(undisturbed, folder)


def test_a_plan_that_was_changed_is_not_resumed(undisturbed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    shutil.copytree(undisturbed, folder)
    plan = folder / "plan.json"
    plan.write_text(plan.read_text(encoding="utf-8").replace('"seed": 1', '"seed": 2'), encoding="utf-8")
    done = resumed(folder)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "plan.json" in line and "record into a new folder" in line
