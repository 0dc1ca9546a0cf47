"""A worker of a recording that does not fly: it is handed groups of frames, makes their samples and writes them.

Every sample depends only on its own instant, so any number of workers writes the same bytes. `recording_run` starts it
as `python -m skyloop.datasets.sensing_worker FOLDER SOCKET`; at the other end of the socket is the `flier`."""

from __future__ import annotations

import gc
import os
import socket
import sys
from pathlib import Path

from skyloop.core.child_process import run_reporting, tell
from skyloop.datasets.flier import INSTANT, RECORD, TRUTH, WAIT_S, FrameGroup, GroupEntry, read_frame_group
from skyloop.datasets.recording_plan import RecordedFrames, RecordingPlan
from skyloop.datasets.worker import GroupWriting, WorkerProfile
from skyloop.sim.assembly import build
from skyloop.sim.sensing import DeferredSensing
from skyloop_client.messages import Message


class SensingWorker:
    def __init__(self, folder: Path, plan: RecordingPlan, sensing: DeferredSensing, stages: WorkerProfile) -> None:
        self._frames = RecordedFrames(folder, plan)
        self._writing = GroupWriting(self._frames, plan.store, stages)
        self._sensing = sensing
        self._samples: dict[tuple[int, int], tuple[object, object, int]] = {}
        """By part and number: a sample, its ground-truth companion, and its instant."""

    def write(self, frame_group: FrameGroup) -> None:
        """Make the samples of a group, and write its file."""
        self._frames.start_ns = frame_group.start_ns
        self._writing.turn_to(frame_group.group)
        for entry in frame_group.entries:
            if entry.kind == INSTANT:
                self._make(frame_group, entry)
            elif self._writing.lacks(frame_group.group, entry.arrival_ns):
                if entry.kind == RECORD:
                    self._writing.append_record(entry.record, entry.arrival_ns)
                else:
                    self._append(entry)
        self._writing.turn_to(None)
        self._samples.clear()

    def _make(self, frame_group: FrameGroup, entry: GroupEntry) -> None:
        """Make all samples of an instant that are not in the journal yet."""
        assert entry.sensing is not None
        lacks, instant = self._writing.lacks, entry.sensing.instant
        wanted = [(part, index) for part, index, last in entry.sensing.wanted if lacks(frame_group.group, last)]
        if wanted:
            self._sensing.show(instant, frame_group.looks)
            self._sensing.look(instant, [part for part, _ in wanted])
        for part, index in wanted:
            self._samples[part, index] = (*self._sensing.sensed(instant, part, index), instant.t_ns)

    def _append(self, entry: GroupEntry) -> None:
        part = self._sensing.parts[entry.part]
        sample, truth, t_ns = self._samples[entry.part, entry.index]
        stream, data = (part.truth_name, truth) if entry.kind == TRUTH else (part.info.name, sample)
        if data is not None:
            assert stream is not None
            self._writing.append(Message(stream, entry.index, t_ns, entry.arrival_ns, data))


def sense_for(folder: Path, flier: socket.socket) -> None:
    """Write the groups that the process at the other end hands over, until it has no more."""
    plan = RecordingPlan.read(folder)
    stages = WorkerProfile()
    with build(plan.make_scenario()) as simulation:
        sensing = DeferredSensing(simulation)
        sensing.warm_up()
        stages.watch_sensors(simulation)
        worker = SensingWorker(folder, plan, sensing, stages)
        # objects that live for the whole flight need not be scanned by the garbage collector again
        gc.collect()
        gc.freeze()
        while (frame_group := _next_frame_group(flier)) is not None:
            stages.begin()
            worker.write(frame_group)
        tell(core_seconds=stages.core_seconds())


def _next_frame_group(flier: socket.socket) -> FrameGroup | None:
    flier.settimeout(WAIT_S)

    def read(n: int) -> bytearray:
        buffer = bytearray(n)
        view = memoryview(buffer)
        while len(view):
            try:
                got = flier.recv_into(view)
            except TimeoutError:
                tell(waits="for the flight")
                continue
            if not got:
                # whoever started both says why
                os._exit(1)
            view = view[got:]
        return buffer

    flier.sendall(b"?")
    return read_frame_group(read)


if __name__ == "__main__":
    own = socket.socket(fileno=int(sys.argv[2]))
    run_reporting(lambda: sense_for(Path(sys.argv[1]), own))
