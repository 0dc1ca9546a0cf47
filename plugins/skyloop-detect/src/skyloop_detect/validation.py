"""What a network in torch finds in all images of a dataset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from skyloop_detect.anchors import anchors, decoded
from skyloop_detect.finding import CANDIDATES, FoundBoxes, keep_best
from skyloop_detect.image_store import ImageBatch
from skyloop_detect.network import Network

PIXELS_AT_ONCE = 64 * 320 * 240


@torch.no_grad()
def find_all(
    network: Network, canvases: Sequence[ImageBatch], device: torch.device, least_score: float = 0.05
) -> list[FoundBoxes]:
    """By the number of the sample, in pixels of its file."""
    out: dict[int, FoundBoxes] = {}
    network.eval()
    for canvas in canvases:
        height, width = canvas.size
        starts = anchors(height, width)
        at_once = max(1, PIXELS_AT_ONCE // (height * width))
        for first in range(0, len(canvas), at_once):
            pixels = canvas.pixels[first : first + at_once].to(device)
            images = (pixels.permute(0, 3, 1, 2).float() / 255.0).contiguous(memory_format=torch.channels_last)
            logits, offsets = network(images)
            scores, picked = torch.sigmoid(logits.float()).flatten(1).topk(min(CANDIDATES, logits[0].numel()), dim=1)
            which = picked // network.n_classes
            near = torch.gather(offsets.float(), 1, which[..., None].expand(-1, -1, 4))
            arrays = [tensor.cpu().numpy() for tensor in (scores, picked, near)]
            for k, (score, hit, offset) in enumerate(zip(*arrays, strict=True)):
                number, enough = int(canvas.numbers[first + k]), score > least_score
                rows, kinds = np.divmod(hit[enough], network.n_classes)
                found = keep_best(decoded(offset[enough], starts[rows]), kinds, score[enough], canvas.size)
                out[number] = found._replace(boxes=found.boxes / canvas.scales[first + k])
    return [out[number] for number in sorted(out)]


@torch.no_grad()
def settle_norms(network: Network, batches: Iterable[Tensor]) -> None:
    """Measure the means and variances of the normalisations with the present weights; averaged ones lag behind."""
    norms = [module for module in network.modules() if isinstance(module, nn.BatchNorm2d)]
    usual = [norm.momentum for norm in norms]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
    network.train()
    for images in batches:
        network(images)
    for norm, momentum in zip(norms, usual, strict=True):
        norm.momentum = momentum
    network.eval()
