"""Images with labels, for the formats that train detectors."""

from __future__ import annotations

import hashlib
import io
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from skyloop.recording.formats.registry import NothingForFormat, output_folder
from skyloop.recording.recording import Recording
from skyloop_client.errors import DatasetError, unknown_name
from skyloop_client.messages import CameraImage, ImageTruth, Label, Message

SPLITS = ("train", "val", "test")
FIFTHS = {"train": 3, "val": 1, "test": 1}
METHODS = ("blocks", "random")
ROUNDS = 3
"""Blocks of each split per flight."""
LEAST_IN_ROUND = 20
"""Images. A flight with fewer has only one round."""


def check_method(method: str) -> None:
    if method not in METHODS:
        raise unknown_name("split", method, METHODS)


def split(n: int, method: str = "blocks", seed: int = 0) -> list[str]:
    """The split of each of n images in order of time. `seed` is used only by "random"."""
    check_method(method)
    if method == "blocks":
        return _blocks(n, ROUNDS if n >= ROUNDS * LEAST_IN_ROUND else 1)
    # sorted by a hash, because random numbers may change with numpy's version
    order = sorted(range(n), key=lambda i: hashlib.sha256(f"{seed}/{i}".encode()).digest())
    dealt = dict(zip(order, _blocks(n, 1), strict=True))
    return [dealt[i] for i in range(n)]


def _blocks(n: int, rounds: int) -> list[str]:
    """Each round begins with another split, so that no split always gets the same part of each side of a square."""
    out: list[str] = []
    fifths = 0
    for turn in range(rounds):
        for k in range(len(SPLITS)):
            name = SPLITS[(turn + k) % len(SPLITS)]
            fifths += FIFTHS[name]
            end = -(-fifths * n // (5 * rounds))
            out += [name] * (end - len(out))
    return out


NEEDED = ("classes", "instances", "labels")
"""Kinds of camera truth that are needed."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelImage:
    """An image with its labels."""

    t_ns: int
    colour: NDArray[np.uint8]
    classes: NDArray[np.uint8]
    instances: NDArray[np.int32]
    labels: tuple[Label, ...]
    facts: Mapping[str, object] = field(default_factory=dict)
    """What else is known of the image; it becomes part of its entry in COCO."""

    @property
    def name(self) -> str:
        """File name: the stamp in ns with a fixed number of digits, so that names sort by time."""
        return f"{self.t_ns:019d}"

    def mask(self, label: Label) -> NDArray[np.bool_]:
        """The pixels of the label's box that belong to its object."""
        left, top, right, bottom = label.box_px
        mask: NDArray[np.bool_] = self.instances[top : bottom + 1, left : right + 1] == label.instance
        return mask


class LabelImages:
    """Pairs the images of the vehicle's first labelled camera with their truth."""

    def __init__(self, recording: Recording) -> None:
        for self.truth_stream in recording.streams_of("ImageTruth"):
            if recording.infos[self.truth_stream].vehicle != recording.vehicle:
                continue
            self.stream = self.truth_stream.removeprefix("truth/")
            config = _sensor_config(recording, self.stream)
            if self.stream in recording.infos and all(name in config.get("truth", ()) for name in NEEDED):
                break
        else:
            raise NothingForFormat(
                f"no camera of '{recording.folder}' has labels; record one with truth: [{', '.join(NEEDED)}]"
            )
        details = recording.infos[self.stream].details
        self.width, self.height = int(details["width"]), int(details["height"])
        self.classes = {
            number: name for number, name in enumerate(recording.classes) if name in config["label_classes"]
        }
        """Names by number of the classes that get labels, seen or not. They are the same for every flight."""
        self._method = str(recording.facts.get("split", "blocks"))
        check_method(self._method)
        self._images: dict[int, CameraImage] = {}
        self._truths: dict[int, ImageTruth] = {}

    def of(self, messages: Iterable[Message]) -> Iterator[LabelImage]:
        """In order of time. An image without truth, or truth without an image, is left out."""
        for message in messages:
            t_ns = message.t_ns
            if message.stream == self.stream:
                self._images[t_ns] = message.data
            elif message.stream == self.truth_stream:
                self._truths[t_ns] = message.data
            if t_ns in self._images and t_ns in self._truths:
                truth = self._truths[t_ns]
                assert truth.classes is not None and truth.instances is not None
                yield LabelImage(t_ns, self._images[t_ns].colour, truth.classes, truth.instances, truth.labels)
                self._images = {t: image for t, image in self._images.items() if t > t_ns}
                self._truths = {t: other for t, other in self._truths.items() if t > t_ns}

    def splits(self, names: Iterable[str]) -> dict[str, str]:
        """The split of each image, given in order of time."""
        images = list(names)
        return dict(zip(images, split(len(images), self._method), strict=True))


def _sensor_config(recording: Recording, stream: str) -> dict[str, Any]:
    for vehicle in recording.facts["scenario"]["vehicles"]:
        if vehicle["name"] == recording.vehicle:
            return dict(vehicle["sensors"].get(recording.sensor_name(stream), {}))
    return {}


def jpeg(colour: NDArray[np.uint8]) -> bytes:
    """Quality 95, without chroma subsampling (4:4:4)."""
    file = io.BytesIO()
    Image.fromarray(colour).save(file, "JPEG", quality=95, subsampling=0)
    return file.getvalue()


def emptied(recording: Recording, name: str) -> Path:
    """The format's own folder, emptied of the results of another split or of a killed export."""
    folder = output_folder(recording, name)
    try:
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir()
    except OSError as error:
        raise DatasetError(f"cannot write '{folder}': {error.strerror}") from error
    return folder
