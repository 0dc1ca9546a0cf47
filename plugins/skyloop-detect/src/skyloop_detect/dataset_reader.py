"""Reads a dataset in COCO or Pascal VOC, whichever a folder holds.

COCO is `annotations/instances_<split>*.json`, with images in `images/`, in a folder of the
split, or beside them.

Pascal VOC is `ImageSets/Main/<split>.txt`, `Annotations/*.xml` and `JPEGImages/*.jpg`.

VOC counts pixels from 1 and includes the last one. It says only whether an object is occluded, not by how much; what it
calls difficult is neither an example nor a counterexample.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from skyloop_client import regular_files
from skyloop_client.errors import DatasetError
from skyloop_detect.samples import MOST_HIDDEN, SMALLEST_PX, Sample


def read_samples(folder: Path, split: str) -> list[Sample]:
    """One split of a dataset in COCO or VOC; the folder is the dataset's, or one that holds `coco` or `voc`."""
    if not folder.is_dir():
        raise DatasetError(f"'{folder}' is no folder; give a dataset in COCO or VOC")
    for root in (folder / "coco", folder):
        if (root / "annotations").is_dir():
            return _not_empty(read_coco(root, split), root, split)
    for root in (folder / "voc", folder):
        if (root / "ImageSets" / "Main").is_dir():
            return _not_empty(read_voc(root, split), root, split)
    raise DatasetError(
        f"'{folder}' is no dataset in COCO (annotations/instances_{split}.json) or VOC (ImageSets/Main/{split}.txt)"
    )


def _not_empty(samples: list[Sample], root: Path, split: str) -> list[Sample]:
    if not samples:
        raise DatasetError(f"the {split} split of '{root}' has no images")
    return samples


def read_coco(folder: Path, split: str) -> list[Sample]:
    files = sorted((folder / "annotations").glob(f"instances_{split}*.json"))
    if not files:
        raise DatasetError(f"'{folder}' has no annotations/instances_{split}.json")
    try:
        data = json.loads(regular_files.read_text(files[0]))
        names = {int(entry["id"]): str(entry["name"]) for entry in data["categories"]}
        by_image: dict[int, list[Any]] = defaultdict(list)
        for entry in data["annotations"]:
            by_image[int(entry["image_id"])].append(entry)
        folders = _image_folders(folder, split)
        return [_coco_sample(image, by_image[int(image["id"])], names, folders) for image in data["images"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = f"{type(error).__name__}: {error}" if isinstance(error, (KeyError, TypeError)) else str(error)
        raise DatasetError(f"'{files[0]}' is damaged or no COCO file ({reason})") from None


def _image_folders(folder: Path, split: str) -> list[Path]:
    """Where images may be, those of the split first; COCO's own are in train2017 and val2017."""
    named = sorted(entry for entry in folder.glob(f"{split}*") if entry.is_dir())
    return [folder / "images" / split, *named, folder / "images", folder]


def _coco_sample(image: dict[str, Any], entries: list[Any], names: dict[int, str], folders: list[Path]) -> Sample:
    paths = [images / str(image["file_name"]) for images in folders]
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


SUFFIXES = (".jpg", ".jpeg", ".png")


def read_voc(folder: Path, split: str) -> list[Sample]:
    path = folder / "ImageSets" / "Main" / f"{split}.txt"
    try:
        names = [line.split()[0] for line in regular_files.read_text(path).splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise DatasetError(f"'{path}' cannot be read: {error}") from None
    return [_voc_sample(folder, name) for name in names]


def _voc_sample(folder: Path, name: str) -> Sample:
    path = folder / "Annotations" / f"{name}.xml"
    try:
        root = ElementTree.parse(path).getroot()
        size = (int(_text(root, "size/width")), int(_text(root, "size/height")))
        objects = root.findall("object")
        corners = [
            [float(_text(entry, f"bndbox/{edge}")) for edge in ("xmin", "ymin", "xmax", "ymax")] for entry in objects
        ]
        difficult = [(entry.findtext("difficult") or "0").strip() == "1" for entry in objects]
        names = tuple(_text(entry, "name") for entry in objects)
    except (OSError, ValueError, ElementTree.ParseError) as error:
        raise DatasetError(f"'{path}' is damaged or no VOC file ({error})") from None
    image = next((found for s in SUFFIXES if (found := folder / "JPEGImages" / f"{name}{s}").is_file()), None)
    if image is None:
        raise DatasetError(f"the image of '{path}' is missing")
    boxes = np.array(corners, np.float32).reshape(-1, 4)
    boxes[:, :2] -= 1.0
    small = boxes[:, 3] - boxes[:, 1] < SMALLEST_PX
    return Sample(image, size, boxes, names, np.zeros(len(boxes), np.float32), np.array(difficult, np.bool_) | small)


def _text(root: ElementTree.Element, path: str) -> str:
    text = root.findtext(path)
    if text is None:
        raise ValueError(f"no <{path}>")
    return text.strip()
