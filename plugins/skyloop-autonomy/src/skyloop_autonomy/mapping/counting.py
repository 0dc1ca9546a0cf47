"""How a voxel counts what was seen of it: one step up for a hit, one step down for a miss, within limits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyloop_client.errors import ScenarioError

CERTAIN = 0.99
"""The probability that a counter at its limit stands for."""
OCCUPIED, FREE, UNKNOWN = 100, 0, -1
"""Values of a voxel or a cell in the messages VoxelMap and GridMap."""


@dataclass(frozen=True, slots=True)
class CounterRule:
    """E2ES's rule: a counter of hits minus misses, and the probabilities at which a voxel is occupied or free."""

    count: int = 10
    """Measurements from one limit of the counter to the other."""
    occupied: float = 0.9
    """The probability above which a voxel is occupied."""
    free: float = 0.1
    """The probability below which a voxel is free."""

    def __post_init__(self) -> None:
        if not (2 <= self.count <= 254 and 0.0 < self.free < self.occupied < 1.0):
            raise ScenarioError(f"map counters {self} cannot work; give count 2 to 254 and 0 < free < occupied < 1")

    @property
    def limit(self) -> int:
        """The counter stays within ± this."""
        return self.count // 2

    @property
    def occupied_above(self) -> int:
        return self._level(self.occupied)

    @property
    def free_below(self) -> int:
        return self._level(self.free)

    def _level(self, probability: float) -> int:
        """The counter that stands for a probability: proportional to its log odds, and below the limit."""
        level = round(_log_odds(probability) * self.limit / _log_odds(CERTAIN))
        return max(min(level, self.limit - 1), 1 - self.limit)

    def states(self, counters: NDArray[np.int8]) -> NDArray[np.int8]:
        """OCCUPIED, FREE or UNKNOWN for each counter."""
        out = np.full(counters.shape, UNKNOWN, np.int8)
        out[counters > self.occupied_above] = OCCUPIED
        out[counters < self.free_below] = FREE
        return out


def _log_odds(probability: float) -> float:
    return math.log(probability / (1.0 - probability))
