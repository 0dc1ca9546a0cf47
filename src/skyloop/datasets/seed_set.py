"""One dataset of several seeds: `skyloop record --seeds 1..5`.

The folder holds a whole recording for each seed, `seed-1`, `seed-2` and so on, and VOC, COCO and YOLO of all of them.
Other formats hold one flight each and stay with their seeds. The plan is in `seeds.json`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from skyloop.core.files import write_whole
from skyloop.datasets.recording_run import Progress, plan_recording, record
from skyloop.datasets.seed_labels import JOINED, Files, write_joined
from skyloop.recording.formats.registry import FORMATS
from skyloop.recording.run_folder import make_empty_folder
from skyloop.sim.scenario import Scenario, make_scenario
from skyloop_client.errors import DatasetError

PLAN = "seeds.json"


def is_seed_set(folder: Path) -> bool:
    return (folder / PLAN).is_file()


def plan_seeds(scenario: Scenario, seeds: Sequence[int], folder: Path, **plan: Any) -> None:
    """Create an empty folder with a plan. `plan` is as in `plan_recording`, which checks it."""
    make_empty_folder(folder)
    first = folder / seed_folder(seeds[0])
    try:
        plan_recording(scenario.model_copy(update={"seed": seeds[0]}), first, **plan)
    except BaseException:
        with suppress(OSError):
            folder.rmdir()
        raise
    data = {"seeds": list(seeds), **plan, "scenario": scenario.model_dump(mode="json")}
    write_whole(folder / PLAN, json.dumps(data, indent=1) + "\n")


def seed_folder(seed: int) -> str:
    return f"seed-{seed}"


def read_seeds(folder: Path) -> dict[str, Any]:
    try:
        plan = json.loads((folder / PLAN).read_text(encoding="utf-8"))
        return {**plan, "seeds": [int(seed) for seed in plan["seeds"]]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DatasetError(f"'{folder / PLAN}' cannot be read: {error}; record anew") from None


def recordings(folder: Path) -> dict[int, Path]:
    """The folder of each planned seed, existing or not."""
    return {seed: folder / seed_folder(seed) for seed in read_seeds(folder)["seeds"]}


def record_seeds(folder: Path, workers: int, progress: Progress = lambda frames, fps: None) -> dict[str, Any]:
    """Record the missing seeds one after the other, then join the labels. Returns the summary."""
    plan = read_seeds(folder)
    scenario = make_scenario(plan["scenario"], place=str(folder / PLAN))
    names = [name for name in ("frames", "rate_hz", "split", "whole_flight") if name in plan]
    terms: dict[str, Any] = {**{name: plan[name] for name in names}, "formats": tuple(plan["formats"])}
    summaries = []
    for turn, (seed, place) in enumerate(recordings(folder).items()):
        if not (place / "plan.json").exists():
            plan_recording(scenario.model_copy(update={"seed": seed}), place, **terms)
        summaries.append(record(place, workers, _after(turn * plan["frames"], progress)))
    join_labels(folder, plan["formats"])
    return _together(folder, summaries)


def _after(done: int, progress: Progress) -> Progress:
    """Tells of frames beyond those that are done."""
    return lambda frames, fps: progress(done + frames, fps)


def _together(folder: Path, summaries: list[dict[str, Any]]) -> dict[str, Any]:
    summed = ("frames", "frames_flown_now", "start_s", "flight_s", "journal_bytes", "wall_s")
    total = {name: sum(summary[name] for summary in summaries) for name in summed}
    formats = {name: sum(summary["formats_s"][name] for summary in summaries) for name in summaries[0]["formats_s"]}
    fps = total["frames_flown_now"] / total["flight_s"] if total["frames_flown_now"] else 0.0
    summary = {"folder": str(folder), "seeds": len(summaries), **total, "fps": fps, "formats_s": formats}
    write_whole(folder / "summary.json", json.dumps(summary, indent=1) + "\n")
    return summary


def join_labels(folder: Path, formats: Sequence[str]) -> list[Path]:
    """Write the formats that hold all seeds again. Returns their folders."""
    written = []
    for name in formats:
        for output, files in joined_files(folder, name).items():
            write_joined(files, folder / output)
            written.append(folder / output)
    return written


def joined_files(folder: Path, name: str) -> dict[str, Files]:
    """The content of a format of all seeds by folder, one for each vehicle with labels."""
    if name not in JOINED:
        return {}
    places = recordings(folder)
    n_vehicles = len(read_seeds(folder)["scenario"]["vehicles"])
    found = {}
    for output in FORMATS[name].outputs(n_vehicles):
        sources = {seed: place / output for seed, place in places.items() if (place / output).is_dir()}
        if sources:
            found[output] = JOINED[name](sources)
    return found
