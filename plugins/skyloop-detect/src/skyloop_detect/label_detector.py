"""A detector that reads the truth: it finds people in the labels of an image, as well as the image would let it.

It is no network and must not be taken for one. It tells errors of what comes after detection from those of detection:
with it everybody who can be made out is found, in boxes of known noise. Whether somebody can be made out follows from
the pixels themselves, so that fog, night and distance act as they would, by two old rules:

    contrast: P = 1 / (1 + (C50 / C)^4)     C: rms of the box's brightness from the mean of what is around it
    size:     P = r^E / (1 + r^E)           r = N / N50, E = 2.7 + 0.7 r   (Johnson, with the exponent of NVESD)
                                            N: line pairs across the person, half the root of the visible pixels
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from skyloop.core import quantities
from skyloop.core.keyed_random import KeyedRandom
from skyloop.core.random_key import stream_key
from skyloop_client.messages import Array, Label
from skyloop_client.messages.samples import luma
from skyloop_client.streams import NS_PER_S

Found = tuple[Array, tuple[str, ...], Array]
"""(n, 4) px boxes, n classes, (n,) scores, as in `Detections`."""
LEAST_PX = 3
"""px around a box, at least, that count as its surroundings."""


class LabelDetectorConfig(BaseModel):
    """How well people are found in labels."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    half_contrast: quantities.Positive = 6.0
    """C50, levels of 255: with this contrast every second person is found."""
    half_cycles: quantities.Positive = 2.0
    """N50, line pairs: of this size every second person is found."""
    edge_px: quantities.NonNegative = 0.5
    """px, one sigma of each edge of a box."""
    edge_share: quantities.NonNegative = 0.03
    """The share of the box's height that is added to it."""
    false_boxes: quantities.NonNegative = 0.02
    """Boxes with nobody in them, per image."""
    steadiness: quantities.Positive = 0.5
    """The share of chance that stays the same for a second, 0 to 1: a detector that misses somebody in one image is
    likely to miss them in the next."""


class LabelDetector:
    """Its chance is a function of seed, image and person."""

    def __init__(self, config: LabelDetectorConfig, seed: int, stream: str) -> None:
        self._config = config
        self._image_key = stream_key(seed, f"{stream}/label detector")
        self._person_key = stream_key(seed, f"{stream}/label detector, people")
        # loads what is compiled, which takes longer than a look
        self._draws(0, 0)

    def find(self, colour: NDArray[np.uint8], labels: Sequence[Label], t_ns: int) -> Found:
        """colour: the image that the labels are of."""
        grey = (colour if colour.ndim == 2 else luma(colour)).astype(np.float64)
        boxes: list[Array] = []
        classes, scores = [], []
        for label in labels:
            chance = self.chance(grey, label)
            draw, jitter = self._draws(label.instance, t_ns)
            if draw < chance:
                boxes.append(self._box(label, jitter, grey.shape))
                classes.append(label.class_name)
                scores.append(0.5 + 0.5 * chance)
        for box, score in self._false_boxes(t_ns, grey.shape):
            boxes.append(box)
            classes.append("person")
            scores.append(score)
        return np.array(boxes).reshape(-1, 4), tuple(classes), np.array(scores)

    def chance(self, grey: Array, label: Label) -> float:
        """That the label is found in this image."""
        c = self._config
        ratio = 0.5 * np.sqrt(label.visible_px) / c.half_cycles
        power = ratio ** (2.7 + 0.7 * ratio)
        contrast = contrast_of(grey, label.box_px)
        by_size = 1.0 - 1.0 / (1.0 + min(float(power), 1e9))
        return by_size / (1.0 + (c.half_contrast / max(contrast, 1e-6)) ** 4)

    def _draws(self, instance: int, t_ns: int) -> tuple[float, Array]:
        """A number between 0 and 1 of which a share stays for a second, and four normal ones for the edges."""
        share = min(self._config.steadiness, 1.0)
        long = KeyedRandom(self._person_key, instance * 1_000_003 + t_ns // NS_PER_S).normal(1)[0]
        now = KeyedRandom(self._image_key, instance * 1_000_000_007 + t_ns // 1_000_000).normal(5)
        return _below(np.sqrt(share) * long + np.sqrt(1.0 - share) * now[0]), now[1:]

    def _box(self, label: Label, jitter: Array, size: tuple[int, ...]) -> Array:
        left, top, right, bottom = label.box_px
        # label boxes name their last pixels, boxes of detectors their outer edges
        edges = np.array([left, top, right + 1.0, bottom + 1.0])
        c = self._config
        edges += (c.edge_px + c.edge_share * (bottom + 1.0 - top)) * jitter
        edges = np.clip(edges, 0.0, [size[1], size[0], size[1], size[0]])
        return np.array([*np.minimum(edges[:2], edges[2:] - 1.0), *edges[2:]])

    def _false_boxes(self, t_ns: int, size: tuple[int, ...]) -> list[tuple[Array, float]]:
        chance = KeyedRandom(self._image_key, t_ns).generator()
        out = []
        for _ in range(int(chance.poisson(self._config.false_boxes))):
            tall = chance.uniform(12.0, 60.0)
            x, y = chance.uniform(0.0, size[1] - 0.4 * tall), chance.uniform(0.3 * size[0], size[0] - tall)
            out.append((np.array([x, y, x + 0.4 * tall, y + tall]), float(chance.uniform(0.3, 0.7))))
        return out


def contrast_of(grey: Array, box_px: tuple[int, int, int, int]) -> float:
    """Levels: rms of the brightness in a box from the mean around it."""
    left, top, right, bottom = box_px[0], box_px[1], box_px[2] + 1, box_px[3] + 1
    aside, above = LEAST_PX + (right - left) // 3, LEAST_PX + (bottom - top) // 6
    x0, y0, x1, y1 = max(left - aside, 0), max(top - above, 0), right + aside, bottom + above
    around, inside = grey[y0:y1, x0:x1], grey[top:bottom, left:right]
    count = around.size - inside.size
    if count <= 0:
        return float(inside.std())
    mean = (float(around.sum()) - float(inside.sum())) / count
    return float(np.sqrt(np.mean((inside - mean) ** 2)))


def _below(normal: float) -> float:
    """The share of a normal distribution that lies below."""
    from scipy.special import ndtr

    return float(ndtr(normal))
