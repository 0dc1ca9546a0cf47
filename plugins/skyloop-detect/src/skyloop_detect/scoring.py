"""How good detections are: average precision at an overlap of one half, by pycocotools.

An object counts if it is at least 16 px high, at most half hidden and not `skipped`. Finding any other object of the
class is neither right nor wrong. pycocotools does this with its ranges of areas: an object that does not count gets an
area outside the range.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.detection_scores import overlaps
from skyloop_client.errors import MissingExtra
from skyloop_detect.finding import FoundBoxes
from skyloop_detect.samples import Sample

LEAST_PX, MOST_HIDDEN = 16, 0.5
OVERLAP = 0.5
RECALLS = np.linspace(0.0, 1.0, 101)
"""At which COCO reads the precision."""
_OUT_OF_RANGE = -1.0


@dataclass(frozen=True, slots=True, eq=False)
class ClassScore:
    """The score of one class."""

    ap50: float
    """0 to 1; nan if no object counts."""
    objects: int
    """Those that count."""
    precisions: NDArray[np.float64]
    """(101,) at the recalls 0, 0.01, ... 1; 0 where the recall is not reached."""


def counts(sample: Sample) -> NDArray[np.bool_]:
    """(n,) the objects that must be found."""
    tall = sample.boxes[:, 3] - sample.boxes[:, 1]
    return np.asarray(~sample.skipped & (tall >= LEAST_PX) & (sample.hidden <= MOST_HIDDEN))


def scored(samples: Sequence[Sample], found: Sequence[FoundBoxes], classes: Sequence[str]) -> dict[str, ClassScore]:
    """By class, in the order of the classes. `found` has the detections of each sample, with numbers of `classes`."""
    try:
        from pycocotools.coco import COCO
        from pycocotools.cocoeval import COCOeval
    except ImportError:
        raise MissingExtra("scoring needs pycocotools; pip install pycocotools") from None
    with contextlib.redirect_stdout(io.StringIO()):
        truth: Any = COCO()
        truth.dataset = _dataset(samples, classes)
        truth.createIndex()
        answers = _answers(found)
        results = truth.loadRes(answers) if answers else COCO()
        evaluation = COCOeval(truth, results, "bbox")
        evaluation.params.iouThrs = np.array([OVERLAP])
        evaluation.params.areaRng, evaluation.params.areaRngLbl = [[0.0, 1e12]], ["counted"]
        evaluation.params.maxDets = [100]
        if answers:
            evaluation.evaluate()
            evaluation.accumulate()
    out = {}
    for number, name in enumerate(classes):
        objects = sum(int((counts(s) & (s.numbers(classes) == number)).sum()) for s in samples)
        precisions = np.maximum(evaluation.eval["precision"][0, :, number, 0, 0], 0.0) if answers else np.zeros(101)
        out[name] = ClassScore(float(precisions.mean()) if objects else float("nan"), objects, precisions)
    return out


def _dataset(samples: Sequence[Sample], classes: Sequence[str]) -> dict[str, Any]:
    annotations: list[dict[str, Any]] = []
    for number, sample in enumerate(samples, 1):
        kinds, counted = sample.numbers(classes), counts(sample)
        for box, kind, counts_ in zip(sample.boxes.tolist(), kinds.tolist(), counted.tolist(), strict=True):
            if kind < 0:
                continue
            sides = (box[2] - box[0], box[3] - box[1])
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": number,
                    "category_id": kind + 1,
                    "bbox": [box[0], box[1], *sides],
                    "area": sides[0] * sides[1] if counts_ else _OUT_OF_RANGE,
                    "iscrowd": 0,
                }
            )
    return {
        "info": {},
        "images": [{"id": k, "width": s.size[0], "height": s.size[1]} for k, s in enumerate(samples, 1)],
        "categories": [{"id": k, "name": name} for k, name in enumerate(classes, 1)],
        "annotations": annotations,
    }


def _answers(found: Sequence[FoundBoxes]) -> list[dict[str, Any]]:
    return [
        {
            "image_id": number,
            "category_id": int(kind) + 1,
            "bbox": [float(box[0]), float(box[1]), float(box[2] - box[0]), float(box[3] - box[1])],
            "score": float(score),
        }
        for number, objects in enumerate(found, 1)
        for box, kind, score in zip(objects.boxes, objects.classes, objects.scores, strict=True)
    ]


def quick_ap50(samples: Sequence[Sample], found: Sequence[FoundBoxes], classes: Sequence[str], kind: int = 0) -> float:
    """The same figure of one class without pycocotools, for the validations of a training."""
    scores: list[float] = []
    right: list[bool] = []
    objects = 0
    for sample, answer in zip(samples, found, strict=True):
        of_kind = sample.numbers(classes) == kind
        counted = counts(sample)[of_kind]
        objects += int(counted.sum())
        mine = answer.classes == kind
        overlap = overlaps(answer.boxes[mine], sample.boxes[of_kind].astype(np.float64))
        free = np.ones(len(counted), np.bool_)
        for row, score in zip(overlap, answer.scores[mine], strict=True):
            reached = free & (row >= OVERLAP)
            # what counts is taken before what does not
            best = max(np.flatnonzero(reached), key=lambda k: (counted[k], row[k]), default=None)
            if best is not None:
                free[best] = False
            if best is None or counted[best]:
                scores.append(float(score))
                right.append(best is not None)
    if not objects:
        return float("nan")
    order = np.argsort(-np.array(scores), kind="stable")
    hits = np.cumsum(np.array(right, float)[order])
    recalls, precisions = hits / objects, hits / np.arange(1, len(hits) + 1)
    falling = np.maximum.accumulate(precisions[::-1])[::-1]
    at = np.searchsorted(recalls, RECALLS, side="left")
    return float(np.where(at < len(falling), np.append(falling, 0.0)[np.minimum(at, len(falling))], 0.0).mean())
