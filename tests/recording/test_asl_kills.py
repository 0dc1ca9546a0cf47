"""ASL under kill -9 and full disks: at once a shorter dataset, and in the end the same bytes."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from asl_reading import copy, picture, rows, sensor, write

from skyloop.core.files import RowFile
from skyloop.recording.formats.asl import Asl
from skyloop.recording.recording import Recording, open_recording
from skyloop_client.errors import DatasetError

pytestmark = pytest.mark.renders


def tree(mav: Path) -> dict[str, str]:
    files = (path for path in mav.rglob("*") if path.is_file())
    return {str(path.relative_to(mav)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def check_valid(mav: Path) -> int:
    """A dataset at any time: whole rows in order, each with its whole file; how many rows there are."""
    count = 0
    for table in mav.glob("*/data.csv"):
        folder = table.parent
        assert sensor(folder)["T_BS"]["rows"] == 4
        columns = len(table.read_text().splitlines()[0].split(","))
        stamps = []
        for row in rows(folder):
            assert len(row) == columns
            stamps.append(int(row[0]))
            if row[1].endswith(".png"):
                assert picture(folder / "data" / row[1]) is not None
            elif row[1].endswith(".npy"):
                np.load(folder / "data" / row[1])
            else:
                assert np.isfinite([float(number) for number in row[1:]]).all()
        assert stamps == sorted(set(stamps))
        count += len(stamps)
    return count


FEW_STREAMS = ("drone/cam0", "drone/lidar0", "drone/radar0/raw", "drone/imu0", "truth/drone/imu0", "truth/drone")
KILLER = """
import os, random, signal, sys
from pathlib import Path
from skyloop.recording.formats.asl import Asl
from skyloop.recording.recording import open_recording

def write(folder):
    recording = open_recording(Path(folder))
    writer = Asl(recording)
    for group in range(recording.n_groups):
        writer.add(recording.group(group))
    writer.finish()

def spent(folder, most_s=0.0):
    # processor time, by which a busy machine kills at the same places as a quiet one
    child = os.fork()
    if not child:
        signal.setitimer(signal.ITIMER_PROF, most_s)  # its signal ends a process at once
        try:
            write(folder)
        finally:
            os._exit(0)
    _, _, used = os.wait4(child, 0)
    return used.ru_utime + used.ru_stime

whole = spent(sys.argv[1])
chance = random.Random(7)
for number, folder in enumerate(sys.argv[2:]):
    spent(folder, whole * (number + chance.random()) / len(sys.argv[2:]))
"""


def test_killed_at_any_instant_it_is_a_shorter_dataset_and_goes_on_to_the_same_bytes(
    recording: Recording, tmp_path: Path
) -> None:
    folders = [copy(recording, tmp_path / f"killed{k}", FEW_STREAMS) for k in range(7)]
    subprocess.run([sys.executable, "-c", KILLER, *map(str, folders)], check=True, timeout=60)
    expected, whole = tree(folders[0] / "mav0"), check_valid(folders[0] / "mav0")
    left = []
    for folder in folders[1:]:
        left.append(check_valid(folder / "mav0"))
        write(folder)
        assert tree(folder / "mav0") == expected
    assert sum(count < whole for count in left) >= 3, left


@pytest.mark.parametrize("call", [7, 9])
def test_ended_between_two_rows_it_goes_on_to_the_same_bytes(
    call: int, recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, other = (copy(recording, tmp_path / name, FEW_STREAMS) for name in ("dataset", "other"))
    expected, whole = tree(write(other)), check_valid(other / "mav0")
    calls = 0
    append = RowFile.append

    def ends(self: RowFile, lines: list[str]) -> None:
        nonlocal calls
        calls += 1
        if calls == call:
            raise DatasetError("the disk is full")
        append(self, lines)

    monkeypatch.setattr(RowFile, "append", ends)
    with pytest.raises(DatasetError, match="disk is full"):
        write(folder)
    monkeypatch.undo()
    assert 0 < check_valid(folder / "mav0") < whole
    assert json.loads((folder / "mav0/.groups").read_text())["groups"] == Asl(open_recording(folder)).first_group >= 1
    assert tree(write(folder)) == expected


def test_rows_that_went_missing_are_written_anew(recording: Recording, tmp_path: Path) -> None:
    folder = copy(recording, tmp_path / "dataset", FEW_STREAMS)
    expected = tree(write(folder))
    assert Asl(open_recording(folder)).first_group == recording.n_groups
    table = folder / "mav0/imu0/data.csv"
    table.write_text("".join(table.read_text().splitlines(keepends=True)[:-3]))
    assert Asl(open_recording(folder)).first_group == 0
    assert tree(write(folder)) == expected
