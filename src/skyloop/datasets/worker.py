"""The only worker of a recording: flies, measures and journals. With several workers, `flier` flies for all of them.

`recording_run` starts it as `python -m skyloop.datasets.worker FOLDER`. It reports its progress on stdout, one line
each."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skyloop.datasets.group_writing import GroupWriting
from skyloop.datasets.recorded_frames import RecordedFrames
from skyloop.datasets.worker_profile import WorkerProfile
from skyloop.datasets.worker_reports import run_reporting, tell
from skyloop.recording.recording import NAME, add_stream, create_recording, locked
from skyloop.sim.assembly import build
from skyloop.sim.parts import PilotPart
from skyloop.sim.scenario import Scenario, make_scenario
from skyloop.sim.sensing import DeferredSensing
from skyloop.sim.simulation import Simulation
from skyloop.world.semantics import CLASSES
from skyloop_client.messages import Message
from skyloop_client.streams import StreamInfo


class Worker:
    """Selects the messages that are still missing and writes them."""

    def __init__(self, folder: Path, plan: dict[str, Any]) -> None:
        self.frames = RecordedFrames(folder, plan)
        self.stages = WorkerProfile()
        self._writing = GroupWriting(self.frames, plan.get("store", True), self.stages)

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
    plan, scenario = planned(folder)
    worker = Worker(folder, plan)
    with build(scenario, wanted=worker.wanted) as simulation:
        describe(folder, plan, simulation)
        simulation.bus.on_every(worker.on_message)
        DeferredSensing(simulation).warm_up()
        worker.stages.watch_sensors(simulation)
        fly(simulation, worker.frames, worker.stages)
        worker.finish()
        tell(core_seconds=worker.stages.core_seconds())


def planned(folder: Path) -> tuple[dict[str, Any], Scenario]:
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    return plan, make_scenario(plan["scenario"], place=f"{folder}/plan.json")


def describe(folder: Path, plan: dict[str, Any], simulation: Simulation) -> None:
    """Write the recording's description, and add streams that begin in flight."""
    with locked(folder):
        # in a resumed recording it also lists streams that start later in the flight
        if not (folder / NAME).exists():
            create(folder, plan, simulation.bus.infos)
    begun = set(simulation.bus.infos)
    simulation.bus.on_new(lambda info: None if info.name in begun else add_stream(folder, info))


def create(folder: Path, plan: dict[str, Any], infos: dict[str, StreamInfo]) -> None:
    kept = ("vehicle", "seed", "frames", "rate_hz", "group_frames", "n_groups", "split", "scenario", "versions")
    create_recording(folder, infos, {**{name: plan[name] for name in kept}, "classes": list(CLASSES)})


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
    pilots = [part.pilot for part in simulation.parts_of(PilotPart)]
    if frames.start_ns is not None:
        stages.begin()
        tell(start_ns=frames.start_ns)
    while (end_ns := frames.end_ns()) is None or simulation.port.next_ns < end_ns:
        t_ns = simulation.step()
        if frames.start_ns is None:
            begun = all(getattr(pilot, "started_ns", 0) is not None for pilot in pilots)
            if frames.begin_if(begun, t_ns):
                stages.begin()
                tell(start_ns=frames.start_ns)
        after_step(t_ns)
        if os.getppid() != parent:
            os._exit(1)


if __name__ == "__main__":
    run_reporting(lambda: record_alone(Path(sys.argv[1])))
