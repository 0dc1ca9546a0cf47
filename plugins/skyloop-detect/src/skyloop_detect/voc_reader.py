"""Reads Pascal VOC: `ImageSets/Main/<split>.txt`, `Annotations/*.xml` and `JPEGImages/*.jpg`.

VOC counts pixels from 1 and includes the last one. It says only whether an object is occluded, not by how much; what it
calls difficult is neither an example nor a counterexample.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from skyloop_client.errors import DatasetError
from skyloop_detect.samples import SMALLEST_PX, Sample

SUFFIXES = (".jpg", ".jpeg", ".png")


def read_voc(folder: Path, split: str) -> list[Sample]:
    path = folder / "ImageSets" / "Main" / f"{split}.txt"
    try:
        names = [line.split()[0] for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise DatasetError(f"'{path}' cannot be read: {error}") from None
    return [_sample(folder, name) for name in names]


def _sample(folder: Path, name: str) -> Sample:
    path = folder / "Annotations" / f"{name}.xml"
    try:
        root = ElementTree.parse(path).getroot()
        size = (int(_text(root, "size/width")), int(_text(root, "size/height")))
        things = root.findall("object")
        corners = [
            [float(_text(thing, f"bndbox/{edge}")) for edge in ("xmin", "ymin", "xmax", "ymax")] for thing in things
        ]
        difficult = [(thing.findtext("difficult") or "0").strip() == "1" for thing in things]
        names = tuple(_text(thing, "name") for thing in things)
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
