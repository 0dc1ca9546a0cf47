"""Runs the detector on images of the user's: draws boxes, and writes what was found as COCO results."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from skyloop.core.files import write_whole
from skyloop_client.errors import DatasetError
from skyloop_detect.dataset_reader import read_samples
from skyloop_detect.detector import Detector, Objects
from skyloop_detect.samples import SPLITS, Sample, read_image
from skyloop_detect.scoring import scored

SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp")
COLOURS = ((230, 60, 60), (70, 130, 240), (245, 160, 30), (70, 200, 90), (210, 80, 220), (60, 200, 210))
LEAST_SCORE = 0.02
"""Detections that are scored, where there are labels."""


def detect_in(
    source: Path,
    folder: Path,
    detector: Detector,
    *,
    only: Collection[str] = (),
    split: str = "test",
    draw: bool = True,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> dict[str, Any]:
    """An image, a folder of images, or a dataset, whose labels are then scored against."""
    samples = _labelled(source, split)
    paths = [sample.path for sample in samples] if samples else images_of(source)
    results: list[dict[str, Any]] = []
    images: list[dict[str, Any]] = []
    found = []
    for number, path in enumerate(paths, 1):
        image = read_image(path)
        objects = detector.find(image, only)
        if draw:
            name = f"{number:06d}-{path.stem}.png"
            write_drawn(folder / "drawn" / name, image, objects, detector.classes)
        images.append({"id": number, "file_name": str(path), "width": image.shape[1], "height": image.shape[0]})
        results += coco_results(number, objects, detector.classes)
        if samples:
            found.append(detector.find_numbers(image, LEAST_SCORE))
        progress(number, len(paths))
    categories = [{"id": k, "name": name} for k, name in enumerate(detector.classes, 1)]
    write_whole(folder / "results.json", json.dumps(results) + "\n")
    write_whole(folder / "images.json", json.dumps({"images": images, "categories": categories}, indent=1) + "\n")
    summary: dict[str, Any] = {"folder": str(folder), "images": len(paths), "objects": len(results)}
    summary |= {"runtime": detector.runtime, "classes": list(detector.classes)}
    if samples:
        scores = scored(samples, found, detector.classes)
        summary["ap50"] = {name: score.ap50 for name, score in scores.items() if score.objects}
    return summary


def _labelled(source: Path, split: str) -> list[Sample]:
    """The samples of a dataset; none if the source is an image or a folder of images."""
    if split not in SPLITS:
        raise DatasetError(f"--split {split}: give one of {', '.join(SPLITS)}")
    marks = ("coco/annotations", "annotations", "voc/ImageSets", "ImageSets")
    return read_samples(source, split) if any((source / mark).is_dir() for mark in marks) else []


def images_of(source: Path) -> list[Path]:
    if source.is_dir():
        paths = sorted(path for path in source.iterdir() if path.suffix.lower() in SUFFIXES)
        if not paths:
            raise DatasetError(f"'{source}' holds no images ({', '.join(SUFFIXES)}) and no dataset in COCO or VOC")
        return paths
    return [source]


def coco_results(number: int, objects: Objects, classes: tuple[str, ...]) -> list[dict[str, Any]]:
    """In the form that pycocotools' loadRes reads; categories count from 1 in the order of the model's classes."""
    return [
        {
            "image_id": number,
            "category_id": classes.index(name) + 1,
            "bbox": [round(float(v), 2) for v in (box[0], box[1], box[2] - box[0], box[3] - box[1])],
            "score": round(float(score), 5),
        }
        for box, name, score in zip(objects.boxes_px, objects.classes, objects.scores, strict=True)
    ]


def write_drawn(path: Path, image: NDArray[np.uint8], objects: Objects, classes: tuple[str, ...]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        drawn(image, objects, classes).save(path)
    except OSError as error:
        raise DatasetError(f"cannot write '{path}': {error.strerror or error}") from None


def drawn(image: NDArray[np.uint8], objects: Objects, classes: tuple[str, ...]) -> Image.Image:
    """The image with a box, class and score for each object."""
    picture = Image.fromarray(image)
    draw = ImageDraw.Draw(picture)
    for box, name, score in zip(objects.boxes_px, objects.classes, objects.scores, strict=True):
        colour = COLOURS[classes.index(name) % len(COLOURS)]
        left, top, right, bottom = (round(float(edge)) for edge in box)
        # the frame lies around the object's pixels
        draw.rectangle([left - 1, top - 1, max(right, left), max(bottom, top)], outline=colour)
        draw.text((left, max(top - 12, 0)), f"{name} {score:.2f}", fill=colour)
    return picture
