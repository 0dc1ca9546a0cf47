"""All images of a dataset in memory as bytes, on the GPU if there is room, so that training never waits for files.

Images lie on canvases of three sizes, 160 x 120 to 640 x 480, from the upper left corner. A larger image is made
smaller until it fits; a training on large photographs is a training on them at 640 x 480.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from skyloop_client.errors import DatasetError
from skyloop_detect.samples import SMALLEST_PX, Sample, read_image

CANVASES = ((160, 120), (320, 240), (640, 480))
"""px: width, height."""
ROOM = 0.6
"""The share of the GPU's free memory that images may take."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class ImageBatch:
    """The images of one size, with their objects padded to equal numbers."""

    pixels: Tensor
    """(n, height, width, 3) uint8."""
    boxes: Tensor
    """(n, m, 4) px."""
    kinds: Tensor
    """(n, m) numbers of classes; -1: no object."""
    skipped: Tensor
    """(n, m) objects that are neither examples nor counterexamples."""
    numbers: NDArray[np.int64]
    """(n,) of the samples."""
    counts: NDArray[np.int64]
    """(n,) objects of each; those after them in the tables are padding."""
    scales: NDArray[np.float64]
    """(n,) canvas px per px of the file."""

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def size(self) -> tuple[int, int]:
        """px: height, width."""
        return int(self.pixels.shape[1]), int(self.pixels.shape[2])


def load_images(
    samples: Sequence[Sample], classes: Sequence[str], device: torch.device, progress: Progress = lambda done, of: None
) -> list[ImageBatch]:
    """One canvas of each size that occurs."""
    by_canvas: dict[tuple[int, int], list[int]] = {}
    for number, sample in enumerate(samples):
        fits = [canvas for canvas in CANVASES if sample.size[0] <= canvas[0] and sample.size[1] <= canvas[1]]
        by_canvas.setdefault(fits[0] if fits else CANVASES[-1], []).append(number)
    out, done = [], 0
    for (width, height), numbers in sorted(by_canvas.items()):
        pixels = np.zeros((len(numbers), height, width, 3), np.uint8)
        scales = np.ones(len(numbers))
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            jobs = [pool.submit(_paste, samples[number], pixels[k]) for k, number in enumerate(numbers)]
            for k, job in enumerate(jobs):
                scales[k] = job.result()
                done += 1
                progress(done, len(samples))
        tables = _tables([samples[number] for number in numbers], scales, classes)
        stored = torch.from_numpy(pixels)
        target = device if _has_room(stored, device) else torch.device("cpu")
        boxes, kinds, skipped = (table.to(target) for table in tables)
        counts = np.array([len(samples[number].names) for number in numbers], np.int64)
        out.append(ImageBatch(stored.to(target), boxes, kinds, skipped, np.array(numbers, np.int64), counts, scales))
    return out


def _has_room(pixels: Tensor, device: torch.device) -> bool:
    return device.type != "cuda" or pixels.numel() < ROOM * torch.cuda.mem_get_info(device)[0]


def _paste(sample: Sample, canvas: NDArray[np.uint8]) -> float:
    """Returns canvas px per px of the file."""
    pixels = read_image(sample.path)
    height, width = pixels.shape[:2]
    if (width, height) != sample.size:
        raise DatasetError(
            f"'{sample.path}' has {width} x {height} px, but its label says {sample.size[0]} x {sample.size[1]}"
        )
    scale = min(1.0, canvas.shape[1] / width, canvas.shape[0] / height)
    if scale < 1.0:
        size = (max(1, int(width * scale)), max(1, int(height * scale)))
        pixels = np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0))
    canvas[: pixels.shape[0], : pixels.shape[1]] = pixels
    return float(scale)


def _tables(
    samples: Sequence[Sample], scales: NDArray[np.float64], classes: Sequence[str]
) -> tuple[Tensor, Tensor, Tensor]:
    most = max(1, max(len(sample.names) for sample in samples))
    boxes = np.zeros((len(samples), most, 4), np.float32)
    kinds = np.full((len(samples), most), -1, np.int64)
    skipped = np.zeros((len(samples), most), np.bool_)
    for k, sample in enumerate(samples):
        n = len(sample.names)
        boxes[k, :n] = sample.boxes * scales[k]
        kinds[k, :n] = sample.numbers(classes)
        tall = boxes[k, :n, 3] - boxes[k, :n, 1]
        skipped[k, :n] = sample.skipped | (tall < SMALLEST_PX)
    return torch.from_numpy(boxes), torch.from_numpy(kinds), torch.from_numpy(skipped)
