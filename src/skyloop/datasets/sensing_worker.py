"""A worker of a recording that does not fly: it is handed groups of frames, makes their samples and writes them.

Every sample depends only on its own instant, so any number of workers writes the same bytes. `recording_run` starts it
as `python -m skyloop.datasets.sensing_worker FOLDER SOCKET`; at the other end of the socket is the `flier`."""

from __future__ import annotations

import gc
import os
import socket
import sys
from pathlib import Path
from typing import Any

from skyloop.datasets.flier import WAIT_S
from skyloop.datasets.group_writing import GroupWriting
from skyloop.datasets.parcels import HIDDEN, INSTANT, RECORD, Entry, Parcel, read_parcel
from skyloop.datasets.recorded_frames import RecordedFrames
from skyloop.datasets.worker import planned
from skyloop.datasets.worker_profile import WorkerProfile
from skyloop.datasets.worker_reports import run_reporting, tell
from skyloop.sim.assembly import build
from skyloop.sim.sensing import DeferredSensing
from skyloop_client.messages import Message


class SensingWorker:
    def __init__(self, folder: Path, plan: dict[str, Any], sensing: DeferredSensing, stages: WorkerProfile) -> None:
        self._frames = RecordedFrames(folder, plan)
        self._writing = GroupWriting(self._frames, plan.get("store", True), stages)
        self._sensing = sensing
        self._made: dict[tuple[int, int], tuple[Any, Any, int]] = {}
        """By part and number: a sample, what is hidden of it, and its instant."""

    def write(self, parcel: Parcel) -> None:
        """Make the samples of a group, and write its file."""
        self._frames.start_ns = parcel.start_ns
        self._writing.turn_to(parcel.group)
        for entry in parcel.entries:
            if entry.kind == INSTANT:
                self._make(parcel, entry)
            elif self._writing.lacks(parcel.group, entry.arrival_ns):
                if entry.kind == RECORD:
                    self._writing.append_record(entry.record, entry.arrival_ns)
                else:
                    self._append(entry)
        self._writing.turn_to(None)
        self._made.clear()

    def _make(self, parcel: Parcel, entry: Entry) -> None:
        """Make all samples of an instant that are not in the journal yet."""
        assert entry.sensing is not None
        lacks, instant = self._writing.lacks, entry.sensing.instant
        wanted = [(part, index) for part, index, last in entry.sensing.wanted if lacks(parcel.group, last)]
        if wanted:
            self._sensing.show(instant, parcel.looks)
            self._sensing.look(instant, [part for part, _ in wanted])
        for part, index in wanted:
            self._made[part, index] = (*self._sensing.sensed(instant, part, index), instant.t_ns)

    def _append(self, entry: Entry) -> None:
        part = self._sensing.parts[entry.part]
        sample, hidden, t_ns = self._made[entry.part, entry.index]
        stream, data = (part.truth_name, hidden) if entry.kind == HIDDEN else (part.info.name, sample)
        if data is not None:
            assert stream is not None
            self._writing.append(Message(stream, entry.index, t_ns, entry.arrival_ns, data))


def sense_for(folder: Path, flier: socket.socket) -> None:
    """Write the groups that the process at the other end hands over, until it has no more."""
    plan, scenario = planned(folder)
    stages = WorkerProfile()
    with build(scenario) as simulation:
        sensing = DeferredSensing(simulation)
        sensing.warm_up()
        stages.watch_sensors(simulation)
        worker = SensingWorker(folder, plan, sensing, stages)
        # objects that live for the whole flight need not be scanned by the garbage collector again
        gc.collect()
        gc.freeze()
        while (parcel := _next_parcel(flier)) is not None:
            stages.begin()
            worker.write(parcel)
        tell(core_seconds=stages.core_seconds())


def _next_parcel(flier: socket.socket) -> Parcel | None:
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
    return read_parcel(read)


if __name__ == "__main__":
    own = socket.socket(fileno=int(sys.argv[2]))
    run_reporting(lambda: sense_for(Path(sys.argv[1]), own))
