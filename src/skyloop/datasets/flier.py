"""The process of a recording that flies, once for all workers, and hands them groups of frames to sense and write.

It measures what later samples, estimators or pilots depend on. For every sample of an independent sensor it hands over
only the instant. `recording_run` starts it as `python -m skyloop.datasets.flier FOLDER SOCKET ...`, with one inherited
socket for each worker. A worker asks with one byte and is sent the next group, so a slow one gets fewer."""

from __future__ import annotations

import os
import socket
import sys
import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import Full, Queue
from typing import Any

from skyloop.datasets.parcels import HIDDEN, INSTANT, NO_MORE, RECORD, SAMPLE, Entry, Parcel, Sensing
from skyloop.datasets.recorded_frames import RecordedFrames
from skyloop.datasets.worker import describe, fly, planned
from skyloop.datasets.worker_profile import WorkerProfile
from skyloop.datasets.worker_reports import run_reporting, tell
from skyloop.recording.journal import record_of
from skyloop.sim.assembly import build
from skyloop.sim.sensing import DeferredSensing
from skyloop.sim.simulation import Simulation
from skyloop_client.messages import Message

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
    """Sorts everything that the flight gives into parcels, in order of arrival."""

    def __init__(self, folder: Path, plan: dict[str, Any], hand: Hand) -> None:
        self.frames = RecordedFrames(folder, plan)
        self.stages = WorkerProfile()
        """Of the flight as a whole: to time each small sensor and record would take a tenth of it."""
        self._stores: bool = plan.get("store", True)
        self._missing = set(self.frames.missing)
        self._parcels: dict[int, Parcel] = {}
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
            self._append(Entry(RECORD, message.arrival_ns, record=record))

    def _defer(self, number: int, simulation: Simulation, t_ns: int, index: int) -> None:
        """A sample is due. It is made in whatever groups it, or what is hidden of it, arrives."""
        if self.frames.start_ns is None:
            # nobody knows yet whether its arrival is recorded; a worker alone does not make it either
            return
        assert self._sensing is not None
        part = self._sensing.parts[number]
        arrival_ns = t_ns + part.info.latency_ns
        # by group, when the last message of it arrives there
        places = {} if part.truth_name is None else {self.frames.group_at(t_ns): t_ns}
        places[self.frames.group_at(arrival_ns)] = arrival_ns
        for group, last_ns in places.items():
            if (parcel := self._parcel(group)) is not None:
                self._sensing_at(parcel, t_ns).wanted.append((number, index, last_ns))
        if part.truth_name is not None:
            self._append(Entry(HIDDEN, t_ns, number, index))
        message = Message(part.info.name, index, t_ns, arrival_ns, NotMeasured(number))
        if part.info.latency_ns:
            # so that it arrives in the same order as if it were there
            simulation.schedule.once(message)
        else:
            self._arrived(message)

    def _sensing_at(self, parcel: Parcel, t_ns: int) -> Sensing:
        """Where the parcel lists what is made at the present instant."""
        assert self._sensing is not None
        for entry in reversed(parcel.entries):
            if entry.sensing is not None:
                if entry.sensing.instant.t_ns == t_ns:
                    return entry.sensing
                break
        sensing = Sensing(self._sensing.present())
        parcel.entries.append(Entry(INSTANT, t_ns, sensing=sensing))
        return sensing

    def _deliver(self, simulation: Simulation, message: Message) -> None:
        if isinstance(message.data, NotMeasured):
            self._arrived(message)
        else:
            simulation.bus.publish(message)

    def _arrived(self, message: Message) -> None:
        self._append(Entry(SAMPLE, message.arrival_ns, message.data.part, message.index))

    def _append(self, entry: Entry) -> None:
        parcel = self._parcel(self.frames.group_at(entry.arrival_ns))
        if parcel is not None:
            parcel.entries.append(entry)

    def _parcel(self, group: int | None) -> Parcel | None:
        """That of a group; None if the group is not to be written."""
        if group is None or group not in self._missing:
            return None
        if group not in self._parcels:
            assert self.frames.start_ns is not None
            self._parcels[group] = Parcel(group, self.frames.start_ns)
        return self._parcels[group]

    def hand_over(self, t_ns: int | None) -> None:
        """Hand over the groups that ended before an instant; None: all."""
        now = None if t_ns is None else self.frames.group_at(t_ns)
        for group in sorted(self._parcels):
            if t_ns is None or (now is not None and group < now):
                parcel = self._parcels.pop(group)
                first_ns = min((entry.arrival_ns for entry in parcel.entries if entry.kind == INSTANT), default=None)
                if first_ns is not None and self._sensing is not None:
                    parcel.looks = self._sensing.looks_since(first_ns)
                self._hand.give(parcel.encoded())


def fly_for_others(folder: Path, sockets: list[socket.socket]) -> None:
    plan, scenario = planned(folder)
    hand = Hand(sockets)
    flier = Flier(folder, plan, hand)
    # its own renderer starts only if the flight depends on pictures
    with build(scenario, renders=False) as simulation:
        describe(folder, plan, simulation)
        flier.attach(simulation)
        fly(simulation, flier.frames, flier.stages, flier.hand_over)
        flier.hand_over(None)
        tell(core_seconds=flier.stages.core_seconds())
    hand.finish()


if __name__ == "__main__":
    own = [socket.socket(fileno=int(number)) for number in sys.argv[2:]]
    run_reporting(lambda: fly_for_others(Path(sys.argv[1]), own))
