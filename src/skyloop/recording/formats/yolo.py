"""YOLO in Ultralytics' layout: `images/` and `labels/` by split, and `data.yaml` with the names.

A line of a label is class, centre and size of the box (right, down) as shares of the image."""

from __future__ import annotations

from skyloop.core.files import write_whole
from skyloop.recording.formats.label_images import SPLITS, LabelImages, emptied, jpeg
from skyloop.recording.recording import Recording
from skyloop_client.errors import DatasetError
from skyloop_client.messages import Label, Message

UNSPLIT = "unsplit"
"""Images wait here, because their split is only known at the end."""


class Yolo:
    first_group = 0

    def __init__(self, recording: Recording) -> None:
        self._source = LabelImages(recording)
        self._folder = emptied(recording, "yolo")
        self._class_ids = {name: k for k, name in enumerate(self._source.classes.values())}
        self._labels: dict[str, str] = {}

    def add(self, messages: list[Message]) -> None:
        for image in self._source.of(messages):
            write_whole(self._folder / UNSPLIT / f"{image.name}.jpg", jpeg(image.colour))
            self._labels[image.name] = "".join(self._line(label) for label in image.labels)

    def _line(self, label: Label) -> str:
        left, top, right, bottom = label.box_px
        width, height = self._source.width, self._source.height
        shares = (
            (left + right + 1) / (2 * width),
            (top + bottom + 1) / (2 * height),
            (right + 1 - left) / width,
            (bottom + 1 - top) / height,
        )
        return f"{self._class_ids[label.class_name]} {' '.join(f'{share:.8f}' for share in shares)}\n"

    def finish(self) -> None:
        try:
            for name in SPLITS:
                (self._folder / "images" / name).mkdir(parents=True)
                (self._folder / "labels" / name).mkdir(parents=True)
            for image, name in self._source.splits(self._labels).items():
                write_whole(self._folder / "labels" / name / f"{image}.txt", self._labels[image])
                (self._folder / UNSPLIT / f"{image}.jpg").replace(self._folder / "images" / name / f"{image}.jpg")
            if self._labels:
                (self._folder / UNSPLIT).rmdir()
        except OSError as error:
            raise DatasetError(f"cannot write '{self._folder}': {error.strerror}") from error
        # without `path` Ultralytics uses the folder of this file
        lines = "".join(f"{name}: images/{name}\n" for name in SPLITS)
        names = "".join(f"  {k}: {name}\n" for name, k in self._class_ids.items())
        write_whole(self._folder / "data.yaml", f"{lines}names:\n{names}")
