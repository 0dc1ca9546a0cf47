"""Small images with upright blots for people, as a dataset in COCO and VOC; another tool's writer is not needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

WIDTH, HEIGHT = 160, 120
PER_IMAGE = 3


def drawn(seed: int) -> tuple[np.ndarray, list[tuple[int, int, int, int]]]:
    """An image, and left, top, width and height of each blot."""
    random = np.random.default_rng(seed)
    image = random.integers(60, 120, (HEIGHT, WIDTH, 3), dtype=np.uint8)
    boxes = []
    for _ in range(PER_IMAGE):
        tall = int(random.integers(20, 60))
        wide = int(0.4 * tall)
        left, top = int(random.integers(0, WIDTH - wide)), int(random.integers(0, HEIGHT - tall))
        image[top : top + tall, left : left + wide] = random.integers(0, 255, 3)
        boxes.append((left, top, wide, tall))
    return image, boxes


def write_both(folder: Path, count: int, splits: tuple[str, ...] = ("train", "val", "test")) -> Path:
    """The same images in `coco` and `voc`; every split has all of them."""
    images: list[Any] = []
    annotations: list[Any] = []
    names: list[str] = []
    for k in range(count):
        image, boxes = drawn(k)
        name = f"image-{k}"
        names.append(name)
        for place in (folder / "coco" / "images", folder / "voc" / "JPEGImages"):
            place.mkdir(parents=True, exist_ok=True)
            # PNG: the pixels are the drawn ones
            Image.fromarray(image).save(place / f"{name}.png")
        images.append({"id": k + 1, "file_name": f"{name}.png", "width": WIDTH, "height": HEIGHT})
        for box in boxes:
            entry = {"id": len(annotations) + 1, "image_id": k + 1, "category_id": 26, "bbox": list(box), "iscrowd": 0}
            annotations.append({**entry, "area": box[2] * box[3], "occlusion": 0.25})
        xml = folder / "voc" / "Annotations" / f"{name}.xml"
        xml.parent.mkdir(exist_ok=True)
        xml.write_text(_xml(name, boxes), encoding="utf-8")
    data = {"images": images, "annotations": annotations, "categories": [{"id": 26, "name": "person"}]}
    for split in splits:
        path = folder / "coco" / "annotations" / f"instances_{split}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(data), encoding="utf-8")
        path = folder / "voc" / "ImageSets" / "Main" / f"{split}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    return folder


def _xml(name: str, boxes: list[tuple[int, int, int, int]]) -> str:
    things = "".join(
        f"<object><name>person</name><difficult>0</difficult><bndbox><xmin>{x + 1}</xmin><ymin>{y + 1}</ymin>"
        f"<xmax>{x + w}</xmax><ymax>{y + h}</ymax></bndbox></object>"
        for x, y, w, h in boxes
    )
    size = f"<size><width>{WIDTH}</width><height>{HEIGHT}</height><depth>3</depth></size>"
    return f"<annotation><filename>{name}.png</filename>{size}{things}</annotation>"
