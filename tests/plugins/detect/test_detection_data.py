"""The readers of COCO and VOC, the rules of what counts, and average precision against pycocotools."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from drawn_people import PER_IMAGE, drawn, write_both

from skyloop_client.errors import DatasetError, UnknownNameError
from skyloop_detect.dataset_reader import read_samples
from skyloop_detect.finding import FoundBoxes, find, keep_best
from skyloop_detect.samples import Sample, classes_of
from skyloop_detect.scoring import counts, quick_ap50, scored
from skyloop_detect.training_state import EventLog, masked_crc, scalars


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_both(tmp_path / "set", 3)


def test_coco_and_voc_give_the_same_boxes(data: Path) -> None:
    coco, voc = read_samples(data / "coco", "train"), read_samples(data / "voc", "train")
    assert [s.path.name for s in coco] == [s.path.name for s in voc] and len(coco) == 3
    for k, (one, other) in enumerate(zip(coco, voc, strict=True)):
        expected = [[x, y, x + w, y + h] for x, y, w, h in drawn(k)[1]]
        assert one.boxes.tolist() == other.boxes.tolist() == expected
        assert one.names == other.names == ("person",) * PER_IMAGE
    # VOC does not say how much is hidden
    assert (coco[0].hidden == 0.25).all() and (voc[0].hidden == 0.0).all()
    assert read_samples(data, "val")[0].path.parent.parent.name == "coco"


def test_classes_are_those_of_the_dataset(data: Path) -> None:
    samples = read_samples(data, "train")
    assert classes_of(samples) == classes_of(samples, ["person"]) == ("person",)
    with pytest.raises(UnknownNameError, match="did you mean 'person'"):
        classes_of(samples, ["persons"])


def _break(data: Path, how: str) -> Path:
    coco = data / "coco"
    if how == "empty":
        shutil.rmtree(data)
        data.mkdir()
    elif how == "no file":
        (coco / "annotations" / "instances_train.json").unlink()
    elif how == "no json":
        (coco / "annotations" / "instances_train.json").write_text("{", encoding="utf-8")
    elif how == "another json":
        (coco / "annotations" / "instances_train.json").write_text('{"images": []}', encoding="utf-8")
    elif how == "no images":
        path = coco / "annotations" / "instances_train.json"
        path.write_text(json.dumps({"images": [], "annotations": [], "categories": []}), encoding="utf-8")
    elif how == "image gone":
        shutil.rmtree(coco / "images")
    elif how == "xml":
        shutil.rmtree(coco)
        (data / "voc" / "Annotations" / "image-1.xml").write_text("<annotation><size/>", encoding="utf-8")
    elif how == "xml without size":
        shutil.rmtree(coco)
        (data / "voc" / "Annotations" / "image-1.xml").write_text("<annotation/>", encoding="utf-8")
    return data


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("empty", "is no dataset in COCO"),
        ("no file", "has no annotations/instances_train.json"),
        ("no json", "is damaged or no COCO file"),
        ("another json", "is damaged or no COCO file"),
        ("no images", "has no images"),
        ("image gone", "is in none of the folders"),
        ("xml", "image-1.xml' is damaged"),
        ("xml without size", "no <size/width>"),
    ],
)
def test_a_damaged_dataset_is_one_clear_line(data: Path, how: str, said: str) -> None:
    with pytest.raises(DatasetError, match=said) as error:
        read_samples(_break(data, how), "train")
    assert "\n" not in str(error.value)


def _sample(boxes: list[list[float]], hidden: list[float] | None = None, skipped: list[bool] | None = None) -> Sample:
    n = len(boxes)
    return Sample(
        Path("x.png"), (320, 240), np.array(boxes, np.float32).reshape(-1, 4), ("person",) * n,
        np.array(hidden or [0.0] * n, np.float32), np.array(skipped or [False] * n, np.bool_),
    )  # fmt: skip


def _found(boxes: list[list[float]], scores: list[float]) -> FoundBoxes:
    return FoundBoxes(np.array(boxes, float).reshape(-1, 4), np.zeros(len(boxes), np.int64), np.array(scores))


def test_what_counts() -> None:
    """16 px high, at most half hidden."""
    sample = _sample([[0, 0, 8, 16], [20, 0, 28, 15], [40, 0, 50, 30], [60, 0, 70, 30]], [0.5, 0.0, 0.51, 0.0],
                     [False, False, False, True])  # fmt: skip
    assert counts(sample).tolist() == [True, False, False, False]


def test_average_precision_by_hand() -> None:
    """Two people; the first answer is right, the second wrong, the third right: 0.5 at precision 1, the rest at 2/3."""
    sample = _sample([[0, 0, 10, 30], [100, 0, 110, 30]])
    found = _found([[0, 0, 10, 30], [200, 0, 210, 30], [100, 0, 110, 30]], [0.9, 0.8, 0.7])
    expected = (51 * 1.0 + 50 * 2.0 / 3.0) / 101
    assert scored([sample], [found], ["person"])["person"].ap50 == pytest.approx(expected)
    assert quick_ap50([sample], [found], ["person"]) == pytest.approx(expected)


def test_what_does_not_count_is_neither_right_nor_wrong() -> None:
    """One person who counts, one too small; both are found, the small one first."""
    sample = _sample([[0, 0, 10, 30], [100, 0, 105, 12]])
    found = _found([[100, 0, 105, 12], [0, 0, 10, 30]], [0.9, 0.5])
    score = scored([sample], [found], ["person"])["person"]
    assert score.objects == 1 and score.ap50 == pytest.approx(1.0)
    assert quick_ap50([sample], [found], ["person"]) == pytest.approx(1.0)


def test_the_quick_score_is_that_of_pycocotools() -> None:
    random = np.random.default_rng(5)
    samples, found = [], []
    for _ in range(40):
        corners = random.uniform(0, 150, (6, 2))
        boxes = np.concatenate([corners, corners + random.uniform(8, 60, (6, 2))], axis=1)
        samples.append(_sample(boxes.tolist(), random.uniform(0, 0.9, 6).tolist()))
        answers = np.concatenate(
            [boxes + random.normal(0, 4, boxes.shape), random.uniform(0, 60, (2, 4)) + np.array([0, 0, 90, 90])]
        )
        order = np.argsort(-(scores := random.uniform(0, 1, 8)))
        found.append(_found(answers[order].tolist(), scores[order].tolist()))
    exact = scored(samples, found, ["person"])["person"].ap50
    assert 0.1 < exact < 0.9 and quick_ap50(samples, found, ["person"]) == pytest.approx(exact, abs=2e-3)


def test_nothing_found_scores_nothing() -> None:
    sample = _sample([[0, 0, 10, 30]])
    assert scored([sample], [_found([], [])], ["person"])["person"].ap50 == 0.0
    assert quick_ap50([sample], [_found([], [])], ["person"]) == 0.0


def test_of_boxes_that_cover_each_other_the_best_stays() -> None:
    boxes = np.array([[0, 0, 10, 30], [1, 0, 11, 30], [1, 0, 11, 30], [50, 0, 60, 30]], np.float32)
    kinds, scores = np.array([0, 0, 1, 0]), np.array([0.9, 0.8, 0.7, 0.6], np.float32)
    kept = keep_best(boxes, kinds, scores, (240, 320))
    assert kept.scores.tolist() == pytest.approx([0.9, 0.7, 0.6]) and kept.classes.tolist() == [0, 1, 0]
    nothing = find(np.zeros((9480, 5), np.float32), np.zeros((9480, 4), np.float32), (240, 320), 0.1)
    assert nothing.boxes.shape == (0, 4)


def test_the_event_file_is_tensorboards() -> None:
    """Bytes that TensorBoard 2.21 makes for the same event, and a published check value of CRC-32C."""
    crc = 0xE3069283
    assert masked_crc(b"123456789") == ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    assert scalars(7, 1.5, {"a": 0.25}) == bytes.fromhex("09000000000000f83f10072a0a0a080a0161150000803e")


def test_a_log_grows(tmp_path: Path) -> None:
    for step in (1, 2):
        EventLog(tmp_path).add(step, 0.5 * step, {"loss": 1.0 / step})
    data = next(tmp_path.iterdir()).read_bytes()
    lengths = []
    while data:
        lengths.append(int.from_bytes(data[:8], "little"))
        data = data[16 + lengths[-1] :]
    assert len(lengths) == 3
