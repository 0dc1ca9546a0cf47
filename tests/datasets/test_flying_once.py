"""One process flies and hands instants to workers that only sense: the same bytes as one worker alone writes."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_recording_run import assert_same

from in_process import record_here
from skyloop.datasets.flier import INSTANT, RECORD, SAMPLE, TRUTH, FrameGroup, GroupEntry, Sensing, read_frame_group
from skyloop.datasets.recording_run import plan_recording, record
from skyloop.datasets.worker_processes import descendants
from skyloop.recording.recording import open_recording
from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop.sim.sensing import DeferredSensing, Looks
from skyloop_client.errors import DatasetError

pytestmark = pytest.mark.renders

THINGS = str(Path(__file__).parents[1] / "published_things.py")
FRAMES = 37
CAMERA = {"kind": "camera", "width": 32, "height": 24, "rate_hz": 20, "truth": ["depth", "labels"]}
LIDAR = {"kind": "lidar", "rate_hz": 20, "channels": 4, "points_per_second": 7200}
SCENARIO: dict[str, Any] = {
    "name": "together",
    "truth_rate_hz": 100,
    "world": {"name": "blocks"},
    "observers": {"chase": {"vehicle": "lead", "rate_hz": 10, "width": 32, "height": 24}},
    "vehicles": [
        {
            "name": "lead",
            "sensors": {
                "imu": {"kind": "imu", "rate_hz": 100},
                # measured within one group of frames, arriving within the next but one
                "late": {**CAMERA, "latency": 0.61},
                "rgb": {**CAMERA, "latency": 0.03},
                # its estimator needs the scans, so the process that flies makes them
                "lidar": LIDAR,
            },
            "estimators": {"listener": {"kind": f"{THINGS}:Listener", "inputs": ["imu", "lidar"]}},
            "pilot": {"kind": "hover", "altitude": 1.0},
        },
        {
            "name": "wing",
            "position": [1.5, 0.0],
            "sensors": {
                "cam": {**CAMERA, "faults": [{"kind": "dropout", "probability": 0.3}]},
                "depth": {"kind": "depth_camera", "width": 32, "height": 24, "rate_hz": 20},
                "lidar": LIDAR,
            },
            # no copy can be made of it, and none is needed
            "estimators": {"guess": {"kind": f"{THINGS}:Uncopied", "inputs": ["truth/wing"]}},
            "pilot": {"kind": "hover", "altitude": 1.5},
        },
    ],
}


BLIND: dict[str, Any] = {
    "name": "blind",
    "world": {"name": "blocks"},
    "vehicles": [{"name": "lead", "sensors": {"imu": {"kind": "imu", "rate_hz": 100}, "lidar": LIDAR}}],
}
"""Without cameras no process starts a renderer."""


def planned(
    folder: Path, data: dict[str, Any] = SCENARIO, *, whole_flight: bool = False, frames: int = FRAMES,
    store: bool = True,
) -> Path:  # fmt: skip
    scenario = make_scenario(data)
    plan_recording(
        scenario, folder, frames=frames, rate_hz=20.0, formats=(), whole_flight=whole_flight, store=store
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = planned(tmp_path_factory.mktemp("alone") / "dataset")
    record_here(folder)
    return folder


@pytest.fixture(scope="module")
def shared(alone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """By two workers, who find no beginning, one whole group, and one that was cut off within a record."""
    folder = tmp_path_factory.mktemp("shared") / "dataset"
    shutil.copytree(alone, folder)
    for name in ("journal/group-000000.bin", "journal/group-000003.bin", "manifest.json", "recording.json"):
        (folder / name).unlink()
    cut = folder / "journal" / "group-000002.bin"
    os.truncate(cut, 2 * cut.stat().st_size // 3)
    assert 20 < record(folder, 2)["frames_flown_now"] < 27
    return folder


def test_two_workers_write_what_one_writes_and_mend_what_is_lost_or_cut_off(alone: Path, shared: Path) -> None:
    assert_same(alone, shared)


@pytest.mark.slow("nine and fifteen processes fly and draw")
@pytest.mark.parametrize("workers", [2, 3, 5])
def test_any_number_of_workers_writes_the_same(alone: Path, tmp_path: Path, workers: int) -> None:
    folder = planned(tmp_path / "dataset")
    assert record(folder, workers)["frames_flown_now"] == FRAMES
    assert_same(alone, folder)


@pytest.mark.slow("two flights, one by two workers, with pictures made in flight")
def test_with_a_pilot_of_the_users_own(tmp_path: Path) -> None:
    """It may look at any picture, so the process that flies makes them all."""
    scenario = make_scenario(SCENARIO, {"vehicles.lead.pilot": {"kind": f"{THINGS}:Teller"}})
    for workers in (1, 2):
        plan_recording(scenario, tmp_path / str(workers), frames=25, rate_hz=20.0, formats=())
        record(tmp_path / str(workers), workers)
    assert_same(tmp_path / "1", tmp_path / "2")


@pytest.mark.slow("two flights from the ground, one by two workers")
def test_a_whole_flight(tmp_path: Path) -> None:
    for workers in (1, 2):
        record(planned(tmp_path / str(workers), whole_flight=True), workers)
    assert_same(tmp_path / "1", tmp_path / "2")


def test_every_sample_that_arrives_is_there_once(shared: Path) -> None:
    """Also those that were measured before the group in which they arrive, and what is hidden of them."""
    recording = open_recording(shared)
    messages = list(recording.messages())
    start = min(message.arrival_ns for message in messages)
    first = 50_000_000 * -(-start // 50_000_000)
    for stream, latency in (("lead/late", 610_000_000), ("lead/rgb", 30_000_000), ("truth/lead/late", 0)):
        arrived = [(message.t_ns, message.arrival_ns) for message in messages if message.stream == stream]
        assert all(arrival == t_ns + latency for t_ns, arrival in arrived)
        stamps = [t_ns for t_ns, _ in arrived]
        assert stamps == list(range(stamps[0], stamps[0] + 50_000_000 * len(stamps), 50_000_000))
        assert len(stamps) >= FRAMES - 1 - latency // 50_000_000
        assert stamps[0] + latency >= first
    seen = {message.stream for message in messages}
    assert {"observer/chase", "wing/depth", "wing/cam", "truth/wing/cam", "lead/listener"} <= seen
    arrivals = [message.arrival_ns for message in messages]
    assert arrivals == sorted(arrivals)


def test_nothing_is_stored_if_so_planned(tmp_path: Path) -> None:
    folder = planned(tmp_path / "dataset", BLIND, frames=20, store=False)
    assert record_here(folder)["frames_flown_now"] == 20
    assert list((folder / "journal").iterdir()) == []


@pytest.mark.slow("a recording by several processes")
def test_if_the_process_that_flies_is_killed_one_line_says_so(tmp_path: Path) -> None:
    """And nothing is left running."""
    folder = planned(tmp_path / "dataset", BLIND, frames=4000)
    written = folder / "journal" / "group-000000.bin"
    started: list[int] = []
    before = {pid for pid, _ in descendants(os.getpid())}

    def kill() -> None:
        deadline = time.monotonic() + 180.0
        while not (written.exists() and written.stat().st_size):
            # nothing signals what another process writes
            assert time.monotonic() < deadline
            time.sleep(0.01)
        started.extend(pid for pid, _ in descendants(os.getpid()) if pid not in before)
        commands = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in started}
        os.kill(next(pid for pid in started if b"skyloop.datasets.flier" in commands[pid]), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        with pytest.raises(DatasetError, match=r"^the process that flies ended: signal SIGKILL$"):
            record(folder, 2)
    finally:
        killer.join()
    assert len(started) >= 3
    assert [pid for pid in started if Path(f"/proc/{pid}").exists() and _state(pid) not in "ZX"] == []


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow("three processes for one line"))])
def test_an_error_in_flight_is_told_once(tmp_path: Path, workers: int) -> None:
    faulty = {"kind": f"{THINGS}:Faulty", "options": {"how": "raises"}, "inputs": ["imu"]}
    circle = {"kind": "circle", "centre": [0, 0, 1], "radius": 0.4, "speed": 0.5}
    # frames begin after the take-off, in which the estimator fails
    pilot = {"kind": "trajectory", "takeoff_altitude": 1, "trajectory": circle}
    scenario = make_scenario(BLIND, {"vehicles.lead.estimators": {"faulty": faulty}, "vehicles.lead.pilot": pilot})
    plan_recording(scenario, tmp_path / "dataset", frames=FRAMES, rate_hz=20.0, formats=())
    with pytest.raises(DatasetError, match="no features"):
        record(tmp_path / "dataset", workers)
    assert not (tmp_path / "dataset").exists()


def test_a_frame_group_is_read_as_it_was_written() -> None:
    with build(make_scenario({"name": "two", "vehicles": [{"name": "a"}, {"name": "b", "position": [3, 0]}]})) as flown:
        flown.run_until(0.02)
        instant = DeferredSensing(flown).present()
    frame_group = FrameGroup(7, 50, [], Looks(3, np.arange(12.0).reshape(2, 2, 3)))
    frame_group.entries.append(GroupEntry(INSTANT, instant.t_ns, sensing=Sensing(instant, [(4, 9, 70), (5, 8, 60)])))
    frame_group.entries += [
        GroupEntry(RECORD, 55, record=b"first"),
        GroupEntry(TRUTH, 60, 4, 9),
        GroupEntry(RECORD, 61, record=b"2"),
    ]
    frame_group.entries.append(GroupEntry(SAMPLE, 70, 4, 9))
    data = b"".join(bytes(part) for part in frame_group.encoded())
    at = 0

    def read(n: int) -> bytes:
        nonlocal at
        at += n
        return data[at - n : at]

    got = read_frame_group(read)
    assert got is not None and at == len(data)
    assert (got.group, got.start_ns, got.looks.first) == (7, 50, 3)
    assert np.array_equal(got.looks.paces, frame_group.looks.paces)
    assert [(e.kind, e.arrival_ns, e.part, e.index, e.record) for e in got.entries] == [
        (e.kind, e.arrival_ns, e.part, e.index, e.record) for e in frame_group.entries
    ]
    sensing = got.entries[0].sensing
    assert sensing is not None and sensing.wanted == [(4, 9, 70), (5, 8, 60)]
    for there, here in zip(instant.states, sensing.instant.states, strict=True):
        assert there.t_ns == here.t_ns == sensing.instant.t_ns
        assert there.position.tobytes() == here.position.tobytes()
        assert there.quat_wxyz.tobytes() == here.quat_wxyz.tobytes()
        assert there.rotor_thrusts.tobytes() == here.rotor_thrusts.tobytes()
