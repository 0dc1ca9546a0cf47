"""Scores of one model on one runtime over one part of the people dataset, and what it missed."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.core.detection_scores import overlaps
from skyloop_detect.dataset_reader import read_samples
from skyloop_detect.detector import LEAST_SCORE, load_detector
from skyloop_detect.finding import FoundBoxes
from skyloop_detect.samples import Sample, read_image
from skyloop_detect.scoring import MOST_HIDDEN, OVERLAP, counts, scored

FAINTEST = 0.02
HEIGHTS = (16, 24, 40, 80, 10_000)
"""px, the limits of the groups by height."""
HIDDEN = (0.0, 0.05, 0.25, 1.0)
"""Limits of the groups by the share that is covered; more than half does not count."""
FAILURES_SHOWN = 6
"""Of each kind and part."""
TOUCHES = 0.1
"""A box that overlaps a labelled person by less is around nobody."""


def score_part(folder: str, model: str, runtime: str) -> dict[str, Any]:
    """Average precision of each class, the curve of the persons, and the share of them that was found by condition."""
    detector = load_detector(model, runtime)
    samples = read_samples(Path(folder), "test")
    found = [detector.find_numbers(read_image(sample.path), FAINTEST) for sample in samples]
    scores = scored(samples, found, detector.classes)
    person = scores["person"]
    return {
        "images": len(samples),
        "ap50": {name: score.ap50 for name, score in scores.items() if score.objects},
        "objects": {name: score.objects for name, score in scores.items()},
        "precisions": [round(float(value), 4) for value in person.precisions],
        "recall": recalls(samples, found, facts_of(Path(folder)), detector.classes),
        "failures": failures(samples, found, facts_of(Path(folder)), detector.classes),
    }


def facts_of(folder: Path) -> dict[str, dict[str, Any]]:
    """What the dataset says of each image, by the name of its file."""
    path = folder / "coco" / "annotations" / "instances_test.json"
    images = json.loads(path.read_text(encoding="utf-8"))["images"]
    return {image["file_name"]: image for image in images}


def recalls(
    samples: list[Sample], found: list[FoundBoxes], facts: dict[str, dict[str, Any]], classes: tuple[str, ...]
) -> dict[str, list[int]]:
    """By condition: how many persons count, and how many of them were found at the usual least score."""
    out: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for sample, answer in zip(samples, found, strict=True):
        of_kind = sample.numbers(classes) == classes.index("person")
        which = np.flatnonzero(of_kind & counts(sample))
        sure = (answer.classes == classes.index("person")) & (answer.scores >= LEAST_SCORE)
        reached = overlaps(sample.boxes[which].astype(np.float64), answer.boxes[sure]).max(axis=1, initial=0.0)
        about = facts[sample.path.name]
        for k, best in zip(which, reached, strict=True):
            for condition in (*_of_image(about), *_of_person(sample, int(k))):
                out[condition][0] += 1
                out[condition][1] += int(best >= OVERLAP)
    return {name: out[name] for name in sorted(out)}


def failures(
    samples: list[Sample], found: list[FoundBoxes], facts: dict[str, dict[str, Any]], classes: tuple[str, ...]
) -> list[dict[str, Any]]:
    """The tallest persons that count and were not found, and the surest boxes where no person is, as many of each."""
    missed, wrong = [], []
    for sample, answer in zip(samples, found, strict=True):
        persons = sample.numbers(classes) == classes.index("person")
        sure = (answer.classes == classes.index("person")) & (answer.scores >= LEAST_SCORE)
        boxes, scores = answer.boxes[sure], answer.scores[sure]
        reached = overlaps(sample.boxes[persons].astype(np.float64), boxes)
        about = facts[sample.path.name]
        shared = {"image": str(sample.path), "about": " ".join(about[key] for key in ("world", "air", "light"))}
        countable = counts(sample)[persons]
        for box, hidden, best in zip(
            sample.boxes[persons][countable], sample.hidden[persons][countable],
            reached.max(axis=1, initial=0.0)[countable], strict=True,
        ):  # fmt: skip
            if best < OVERLAP:
                height = float(box[3] - box[1])
                missed.append(
                    {**shared, "kind": "missed", "box": box.tolist(), "rank": height, "hidden": float(hidden)}
                )
        # persons that do not count are persons all the same
        for box, score, best in zip(boxes, scores, reached.max(axis=0, initial=0.0), strict=True):
            if best < TOUCHES:
                wrong.append({**shared, "kind": "nobody", "box": box.tolist(), "rank": float(score), "hidden": 0.0})
    shown = (sorted(kind, key=lambda entry: -entry["rank"])[:FAILURES_SHOWN] for kind in (missed, wrong))
    return [entry for kind in shown for entry in kind]


def _of_image(about: dict[str, Any]) -> list[str]:
    kept = [f"{key} {about[key]}" for key in ("world", "air", "light", "quality")]
    return [*kept, f"size {about['width']} x {about['height']}"]


def _of_person(sample: Sample, k: int) -> list[str]:
    tall = float(sample.boxes[k, 3] - sample.boxes[k, 1])
    low = max(limit for limit in HEIGHTS if limit <= tall)
    high = HEIGHTS[HEIGHTS.index(low) + 1]
    height = f"height {low} px and more" if high == HEIGHTS[-1] else f"height {low} to {high} px"
    covered = max(limit for limit in HIDDEN if limit <= float(sample.hidden[k]))
    most = min(HIDDEN[HIDDEN.index(covered) + 1], MOST_HIDDEN)
    return [height, f"hidden {covered:.0%} to {most:.0%}"]


def speed(folder: str, model: str, runtime: str, images: int, looks: int) -> dict[str, Any]:
    """Images of 320 x 240 px per second of processor time, with one thread, from pixels to boxes."""
    detector = load_detector(model, runtime)
    samples = [sample for sample in read_samples(Path(folder), "test") if sample.size == (320, 240)]
    pixels = [read_image(sample.path) for sample in samples[:images]]
    for image in pixels[:3]:
        detector.find(image)
    began = time.process_time()
    for k in range(looks):
        detector.find(pixels[k % len(pixels)])
    return {"images_per_s": looks / (time.process_time() - began), "looks": looks}
