"""One process of a recording: flies the whole flight, but measures and journals only its own groups of frames.

Every sample depends only on its own instant, so one worker or many write the same bytes. `recording_run` starts it as
`python -m skyloop.datasets.worker FOLDER NUMBER OF`. It reports its progress on stdout, one line each."""

from __future__ import annotations

import gc
import json
import os
import sys
from pathlib import Path
from typing import Any

from skyloop.datasets.worker_profile import WorkerProfile
from skyloop.recording.journal import GroupWriter, is_whole
from skyloop.recording.recording import NAME, Recording, add_stream, create_recording, locked
from skyloop.sim.assembly import build
from skyloop.sim.parts import PilotPart
from skyloop.sim.scenario import make_scenario
from skyloop.sim.simulation import Simulation
from skyloop.world.semantics import CLASSES
from skyloop_client.errors import DatasetError, SkyloopError
from skyloop_client.messages import Message
from skyloop_client.streams import NS_PER_S, Rate, StreamInfo

LONGEST_START_S = 120.0
"""Simulated seconds that a pilot may take to begin its trajectory."""


class NoWriter:
    """Replaces a GroupWriter if nothing is stored."""

    from_ns = 0

    def finish(self) -> None:
        pass


class Worker:
    """Selects its own messages and writes them."""

    def __init__(self, folder: Path, plan: dict[str, Any], number: int, of: int) -> None:
        self.folder, self.plan, self.number, self.of = folder, plan, number, of
        self.stages = WorkerProfile()
        self._stores: bool = plan.get("store", True)
        self._rate = Rate.from_hz(plan["rate_hz"])
        self.start_ns: int | None = None
        self._writer: GroupWriter | NoWriter | None = None
        self._group = -1
        self._mine = [group for group in range(number, plan["n_groups"], of) if not is_whole(self._path(group))]
        """Groups to be written, in ascending order."""
        self._counted: int | None = None
        self._present = (-1, 0, 0)
        """The current frame, and its begin and end."""

    def begin(self, t_ns: int) -> None:
        """The first frame is at this instant."""
        self.start_ns = t_ns
        self.stages.begin()
        tell(start_ns=t_ns)

    def _path(self, group: int) -> Path:
        return self.folder / "journal" / f"group-{group:06d}.bin"

    def end_ns(self) -> int | None:
        """End of the last group of this worker."""
        if not self._mine:
            return 0
        return None if self.start_ns is None else self._group_start(self._mine[-1] + 1)

    def _group_start(self, group: int) -> int:
        assert self.start_ns is not None
        return self.start_ns + self._rate.due_ns(min(group * self.plan["group_frames"], self.plan["frames"]))

    def wanted(self, t_ns: int) -> bool:
        """Whether costly samples that arrive at `t_ns` belong to this worker and are not in the journal yet.

        Those of the first instants on the ground are also made, and then dropped: the first image and the first rays
        take seconds, which count as preparation."""
        if self.start_ns is None:
            return t_ns < self._rate.due_ns(1)
        return self._turn_to(t_ns) is not None

    def _turn_to(self, t_ns: int) -> GroupWriter | NoWriter | None:
        """Select the writer for the group of this instant, if the group is to be written."""
        if self.start_ns is None or t_ns < self.start_ns:
            return None
        frame = self._frame_at(t_ns)
        group = frame // self.plan["group_frames"]
        if frame >= self.plan["frames"] or group not in self._mine:
            self._close()
            return None
        if group != self._group:
            self._close()
            self._group = group
            self._writer = GroupWriter(self._path(group)) if self._stores else NoWriter()
        assert self._writer is not None
        return self._writer if t_ns >= self._writer.from_ns else None

    def _frame_at(self, t_ns: int) -> int:
        """Counted from 0. Most messages belong to the same frame as the one before."""
        frame, begins, ends = self._present
        if not begins <= t_ns < ends:
            assert self.start_ns is not None
            frame = self._rate.count_until(t_ns - self.start_ns + 1) - 1
            begins, ends = (self.start_ns + self._rate.due_ns(number) for number in (frame, frame + 1))
            self._present = frame, begins, ends
        return frame

    def on_message(self, message: Message) -> None:
        writer = self._turn_to(message.arrival_ns)
        if writer is not None:
            if isinstance(writer, GroupWriter):
                self.stages.timed("journal", lambda: writer.append(message))
            frame = self._frame_at(message.arrival_ns)
            if frame != self._counted:
                self._counted = frame
                tell(frame=frame + 1)

    def _close(self) -> None:
        """The current group has ended."""
        if self._writer is not None:
            self._writer.finish()
            tell(group=self._group)
            self._writer = None

    def finish(self) -> None:
        self._close()
        for group in self._mine:
            if self._stores and not is_whole(self._path(group)):
                raise DatasetError(f"group {group} of '{self.folder}' was left unfinished")


def tell(**what: Any) -> None:
    """Print a line for the parent process. If the parent is gone, the worker ends."""
    try:
        print(json.dumps(what), flush=True)
    except BrokenPipeError:
        os._exit(1)


def record_share(folder: Path, number: int, of: int) -> None:
    """Fly and journal the groups number, number + of, ... of the recording planned in a folder."""
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    worker = Worker(folder, plan, number, of)
    scenario = make_scenario(plan["scenario"], place=f"{folder}/plan.json")
    with build(scenario, wanted=worker.wanted) as simulation:
        with locked(folder):
            # in a resumed recording it also lists streams that start later in the flight
            if not (folder / NAME).exists():
                create(folder, plan, simulation.bus.infos)
        begun = set(simulation.bus.infos)
        simulation.bus.on_new(lambda info: None if info.name in begun else add_stream(folder, info))
        simulation.bus.on_every(worker.on_message)
        worker.stages.watch_sensors(simulation)
        # objects that live for the whole flight need not be scanned by the garbage collector again
        gc.collect()
        gc.freeze()
        fly(simulation, worker, os.getppid())
        worker.finish()
        tell(core_seconds=worker.stages.core_seconds())


def create(folder: Path, plan: dict[str, Any], infos: dict[str, StreamInfo]) -> Recording:
    kept = ("vehicle", "seed", "frames", "rate_hz", "group_frames", "n_groups", "split", "scenario", "versions")
    return create_recording(folder, infos, {**{name: plan[name] for name in kept}, "classes": list(CLASSES)})


def fly(simulation: Simulation, worker: Worker, parent: int) -> None:
    """Fly until the worker's last group ends. Frames begin when the pilots begin their trajectories."""
    pilots = [part.pilot for part in simulation.parts_of(PilotPart)]
    rate = Rate.from_hz(worker.plan["rate_hz"])
    if worker.plan.get("whole_flight", False):
        worker.begin(0)
    while (end_ns := worker.end_ns()) is None or simulation.port.next_ns < end_ns:
        t_ns = simulation.step()
        if worker.start_ns is None and all(getattr(pilot, "started_ns", 0) is not None for pilot in pilots):
            # frames are at the cameras' own instants
            worker.begin(rate.due_ns(rate.count_until(t_ns + 1)))
        if worker.start_ns is None and t_ns > LONGEST_START_S * NS_PER_S:
            raise DatasetError(f"the pilot did not begin its trajectory within {LONGEST_START_S:g} s; check its start")
        if os.getppid() != parent:
            os._exit(1)


def main() -> None:
    folder, number, of = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    try:
        record_share(folder, number, of)
    except SkyloopError as error:
        tell(error=str(error))
        sys.exit(1)


if __name__ == "__main__":
    main()
