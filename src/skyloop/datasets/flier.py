"""The process of a recording that flies, once for all workers, and hands them groups of frames to sense and write.

It measures what later samples, estimators or pilots depend on. For every sample of an independent sensor it hands over
only the instant. `recording_run` starts it as `python -m skyloop.datasets.flier FOLDER SOCKET ...`, with one inherited
socket for each worker. A worker asks with one byte and is sent the next group, so a slow one gets fewer."""

from __future__ import annotations

import os
import socket
import struct
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from queue import Full, Queue

import numpy as np

from skyloop.core.child_process import run_reporting, tell
from skyloop.datasets.recording_plan import RecordedFrames, RecordingPlan
from skyloop.datasets.worker import WorkerProfile, describe, fly
from skyloop.recording.journal import record_of
from skyloop.sim.assembly import build
from skyloop.sim.sensing import DeferredSensing, Looks, SensingInstant
from skyloop.sim.simulation import Simulation
from skyloop_client.codec import decode, encode
from skyloop_client.errors import DatasetError
from skyloop_client.messages import Message

LENGTH = struct.Struct("<Q")
RECORD, INSTANT, SAMPLE, TRUTH = range(4)
"""Kinds of entries: a record of the journal; an instant, at which some samples are made; where one of them follows, and
where its ground-truth companion record does."""


@dataclass(slots=True, eq=False)
class Sensing:
    """What is made at an instant."""

    instant: SensingInstant
    wanted: list[tuple[int, int, int]] = field(default_factory=list)
    """Number of the part, number of its sample, and when the last message of it arrives."""


@dataclass(frozen=True, slots=True)
class GroupEntry:
    kind: int
    arrival_ns: int
    part: int = 0
    index: int = 0
    record: bytes = b""
    """Of a RECORD, with its head."""
    sensing: Sensing | None = None
    """Of an INSTANT."""


@dataclass(slots=True, eq=False)
class FrameGroup:
    group: int
    start_ns: int
    """When the recording's first frame is."""
    entries: list[GroupEntry] = field(default_factory=list)
    looks: Looks = field(default_factory=lambda: Looks(0, np.zeros((0, 2, 0))))

    def encoded(self) -> list[bytes | memoryview]:
        """Its length, then the parts to be sent one after the other."""
        rows, bodies, instants = [], [], []
        for entry in self.entries:
            size = len(entry.record)
            rows.append((entry.kind, entry.arrival_ns, entry.part, entry.index, size))
            bodies.append(entry.record)
            if entry.sensing is not None:
                instant = entry.sensing.instant
                wanted = np.array(entry.sensing.wanted, np.int64).reshape(-1, 3)
                instants.append([instant.t_ns, list(instant.states), instant.n_looks, wanted])
        parts = encode(
            {
                "group": self.group,
                "start_ns": self.start_ns,
                "first_look": self.looks.first,
                "looks": self.looks.paces,
                "entries": np.array(rows, np.int64).reshape(-1, 5),
                "instants": instants,
                "records": np.frombuffer(b"".join(bodies), np.uint8),
            }
        )
        return [LENGTH.pack(sum(map(len, parts))), *parts]


NO_MORE = LENGTH.pack(0)
"""Follows the last group."""


def read_frame_group(read: Callable[[int], bytes | bytearray]) -> FrameGroup | None:
    """The next group; None after the last. `read(n)` returns exactly n bytes."""
    (length,) = LENGTH.unpack(read(LENGTH.size))
    if not length:
        return None
    data = decode(bytes(read(length)))
    frame_group = FrameGroup(data["group"], data["start_ns"], looks=Looks(data["first_look"], data["looks"]))
    instants, records, at = iter(data["instants"]), data["records"].data, 0
    for kind, arrival_ns, part, index, size in data["entries"].tolist():
        sensing = None
        if kind == INSTANT:
            t_ns, states, n_looks, wanted = next(instants)
            sensing = Sensing(SensingInstant(t_ns, tuple(states), n_looks), [tuple(row) for row in wanted.tolist()])
        frame_group.entries.append(GroupEntry(kind, arrival_ns, part, index, bytes(records[at : at + size]), sensing))
        at += size
    if at != len(records):
        raise DatasetError(f"group {frame_group.group} came cut off from the process that flies")
    return frame_group


WAIT_S = 0.5
"""s between two signs of life of a process that waits for others."""
Encoded = list[bytes | memoryview]


@dataclass(frozen=True, slots=True)
class NotMeasured:
    """Stands for a sample on its way, until it arrives."""

    part: int


class Hand:
    """Gives each worker the next group when it asks."""

    def __init__(self, sockets: list[socket.socket]) -> None:
        # few, because a group with images of its own is large
        self._ready: Queue[Encoded] = Queue(maxsize=len(sockets))
        self._threads = [threading.Thread(target=self._serve, args=(each,), daemon=True) for each in sockets]
        for thread in self._threads:
            thread.start()

    def _serve(self, worker: socket.socket) -> None:
        try:
            while worker.recv(1):
                for part in (parts := self._ready.get()):
                    worker.sendall(part)
                if parts == [NO_MORE]:
                    return
        except OSError:
            # the worker has died; whoever started both sees that
            return

    def give(self, parts: Encoded) -> None:
        """Hand over a group; waits while all workers have enough to do."""
        parent = os.getppid()
        while True:
            try:
                self._ready.put(parts, timeout=WAIT_S)
                return
            except Full:
                tell(waits="for the workers")
                if os.getppid() != parent:
                    os._exit(1)

    def finish(self) -> None:
        """Tell all workers that there is no more, once they ask."""
        for _ in self._threads:
            self.give([NO_MORE])
        for thread in self._threads:
            while thread.is_alive():
                thread.join(WAIT_S)
                tell(waits="for the workers")


class Flier:
    """Sorts everything that the flight gives into groups of frames, in order of arrival."""

    def __init__(self, folder: Path, plan: RecordingPlan, hand: Hand) -> None:
        self.frames = RecordedFrames(folder, plan)
        self.stages = WorkerProfile()
        """Of the flight as a whole: to time each small sensor and record would take a tenth of it."""
        self._stores: bool = plan.store
        self._missing = set(self.frames.missing)
        self._frame_groups: dict[int, FrameGroup] = {}
        """By group. One that has not begun may have samples that are measured before and arrive within it."""
        self._hand = hand
        self._sensing: DeferredSensing | None = None

    def attach(self, simulation: Simulation) -> None:
        self._sensing = DeferredSensing(simulation)
        for number, part in self._sensing.parts.items():
            part.defer = partial(self._defer, number, simulation)
        simulation.schedule.deliver = partial(self._deliver, simulation)
        simulation.bus.on_every(self._on_message)

    def _on_message(self, message: Message) -> None:
        if self.frames.group_at(message.arrival_ns) in self._missing:
            record = b"".join(record_of(message)) if self._stores else b""
            self._append(GroupEntry(RECORD, message.arrival_ns, record=record))

    def _defer(self, number: int, simulation: Simulation, t_ns: int, index: int) -> None:
        """A sample is due. It is made in each group in which it, or its ground-truth companion, arrives."""
        if self.frames.start_ns is None:
            # nobody knows yet whether its arrival is recorded; a worker alone does not make it either
            return
        assert self._sensing is not None
        part = self._sensing.parts[number]
        arrival_ns = t_ns + part.info.latency_ns
        # by group, when the last message of it arrives there
        last_arrivals = {} if part.truth_name is None else {self.frames.group_at(t_ns): t_ns}
        last_arrivals[self.frames.group_at(arrival_ns)] = arrival_ns
        for group, last_ns in last_arrivals.items():
            if (frame_group := self._frame_group(group)) is not None:
                self._sensing_at(frame_group, t_ns).wanted.append((number, index, last_ns))
        if part.truth_name is not None:
            self._append(GroupEntry(TRUTH, t_ns, number, index))
        message = Message(part.info.name, index, t_ns, arrival_ns, NotMeasured(number))
        if part.info.latency_ns:
            # so that it arrives in the same order as if it were there
            simulation.schedule.once(message)
        else:
            self._arrived(message)

    def _sensing_at(self, frame_group: FrameGroup, t_ns: int) -> Sensing:
        """Where the group lists what is made at the present instant."""
        assert self._sensing is not None
        for entry in reversed(frame_group.entries):
            if entry.sensing is not None:
                if entry.sensing.instant.t_ns == t_ns:
                    return entry.sensing
                break
        sensing = Sensing(self._sensing.present())
        frame_group.entries.append(GroupEntry(INSTANT, t_ns, sensing=sensing))
        return sensing

    def _deliver(self, simulation: Simulation, message: Message) -> None:
        if isinstance(message.data, NotMeasured):
            self._arrived(message)
        else:
            simulation.bus.publish(message)

    def _arrived(self, message: Message) -> None:
        self._append(GroupEntry(SAMPLE, message.arrival_ns, message.data.part, message.index))

    def _append(self, entry: GroupEntry) -> None:
        frame_group = self._frame_group(self.frames.group_at(entry.arrival_ns))
        if frame_group is not None:
            frame_group.entries.append(entry)

    def _frame_group(self, group: int | None) -> FrameGroup | None:
        """That of a group; None if the group is not to be written."""
        if group is None or group not in self._missing:
            return None
        if group not in self._frame_groups:
            assert self.frames.start_ns is not None
            self._frame_groups[group] = FrameGroup(group, self.frames.start_ns)
        return self._frame_groups[group]

    def hand_over(self, t_ns: int | None) -> None:
        """Hand over the groups that ended before an instant; None: all."""
        now = None if t_ns is None else self.frames.group_at(t_ns)
        for group in sorted(self._frame_groups):
            if t_ns is None or (now is not None and group < now):
                frame_group = self._frame_groups.pop(group)
                first_ns = min(
                    (entry.arrival_ns for entry in frame_group.entries if entry.kind == INSTANT), default=None
                )
                if first_ns is not None and self._sensing is not None:
                    frame_group.looks = self._sensing.looks_since(first_ns)
                self._hand.give(frame_group.encoded())


def fly_for_others(folder: Path, sockets: list[socket.socket]) -> None:
    plan = RecordingPlan.read(folder)
    hand = Hand(sockets)
    flier = Flier(folder, plan, hand)
    # its own renderer starts only if the flight depends on pictures
    with build(plan.make_scenario(), renders=False) as simulation:
        describe(folder, plan, simulation)
        flier.attach(simulation)
        fly(simulation, flier.frames, flier.stages, flier.hand_over)
        flier.hand_over(None)
        tell(core_seconds=flier.stages.core_seconds())
    hand.finish()


if __name__ == "__main__":
    own = [socket.socket(fileno=int(number)) for number in sys.argv[2:]]
    run_reporting(lambda: fly_for_others(Path(sys.argv[1]), own))
