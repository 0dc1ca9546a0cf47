"""Trains the detector on a dataset, scores it, and writes it in every form. Behind `skyloop train people`."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skyloop.core.files import write_whole
from skyloop_client.errors import DatasetError, MissingExtra, SetupError
from skyloop_detect.commands.model_card import model_card
from skyloop_detect.dataset_reader import read_samples
from skyloop_detect.samples import Sample, classes_of

if TYPE_CHECKING:
    import torch

    from skyloop_detect.training import TrainingOptions, TrainingProgress

PARTS = {"ap50_person": "", "ap50_new_world": "new-world", "ap50_bad_weather": "bad-weather"}
"""Figures of the people dataset, and the folders whose test split they are of."""
MOST_VALIDATED = 1000
"""Images on which a training is scored while it runs; more would take longer than they are worth."""
LEAST_SCORE = 0.02
"""Detections that are scored; fainter ones change the average precision by less than a thousandth."""


def train_detector(
    data: Path,
    folder: Path,
    options: TrainingOptions,
    *,
    device: str = "auto",
    classes: Sequence[str] = (),
    loading: Callable[[int, int], None] = lambda done, of: None,
    progress: Callable[[TrainingProgress], None] = lambda progress: None,
) -> dict[str, Any]:
    """Leaves weights and models in the folder, which may hold a training to be continued. Returns the summary."""
    _check(options)
    chosen = torch_device(device)
    from skyloop_detect.exporting import export
    from skyloop_detect.image_store import load_images
    from skyloop_detect.training import WEIGHTS, train

    samples = {"train": read_samples(data, "train"), "val": spread(read_samples(data, "val"), MOST_VALIDATED)}
    names = classes_of(samples["train"], classes)
    shown = [sum(len(of) for of in samples.values()), 0]

    def count(done: int, of: int) -> None:
        loading(shown[1] + done, shown[0])

    loaded = {}
    for name, of in samples.items():
        loaded[name] = (of, load_images(of, names, chosen, count))
        shown[1] += len(of)
    folder.mkdir(parents=True, exist_ok=True)
    summary = train(folder, loaded, names, chosen, options, progress, time.perf_counter)
    paths = export(folder / WEIGHTS, folder, samples["train"])
    summary |= {"folder": str(folder), "data": str(data), "files": {k: path.name for k, path in paths.items()}}
    summary["test"] = score_weights(folder / WEIGHTS, data, chosen)
    summary |= {"sizes": {path.name: path.stat().st_size for path in (*paths.values(), folder / WEIGHTS)}}
    write_whole(folder / "summary.json", json.dumps(summary, indent=1) + "\n")
    write_whole(folder / "model-card.md", model_card(summary, data))
    return summary


def score_weights(weights: Path, data: Path, device: torch.device) -> dict[str, dict[str, float]]:
    """Average precision of each class in the test splits that the dataset has, with torch on the training's device."""
    from skyloop_detect.image_store import load_images
    from skyloop_detect.network import placed
    from skyloop_detect.scoring import quick_ap50, scored
    from skyloop_detect.validation import find_all
    from skyloop_detect.weights import load_network

    network, classes, _ = load_network(weights)
    placed(network, device)
    out = {}
    for key, part in PARTS.items():
        try:
            samples = read_samples(data / part, "test")
        except DatasetError:
            # a dataset of one's own need not have any
            continue
        found = find_all(network, load_images(samples, classes, device), device, LEAST_SCORE)
        try:
            scores = {name: score.ap50 for name, score in scored(samples, found, classes).items()}
        except MissingExtra:
            # a training machine need not have pycocotools; the quick score differs by a thousandth
            scores = {name: quick_ap50(samples, found, classes, kind) for kind, name in enumerate(classes)}
        out[key] = {name: score for name, score in scores.items() if not math.isnan(score)}
    return out


def score_model(model: Path, data: Path, runtime: str = "auto") -> dict[str, float]:
    """Average precision of the persons, or of the first class, in the test splits that a dataset has."""
    from skyloop_detect.detector import load_detector
    from skyloop_detect.samples import read_image
    from skyloop_detect.scoring import scored

    detector = load_detector(model, runtime)
    first = detector.classes[0]
    out: dict[str, float] = {}
    for key, part in PARTS.items():
        if part and not (data / part).is_dir():
            continue
        samples = read_samples(data / part, "test")
        found = [detector.find_numbers(read_image(sample.path), LEAST_SCORE) for sample in samples]
        out[key] = scored(samples, found, detector.classes)[first].ap50
    return out


def spread(samples: list[Sample], most: int) -> list[Sample]:
    """At most so many samples, evenly out of all."""
    if len(samples) <= most:
        return samples
    return [samples[k * len(samples) // most] for k in range(most)]


def torch_device(name: str) -> torch.device:
    """`auto` is a GPU if there is one."""
    try:
        import torch
    except ImportError:
        raise MissingExtra("training needs torch; pip install 'skyloop-detect[train]'") from None
    if name not in ("auto", "cpu", "cuda"):
        raise DatasetError(f"--device {name}: give auto, cpu or cuda")
    if name == "cuda" and not torch.cuda.is_available():
        raise SetupError("--device cuda: this machine has no GPU that torch can use; give cpu")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")


def _check(options: TrainingOptions) -> None:
    if not 1 <= options.epochs <= 10_000:
        raise DatasetError(f"--epochs {options.epochs}: give 1 to 10000")
    if not 2 <= options.batch <= 4096:
        raise DatasetError(f"--batch {options.batch}: give 2 to 4096")
    if not 0.0 < options.rate <= 1.0:
        raise DatasetError(f"--rate {options.rate:g}: give more than 0 and at most 1")
    if options.minutes is not None and not options.minutes > 0.0:
        raise DatasetError(f"--minutes {options.minutes:g}: give more than 0")
