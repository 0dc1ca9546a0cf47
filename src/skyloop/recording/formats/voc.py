"""Pascal VOC: JPEG images, boxes in XML, masks of classes and objects as palette PNGs, and lists of each split.

Boxes count pixels from 1 and include the last pixel. Entry k of `SegmentationClass` is the class of that number in the
recording (`labelmap.txt` has their names); 0 is the sky. Entry k of `SegmentationObject` is the k-th object of the XML;
0 is everything without boxes. 255 (void) is an object of a class with boxes that is too small for one. Masks are exact,
so there is no void rim around the objects as in the original."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from skyloop.core.files import write_whole
from skyloop.recording.formats.label_images import SPLITS, LabelImage, LabelImages, emptied, jpeg
from skyloop.recording.recording import Recording
from skyloop_client.messages import Label, Message

VOID = 255
OCCLUDED, TRUNCATED = 0.05, 0.15
"""Shares above which VOC's annotation guidelines set the flag. Here only the image's edge truncates."""
DIFFICULT_SHARE, DIFFICULT_PX = 0.75, 50
"""Difficult: more than this share occluded or outside the image, or fewer visible pixels."""
SETS = {**{name: (name,) for name in SPLITS}, "trainval": ("train", "val")}


class VocWriter:
    """Writes images one by one, and at the end the lists of each split."""

    def __init__(
        self, folder: Path, streams: tuple[str, str], classes: Mapping[int, str], every: Sequence[str]
    ) -> None:
        """streams: of the images and of their truth; classes: those that get boxes, by number; every: all of them."""
        self._folder, self._streams, self._classes, self._all_classes = folder, streams, classes, every
        self._gets_boxes = np.zeros(256, bool)
        self._gets_boxes[list(classes)] = True
        self._palette = palette()
        self._seen: dict[str, dict[str, int]] = {}
        """By image and class: 1 if seen, 0 if only difficult."""

    @property
    def names(self) -> list[str]:
        """The images so far."""
        return list(self._seen)

    def add(self, image: LabelImage) -> None:
        classes, objects = self._masks(image)
        write_whole(self._folder / "JPEGImages" / f"{image.name}.jpg", jpeg(image.colour))
        write_whole(self._folder / "SegmentationClass" / f"{image.name}.png", self._png(classes))
        write_whole(self._folder / "SegmentationObject" / f"{image.name}.png", self._png(objects))
        write_whole(self._folder / "Annotations" / f"{image.name}.xml", self._xml(image))
        seen = self._seen[image.name] = {}
        for label in image.labels:
            name = voc_name(label.class_name)
            seen[name] = max(seen.get(name, 0), int(not is_difficult(label)))

    def _masks(self, image: LabelImage) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        objects = np.where(self._gets_boxes[image.classes], np.uint8(VOID), np.uint8(0))
        classes = image.classes.copy()
        boxed = np.zeros(objects.shape, bool)
        for k, label in enumerate(image.labels, 1):
            left, top, right, bottom = label.box_px
            part, mask = np.s_[top : bottom + 1, left : right + 1], image.mask(label)
            # a byte has no value for a 255th object
            objects[part][mask] = min(k, VOID)
            boxed[part] |= mask
        classes[(objects == VOID) & ~boxed] = VOID
        return classes, objects

    def _png(self, entries: NDArray[np.uint8]) -> bytes:
        picture = Image.frombytes("P", entries.shape[::-1], entries.tobytes())
        picture.putpalette(self._palette)
        file = io.BytesIO()
        picture.save(file, "PNG", compress_level=3)
        return file.getvalue()

    def _xml(self, image: LabelImage) -> str:
        height, width = image.instances.shape
        root = ElementTree.Element("annotation")
        _texts(root, folder=self._folder.name, filename=f"{image.name}.jpg")
        source = ElementTree.SubElement(root, "source")
        _texts(source, database="skyloop", annotation=self._streams[1], image=self._streams[0])
        _texts(ElementTree.SubElement(root, "size"), width=width, height=height, depth=3)
        _texts(root, segmented=1)
        for label in image.labels:
            thing = ElementTree.SubElement(root, "object")
            _texts(
                thing,
                name=voc_name(label.class_name),
                pose="Unspecified",
                truncated=int(label.truncation > TRUNCATED),
                occluded=int(label.occlusion > OCCLUDED),
                difficult=int(is_difficult(label)),
            )
            left, top, right, bottom = label.box_px
            box = ElementTree.SubElement(thing, "bndbox")
            _texts(box, xmin=left + 1, ymin=top + 1, xmax=right + 1, ymax=bottom + 1)
        ElementTree.indent(root, "\t")
        return ElementTree.tostring(root, encoding="unicode") + "\n"

    def finish(self, splits: Mapping[str, str]) -> None:
        """splits: the split of each of `names`."""
        self._write_labelmap()
        for name, parts in SETS.items():
            images = [image for image, part in splits.items() if part in parts]
            text = "".join(f"{image}\n" for image in images)
            write_whole(self._folder / "ImageSets" / "Main" / f"{name}.txt", text)
            write_whole(self._folder / "ImageSets" / "Segmentation" / f"{name}.txt", text)
            for kind in map(voc_name, self._classes.values()):
                text = "".join(f"{image} {self._seen[image].get(kind, -1):2d}\n" for image in images)
                write_whole(self._folder / "ImageSets" / "Main" / f"{kind}_{name}.txt", text)

    def _write_labelmap(self) -> None:
        """In the form of CVAT and Datumaro: one line for each entry of SegmentationClass, in its order."""
        lines = ["# label:color_rgb:parts:actions"]
        lines += [
            f"{voc_name(name)}:{','.join(map(str, self._palette[3 * k : 3 * k + 3]))}::"
            for k, name in enumerate(self._all_classes)
        ]
        write_whole(self._folder / "labelmap.txt", "\n".join(lines) + "\n")


class Voc:
    first_group = 0

    def __init__(self, recording: Recording) -> None:
        source = self._source = LabelImages(recording)
        streams = (source.stream, source.truth_stream)
        self._writer = VocWriter(emptied(recording, "voc"), streams, source.classes, recording.classes)

    def add(self, messages: list[Message]) -> None:
        for image in self._source.of(messages):
            self._writer.add(image)

    def finish(self) -> None:
        self._writer.finish(self._source.splits(self._writer.names))


def voc_name(class_name: str) -> str:
    """Names are also used in file names and list columns, so spaces are replaced."""
    return class_name.replace(" ", "_")


def is_difficult(label: Label) -> bool:
    return max(label.occlusion, label.truncation) > DIFFICULT_SHARE or label.visible_px < DIFFICULT_PX


def palette() -> list[int]:
    """VOC's 256 colours: bits 0, 1, 2 of an entry are the highest of red, green, blue, its next three the second."""
    entries = np.arange(256)[:, None]
    colours = np.zeros((256, 3), int)
    for k in range(8):
        colours |= ((entries >> (3 * k + np.arange(3))) & 1) << (7 - k)
    out: list[int] = colours.ravel().tolist()
    return out


def _texts(parent: ElementTree.Element, **texts: object) -> None:
    for tag, text in texts.items():
        ElementTree.SubElement(parent, tag).text = str(text)
