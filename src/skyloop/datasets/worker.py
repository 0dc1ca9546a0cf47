"""The only worker of a recording: flies, measures and journals. With several workers, `flier` flies for all of them.

`recording_run` starts it as `python -m skyloop.datasets.worker FOLDER`. It reports its progress on stdout, one line
each."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from skyloop.core.child_process import run_reporting, tell
from skyloop.datasets.recording_plan import RecordedFrames, RecordingPlan
from skyloop.recording.journal import GroupWriter, is_complete
from skyloop.recording.recording import NAME, add_stream, create_recording, locked
from skyloop.sim.assembly import build
from skyloop.sim.parts import PilotPart
from skyloop.sim.sensing import DeferredSensing, SensorPart
from skyloop.sim.simulation import Simulation
from skyloop.vehicle.pilots.pilots import TrajectoryPilot
from skyloop.world.semantics import CLASSES
from skyloop_client.errors import DatasetError
from skyloop_client.messages import Message
from skyloop_client.streams import StreamInfo

T = TypeVar("T")


class GroupWriting:
    def __init__(self, frames: RecordedFrames, stores: bool, stages: WorkerProfile) -> None:
        self._frames, self._stores, self._stages = frames, stores, stages
        self._missing = set(frames.missing)
        self._group: int | None = None
        self._writer: GroupWriter | None = None
        self._counted: int | None = None

    def turn_to(self, group: int | None) -> None:
        """What follows belongs to this group; the one before is complete."""
        if group == self._group:
            return
        if self._group in self._missing:
            if self._writer is not None:
                self._writer.finish()
            tell(group=self._group)
        self._group, self._writer = group, None
        if group in self._missing and self._stores:
            self._writer = GroupWriter(self._frames.path(group))

    def lacks(self, group: int | None, arrival_ns: int) -> bool:
        """Whether messages that arrive at an instant of this or a later group are to be written."""
        if group not in self._missing:
            return False
        return group != self._group or self._writer is None or arrival_ns >= self._writer.from_ns

    def append(self, message: Message) -> None:
        if self._writer is not None:
            self._stages.timed("journal", self._writer.append, message)
        self.count(message.arrival_ns)

    def append_record(self, record: bytes, arrival_ns: int) -> None:
        if self._writer is not None:
            self._stages.timed("journal", self._writer.append_record, record)
        self.count(arrival_ns)

    def count(self, arrival_ns: int) -> None:
        """Report a frame with its first message."""
        frame = self._frames.at(arrival_ns)
        if frame is not None and frame != self._counted:
            self._counted = frame
            tell(frame=frame + 1)

    def check_complete(self) -> None:
        """Raise an error if a group that was missing was left unfinished."""
        for group in self._frames.missing:
            if self._stores and not is_complete(self._frames.path(group)):
                raise DatasetError(f"group {group} of '{self._frames.path(group).parents[1]}' was left unfinished")


class WorkerProfile:
    """Counts core-seconds from `begin` on. Earlier time is preparation."""

    def __init__(self) -> None:
        self._seconds = {"sensors": 0.0, "journal": 0.0}
        self._began: tuple[float, float] | None = None

    def watch_sensors(self, simulation: Simulation) -> None:
        for part in simulation.parts_of(SensorPart):
            setattr(part.sensor, "measure", partial(self.timed, "sensors", part.sensor.measure))  # noqa: B010 - mypy

    def begin(self) -> None:
        """The first frame begins; a second call does nothing."""
        self._began = self._began or (time.process_time(), _children_seconds())

    def timed(self, stage: str, work: Callable[..., T], *args: object) -> T:
        """The result of `work`. Its time is counted for a stage."""
        if self._began is None:
            return work(*args)
        began = time.process_time()
        try:
            return work(*args)
        finally:
            self._seconds[stage] += time.process_time() - began

    def core_seconds(self) -> dict[str, float]:
        """By stage, until now. Call it while the renderer runs."""
        if self._began is None:
            return {}
        own, rendering = time.process_time() - self._began[0], _children_seconds() - self._began[1]
        return {"rendering": rendering, **self._seconds, "physics_and_rest": own - sum(self._seconds.values())}


def _children_seconds() -> float:
    """Processor time of the child processes, which is the renderer. 0 if the system does not tell."""
    try:
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
        # Linux's id of another process's processor clock (man 3 clock_getcpuclockid gives the same)
        return sum(time.clock_gettime(~int(child) << 3 | 2) for child in children)
    except OSError:
        return 0.0


class Worker:
    """Selects the messages that are still missing and writes them."""

    def __init__(self, folder: Path, plan: RecordingPlan) -> None:
        self.frames = RecordedFrames(folder, plan)
        self.stages = WorkerProfile()
        self._writing = GroupWriting(self.frames, plan.store, self.stages)

    def wanted(self, t_ns: int) -> bool:
        """Whether costly samples that arrive at `t_ns` are not in the journal yet."""
        return self._writing.lacks(self.frames.group_at(t_ns), t_ns)

    def on_message(self, message: Message) -> None:
        group = self.frames.group_at(message.arrival_ns)
        self._writing.turn_to(group)
        if self._writing.lacks(group, message.arrival_ns):
            self._writing.append(message)

    def finish(self) -> None:
        self._writing.turn_to(None)
        self._writing.check_complete()


def record_alone(folder: Path) -> None:
    """Fly and journal what is missing of the recording planned in a folder."""
    plan = RecordingPlan.read(folder)
    worker = Worker(folder, plan)
    with build(plan.make_scenario(), wanted=worker.wanted) as simulation:
        describe(folder, plan, simulation)
        simulation.bus.on_every(worker.on_message)
        DeferredSensing(simulation).warm_up()
        worker.stages.watch_sensors(simulation)
        fly(simulation, worker.frames, worker.stages)
        worker.finish()
        tell(core_seconds=worker.stages.core_seconds())


def describe(folder: Path, plan: RecordingPlan, simulation: Simulation) -> None:
    """Write the recording's description, and add streams that begin in flight."""
    with locked(folder):
        # in a resumed recording it also lists streams that start later in the flight
        if not (folder / NAME).exists():
            create(folder, plan, simulation.bus.infos)
    begun = set(simulation.bus.infos)
    simulation.bus.on_new(lambda info: None if info.name in begun else add_stream(folder, info))


def create(folder: Path, plan: RecordingPlan, infos: dict[str, StreamInfo]) -> None:
    kept = ("vehicle", "seed", "frames", "rate_hz", "group_frames", "n_groups", "split", "scenario", "versions")
    facts = plan.model_dump(mode="json")
    create_recording(folder, infos, {**{name: facts[name] for name in kept}, "classes": list(CLASSES)})


def fly(
    simulation: Simulation,
    frames: RecordedFrames,
    stages: WorkerProfile,
    after_step: Callable[[int], None] = lambda t_ns: None,
) -> None:
    """Fly until the last missing group ends. Frames begin when the pilots begin their trajectories."""
    parent = os.getppid()
    # objects that live for the whole flight need not be scanned by the garbage collector again
    gc.collect()
    gc.freeze()
    pilots = [part.pilot for part in simulation.parts_of(PilotPart) if isinstance(part.pilot, TrajectoryPilot)]
    if frames.start_ns is not None:
        stages.begin()
        tell(start_ns=frames.start_ns)
    while (end_ns := frames.end_ns()) is None or simulation.port.next_ns < end_ns:
        t_ns = simulation.step()
        if frames.start_ns is None:
            begun = all(pilot.started_ns is not None for pilot in pilots)
            if frames.begin_if(begun, t_ns):
                stages.begin()
                tell(start_ns=frames.start_ns)
        after_step(t_ns)
        if os.getppid() != parent:
            os._exit(1)


if __name__ == "__main__":
    run_reporting(lambda: record_alone(Path(sys.argv[1])))
