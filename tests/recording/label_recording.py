"""A recording painted by hand: images whose things, and what hides them, are known without any renderer."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np

from skyloop.recording.formats.registry import FORMATS
from skyloop.recording.journal import GroupWriter
from skyloop.recording.recording import Recording, create_recording
from skyloop_client.codec import info_from
from skyloop_client.messages import CameraImage, ImageTruth, Label, Message

WIDTH, HEIGHT = 40, 30
START_NS, STEP_NS = 1_000_000_007, 50_000_000
CLASSES = ["sky", "grass", "person", "car", "traffic light"]
GRASS, PERSON, CAR, LIGHT = 1, 2, 3, 4
LABEL_CLASSES = ["person", "car", "traffic light"]
HIDDEN, EDGE, CAR_HERE, LIGHT_HERE, SPECK = 11, 12, 13, 14, 15
"""Numbers of things: a person behind the car, a person cut by the left edge, one of 3 pixels who gets no label."""
SHARES = {HIDDEN: (0.5, 0.0), EDGE: (0.0, 0.4), CAR_HERE: (0.0, 0.0), LIGHT_HERE: (0.9, 0.0)}
"""Occlusion and truncation."""


def painted_classes_and_things(k: int) -> tuple[np.ndarray, np.ndarray]:
    """Image k; every third has no things."""
    classes = np.zeros((HEIGHT, WIDTH), np.uint8)
    things = np.zeros((HEIGHT, WIDTH), np.int32)
    classes[12:], things[12:] = GRASS, 1
    if k % 3 == 2:
        return classes, things

    def paint(part, number, class_id):
        classes[part], things[part] = class_id, number

    paint(np.s_[0:11, 0:5], EDGE, PERSON)
    paint(np.s_[8:20, 14 + k % 2 : 20], HIDDEN, PERSON)
    paint(np.s_[14:30, 17:40], CAR_HERE, CAR)
    paint(np.s_[20:24:2, 20:30:3], 1, GRASS)  # holes
    paint(np.s_[2:5, 30:34], LIGHT_HERE, LIGHT)
    paint(np.s_[6:9, 36], SPECK, PERSON)
    return classes, things


def painted_labels(classes: np.ndarray, things: np.ndarray) -> tuple[Label, ...]:
    out = []
    for number, (occlusion, truncation) in SHARES.items():
        rows, columns = np.nonzero(things == number)
        if len(rows):
            box = (int(columns.min()), int(rows.min()), int(columns.max()), int(rows.max()))
            name = CLASSES[classes[rows[0], columns[0]]]
            place = (np.zeros(3), np.ones(3), 0.0, 1.0)
            out.append(Label(number, f"{name} {number}", name, box, len(rows), occlusion, truncation, *place))
    return tuple(out)


def painted_colour(k: int) -> np.ndarray:
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    return np.stack([rows * 6, columns * 5, np.full_like(rows, 10 * k % 256)], -1).astype(np.uint8)


def painted_recording(folder: Path, n: int, group: int = 4, **facts: object) -> Recording:
    """Two streams: the truth comes at the stamp, the image 2 ms later."""
    details = {"width": WIDTH, "height": HEIGHT}
    mount = {"position": [0.0, 0.0, 0.0], "quat_wxyz": [1.0, 0.0, 0.0, 0.0]}
    plain = {"rate": [20, 1], "vehicle": "uav", "latency_ns": 0, "mount": mount, "details": details}
    truth = info_from({"name": "truth/uav/eye", "message": "ImageTruth", **plain})
    image = info_from({"name": "uav/eye", "message": "CameraImage", **plain, "latency_ns": 2_000_000})
    eye = {"truth": ["classes", "instances", "labels"], "label_classes": LABEL_CLASSES}
    known = {
        "vehicle": "uav",
        "classes": CLASSES,
        "n_groups": -(-n // group),
        "scenario": {"vehicles": [{"name": "uav", "sensors": {"eye": eye}}]},
        **facts,
    }
    recording = create_recording(folder, {info.name: info for info in (truth, image)}, known)
    for g in range(recording.n_groups):
        writer = GroupWriter(recording.group_path(g))
        for k in range(g * group, min(n, (g + 1) * group)):
            t_ns = START_NS + k * STEP_NS
            classes, things = painted_classes_and_things(k)
            labels = painted_labels(classes, things)
            data = ImageTruth(
                t_ns, np.zeros(3), np.array([1.0, 0, 0, 0]), None, None, None, things, classes, labels=labels
            )
            writer.append(Message("truth/uav/eye", k, t_ns, t_ns, data))
            writer.append(Message("uav/eye", k, t_ns, t_ns + 2_000_000, CameraImage(t_ns, painted_colour(k))))
        writer.finish()
    return recording


def write_format(recording: Recording, name: str) -> Path:
    """All groups through the writer; returns what it wrote."""
    module, kind = FORMATS[name].writer.split(":")
    writer = getattr(importlib.import_module(module), kind)(recording)
    for group in range(writer.first_group, recording.complete_groups()):
        writer.add(recording.group(group))
    writer.finish()
    return recording.folder / FORMATS[name].output


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def box_of(mask: np.ndarray) -> tuple[int, int, int, int]:
    """First column, first row, last column, last row."""
    rows, columns = np.nonzero(mask)
    return int(columns.min()), int(rows.min()), int(columns.max()), int(rows.max())
