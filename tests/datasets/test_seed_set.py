"""Several seeds in one dataset: a recording each, labels of all together, cut off and resumed."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from pathlib import Path

import pytest

from skyloop.cli import main
from skyloop.datasets.any_dataset import check, repair, write_report
from skyloop.datasets.seed_set import differing, joined_coco, joined_voc, joined_yolo, write_joined
from skyloop.recording.recording import open_recording

STAMPS = ("0000000000100000000", "0000000000200000000")


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def sources(tmp_path: Path) -> dict[int, Path]:
    """The labels of two seeds as small as can be: the first image trains, the second tests."""
    out = {}
    for seed in (3, 8):
        folder = out[seed] = tmp_path / f"seed-{seed}"
        for number, (stamp, split) in enumerate(zip(STAMPS, ("train", "test"), strict=True), start=1):
            put(folder / "coco/images" / f"{stamp}.jpg", f"picture {seed}")
            image = {"id": number, "file_name": f"{stamp}.jpg", "width": 4, "height": 3, "t_ns": int(stamp)}
            entry = {"id": number, "image_id": number, "category_id": 1, "bbox": [0, 0, 1, 1], "track_id": 7}
            data = {"info": {}, "licenses": [], "categories": [{"id": 1}], "images": [image], "annotations": [entry]}
            put(folder / "coco/annotations" / f"instances_{split}.json", json.dumps(data))
            put(folder / "yolo/images" / split / f"{stamp}.jpg", f"picture {seed}")
            put(folder / "yolo/labels" / split / f"{stamp}.txt", "0 0.5 0.5 0.1 0.1\n")
            put(folder / "voc/JPEGImages" / f"{stamp}.jpg", f"picture {seed}")
            put(
                folder / "voc/Annotations" / f"{stamp}.xml",
                f"<annotation><filename>{stamp}.jpg</filename></annotation>",
            )
            put(folder / "voc/ImageSets/Main" / f"{split}.txt", f"{stamp}\n")
            put(folder / "voc/ImageSets/Main" / f"person_{split}.txt", f"{stamp}  1\n")
        none = {"info": {}, "licenses": [], "categories": [{"id": 1}], "images": [], "annotations": []}
        put(folder / "coco/annotations/instances_val.json", json.dumps(none))
        put(folder / "yolo/data.yaml", "names:\n  0: person\n")
        put(folder / "voc/labelmap.txt", "person\n")
    return out


def of(sources: dict[int, Path], name: str) -> dict[int, Path]:
    return {seed: folder / name for seed, folder in sources.items()}


def test_coco_numbers_are_unique_and_belong_together(sources: dict[int, Path], tmp_path: Path) -> None:
    write_joined(joined_coco(of(sources, "coco")), tmp_path / "coco")
    read = {
        name: json.loads((tmp_path / "coco/annotations" / f"instances_{name}.json").read_text())
        for name in ("train", "val", "test")
    }
    images = [image for data in read.values() for image in data["images"]]
    entries = [entry for data in read.values() for entry in data["annotations"]]
    assert len({image["id"] for image in images}) == len({entry["id"] for entry in entries}) == 4
    for data in read.values():
        assert {entry["image_id"] for entry in data["annotations"]} == {image["id"] for image in data["images"]}
    assert [image["seed"] for image in read["train"]["images"]] == [3, 8]
    # thing 7 of one seed is not thing 7 of the other, but the same in both images of its own
    by_seed = {image["id"]: image["seed"] for image in images}
    assert {(by_seed[entry["image_id"]], entry["track_id"]) for entry in entries} == {(3, 7), (8, 1_000_007)}
    for image in images:
        assert (tmp_path / "coco/images" / image["file_name"]).read_text() == f"picture {image['seed']}"


def test_yolo_and_voc_name_each_image_once(sources: dict[int, Path], tmp_path: Path) -> None:
    write_joined(joined_yolo(of(sources, "yolo")), tmp_path / "yolo")
    names = sorted(path.stem for path in (tmp_path / "yolo/images/train").iterdir())
    assert names == [f"seed-{seed}-{STAMPS[0]}" for seed in (3, 8)]
    assert names == sorted(path.stem for path in (tmp_path / "yolo/labels/train").iterdir())
    write_joined(joined_voc(of(sources, "voc")), tmp_path / "voc")
    assert (tmp_path / "voc/ImageSets/Main/train.txt").read_text().split() == names
    assert (tmp_path / "voc/ImageSets/Main/person_test.txt").read_text() == "".join(
        f"seed-{seed}-{STAMPS[1]}  1\n" for seed in (3, 8)
    )
    for name in names:
        assert (tmp_path / f"voc/JPEGImages/{name}.jpg").exists()
        assert f"<filename>{name}.jpg</filename>" in (tmp_path / f"voc/Annotations/{name}.xml").read_text()


def test_what_is_changed_lost_or_added_is_found(sources: dict[int, Path], tmp_path: Path) -> None:
    files = joined_yolo(of(sources, "yolo"))
    folder = tmp_path / "yolo"
    write_joined(files, folder)
    assert differing(files, folder) == []
    (folder / "data.yaml").write_text("names: {}\n")
    (folder / "labels/train" / f"seed-3-{STAMPS[0]}.txt").unlink()
    put(folder / "more.txt", "")
    assert differing(files, folder) == [f"labels/train/seed-3-{STAMPS[0]}.txt", "more.txt", "data.yaml"]
    write_joined(files, folder)
    assert differing(files, folder) == []


def skyloop(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["skyloop", *words])
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "summary.json"
    }


def assert_people_are_where_the_labels_say(folder: Path) -> None:
    rows = list(csv.DictReader((folder / "csv/people.csv").read_text().splitlines()))
    seen = {(int(row["t_ns"]), int(row["instance"])): row for row in rows if row["in_image"] == "1"}
    labels = {
        (message.t_ns, label.instance): label
        for message in open_recording(folder).messages(["truth/drone/rgb0"])
        for label in message.data.labels
        if label.class_name == "person"
    }
    assert labels and seen.keys() == labels.keys()
    for key, label in labels.items():
        row = seen[key]
        assert [float(row[axis]) for axis in "xyz"] == pytest.approx(label.centre.tolist(), abs=1e-4)
        assert [int(row[side]) for side in ("left", "top", "right", "bottom")] == list(label.box_px)


@pytest.mark.slow("records two seeds by several processes")
def test_seeds_are_recorded_into_one_dataset_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "set"
    words = ("--world", "radar-lab", "--frames", "4", "--rate", "5", "--speed", "1", "--size", "64x48")
    more = ("--sensors", "rgb,radar,imu", "--formats", "coco,yolo,csv", "--seeds", "4,2", "--workers", "1")
    assert skyloop(monkeypatch, "record", *words, *more, "--out", str(folder)) == 0
    assert check(folder) == []
    coco = json.loads((folder / "coco/annotations/instances_train.json").read_text())
    assert {image["seed"] for image in coco["images"]} == {4, 2}
    assert (folder / "seed-4/csv/people.csv").read_bytes() != (folder / "seed-2/csv/people.csv").read_bytes()
    assert_people_are_where_the_labels_say(folder / "seed-4")
    assert "seed-4/report.html" in write_report(folder).read_text()
    whole = contents(folder)
    # as if it had been cut off while it flew the second seed
    shutil.rmtree(folder / "seed-2")
    shutil.rmtree(folder / "coco")
    assert [finding.severity for finding in check(folder)].count("warning") >= 2
    assert skyloop(monkeypatch, "record", "--resume", "--out", str(folder)) == 0
    assert contents(folder) == whole
    (folder / "yolo/data.yaml").unlink()
    assert skyloop(monkeypatch, "check", str(folder)) == 1
    assert repair(folder) == ["yolo of all seeds was written again"]
    assert check(folder) == []
    assert skyloop(monkeypatch, "replay", str(folder)) == 1
