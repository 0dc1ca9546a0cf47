"""Boxes against labels: which are right at an overlap of one half, precision, recall and AP50.

A box is right if its intersection with a label that no better box has taken is at least half of their union. AP50 is
the area under precision over recall with all points, precision made falling from the right, as VOC since 2010. Labels
that need not be found (too small, too much hidden) are `ignored`: a box on one of them is neither right nor false.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from skyloop_client.messages import Array

OVERLAP = 0.5


def overlaps(one: Array, other: Array) -> Array:
    """(n, m) intersection over union of (n, 4) and (m, 4) boxes: left, top, right, bottom."""
    low = np.maximum(one[:, None, :2], other[None, :, :2])
    high = np.minimum(one[:, None, 2:], other[None, :, 2:])
    common = np.prod(np.maximum(high - low, 0.0), axis=2)
    areas = [np.prod(np.maximum(boxes[:, 2:] - boxes[:, :2], 0.0), axis=1) for boxes in (one, other)]
    union = areas[0][:, None] + areas[1][None] - common
    return np.where(union > 0.0, common / np.maximum(union, 1e-12), 0.0)


@dataclass(slots=True)
class BoxScore:
    """Give it one image after the other."""

    labels: int = 0
    _scores: list[float] = field(default_factory=list)
    _right: list[bool] = field(default_factory=list)

    def add(self, boxes: Array, scores: Array, labels: Array, counts: NDArray[np.bool_]) -> None:
        """boxes (n, 4) with scores (n,); labels (m, 4), of which `counts` (m,) says whether they must be found."""
        self.labels += int(np.sum(counts))
        common = overlaps(boxes.reshape(-1, 4), labels.reshape(-1, 4))
        free = np.ones(common.shape[1], bool)
        for i in np.argsort(-scores, kind="stable").tolist():
            fits = np.where(free, common[i], 0.0)
            # one that counts goes before one that does not
            best = max(range(len(fits)), key=lambda k: (fits[k] >= OVERLAP, counts[k], fits[k]), default=-1)
            if best >= 0 and fits[best] >= OVERLAP:
                free[best] = False
                if not counts[best]:
                    continue
                self._right.append(True)
            else:
                self._right.append(False)
            self._scores.append(float(scores[i]))

    def at(self, threshold: float = 0.5) -> tuple[float, float]:
        """Precision and recall of the boxes with at least this score; NaN where there is nothing to divide by."""
        chosen = [right for right, score in zip(self._right, self._scores, strict=True) if score >= threshold]
        right = sum(chosen)
        return right / len(chosen) if chosen else float("nan"), right / self.labels if self.labels else float("nan")

    @property
    def ap50(self) -> float:
        if not self.labels:
            return float("nan")
        order = np.argsort(-np.array(self._scores), kind="stable")
        right = np.cumsum(np.array(self._right, float)[order]) if len(order) else np.zeros(0)
        precision = right / np.arange(1, len(right) + 1)
        recall = np.concatenate([[0.0], right / self.labels])
        falling = np.maximum.accumulate(precision[::-1])[::-1]
        return float(np.sum(np.diff(recall) * falling))
