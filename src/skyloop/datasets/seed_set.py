"""One dataset of several seeds: `skyloop record --seeds 1..5`.

The folder holds a whole recording for each seed, `seed-1`, `seed-2` and so on, and VOC, COCO and YOLO of all of them.
Other formats hold one flight each and stay with their seeds. The plan is in `seeds.json`.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from skyloop.core.files import PARTIAL, write_whole
from skyloop.core.validation import validated
from skyloop.datasets.recording_plan import PLAN as RECORDING_PLAN
from skyloop.datasets.recording_run import Progress, plan_recording, record
from skyloop.recording.formats.label_images import SPLITS
from skyloop.recording.formats.registry import FORMATS
from skyloop.recording.run_folder import make_empty_folder
from skyloop.sim.scenario import Scenario, make_scenario
from skyloop_client.errors import DatasetError, ScenarioError
from skyloop_client.regular_files import read_bytes, read_text

if TYPE_CHECKING:
    from skyloop.recording.run_folder import Summary

Content = Path | bytes
"""Content of a joined file: another file, or bytes."""
Files = dict[str, Content]
"""By path in the joined folder, with slashes."""
TRACKS_PER_SEED = 1_000_000
"""Numbers of COCO's `track_id` kept for each seed, so that no two objects share one."""


def prefix(seed: int) -> str:
    return f"seed-{seed}-"


def joined_coco(sources: Mapping[int, Path]) -> Files:
    """Images and annotations have consecutive numbers. An image has its seed and its stamp."""
    files: Files = {}
    joined: dict[str, dict[str, list[Any]]] = {name: {"images": [], "annotations": []} for name in SPLITS}
    heads: dict[str, dict[str, Any]] = {}
    images = annotations = 0
    for turn, (seed, source) in enumerate(sources.items()):
        last_image, last_annotation = images, annotations
        for name in SPLITS:
            data = json.loads(read_text(source / "annotations" / f"instances_{name}.json"))
            heads[name] = {key: data[key] for key in ("info", "licenses", "categories")}
            for image in data["images"]:
                files[f"images/{prefix(seed)}{image['file_name']}"] = source / "images" / image["file_name"]
                number, named = images + image["id"], prefix(seed) + image["file_name"]
                joined[name]["images"].append({**image, "id": number, "file_name": named, "seed": seed})
                last_image = max(last_image, number)
            for entry in data["annotations"]:
                number = annotations + entry["id"]
                moved = {"id": number, "image_id": images + entry["image_id"]}
                moved["track_id"] = turn * TRACKS_PER_SEED + entry["track_id"]
                joined[name]["annotations"].append({**entry, **moved})
                last_annotation = max(last_annotation, number)
        images, annotations = last_image, last_annotation
    for name in SPLITS:
        files[f"annotations/instances_{name}.json"] = (json.dumps({**heads[name], **joined[name]}) + "\n").encode()
    return files


def joined_yolo(sources: Mapping[int, Path]) -> Files:
    files: Files = {}
    for seed, source in sources.items():
        files["data.yaml"] = read_bytes(source / "data.yaml")
        for path in _files_in(source, "images", "labels"):
            files[f"{path.parent.relative_to(source).as_posix()}/{prefix(seed)}{path.name}"] = path
    return files


def joined_voc(sources: Mapping[int, Path]) -> Files:
    files: Files = {}
    lists: dict[str, list[str]] = {}
    for seed, source in sources.items():
        files["labelmap.txt"] = read_bytes(source / "labelmap.txt")
        for path in _files_in(source, "JPEGImages", "SegmentationClass", "SegmentationObject"):
            files[f"{path.parent.name}/{prefix(seed)}{path.name}"] = path
        for path in _files_in(source, "Annotations"):
            text = read_text(path)
            renamed = text.replace("<filename>", f"<filename>{prefix(seed)}", 1)
            files[f"Annotations/{prefix(seed)}{path.name}"] = renamed.encode()
        for path in _files_in(source, "ImageSets"):
            lines = [prefix(seed) + line for line in read_text(path).splitlines()]
            lists.setdefault(path.relative_to(source).as_posix(), []).extend(lines)
    return files | {name: "".join(f"{line}\n" for line in lines).encode() for name, lines in lists.items()}


def _files_in(source: Path, *folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((source / folder).rglob("*")) if path.is_file()]


JOINED = {"voc": joined_voc, "coco": joined_coco, "yolo": joined_yolo}
"""Formats with one folder for all seeds. The other formats hold sequences, one for each seed."""


def write_joined(files: Files, folder: Path) -> None:
    """Written to another folder first, so that an existing folder is complete."""
    aside = folder.with_name(folder.name + PARTIAL)
    try:
        shutil.rmtree(aside, ignore_errors=True)
        for name, content in files.items():
            path = aside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                write_whole(path, content)
                continue
            try:
                os.link(content, path)
            except OSError:
                # a file system without hard links
                shutil.copyfile(content, path)
        if folder.exists():
            shutil.rmtree(folder)
        aside.replace(folder)
    except OSError as error:
        raise DatasetError(f"cannot write '{folder}': {error.strerror}") from error


def differing(files: Files, folder: Path) -> list[str]:
    """Names of files that are missing, superfluous, or different from those of the seeds."""
    present = {path.relative_to(folder).as_posix() for path in _files_in(folder, "")}
    wrong = sorted(present ^ set(files))
    for name in sorted(present & set(files)):
        content, path = files[name], folder / name
        if isinstance(content, Path) and path.samefile(content):
            continue
        wanted = content if isinstance(content, bytes) else read_bytes(content)
        if read_bytes(path) != wanted:
            wrong.append(name)
    return wrong


PLAN = "seeds.json"


class SeedPlan(BaseModel):
    """The content of seeds.json; the names are those of `plan_recording`."""

    model_config = ConfigDict(frozen=True)

    seeds: tuple[int, ...]
    frames: int
    rate_hz: int | float
    formats: tuple[str, ...]
    split: str = "blocks"
    store: bool = True
    whole_flight: bool = False
    scenario: dict[str, Any]
    """With every default. Its seed is that of none."""

    def plan(self, seed: int, folder: Path) -> None:
        """Plan the recording of one seed."""
        scenario = make_scenario(self.scenario, place=PLAN).model_copy(update={"seed": seed})
        plan_recording(
            scenario, folder, frames=self.frames, rate_hz=self.rate_hz, formats=self.formats, split=self.split,
            store=self.store, whole_flight=self.whole_flight,
        )  # fmt: skip


def is_seed_set(folder: Path) -> bool:
    return (folder / PLAN).is_file()


def plan_seeds(scenario: Scenario, seeds: Sequence[int], folder: Path, **plan: Any) -> None:
    """Create an empty folder with a plan. `plan` is as in `plan_recording`, which checks it."""
    planned = SeedPlan(seeds=tuple(seeds), **plan, scenario=scenario.model_dump(mode="json"))
    make_empty_folder(folder)
    try:
        planned.plan(seeds[0], folder / seed_folder(seeds[0]))
    except BaseException:
        with suppress(OSError):
            folder.rmdir()
        raise
    data = planned.model_dump(mode="json", exclude_unset=True)
    write_whole(folder / PLAN, json.dumps(data, indent=1) + "\n")


def seed_folder(seed: int) -> str:
    return f"seed-{seed}"


def read_seeds(folder: Path) -> SeedPlan:
    try:
        return validated(SeedPlan, json.loads(read_text(folder / PLAN)), PLAN)
    except (OSError, ValueError, ScenarioError) as error:
        raise DatasetError(f"'{folder / PLAN}' cannot be read: {error}; record again") from None


def recordings(folder: Path) -> dict[int, Path]:
    """The folder of each planned seed, existing or not."""
    return {seed: folder / seed_folder(seed) for seed in read_seeds(folder).seeds}


def record_seeds(folder: Path, workers: int, progress: Progress = lambda frames, fps: None) -> dict[str, object]:
    """Record the missing seeds one after the other, then join the labels. Returns the summary."""
    plan = read_seeds(folder)
    summaries = []
    for turn, (seed, subfolder) in enumerate(recordings(folder).items()):
        if not (subfolder / RECORDING_PLAN).exists():
            plan.plan(seed, subfolder)
        summaries.append(record(subfolder, workers, _after(turn * plan.frames, progress)))
    join_labels(folder, plan.formats)
    return _together(folder, summaries)


def _after(done: int, progress: Progress) -> Progress:
    """Tells of frames beyond those that are done."""
    return lambda frames, fps: progress(done + frames, fps)


def _together(folder: Path, summaries: list[Summary]) -> dict[str, object]:
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
    subfolders = recordings(folder)
    n_vehicles = len(read_seeds(folder).scenario["vehicles"])
    found = {}
    for output in FORMATS[name].outputs(n_vehicles):
        sources = {seed: subfolder / output for seed, subfolder in subfolders.items() if (subfolder / output).is_dir()}
        if sources:
            found[output] = JOINED[name](sources)
    return found
