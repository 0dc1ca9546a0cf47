"""Table 7 of airloop as the time of one pass over the training images: on the GPU that trained the shipped weights, on
one core of this machine, and on a target that gets a share of that core."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from skyloop.links.loop.targets import agent_command
from skyloop_detect.dataset_reader import read_samples
from skyloop_detect.detector import MODELS
from skyloop_papers.experiment import Cell
from skyloop_papers.processes import child, result_of

SLOWED = 0.2
"""The share of a core's time that the slowed target gets: it is stopped in turns by its agent."""


def training_times(data: Path, steps: int) -> dict[str, Any]:
    """s per image on one core and on the slowed target, beside what is known of the shipped training."""
    shipped = json.loads((MODELS / "training.json").read_text(encoding="utf-8"))
    core = seconds_per_image(data, steps, shipped["classes"], time.process_time)
    slowed = slowed_seconds_per_image(data, steps, shipped["classes"])
    return {"shipped": shipped, "steps": steps, "core": core, "slowed": slowed}


def training_cells(run: dict[str, Any]) -> list[Cell]:
    shipped, steps = run["shipped"], run["steps"]
    images = int(shipped["images"]["train"])
    own = {"device": shipped["device"], "images": images}
    core = {"device": "one core of this machine", "images": images, "from_steps": steps}
    slow = {**core, "device": f"a target that gets {SLOWED:g} of that core's time"}
    rows = (
        ("GPU", float(shipped["seconds_per_epoch"]), int(shipped["epochs"]), own),
        ("CPU", run["core"] * images, steps, core),
        ("slowed target", run["slowed"] * images, steps, slow),
    )
    return [
        Cell("Table 7", "time per epoch", where, None, seconds, "s", n, None, about)
        for where, seconds, n, about in rows
    ]


def seconds_per_image(data: Path, steps: int, classes: Sequence[str], clock: Callable[[], float]) -> float:
    """Of a training on this machine with one thread; large and small images as they come."""
    import torch

    from skyloop_detect.image_store import load_images
    from skyloop_detect.training import TrainingOptions, one_epoch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        options, device = TrainingOptions(epochs=1, batch=8), torch.device("cpu")
        samples = read_samples(data, "test")[: steps * options.batch]
        canvases = load_images(samples, classes, device)
        began = clock()
        one_epoch(canvases, len(classes), device, options)
        return (clock() - began) / len(samples)
    finally:
        torch.set_num_threads(before)


def slowed_seconds_per_image(data: Path, steps: int, classes: Sequence[str]) -> float:
    """The same by the wall clock, in a process that its agent lets run for a share of the time."""
    slowly = agent_command(["--throttle", f"{SLOWED:g}"], [])
    with child(seconds_on_the_wall, str(data), steps, list(classes), prefix=slowly) as process:
        return float(result_of(process, "the training on a slowed target"))


def seconds_on_the_wall(data: str, steps: int, classes: Sequence[str]) -> float:
    return seconds_per_image(Path(data), steps, classes, time.perf_counter)
