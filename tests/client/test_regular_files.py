"""Whoever reads an input file reads a regular one: what else is in its place is told, and hangs nobody."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from skyloop.cockpit.commands import read_commands
from skyloop.core.validation import read_yaml
from skyloop.datasets.recording_plan import RecordingPlan
from skyloop.datasets.rig import RecordOptions, rig_scenario
from skyloop.recording.journal import read_group
from skyloop.recording.run_reader import read_run
from skyloop.sim.scenario import load_scenario
from skyloop.world.mesh_files import read_parts
from skyloop.world.sdf_files import read_xml
from skyloop_client.calibration import read_calibration
from skyloop_client.errors import SkyloopError
from skyloop_client.regular_files import opened, read_bytes, read_text
from skyloop_client.user_code import load_plugin

PATIENCE_S = 30.0


def error_of(call: Callable[[], object]) -> Exception:
    """What it raises. In a thread, because a reader of a FIFO waits for ever."""
    raised: list[Exception] = []

    def called() -> None:
        try:
            call()
        except Exception as error:
            raised.append(error)

    thread = threading.Thread(target=called, daemon=True)
    thread.start()
    thread.join(PATIENCE_S)
    assert not thread.is_alive(), "it hangs"
    assert raised, "it took something else for a file"
    return raised[0]


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "socket"))
    (tmp_path / "fine").write_text("a\r\nb")
    (tmp_path / "link").symlink_to("/dev/zero")
    for name, text in (("fifo", "a FIFO"), ("socket", "a socket"), ("link", "a device"), (".", "Is a directory")):
        error = error_of(partial(read_bytes, tmp_path / name))
        assert isinstance(error, OSError) and text in str(error.strerror) and text in str(error)
    assert isinstance(error_of(lambda: opened(tmp_path / "absent")), FileNotFoundError)
    assert read_text(tmp_path / "fine") == "a\nb" and read_bytes(tmp_path / "fine") == b"a\r\nb"


READERS: dict[str, Callable[[Path], object]] = {
    "a.yaml": read_yaml,
    "b.yaml": load_scenario,
    "room.sdf": read_xml,
    "room.glb": read_parts,
    "room.gltf": read_parts,
    "room.obj": read_parts,
    "commands.csv": read_commands,
    "way.csv": lambda path: rig_scenario(RecordOptions("flat", trajectory=str(path))),
    "plan.json": lambda path: RecordingPlan.read(path.parent),
    "streams.json": lambda path: read_run(path.parent),
    "group-000000.bin": lambda path: list(read_group(path)),
    "board.json": read_calibration,
    "mine.py": lambda path: load_plugin(f"{path}:Name"),
}


@pytest.mark.parametrize("name", READERS)
def test_no_reader_waits_for_a_fifo(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    error = error_of(lambda: READERS[name](tmp_path / name))
    assert isinstance(error, SkyloopError | OSError) and "\n" not in str(error)
