"""`skyloop record`: plans a recording, starts processes that journal it, and writes formats from the journal."""

from __future__ import annotations

import json
import logging
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skyloop.core.files import write_whole
from skyloop.core.interrupts import Interruption
from skyloop.core.jit import are_compiled, prepare
from skyloop.core.machine_info import versions
from skyloop.datasets.export import Exporter, check_formats, unmark
from skyloop.datasets.recording_plan import PLAN, RecordedFrames, RecordingPlan
from skyloop.datasets.worker_processes import STUCK_S, WorkerJob, Workers
from skyloop.recording.formats.registry import FORMATS
from skyloop.recording.journal import fault_of, is_complete
from skyloop.recording.recording import NAME, NOT_LISTED, differences, read_manifest, write_manifest
from skyloop.recording.run_folder import Summary, make_empty_folder
from skyloop.sim.assembly import needed_rooms
from skyloop.sim.estimator_assembly import check_nobody_is_outside
from skyloop.sim.scenario import Scenario
from skyloop_client.errors import DatasetError, SkyloopError
from skyloop_client.streams import Rate

log = logging.getLogger(__name__)
GROUP_FRAMES = 10
"""Frames per file of the journal."""

Progress = Callable[[int, float], None]
"""Called with the number of completed frames and frames per second."""


@dataclass(slots=True)
class Tally:
    """The reports of the workers."""

    frames: set[int] = field(default_factory=set)
    began: float | None = None
    """Wall time of the first frame."""
    ended: float | None = None
    """Wall time when the last group was complete."""
    core_seconds: dict[str, float] = field(default_factory=dict)
    """Processor time of all workers from the first frame on, by stage."""

    def take(self, message: dict[str, Any], now: float) -> None:
        if "frame" in message:
            self.began = self.began or now
            self.frames.add(message["frame"])
        if "group" in message:
            self.ended = now
        for stage, seconds in message.get("core_seconds", {}).items():
            self.core_seconds[stage] = self.core_seconds.get(stage, 0.0) + seconds


def plan_recording(
    scenario: Scenario,
    folder: Path,
    *,
    frames: int,
    rate_hz: float,
    formats: tuple[str, ...],
    split: str = "blocks",
    store: bool = True,
    whole_flight: bool = False,
) -> None:
    """Create an empty folder with a plan. Without storage, samples are measured and then discarded.

    whole_flight: frames begin with the first instant, on the ground, and not with the pilot's trajectory."""
    if frames < 1:
        raise DatasetError(f"--frames {frames}: give at least 1")
    if not 0.01 <= rate_hz <= 1000.0:
        raise DatasetError(f"--rate {rate_hz:g}: give 0.01 to 1000 frames per simulated second")
    check_formats(formats)
    if split not in ("blocks", "random"):
        raise DatasetError(f"--split {split}: give blocks or random")
    if formats and not store:
        raise DatasetError("formats are written from the journal; store it, or ask for none")
    check_rates(scenario, rate_hz)
    check_nobody_is_outside(scenario)
    make_empty_folder(folder)
    (folder / "journal").mkdir()
    RecordingPlan(
        vehicle=scenario.vehicles[0].name,
        seed=scenario.seed,
        frames=frames,
        rate_hz=rate_hz,
        group_frames=GROUP_FRAMES,
        n_groups=-(-frames // GROUP_FRAMES),
        formats=formats,
        store=store,
        whole_flight=whole_flight,
        split=split,
        versions=versions(),
        scenario=scenario.model_dump(mode="json"),
    ).write(folder)


def check_rates(scenario: Scenario, rate_hz: float) -> None:
    """A frame is an instant at which a camera takes an image, so at least one of them must have the frames' rate."""
    rates = {
        f"{vehicle.name}/{name}": Rate.from_hz(sensor.rate_hz)
        for vehicle in scenario.vehicles
        for name, sensor in vehicle.sensors.items()
        if sensor.kind in ("camera", "depth_camera", "lidar", "radar")
    }
    if rates and Rate.from_hz(rate_hz) not in rates.values():
        listed = ", ".join(f"{name} {rate.hz:g} Hz" for name, rate in rates.items())
        raise DatasetError(
            f"no camera, LiDAR or radar has the frames' rate of {rate_hz:g} Hz ({listed}); change --rate"
        )


def record(
    folder: Path,
    workers: int,
    progress: Progress = lambda frames, fps: None,
    *,
    stuck_after_s: float = STUCK_S,
) -> Summary:
    """Fly the plan of a folder, from where it stopped. Returns the summary that is also in summary.json.

    stuck_after_s: wall s in which a worker must show activity."""
    plan = RecordingPlan.read(folder)
    drop_what_is_broken(folder, plan)
    # a first start compiles for a minute, and without a terminal there is no progress bar
    log.info("preparing the recording of %d frames in %s ...", plan.frames, folder)
    began = time.perf_counter()
    rooms = needed_rooms(plan.make_scenario())
    if not are_compiled(*rooms):
        # once, before several workers compile the same kernels
        prepare(*rooms)
    tally = Tally()
    exporter = Exporter(folder, plan.formats)
    # a worker without groups would start for nothing
    count = max(1, min(workers, len(RecordedFrames(folder, plan).missing)))
    with (
        Interruption() as interruption,
        _nothing_left_of_nothing(folder),
        _one_line_if_removed(folder),
        Workers(_jobs(folder, count), stuck_after_s) as running,
    ):
        for message in running.messages(interruption):
            now = time.perf_counter()
            tally.take(message, now)
            if tally.began is not None and "frame" in message:
                elapsed = max(now - tally.began, 1e-9)
                progress(len(tally.frames), (len(tally.frames) - 1) / elapsed)
            if "group" in message:
                exporter.follow()
    with _one_line_if_removed(folder):
        return _finish(folder, plan, exporter, tally, began)


def _jobs(folder: Path, count: int) -> list[WorkerJob]:
    """One process that does everything, or several that sense and one that flies for them."""
    if count == 1:
        return [WorkerJob("worker 0", "skyloop.datasets.worker", (str(folder),))]
    pairs = [socket.socketpair() for _ in range(count)]
    sensing = [
        WorkerJob(f"worker {number}", "skyloop.datasets.sensing_worker", (str(folder),), (ours,))
        for number, (ours, _) in enumerate(pairs)
    ]
    theirs = tuple(theirs for _, theirs in pairs)
    return [*sensing, WorkerJob("the process that flies", "skyloop.datasets.flier", (str(folder),), theirs)]


def _finish(folder: Path, plan: RecordingPlan, exporter: Exporter, tally: Tally, began: float) -> dict[str, object]:
    """After the flight: finish the formats, the manifest and the summary."""
    flown = tally.ended or time.perf_counter()
    exporter.finish()
    if not write_manifest(folder).complete and plan.store:
        raise DatasetError(f"the journal of '{folder}' is not as it was written; `skyloop record --resume` mends it")
    seconds = flown - (tally.began or began)
    summary = {
        "folder": str(folder),
        "frames": plan.frames,
        "frames_flown_now": len(tally.frames),
        "start_s": (tally.began or flown) - began,
        "flight_s": seconds,
        "fps": len(tally.frames) / seconds if tally.frames else 0.0,
        "core_ms_per_frame": {
            stage: 1e3 * spent / len(tally.frames) for stage, spent in tally.core_seconds.items() if tally.frames
        },
        "formats_s": exporter.seconds,
        "journal_bytes": sum(path.stat().st_size for path in (folder / "journal").iterdir()),
        "wall_s": time.perf_counter() - began,
    }
    write_whole(folder / "summary.json", json.dumps(summary, indent=1) + "\n")
    return summary


@contextmanager
def _one_line_if_removed(folder: Path) -> Iterator[None]:
    """Turn any error that follows from a removed folder into one line."""
    try:
        yield
    except (SkyloopError, OSError):
        if not (folder / PLAN).exists():
            raise DatasetError(f"'{folder}' was removed while it was recorded into") from None
        raise


@contextmanager
def _nothing_left_of_nothing(folder: Path) -> Iterator[None]:
    """A recording that fails before its first frame leaves no folder behind."""
    try:
        yield
    except SkyloopError:
        if (folder / "journal").is_dir() and not any((folder / "journal").iterdir()):
            for name in (PLAN, NAME):
                (folder / name).unlink(missing_ok=True)
            with suppress(OSError):
                (folder / "journal").rmdir()
                folder.rmdir()
        raise


def drop_what_is_broken(folder: Path, plan: RecordingPlan) -> None:
    """Remove broken groups of frames, which are flown again, and formats that were changed."""
    try:
        manifest = read_manifest(folder)
    except DatasetError as error:
        log.warning("%s", error)
        manifest = None
    different = {} if manifest is None else differences(folder, manifest)
    if PLAN in different:
        raise DatasetError(
            f"'{folder / PLAN}' was changed since it was recorded; put it back, or record into a new folder"
        )
    for group in sorted((folder / "journal").glob("group-*.bin")):
        listed = different.get(f"journal/{group.name}", NOT_LISTED)
        fault = fault_of(group) if is_complete(group) else ""
        if fault or listed != NOT_LISTED:
            log.warning("'%s': %s; its frames are flown again", group, fault or f"it {listed}")
            group.unlink()
    for name, kind in FORMATS.items():
        outputs = [output for output in kind.outputs(plan.n_vehicles) if (folder / output).exists()]
        # without a manifest, changes of a format cannot be detected
        changed = [path for path in different if path.split("/")[0] in outputs]
        if outputs and (manifest is None or changed):
            if changed:
                path, what = folder / changed[0], different[changed[0]]
                log.warning("'%s' %s; %s is written again from the journal", path, what, name)
            unmark(folder, name)
            for output in outputs:
                shutil.rmtree(folder / output)
