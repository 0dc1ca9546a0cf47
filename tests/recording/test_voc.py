from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import globox
import numpy as np
import pytest
from label_recording import (
    CAR,
    EDGE,
    GRASS,
    HEIGHT,
    HIDDEN,
    LIGHT,
    PERSON,
    SPECK,
    START_NS,
    STEP_NS,
    WIDTH,
    files_of,
    painted_classes_and_things,
    painted_colour,
    painted_recording,
    write_format,
)
from PIL import Image, JpegImagePlugin

from skyloop.recording.formats.label_images import split
from skyloop.recording.journal import GroupWriter
from skyloop_client.errors import DatasetError


@pytest.fixture(scope="module")
def painted(tmp_path_factory) -> Path:
    return write_format(painted_recording(tmp_path_factory.mktemp("voc"), 10), "voc")


def name_of(k: int) -> str:
    return f"{START_NS + k * STEP_NS:019d}"


def entries(path: Path) -> np.ndarray:
    with Image.open(path) as picture:
        assert picture.mode == "P"
        return np.array(picture)


def objects_of(voc: Path, name: str) -> list[dict[str, str]]:
    root = ElementTree.parse(voc / "Annotations" / f"{name}.xml").getroot()
    return [{part.tag: part.text or "" for part in thing} for thing in root.iter("object")]


def lines_of(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text().splitlines()]


def test_flags(painted):
    assert [path.stem for path in sorted((painted / "Annotations").iterdir())] == [name_of(k) for k in range(10)]
    hidden, edge, car, light = objects_of(painted, name_of(0))
    for thing, name, flags in (
        (hidden, "person", ("0", "1", "0")),
        (edge, "person", ("1", "0", "0")),
        (car, "car", ("0", "0", "0")),
        (light, "traffic_light", ("0", "1", "1")),
    ):
        assert thing["name"] == name
        assert thing["pose"] == "Unspecified"
        assert (thing["truncated"], thing["occluded"], thing["difficult"]) == flags
    assert objects_of(painted, name_of(1))[0]["difficult"] == "1"  # 42 pixels, not 54
    assert objects_of(painted, name_of(2)) == []
    root = ElementTree.parse(painted / "Annotations" / f"{name_of(0)}.xml").getroot()
    assert root.findtext("segmented") == "1"
    assert root.findtext("size/depth") == "3"


def test_boxes_count_from_one_and_touch_the_edges(painted):
    read = {a.image_id: a.boxes for a in globox.AnnotationSet.from_pascal_voc(painted / "Annotations")}
    boxes = [(b.xmin, b.ymin, b.xmax, b.ymax) for b in read[f"{name_of(0)}.jpg"]]
    assert boxes == [(15, 9, 20, 20), (1, 1, 5, 11), (18, 15, WIDTH, HEIGHT), (31, 3, 34, 5)]


def test_masks(painted):
    classes, things = painted_classes_and_things(1)
    read = entries(painted / "SegmentationClass" / f"{name_of(1)}.png")
    objects = entries(painted / "SegmentationObject" / f"{name_of(1)}.png")
    speck = things == SPECK
    assert (read[speck] == 255).all() and (objects[speck] == 255).all()
    assert speck.sum() == 3 and (read == 255).sum() == 3
    assert np.array_equal(read[~speck], classes[~speck])
    assert set(np.unique(read)) == {0, GRASS, PERSON, CAR, LIGHT, 255}
    assert np.array_equal(objects == 1, things == HIDDEN)
    assert np.array_equal(objects == 2, things == EDGE)
    assert (objects[np.isin(classes, (0, GRASS))] == 0).all()


def test_lists_of_images(painted):
    sets = painted / "ImageSets"
    names = [name_of(k) for k in range(10)]
    splits = split(10)
    for name, parts in {"train": ["train"], "val": ["val"], "test": ["test"], "trainval": ["train", "val"]}.items():
        mine = [image for image, part in zip(names, splits, strict=True) if part in parts]
        assert mine
        assert [line[0] for line in lines_of(sets / "Main" / f"{name}.txt")] == mine
        assert [line[0] for line in lines_of(sets / "Segmentation" / f"{name}.txt")] == mine
        for kind, here in (("person", "1"), ("car", "1"), ("traffic_light", "0")):
            wanted = [[image, "-1" if names.index(image) % 3 == 2 else here] for image in mine]
            assert lines_of(sets / "Main" / f"{kind}_{name}.txt") == wanted


def test_random_split_on_request(tmp_path):
    voc = write_format(painted_recording(tmp_path, 10, split="random"), "voc")
    train = [line[0] for line in lines_of(voc / "ImageSets" / "Main" / "train.txt")]
    assert train == [name_of(k) for k, part in enumerate(split(10, "random")) if part == "train"]
    assert train != [name_of(k) for k in range(6)]


def test_jpeg(painted):
    with Image.open(painted / "JPEGImages" / f"{name_of(3)}.jpg") as picture:
        assert JpegImagePlugin.get_sampling(picture) == 0
        shown = np.array(picture)
    assert abs(shown.astype(int) - painted_colour(3)).max() <= 6


def test_same_bytes_and_nothing_stale(tmp_path):
    recording = painted_recording(tmp_path / "one", 7)
    before = files_of(write_format(recording, "voc"))
    (recording.folder / "voc" / "JPEGImages" / "stale.jpg").write_bytes(b"")
    assert files_of(write_format(recording, "voc")) == before
    assert files_of(write_format(painted_recording(tmp_path / "two", 7, group=2), "voc")) == before


def test_an_image_lost_on_its_way_has_no_files(tmp_path):
    recording = painted_recording(tmp_path, 6)
    messages = recording.group(0)
    recording.group_path(0).unlink()
    writer = GroupWriter(recording.group_path(0))
    for message in messages:
        if (message.stream, message.index) != ("uav/eye", 1):
            writer.append(message)
    writer.finish()
    voc = write_format(recording, "voc")
    kept = [name_of(k) for k in (0, 2, 3, 4, 5)]
    for folder in ("JPEGImages", "Annotations", "SegmentationClass", "SegmentationObject"):
        assert sorted(path.stem for path in (voc / folder).iterdir()) == kept


def test_a_recording_without_labels_is_refused(tmp_path):
    eye = {"truth": ["depth"], "label_classes": ["person"]}
    recording = painted_recording(tmp_path, 1, scenario={"vehicles": [{"name": "uav", "sensors": {"eye": eye}}]})
    with pytest.raises(DatasetError, match=r"no camera of .* has labels; record one with truth"):
        write_format(recording, "voc")
