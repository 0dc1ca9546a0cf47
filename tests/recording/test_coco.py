from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from label_recording import CLASSES, SHARES, START_NS, STEP_NS, files_of, painted_recording, write_format
from label_recording import painted_classes_and_things as painted_image
from PIL import Image
from pycocotools import mask as rle
from pycocotools.coco import COCO

from skyloop.recording.formats.coco import packed, run_lengths
from skyloop.recording.formats.label_images import SPLITS, split
from skyloop.recording.recording import open_recording

pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
"""Of pycocotools under numpy 2."""


@pytest.fixture(scope="module")
def painted(tmp_path_factory) -> Path:
    return write_format(painted_recording(tmp_path_factory.mktemp("coco"), 10), "coco")


def instances(coco: Path, name: str) -> COCO:
    return COCO(str(coco / "annotations" / f"instances_{name}.json"))


@pytest.mark.renders
def test_masks_and_boxes_of_a_flight(recording, tmp_path):
    folder = tmp_path / "dataset"
    shutil.copytree(recording.folder, folder)
    coco = write_format(open_recording(folder), "coco")
    truths = {message.t_ns: message.data for message in recording.messages(["truth/drone/rgb0"])}
    colours = {message.t_ns: message.data.colour for message in recording.messages(["drone/rgb0"])}
    for name in SPLITS:
        read = instances(coco, name)
        assert read.imgs
        for image in read.imgs.values():
            truth = truths.pop(image["t_ns"])
            assert (image["width"], image["height"]) == (320, 240)
            with Image.open(coco / "images" / image["file_name"]) as picture:
                assert np.abs(np.array(picture).astype(int) - colours[truth.t_ns]).mean() < 2.0
            (entry,) = read.imgToAnns[image["id"]]
            (label,) = truth.labels
            assert read.cats[entry["category_id"]]["name"] == "person"
            assert entry["category_id"] == recording.classes.index("person")
            mask = truth.instances == label.instance
            assert np.array_equal(read.annToMask(entry), mask)
            assert entry["bbox"] == rle.toBbox(entry["segmentation"]).tolist()
            assert entry["area"] == mask.sum() == label.visible_px
            assert (entry["occlusion"], entry["track_id"]) == (label.occlusion, label.instance)
    assert not truths


def test_painted_things(painted):
    found = 0
    for part in SPLITS:
        read = instances(painted, part)
        for image in read.imgs.values():
            k = (image["t_ns"] - START_NS) // STEP_NS
            assert split(10)[k] == part
            assert image["t_ns"] == START_NS + k * STEP_NS == int(image["file_name"].removesuffix(".jpg"))
            classes, things = painted_image(k)
            entries = read.imgToAnns[image["id"]]
            assert [entry["track_id"] for entry in entries] == ([] if k % 3 == 2 else list(SHARES))
            for entry in entries:
                found += 1
                mask = read.annToMask(entry)
                assert np.array_equal(mask, things == entry["track_id"])
                assert entry["bbox"] == rle.toBbox(entry["segmentation"]).tolist()
                assert entry["area"] == mask.sum()
                assert (entry["occlusion"], entry["truncation"]) == SHARES[entry["track_id"]]
                assert entry["category_id"] == classes[mask.astype(bool)][0]
                assert entry["iscrowd"] == 0
    assert found == 7 * 4


def test_numbers_are_unique_over_the_splits(painted):
    data = [json.loads((painted / "annotations" / f"instances_{name}.json").read_text()) for name in SPLITS]
    for kind, count in (("images", 10), ("annotations", 28)):
        assert sorted(entry["id"] for part in data for entry in part[kind]) == list(range(1, count + 1))
    named = [{"id": n, "name": CLASSES[n], "supercategory": CLASSES[n]} for n in (2, 3, 4)]
    assert all(part["categories"] == named for part in data)


@pytest.mark.parametrize("share", [0.02, 0.5, 0.98, 1.0])
def test_run_lengths_are_those_of_pycocotools(share):
    rng = np.random.default_rng(3)
    for height, width, left, top in ((30, 40, 0, 0), (240, 320, 17, 5), (3000, 50, 9, 0), (1, 1, 0, 0)):
        part = rng.random((height - top, width - left)) < share
        part[rng.integers(height - top), rng.integers(width - left)] = True
        whole = np.zeros((height, width), np.uint8, order="F")
        whole[top:, left:] = part
        assert packed(run_lengths(part, left, top, width, height)) == rle.encode(whole)["counts"].decode()


def test_same_bytes(painted, tmp_path):
    assert files_of(write_format(painted_recording(tmp_path, 10, group=3), "coco")) == files_of(painted)
