"""Reads COCO: `annotations/instances_<split>*.json`, with images in `images/`, in a folder of the split, or beside
them."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from skyloop_client.errors import DatasetError
from skyloop_detect.samples import MOST_HIDDEN, SMALLEST_PX, Sample


def read_coco(folder: Path, split: str) -> list[Sample]:
    files = sorted((folder / "annotations").glob(f"instances_{split}*.json"))
    if not files:
        raise DatasetError(f"'{folder}' has no annotations/instances_{split}.json")
    try:
        data = json.loads(files[0].read_text(encoding="utf-8"))
        names = {int(entry["id"]): str(entry["name"]) for entry in data["categories"]}
        by_image: dict[int, list[Any]] = defaultdict(list)
        for entry in data["annotations"]:
            by_image[int(entry["image_id"])].append(entry)
        folders = _image_folders(folder, split)
        return [_sample(image, by_image[int(image["id"])], names, folders) for image in data["images"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        told = f"{type(error).__name__}: {error}" if isinstance(error, (KeyError, TypeError)) else str(error)
        raise DatasetError(f"'{files[0]}' is damaged or no COCO file ({told})") from None


def _image_folders(folder: Path, split: str) -> list[Path]:
    """Where images may be, those of the split first; COCO's own are in train2017 and val2017."""
    named = sorted(place for place in folder.glob(f"{split}*") if place.is_dir())
    return [folder / "images" / split, *named, folder / "images", folder]


def _sample(image: dict[str, Any], entries: list[Any], names: dict[int, str], folders: list[Path]) -> Sample:
    paths = [place / str(image["file_name"]) for place in folders]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise DatasetError(f"the image '{image['file_name']}' is in none of the folders of '{folders[-1]}'")
    boxes = np.array([entry["bbox"] for entry in entries], np.float32).reshape(-1, 4)
    boxes[:, 2:] += boxes[:, :2]
    hidden = np.array([entry.get("occlusion", 0.0) for entry in entries], np.float32)
    outside = np.array([entry.get("truncation", 0.0) for entry in entries], np.float32)
    crowd = np.array([bool(entry.get("iscrowd", 0)) for entry in entries], np.bool_)
    small = boxes[:, 3] - boxes[:, 1] < SMALLEST_PX
    return Sample(
        path,
        (int(image["width"]), int(image["height"])),
        boxes,
        tuple(names[int(entry["category_id"])] for entry in entries),
        hidden,
        crowd | small | (hidden > MOST_HIDDEN) | (outside > MOST_HIDDEN),
    )
