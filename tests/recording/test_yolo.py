from __future__ import annotations

import globox
import pytest
import yaml
from label_recording import (
    CLASSES,
    HEIGHT,
    SHARES,
    START_NS,
    STEP_NS,
    WIDTH,
    box_of,
    files_of,
    painted_classes_and_things,
    painted_recording,
    write_format,
)

from skyloop.recording.formats.label_images import SPLITS, split


def read_split(yolo, name):
    """By image: its boxes, as a reader of the format takes them."""
    data = yaml.safe_load((yolo / "data.yaml").read_text())
    images = yolo / data[name]
    labels = yolo / "labels" / images.name
    read = globox.AnnotationSet.from_yolo_v5(labels, image_folder=images)
    return {int(a.image_id.removesuffix(".jpg")): a for a in read}, data["names"]


def test_painted_things(tmp_path):
    yolo = write_format(painted_recording(tmp_path, 10), "yolo")
    stamps = []
    for part in SPLITS:
        read, names = read_split(yolo, part)
        assert names == {0: "person", 1: "car", 2: "traffic light"}
        for t_ns, annotation in read.items():
            k = (t_ns - START_NS) // STEP_NS
            stamps.append(t_ns)
            assert split(10)[k] == part
            assert annotation.image_size == (WIDTH, HEIGHT)
            classes, things = painted_classes_and_things(k)
            wanted = []
            for number in SHARES if k % 3 != 2 else ():
                left, top, right, bottom = box_of(things == number)
                wanted.append((CLASSES[classes[things == number][0]], left, top, right + 1, bottom + 1))
            assert len(annotation.boxes) == len(wanted)
            for box, (kind, *edges) in zip(annotation.boxes, wanted, strict=True):
                assert names[int(box.label)] == kind
                assert (box.xmin, box.ymin, box.xmax, box.ymax) == pytest.approx(edges, abs=1e-4)
    assert sorted(stamps) == [START_NS + k * STEP_NS for k in range(10)]


def test_only_what_belongs_there(tmp_path):
    recording = painted_recording(tmp_path / "one", 10)
    before = files_of(write_format(recording, "yolo"))
    assert {name.split("/")[0] for name in before} == {"images", "labels", "data.yaml"}
    images = {name[7:-4] for name in before if name.startswith("images/")}
    assert images == {name[7:-4] for name in before if name.startswith("labels/")}
    assert len(images) == 10
    assert "path" not in yaml.safe_load(before["data.yaml"])
    again = painted_recording(tmp_path / "two", 10, group=3, split="random")
    assert files_of(write_format(again, "yolo")).keys() != before.keys()
    del again.facts["split"]
    assert files_of(write_format(again, "yolo")) == before
