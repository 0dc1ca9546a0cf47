"""Trains the network: AdamW with a cosine schedule, a mean of the latest weights, mixed precision on a GPU.

The whole dataset lies in memory; each epoch draws its batches and changes with generators of (seed, epoch), so a
training that is continued draws what it would have drawn. Every few epochs the averaged weights are scored on the
validation images; the best are kept, and a training that no longer gets better ends.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from skyloop_client.errors import DatasetError
from skyloop_detect.anchors import anchors
from skyloop_detect.augmentation import TrainingBatch, augmented, halved, plain
from skyloop_detect.image_store import ImageBatch
from skyloop_detect.matching import losses
from skyloop_detect.network import Network, placed
from skyloop_detect.samples import Sample
from skyloop_detect.scoring import quick_ap50
from skyloop_detect.training_state import EventLog, Trained, load_state, save_state
from skyloop_detect.validation import find_all, settle_norms
from skyloop_detect.weights import begin_with, save_network

log = logging.getLogger(__name__)
WEIGHTS = "weights.safetensors"
SUMMARY = "training.json"
LARGEST_GRADIENT = 10.0
WHOLE, HALF = 0.25, 0.4
"""Of the large images, the shares that are shown whole and at half size; the others are cut."""
SETTLING = 24
"""Batches from which the normalisations are measured before a validation."""
TOLD = 8
"""Times that each epoch tells how far it is."""
MIXED_ON = ("cuda",)
"""Kinds of devices on which most of the network is computed with 16 bits."""
TIMED_EPOCHS = 2
"""After these it is known how many fit into the given minutes."""


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    epochs: int = 120
    batch: int = 64
    """Images of 320 x 240 in one step; of 640 x 480 a quarter."""
    rate: float = 2e-3
    """The highest learning rate, for a batch of 64."""
    decay: float = 0.02
    seed: int = 1
    minutes: float | None = None
    """Wall time that the training may take; fewer epochs are planned if they do not fit."""
    every: int = 10
    """Epochs from one validation to the next."""
    patience: int = 4
    """Validations without a better score after which the training ends."""
    augment: bool = True
    start: str = ""
    """`people` or a file of weights to begin with; empty: they are drawn by the seed."""


class TrainingProgress(NamedTuple):
    """Where a training stands."""

    epoch: int
    epochs: int
    share: float
    """Of the epoch that runs."""
    loss: float
    ap50: float
    """The best so far on the validation images; nan before the first."""


class Planned(NamedTuple):
    """One batch to be made."""

    canvas: ImageBatch
    rows: NDArray[np.int64]
    mode: str


def train(
    folder: Path,
    data: Mapping[str, tuple[Sequence[Sample], Sequence[ImageBatch]]],
    classes: tuple[str, ...],
    device: torch.device,
    options: TrainingOptions,
    progress: Callable[[TrainingProgress], None] = lambda progress: None,
    clock: Callable[[], float] = lambda: 0.0,
) -> dict[str, Any]:
    """`data` has samples and their images for train and val. Leaves the best weights in the folder, returns a summary.

    clock: wall seconds, for the log and for `minutes`."""
    # trying out algorithms took over half a minute for each size of batch on an H200, and a step takes 0.05 s without
    torch.backends.cudnn.benchmark = False
    network = placed(_new_network(len(classes), options.seed), device)
    if options.start:
        begin_with(network, options.start, classes)
    trained = Trained(network, _optimiser(network, options), options)
    began = clock()
    before = load_state(folder, trained, classes) if (folder / "state.json").exists() else 0.0
    events = EventLog(folder)
    epochs = options.epochs if trained.epochs is None else trained.epochs
    while trained.epoch < epochs and trained.waited <= options.patience:
        loss = _epoch(trained, data["train"][1], device, epochs, progress)
        trained.epoch += 1
        spent = before + clock() - began
        values = {"loss/score": loss[0], "loss/box": loss[1], "rate": trained.optimiser.param_groups[0]["lr"]}
        if options.minutes is not None and trained.epoch == TIMED_EPOCHS:
            epochs = trained.epochs = _fitting(options, spent, trained)
        if options.minutes is not None and spent >= 60.0 * options.minutes:
            # slower than planned: better an early end with weights than none
            epochs = trained.epochs = trained.epoch
        if trained.epoch % options.every == 0 or trained.epoch == epochs:
            values["val/ap50"] = _validate(folder, trained, data, classes, device)
        events.add(trained.epoch, spent, values)
        trained.history.append({"epoch": trained.epoch, "seconds": round(spent, 3), **values})
        save_state(folder, trained, classes, spent)
    return _summary(folder, trained, classes, device, data)


def one_epoch(canvases: Sequence[ImageBatch], n_classes: int, device: torch.device, options: TrainingOptions) -> None:
    """Train a new network once over all images and forget it; to see how long it takes."""
    network = placed(_new_network(n_classes, options.seed), device)
    _epoch(Trained(network, _optimiser(network, options), options), canvases, device, 1, lambda progress: None)


def _new_network(n_classes: int, seed: int) -> Network:
    """Its weights are drawn by the seed; torch's own generator stays as it is."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Network(n_classes)


def _optimiser(network: Network, options: TrainingOptions) -> torch.optim.Optimizer:
    """Only the weights of convolutions decay."""
    decaying = [p for p in network.parameters() if p.ndim > 1]
    others = [p for p in network.parameters() if p.ndim <= 1]
    groups = [{"params": decaying, "weight_decay": options.decay}, {"params": others, "weight_decay": 0.0}]
    # fused: one launch on a GPU in place of a dozen
    return torch.optim.AdamW(groups, lr=options.rate, fused=next(network.parameters()).is_cuda)


def _fitting(options: TrainingOptions, spent_s: float, trained: Trained) -> int:
    """Epochs that fit into the minutes, of which a tenth is left for the validations."""
    assert options.minutes is not None
    # of the latest epoch: in the first one a GPU tries out its algorithms
    pace = max(spent_s - trained.history[-1]["seconds"], 1e-3)
    fits = trained.epoch + int((0.9 * options.minutes * 60.0 - spent_s) / pace)
    log.info("an epoch takes %.1f s: %d epochs fit into %g minutes", pace, fits, options.minutes)
    return max(trained.epoch + 1, min(options.epochs, fits))


def _epoch(
    trained: Trained,
    canvases: Sequence[ImageBatch],
    device: torch.device,
    epochs: int,
    progress: Callable[[TrainingProgress], None],
) -> tuple[float, float]:
    """Returns the mean losses of the scores and of the boxes."""
    options, network = trained.options, trained.network
    key = [options.seed, trained.epoch]
    planned = list(_planned(canvases, options, np.random.default_rng(key)))
    chance = torch.Generator(device).manual_seed(int(np.random.SeedSequence(key).generate_state(1)[0]))
    total = torch.zeros(2, device=device)
    network.train()
    for step, plan in enumerate(planned):
        trained.set_rate((trained.epoch + step / len(planned)) / epochs)
        batch = _made(plan, device, options.augment, chance)
        score, box = _loss(network, batch, device)
        trained.optimiser.zero_grad(set_to_none=True)
        (score + box).backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), LARGEST_GRADIENT)
        trained.optimiser.step()
        trained.average()
        total += torch.stack([score.detach(), box.detach()])
        if (step + 1) % max(1, len(planned) // TOLD) == 0:
            # seldom, because it waits for the GPU
            known = float(total.sum()) / (step + 1)
            progress(TrainingProgress(trained.epoch, epochs, (step + 1) / len(planned), known, trained.best))
    mean = (total / max(len(planned), 1)).tolist()
    if not all(map(math.isfinite, mean)):
        raise DatasetError(f"the training diverged in epoch {trained.epoch + 1}; give a smaller --rate")
    progress(TrainingProgress(trained.epoch + 1, epochs, 0.0, sum(mean), trained.best))
    return mean[0], mean[1]


def _planned(
    canvases: Sequence[ImageBatch], options: TrainingOptions, chance: np.random.Generator
) -> Iterator[Planned]:
    """Every image once, in batches of one size, in random order; what is left over of a full batch waits for another
    epoch."""
    batches = []
    for canvas in canvases:
        order = chance.permutation(len(canvas))
        modes = ("whole",) if canvas.size[0] < 480 else ("whole", "half", "cut")
        shares = np.array([1.0] if len(modes) == 1 else [WHOLE, HALF, 1.0 - WHOLE - HALF])
        ends = np.round(np.cumsum(shares) * len(order)).astype(int)
        for mode, first, last in zip(modes, [0, *ends[:-1]], ends, strict=True):
            large = canvas.size[0] >= 480 and mode == "whole"
            size = max(1, options.batch // 4) if large else options.batch
            for start in range(first, last, size):
                if last - start < size and start > first:
                    # a GPU loads its code again for each number of images, ten seconds at a time
                    break
                batches.append(Planned(canvas, order[start : min(start + size, last)], mode))
    for k in chance.permutation(len(batches)):
        # normalisation needs several images
        if len(batches[k].rows) > 1 or len(batches) == 1:
            yield batches[k]


def _made(plan: Planned, device: torch.device, augment: bool, chance: torch.Generator) -> TrainingBatch:
    canvas, rows = plan.canvas, torch.from_numpy(plan.rows).to(plan.canvas.pixels.device)
    most = max(1, int(canvas.counts[plan.rows].max()))
    tables = (canvas.boxes, canvas.kinds, canvas.skipped)
    batch = plain(canvas.pixels[rows].to(device), *(table[rows, :most].to(device) for table in tables))
    if plan.mode == "half":
        batch = halved(batch)
    if not augment:
        return batch
    height, width = batch.images.shape[2:]
    return augmented(batch, (height // 2, width // 2) if plan.mode == "cut" else (height, width), chance)


def _loss(network: Network, batch: TrainingBatch, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    height, width = batch.images.shape[2:]
    starts = _anchors_on(height, width, device)
    images = batch.images.contiguous(memory_format=torch.channels_last)
    # bfloat16 has the range of float32, so that no loss needs scaling
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type in MIXED_ON):
        logits, offsets = network(images)
    found = losses(logits, offsets, starts, batch.boxes, batch.kinds, batch.skipped)
    return found.score, found.box


@lru_cache(maxsize=8)
def _anchors_on(height: int, width: int, device: torch.device) -> torch.Tensor:
    return torch.from_numpy(anchors(height, width).copy()).to(device)


def _validate(
    folder: Path,
    trained: Trained,
    data: Mapping[str, tuple[Sequence[Sample], Sequence[ImageBatch]]],
    classes: tuple[str, ...],
    device: torch.device,
) -> float:
    """Score the averaged weights on the validation images, and keep them if they are the best."""
    samples, canvases = data["val"]
    network = placed(Network(len(classes)), device)
    network.load_state_dict(trained.mean)
    settle_norms(network, _some_images(trained, data["train"][1], device))
    ap50 = quick_ap50(samples, find_all(network, canvases, device), classes)
    if math.isnan(trained.best) or ap50 > trained.best:
        trained.best, trained.waited = ap50, 0
        facts = {"epoch": str(trained.epoch), "seed": str(trained.options.seed), "val_ap50": f"{ap50:.4f}"}
        save_network(folder / WEIGHTS, network.state_dict(), classes, facts)
    else:
        trained.waited += 1
    return ap50


def _some_images(trained: Trained, canvases: Sequence[ImageBatch], device: torch.device) -> Iterator[torch.Tensor]:
    """Batches as the training sees them."""
    key = [trained.options.seed, trained.epoch]
    chance = torch.Generator(device).manual_seed(trained.options.seed)
    for plan in islice(_planned(canvases, trained.options, np.random.default_rng(key)), SETTLING):
        images = _made(plan, device, trained.options.augment, chance).images
        yield images.contiguous(memory_format=torch.channels_last)


def _summary(
    folder: Path,
    trained: Trained,
    classes: tuple[str, ...],
    device: torch.device,
    data: Mapping[str, tuple[Sequence[Sample], Sequence[ImageBatch]]],
) -> dict[str, Any]:
    seconds = float(trained.history[-1]["seconds"]) if trained.history else 0.0
    summary = {
        "classes": list(classes),
        "images": {name: len(samples) for name, (samples, _) in data.items()},
        "epochs": trained.epoch,
        "seconds_per_epoch": seconds / max(trained.epoch, 1),
        "wall_s": seconds,
        "val_ap50": trained.best,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "torch": torch.__version__,
        "options": asdict(trained.options),
        "history": trained.history,
    }
    try:
        (folder / SUMMARY).write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise DatasetError(f"cannot write '{folder / SUMMARY}': {error.strerror}") from None
    return summary
