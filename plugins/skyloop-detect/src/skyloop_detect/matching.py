"""Which anchors have to answer for which object, and how wrong their answers are.

An object is answered for by the anchors that overlap it most: up to nine, as long as they overlap at least 0.6 times as
much as the best one. A small person between the cells of the finest map thus has its anchors too, which a fixed bound
would deny it.

The score of an anchor should be how well its box fits, and 0 elsewhere: quality focal loss (Li et al., 2020). Boxes are
compared by generalised intersection over union.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from skyloop_detect.anchors import LARGEST_LOG, SCALES

MOST_PER_OBJECT = 9
SHARE_OF_BEST = 0.6
UNCLEAR = 0.5
"""Anchors that overlap an object by more but do not answer for it count neither way."""
NEAR_SKIPPED = 0.25
"""Likewise anchors that overlap a skipped object by more."""
BOX_WEIGHT = 2.0


class Match(NamedTuple):
    which: Tensor
    """(b, a) the object that the anchor answers for; -1: none."""
    counted: Tensor
    """(b, a) whether the anchor's scores count."""


def pairwise_overlaps(a: Tensor, b: Tensor) -> Tensor:
    """(…, n, m) intersection over union of (…, n, 4) and (…, m, 4) boxes."""
    low = torch.maximum(a[..., :, None, :2], b[..., None, :, :2])
    high = torch.minimum(a[..., :, None, 2:], b[..., None, :, 2:])
    shared = (high - low).clamp(min=0.0).prod(-1)
    area_a, area_b = ((x[..., 2:] - x[..., :2]).clamp(min=0.0).prod(-1) for x in (a, b))
    return shared / (area_a[..., :, None] + area_b[..., None, :] - shared).clamp(min=1e-6)


def corners(middles: Tensor) -> Tensor:
    """(…, 4) left, top, right, bottom of (…, 4) middles and sizes."""
    half = 0.5 * middles[..., 2:]
    return torch.cat([middles[..., :2] - half, middles[..., :2] + half], -1)


@torch.no_grad()
def matched(starts: Tensor, boxes: Tensor, kinds: Tensor, skipped: Tensor) -> Match:
    """starts: (a, 4) anchors as middles and sizes; boxes (b, m, 4), kinds (b, m) and skipped (b, m) of the objects."""
    overlap = pairwise_overlaps(boxes, corners(starts)[None])
    wanted = (kinds >= 0) & ~skipped
    best, index = (overlap * wanted[..., None]).topk(min(MOST_PER_OBJECT, starts.shape[0]), dim=2)
    enough = (best >= SHARE_OF_BEST * best[..., :1]) & (best > 0.0)
    # an anchor of two objects answers for the one that it overlaps more
    strength = torch.zeros_like(overlap).scatter_(2, index, torch.where(enough, best, 0.0))
    strongest, which = strength.max(1)
    which = torch.where(strongest > 0.0, which, -1)
    unclear = (overlap * wanted[..., None]).amax(1) > UNCLEAR
    beside = (overlap * ((kinds >= 0) & skipped)[..., None]).amax(1) > NEAR_SKIPPED
    return Match(which, (which >= 0) | ~(unclear | beside))


def decoded_boxes(offsets: Tensor, starts: Tensor) -> Tensor:
    """(…, 4) left, top, right, bottom; `decoded` of anchors.py, with gradients."""
    moved = offsets * torch.tensor(SCALES, device=offsets.device)
    middles = starts[..., :2] + moved[..., :2] * starts[..., 2:]
    sizes = starts[..., 2:] * torch.exp(moved[..., 2:].clamp(max=LARGEST_LOG))
    return corners(torch.cat([middles, sizes], -1))


class Losses(NamedTuple):
    score: Tensor
    box: Tensor


def losses(logits: Tensor, offsets: Tensor, starts: Tensor, boxes: Tensor, kinds: Tensor, skipped: Tensor) -> Losses:
    """Of a batch: logits (b, a, classes) and offsets (b, a, 4) of the network."""
    logits, offsets = logits.float(), offsets.float()
    match = matched(starts, boxes, kinds, skipped)
    image, anchor = torch.nonzero(match.which >= 0, as_tuple=True)
    objects = match.which[image, anchor]
    truth, kind = boxes[image, objects], kinds[image, objects]
    fit, generalised = _fit(decoded_boxes(offsets[image, anchor], starts[anchor]), truth)
    target = torch.zeros_like(logits)
    target[image, anchor, kind] = fit.detach().clamp(min=0.0)
    weight = (torch.sigmoid(logits) - target).abs().pow(2)
    entropy = functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
    total = fit.detach().sum().clamp(min=1.0)
    score = (weight * entropy * match.counted[..., None]).sum() / total
    box = ((1.0 - generalised) * fit.detach().clamp(min=0.1)).sum() / total
    return Losses(score, BOX_WEIGHT * box)


def _fit(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """(n,) intersection over union of pairs of boxes, and the generalised one."""
    low, high = torch.maximum(a[:, :2], b[:, :2]), torch.minimum(a[:, 2:], b[:, 2:])
    shared = (high - low).clamp(min=0.0).prod(1)
    union = (a[:, 2:] - a[:, :2]).prod(1) + (b[:, 2:] - b[:, :2]).prod(1) - shared
    fit = shared / union.clamp(min=1e-6)
    outer = (torch.maximum(a[:, 2:], b[:, 2:]) - torch.minimum(a[:, :2], b[:, :2])).prod(1)
    return fit, fit - (outer - union) / outer.clamp(min=1e-6)
