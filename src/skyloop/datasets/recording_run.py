"""What `skyloop record` does: plan a recording, have workers fly and journal it, write the formats from the journal."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from skyloop.core.jit import is_cold, prepare
from skyloop.core.machine import versions
from skyloop.datasets.export import Exporter
from skyloop.datasets.resuming import Tell, drop_what_is_broken
from skyloop.recording.files import write_whole
from skyloop.recording.formats.registry import FORMATS
from skyloop.recording.manifest import write_manifest
from skyloop.recording.recording import NAME
from skyloop.recording.run_folder import make_empty_folder
from skyloop.sim.estimator_assembly import check_nobody_is_outside
from skyloop.sim.scenario import Scenario, make_scenario
from skyloop_client.errors import DatasetError, SkyloopError, unknown_name
from skyloop_client.streams import Rate

log = logging.getLogger(__name__)
GROUP_FRAMES = 10
"""Frames of one file of the journal."""
PLAN = "plan.json"

Progress = Callable[[int, float], None]
"""Called with the frames done and frames per second."""


@dataclass(slots=True)
class Tally:
    """What the workers told."""

    frames: set[int] = field(default_factory=set)
    began: float | None = None
    """Wall time of the first frame."""
    ended: float | None = None
    """Wall time when the last group was whole."""
    core_seconds: dict[str, float] = field(default_factory=dict)
    """Processor time of all workers from the first frame on, by stage."""

    def take(self, told: dict[str, Any], now: float) -> None:
        if "frame" in told:
            self.began = self.began or now
            self.frames.add(told["frame"])
        if "group" in told:
            self.ended = now
        for stage, seconds in told.get("core_seconds", {}).items():
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
) -> None:
    """An empty folder with a plan in it. What is not to be stored is flown and sampled, and then thrown away."""
    if frames < 1 or not 0.01 <= rate_hz <= 1000.0:
        raise DatasetError(f"{frames} frames at {rate_hz:g} Hz; give at least one frame and 0.01 to 1000 Hz")
    for name in formats:
        if name not in FORMATS:
            raise unknown_name("format", name, FORMATS)
    if split not in ("blocks", "random"):
        raise DatasetError(f"split '{split}': give blocks or random")
    if formats and not store:
        raise DatasetError("formats are written from the journal; store it, or ask for none")
    check_rates(scenario, rate_hz)
    check_nobody_is_outside(scenario)
    make_empty_folder(folder)
    (folder / "journal").mkdir()
    plan = {
        "vehicle": scenario.vehicles[0].name,
        "seed": scenario.seed,
        "frames": frames,
        "rate_hz": rate_hz,
        "group_frames": GROUP_FRAMES,
        "n_groups": -(-frames // GROUP_FRAMES),
        "formats": list(formats),
        "store": store,
        "split": split,
        "versions": versions(),
        "scenario": scenario.model_dump(mode="json"),
    }
    write_whole(folder / PLAN, json.dumps(plan, indent=1) + "\n")


def check_rates(scenario: Scenario, rate_hz: float) -> None:
    """A frame is what the cameras see at an instant: one of them at least must look at the frames' rate."""
    rates = {
        f"{vehicle.name}/{name}": Rate.from_hz(sensor.rate_hz)
        for vehicle in scenario.vehicles
        for name, sensor in vehicle.sensors.items()
        if sensor.kind in ("camera", "depth_camera", "lidar", "radar")
    }
    if rates and Rate.from_hz(rate_hz) not in rates.values():
        told = ", ".join(f"{name} {rate.hz:g} Hz" for name, rate in rates.items())
        raise DatasetError(f"no camera, LiDAR or radar has the frames' rate of {rate_hz:g} Hz ({told}); change --rate")


def record(
    folder: Path,
    workers: int,
    progress: Progress = lambda frames, fps: None,
    tell: Tell = lambda line: None,
) -> dict[str, Any]:
    """Fly what is planned in a folder, from where it was left; returns the summary that is also in summary.json.

    `tell` gets a line about each thing that was there and is not kept.
    """
    plan = read_plan(folder)
    drop_what_is_broken(folder, plan, tell)
    began = time.perf_counter()
    if is_cold():
        # once, before several workers would each compile the same
        from skyloop.sim.assembly import needed_rooms

        prepare(*needed_rooms(make_scenario(plan["scenario"])))
    tally = Tally()
    exporter = Exporter(folder, tuple(plan["formats"]))
    # a worker without a group of its own would fly for nobody
    with (
        Workers(folder, max(1, min(workers, plan["n_groups"]))) as running,
        _nothing_left_of_nothing(folder),
        _one_line_if_removed(folder),
    ):
        for told in running.told():
            now = time.perf_counter()
            tally.take(told, now)
            if tally.began is not None and "frame" in told:
                elapsed = max(now - tally.began, 1e-9)
                progress(len(tally.frames), (len(tally.frames) - 1) / elapsed)
            if "group" in told:
                exporter.follow()
    with _one_line_if_removed(folder):
        return _finish(folder, plan, exporter, tally, began)


def _finish(folder: Path, plan: dict[str, Any], exporter: Exporter, tally: Tally, began: float) -> dict[str, Any]:
    """Everything was flown: the formats' ends, the manifest and the summary."""
    flown = tally.ended or time.perf_counter()
    exporter.finish()
    if not write_manifest(folder).complete and plan.get("store", True):
        raise DatasetError(f"the journal of '{folder}' is not as it was written; `skyloop record --resume` mends it")
    seconds = flown - (tally.began or began)
    summary = {
        "folder": str(folder),
        "frames": plan["frames"],
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
    """Whatever is raised because somebody removed the folder."""
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


def read_plan(folder: Path) -> dict[str, Any]:
    try:
        plan = json.loads((folder / PLAN).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DatasetError(f"'{folder}' holds no recording to resume; record without --resume") from None
    except (OSError, ValueError) as error:
        raise DatasetError(f"'{folder / PLAN}' cannot be read: {error}; record anew") from None
    return plan  # type: ignore[no-any-return]


class Workers:
    """Processes that record together; leaving the context ends them."""

    def __init__(self, folder: Path, count: int) -> None:
        # each worker and its renderer share a core; threads within a process would only be in each other's way
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "LP_NUM_THREADS": "1" if count > 1 else "2"}
        self._processes = [
            subprocess.Popen(
                [sys.executable, "-m", "skyloop.datasets.worker", str(folder), str(number), str(count)],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True,
            )
            for number in range(count)
        ]  # fmt: skip
        log.debug("recording in processes %s", ", ".join(str(process.pid) for process in self._processes))
        self._lines: SimpleQueue[tuple[int, str]] = SimpleQueue()
        self._listeners = [
            threading.Thread(target=self._listen, args=numbered, daemon=True) for numbered in enumerate(self._processes)
        ]
        for listener in self._listeners:
            listener.start()

    def _listen(self, number: int, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self._lines.put((number, line))

    def told(self) -> Any:
        """What the workers say, until all have ended; trouble is raised."""
        while True:
            try:
                number, line = self._lines.get(timeout=0.1)
                told = json.loads(line)
                if "error" in told:
                    raise DatasetError(told["error"])
                yield told
            except Empty:
                codes = [process.poll() for process in self._processes]
                if all(code == 0 for code in codes) and self._lines.empty():
                    return
                for number, code in enumerate(codes):
                    if code not in (None, 0) and self._lines.empty():
                        raise DatasetError(f"worker {number} ended: {self._last_words(number, code)}") from None

    def _last_words(self, number: int, code: int | None) -> str:
        stderr = self._processes[number].stderr
        lines = [] if stderr is None else [line.strip() for line in stderr.read().splitlines() if line.strip()]
        return lines[-1] if lines else f"exit code {code}"

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.terminate()
        for process, listener in zip(self._processes, self._listeners, strict=True):
            process.wait(10)
            listener.join(10)
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()
