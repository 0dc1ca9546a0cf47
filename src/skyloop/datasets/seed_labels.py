"""Joins the VOC, COCO and YOLO labels of several seeds in one folder, to train detectors.

Names of images begin with their seed, `seed-3-<stamp>.jpg`. Images and masks are hard links to those of the
seeds if the file system has links, so that they need no extra space.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skyloop.core.files import PARTIAL, write_whole
from skyloop.recording.formats.splitting import SPLITS
from skyloop_client.errors import DatasetError

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
            data = json.loads((source / "annotations" / f"instances_{name}.json").read_text(encoding="utf-8"))
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
        files["data.yaml"] = (source / "data.yaml").read_bytes()
        for path in _files_in(source, "images", "labels"):
            files[f"{path.parent.relative_to(source).as_posix()}/{prefix(seed)}{path.name}"] = path
    return files


def joined_voc(sources: Mapping[int, Path]) -> Files:
    files: Files = {}
    lists: dict[str, list[str]] = {}
    for seed, source in sources.items():
        files["labelmap.txt"] = (source / "labelmap.txt").read_bytes()
        for path in _files_in(source, "JPEGImages", "SegmentationClass", "SegmentationObject"):
            files[f"{path.parent.name}/{prefix(seed)}{path.name}"] = path
        for path in _files_in(source, "Annotations"):
            text = path.read_text(encoding="utf-8")
            renamed = text.replace("<filename>", f"<filename>{prefix(seed)}", 1)
            files[f"Annotations/{prefix(seed)}{path.name}"] = renamed.encode()
        for path in _files_in(source, "ImageSets"):
            lines = [prefix(seed) + line for line in path.read_text(encoding="utf-8").splitlines()]
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
        wanted = content if isinstance(content, bytes) else content.read_bytes()
        if path.read_bytes() != wanted:
            wrong.append(name)
    return wrong
