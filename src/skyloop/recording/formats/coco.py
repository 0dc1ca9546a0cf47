"""COCO: `images/` and one file of instances per split, each with its mask as run-length encoding.

Boxes are [left, top, width, height] in pixels. Whole numbers are the edges of pixels, not their centres. Beyond COCO an
annotation has `track_id` (the object's number in the world, the same in every image), `occlusion` and `truncation` (0
to 1), and an image has `t_ns`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.files import write_whole
from skyloop.recording.formats.label_images import SPLITS, LabelImage, LabelImages, emptied, jpeg
from skyloop.recording.recording import Recording
from skyloop_client.messages import Label, Message

CocoEntry = dict[str, Any]
"""An image, a category or an annotation."""


class CocoWriter:
    """Writes images one by one, and at the end the annotations of each split."""

    def __init__(self, folder: Path, stream: str, classes: Mapping[int, str]) -> None:
        """classes: names by number of the classes that get labels; the numbers become COCO's categories."""
        self._folder, self._stream, self._classes = folder, stream, classes
        self._class_ids = {name: number for number, name in classes.items()}
        self._images: list[CocoEntry] = []
        self._annotations: list[CocoEntry] = []

    @property
    def names(self) -> list[str]:
        """The images so far."""
        return [image["file_name"] for image in self._images]

    def add(self, image: LabelImage) -> None:
        file_name = f"{image.name}.jpg"
        write_whole(self._folder / "images" / file_name, jpeg(image.colour))
        height, width = image.instances.shape
        # ids start at 1, because pycocotools' evaluation treats annotation 0 as none
        number = len(self._images) + 1
        size = {"width": width, "height": height}
        self._images.append({"id": number, "file_name": file_name, **size, "t_ns": image.t_ns, **image.facts})
        for label in image.labels:
            self._annotations.append(
                {"id": len(self._annotations) + 1, "image_id": number, **self._annotation(image, label)}
            )

    def _annotation(self, image: LabelImage, label: Label) -> dict[str, object]:
        height, width = image.instances.shape
        left, top, right, bottom = label.box_px
        mask = image.mask(label)
        return {
            "category_id": self._class_ids[label.class_name],
            "bbox": [left, top, right - left + 1, bottom - top + 1],
            "area": int(mask.sum()),
            "iscrowd": 0,
            "segmentation": {
                "size": [height, width],
                "counts": packed(run_lengths(mask, left, top, width, height)),
            },
            "track_id": label.instance,
            "occlusion": label.occlusion,
            "truncation": label.truncation,
        }

    def finish(self, splits: Mapping[str, str]) -> None:
        """splits: the split of each of `names`."""
        by_image = {image["id"]: splits[image["file_name"]] for image in self._images}
        categories = [{"id": number, "name": name, "supercategory": name} for number, name in self._classes.items()]
        for name in SPLITS:
            data = {
                "info": {"description": f"skyloop, {self._stream}, {name}", "version": "1.0"},
                "licenses": [],
                "categories": categories,
                "images": [image for image in self._images if by_image[image["id"]] == name],
                "annotations": [entry for entry in self._annotations if by_image[entry["image_id"]] == name],
            }
            write_whole(self._folder / "annotations" / f"instances_{name}.json", json.dumps(data) + "\n")


class Coco:
    first_group = 0

    def __init__(self, recording: Recording) -> None:
        self._source = LabelImages(recording)
        self._writer = CocoWriter(emptied(recording, "coco"), self._source.stream, self._source.classes)

    def add(self, messages: list[Message]) -> None:
        for image in self._source.of(messages):
            self._writer.add(image)

    def finish(self) -> None:
        self._writer.finish(self._source.splits(self._writer.names))


def run_lengths(mask: NDArray[np.bool_], left: int, top: int, width: int, height: int) -> list[int]:
    """Run lengths of a whole image by columns, starting with background. `mask` is the part of it at (left, top)."""
    columns, rows = np.nonzero(mask.T)
    at = (columns + left) * height + rows + top
    breaks = np.flatnonzero(np.diff(at) != 1)
    starts = at[np.concatenate([[0], breaks + 1])]
    ends = at[np.concatenate([breaks, [len(at) - 1]])] + 1
    edges = np.concatenate([[0], np.stack([starts, ends], 1).ravel(), [width * height]])
    runs: list[int] = np.diff(edges).tolist()
    return runs if runs[-1] else runs[:-1]


def packed(runs: list[int]) -> str:
    """COCO's compressed run lengths: from the fourth on the difference to the run two before, 5 bits a letter."""
    out = bytearray()
    for k, run in enumerate(runs):
        left = run - runs[k - 2] if k > 2 else run
        while True:
            bits = left & 31
            left >>= 5
            if left == (-1 if bits & 16 else 0):
                out.append(48 + bits)
                break
            out.append(48 + 32 + bits)
    return out.decode("ascii")
