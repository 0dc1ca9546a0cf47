"""Large arrays of a session on this machine lie in memory that both sides share; what is held stays what it was."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from link_rig import Computer, Rig, Stranger, eventually, flying
from skyloop.links.loop import peer as peer_module
from skyloop.links.loop.peer import LEAST_BYTES, LINE, SharedBlocks, shared_with
from skyloop_client.codec import decode, encode
from skyloop_client.errors import CodecError, LinkError
from skyloop_client.lent_memory import LentMemory, opened

SCANNING: dict[str, Any] = {
    "vehicles": [{"name": "drone", "sensors": {"lidar": {"kind": "lidar", "rate_hz": 20}}}],
}
SCAN = "drone/lidar"
HOLDER = """
import os, signal, sys
from skyloop_client import connect
session = connect(sys.argv[1], timeout=20.0, clock=lambda: 0)
bundle = session.ask(want=["lidar"], fresh=["lidar"])
assert session._pipe.memory.map and bundle.get("lidar") is not None
print("held", flush=True)
signal.pause()
"""


def scans(rig: Rig, count: int) -> list[Any]:
    clock = Computer()
    with rig.connect(clock=clock) as session:
        kept = [session.ask(want=["lidar"], fresh=["lidar"]).get("lidar") for _ in range(count)]
        assert all(scan is not None for scan in kept)
        return kept


def points(scan: Any) -> bytes:
    return bytes(scan.points.tobytes())


def lent(rig: Rig) -> dict[int, int]:
    (pilot,) = rig.link.client_sessions.pilots.values()
    return {} if pilot.peer.memory is None else pilot.peer.memory._lent


def test_a_bundle_is_the_same_in_memory_and_through_the_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the timeline counts the same bytes for both, but for how an array is described."""
    seen, sizes = [], []
    for setting in ("1", "0"):
        monkeypatch.setenv("SKYLOOP_SHARED_MEMORY", setting)
        with flying(SCANNING) as rig:
            seen.append([points(scan) for scan in scans(rig, 5)])
        sizes.append([row.bytes for row in rig.link.timeline.rows])
    assert seen[0] == seen[1] and len(seen[0][0]) > LEAST_BYTES
    assert np.abs(np.subtract(sizes[0], sizes[1])).max() < 200


def test_what_is_held_stays_and_what_is_not_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    with flying(SCANNING) as rig, rig.connect(clock=Computer()) as session:
        first = session.ask(want=["lidar"], fresh=["lidar"]).get("lidar")
        before = points(first)
        assert not first.points.flags.writeable
        part = first.points[3:5]
        for _ in range(30):
            session.ask(want=["lidar"], fresh=["lidar"])
        assert points(first) == before
        # one held, the newest one of the session, and one that is told of with the next question
        assert 2 <= len(lent(rig)) / arrays_of(first) <= 3
        del first
        session.ask()
        assert part.tobytes() in before
        part = None
        session.ask()
        session.ask()
        assert len(lent(rig)) / arrays_of(session.ask().get("lidar")) == 1


def arrays_of(scan: Any) -> int:
    fields = [getattr(scan, name) for name in scan.__dataclass_fields__]
    return sum(isinstance(value, np.ndarray) and value.nbytes >= LEAST_BYTES for value in fields)


def test_whoever_hoards_is_sent_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer_module, "LENT_BYTES", 1 << 20)
    monkeypatch.setattr(SharedBlocks.__init__, "__defaults__", (1 << 20,))
    with flying(SCANNING) as rig, rig.connect(clock=Computer()) as session:
        hoard = [session.ask(want=["lidar"], fresh=["lidar"]).get("lidar") for _ in range(40)]
        held = sum(lent(rig).values())
        assert sum(len(points(scan)) for scan in hoard) > 1 << 20 >= held > 1 << 19
        copies = [points(scan) for scan in hoard]
        assert len(set(copies)) == len(copies), "no scan lies over another"
        hoard.clear()
        session.ask()
        session.ask(want=["lidar"], fresh=["lidar"])
        assert sum(lent(rig).values()) < held / 4


def mapped(process: int) -> set[int]:
    """The memories that a process has mapped, by inode."""
    gc.collect()  # sessions of earlier tests in this process
    lines = Path(f"/proc/{process}/maps").read_text().splitlines()
    return {int(line.split()[4]) for line in lines if "skyloop-link" in line}


def open_here() -> set[int]:
    """Those that this process has open as files."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if "skyloop-link" in str(entry.readlink()):
                found.add(entry.stat().st_ino)
    return found


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.processes
def test_a_killed_client_leaves_nothing(how: signal.Signals) -> None:
    with flying(SCANNING) as rig:
        before = mapped(os.getpid())
        command = [sys.executable, "-c", HOLDER, rig.address]
        client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert client.stdout is not None and client.stdout.readline() == "held\n"
            shared = mapped(client.pid)
            assert len(shared) == 1 and mapped(os.getpid()) - before == shared
            client.send_signal(how)
            client.wait(20.0)
            assert rig.news_of("left", "drone")
            assert eventually(lambda: not mapped(os.getpid()) & shared)
            assert not open_here() & shared
        finally:
            client.kill()
            client.communicate()


def test_arrays_outlive_the_session_and_the_simulator() -> None:
    with flying(SCANNING) as rig:
        (scan,) = scans(rig, 1)
        before = points(scan)
    assert points(scan) == before


@pytest.mark.parametrize("free", [[64], [-1], ["x"], [None], 5, [[1]]])
def test_giving_back_what_was_not_lent_is_refused(free: Any) -> None:
    with flying(SCANNING) as rig, Stranger(rig) as peer:
        assert peer.hello(memory=True)["memory"]["bytes"] == peer_module.LENT_BYTES
        assert peer.say(type="ask", number=1, et_ns=0, free=free).why()
        assert rig.error is None


def test_a_client_that_cannot_open_it_is_sent_everything() -> None:
    before = open_here()
    with flying(SCANNING) as rig, Stranger(rig) as peer:
        peer.hello(memory=True)
        scan = peer.ask(0, fresh=["lidar"])["messages"][SCAN][3]
        assert scan.points.nbytes > LEAST_BYTES
        assert eventually(lambda: not open_here() - before)


def test_only_this_machine_and_only_those_who_ask_get_memory() -> None:
    assert shared_with("10.1.2.3:4700") is None
    assert shared_with("fe80::1:4700") is None
    for here in ("127.0.0.1:9", "127.8.0.1:9", "::1:9"):
        memory = shared_with(here)
        assert memory is not None
        memory.close()
    with flying(SCANNING) as rig, Stranger(rig) as peer:
        assert peer.hello()["memory"] is None


def test_memory_of_somebody_else_is_not_opened(tmp_path: Path) -> None:
    """The same path may lead elsewhere where the client runs on another machine."""
    memory = SharedBlocks(1 << 20)
    reported = memory.for_hello
    assert opened(reported) is not None
    other = SharedBlocks(1 << 20)
    (tmp_path / "short").write_bytes(b"x")
    os.mkfifo(tmp_path / "pipe")
    for wrong in (
        {**reported, "path": other.for_hello["path"]},
        {**reported, "bytes": 1 << 21},
        {**reported, "path": str(tmp_path / "pipe")},
        {**reported, "path": str(tmp_path / "short")},
        {**reported, "path": "/proc/1/fd/77"},
        {"path": reported["path"]},
        None,
        "x",
    ):
        assert opened(wrong) is None
    memory.close()
    other.close()


def test_a_client_may_only_read() -> None:
    memory = SharedBlocks(1 << 20)
    path = memory.for_hello["path"]
    file = os.open(path, os.O_RDWR)
    try:
        with pytest.raises(PermissionError):
            os.write(file, b"x")
        with pytest.raises(PermissionError):
            os.ftruncate(file, 0)
    finally:
        os.close(file)
    memory.close()


def test_arrays_beyond_the_memory_are_refused() -> None:
    memory = SharedBlocks(1 << 20)
    client = LentMemory(**{{"bytes": "size"}.get(key, key): value for key, value in memory.for_hello.items()})
    big = np.arange(10_000.0)
    data = b"".join(encode({"a": big}, lambda raw: (1 << 20) - 80_000 + 64))
    with pytest.raises(CodecError):
        decode(data, client.array)
    with pytest.raises(CodecError):
        decode(b"".join(encode({"a": big}, memory.lend)))
    memory.close()


def test_blocks_never_overlap_and_all_memory_comes_back() -> None:
    """Ten thousand random loans and returns against a map of every byte."""
    size = 1 << 20
    memory, random = SharedBlocks(size), np.random.default_rng(3)
    memory.take_back([])
    owner = np.full(size, -1)
    lent: dict[int, tuple[int, int]] = {}
    refused = 0
    for number in range(10_000):
        if lent and random.random() < 0.5:
            start = list(lent)[random.integers(len(lent))]
            length, said = lent.pop(start)
            assert (owner[start : start + length] == said).all()
            owner[start : start + length] = -1
            memory.take_back([start])
            continue
        length = int(random.integers(LEAST_BYTES, 60_000))
        place = memory.lend(memoryview(bytes(length)))
        if place is None:
            refused += 1
            continue
        assert place % LINE == 0 and place + length <= size and (owner[place : place + length] == -1).all()
        owner[place : place + length] = number
        lent[place] = (length, number)
    memory.take_back(list(lent))
    assert refused and memory._free == [(LINE, size - LINE)]
    with pytest.raises(LinkError):
        memory.take_back([64])
    memory.close()
