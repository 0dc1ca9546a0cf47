"""Changes a batch of images and their boxes at random, on the device where they lie.

Zoom, place and mirror in one warp of each image; then light, colours, noise and blur. The same generator gives the same
batch.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from skyloop_detect.samples import SMALLEST_PX

ZOOM = (0.6, 1.7)
"""px of the result per px of the source."""
PLAIN = 0.2
"""The share of images that are not zoomed or moved."""
INSIDE, LOST = 0.35, 0.05
"""Shares of a box within the image: below the first it is neither an example nor a counterexample, below the second
gone."""
BRIGHT, GAMMA, CONTRAST, SATURATION, GAINS = (0.65, 1.5), (0.75, 1.35), (0.7, 1.3), (0.4, 1.5), (0.88, 1.12)
NOISE, NOISY, BLURRED, GREY = 0.04, 0.3, 0.12, 0.05
"""Largest sigma of the noise, and shares of images with noise, with blur, and without colours."""


class TrainingBatch(NamedTuple):
    images: Tensor
    """(b, 3, height, width) 0 to 1."""
    boxes: Tensor
    """(b, m, 4) px."""
    kinds: Tensor
    """(b, m) numbers of classes; -1: no object."""
    skipped: Tensor
    """(b, m)."""


def plain(pixels: Tensor, boxes: Tensor, kinds: Tensor, skipped: Tensor) -> TrainingBatch:
    """Images as they are."""
    return TrainingBatch(pixels.permute(0, 3, 1, 2).float() / 255.0, boxes, kinds, skipped)


def augmented(batch: TrainingBatch, size: tuple[int, int], chance: torch.Generator) -> TrainingBatch:
    """The batch at `size` (height, width), each image changed in its own way."""
    warped = _warped(batch, size, chance)
    return warped._replace(images=_coloured(warped.images, chance))


def halved(batch: TrainingBatch) -> TrainingBatch:
    """Half as many pixels each way; what gets too small is skipped."""
    boxes = batch.boxes * 0.5
    skipped = batch.skipped | (boxes[..., 3] - boxes[..., 1] < SMALLEST_PX)
    return TrainingBatch(functional.avg_pool2d(batch.images, 2), boxes, batch.kinds, skipped)


def _draw(shape: tuple[int, ...], low: float, high: float, like: Tensor, chance: torch.Generator) -> Tensor:
    return low + (high - low) * torch.rand(shape, generator=chance, device=like.device)


def _warped(batch: TrainingBatch, size: tuple[int, int], chance: torch.Generator) -> TrainingBatch:
    images = batch.images
    count, height, width = len(images), images.shape[2], images.shape[3]
    out = torch.tensor([size[1], size[0]], dtype=torch.float32, device=images.device)
    source = torch.tensor([width, height], dtype=torch.float32, device=images.device)
    low, high = (torch.log(torch.tensor(z)).item() for z in ZOOM)
    zoom = torch.exp(_draw((count, 1), low, high, images, chance))
    still = _draw((count, 1), 0.0, 1.0, images, chance) < PLAIN
    # where the result's corner is in the source; anywhere that leaves as little black as possible
    span = source - out / zoom
    corner = span * _draw((count, 2), 0.0, 1.0, images, chance)
    if (height, width) == size:
        zoom, corner = torch.where(still, 1.0, zoom), torch.where(still, 0.0, corner)
    mirrored = _draw((count, 1), 0.0, 1.0, images, chance) < 0.5
    grid = _grid(corner, zoom, mirrored, size, source)
    warped = functional.grid_sample(images, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
    boxes = (batch.boxes - corner.repeat(1, 2)[:, None]) * zoom[:, None]
    flipped = torch.stack([out[0] - boxes[..., 2], boxes[..., 1], out[0] - boxes[..., 0], boxes[..., 3]], -1)
    return _cut(warped, torch.where(mirrored[:, None], flipped, boxes), batch, out)


def _grid(corner: Tensor, zoom: Tensor, mirrored: Tensor, size: tuple[int, int], source: Tensor) -> Tensor:
    """(b, height, width, 2) where each pixel of the result is in the source, from -1 to 1."""
    height, width = size
    x = torch.arange(width, device=corner.device) + 0.5
    y = torch.arange(height, device=corner.device) + 0.5
    x = torch.where(mirrored, width - x, x)
    at_x = (corner[:, :1] + x / zoom) / source[0] * 2.0 - 1.0
    at_y = (corner[:, 1:] + y / zoom) / source[1] * 2.0 - 1.0
    shape = (len(corner), height, width)
    return torch.stack([at_x[:, None, :].expand(shape), at_y[:, :, None].expand(shape)], -1)


def _cut(images: Tensor, boxes: Tensor, batch: TrainingBatch, out: Tensor) -> TrainingBatch:
    """Boxes cut to the image."""
    limits = out.repeat(2)
    cut = torch.minimum(boxes.clamp(min=0.0), limits)
    sides, whole = (cut[..., 2:] - cut[..., :2]).clamp(min=0.0), boxes[..., 2:] - boxes[..., :2]
    inside = sides.prod(-1) / whole.prod(-1).clamp(min=1e-6)
    kinds = torch.where(inside < LOST, -1, batch.kinds)
    skipped = batch.skipped | (inside < INSIDE) | (sides[..., 1] < SMALLEST_PX)
    return TrainingBatch(images, cut, kinds, skipped)


def _coloured(images: Tensor, chance: torch.Generator) -> Tensor:
    count = len(images)

    def draw(low: float, high: float, channels: int = 1) -> Tensor:
        return _draw((count, channels, 1, 1), low, high, images, chance)

    images = images.clamp(1e-4, 1.0) ** draw(*GAMMA)
    grey = images.mean(1, keepdim=True)
    saturation = torch.where(draw(0.0, 1.0) < GREY, 0.0, draw(*SATURATION))
    images = grey + (images - grey) * saturation
    middle = images.mean((1, 2, 3), keepdim=True)
    images = (middle + (images - middle) * draw(*CONTRAST)) * draw(*BRIGHT) * draw(*GAINS, channels=3)
    blurred = functional.avg_pool2d(functional.pad(images, (1, 1, 1, 1), mode="replicate"), 3, 1)
    images = torch.where(draw(0.0, 1.0) < BLURRED, blurred, images)
    sigma = torch.where(draw(0.0, 1.0) < NOISY, draw(0.0, NOISE), 0.0)
    noise = torch.randn(images.shape, generator=chance, device=images.device)
    return (images + sigma * noise).clamp(0.0, 1.0)
