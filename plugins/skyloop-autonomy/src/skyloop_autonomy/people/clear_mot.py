"""CLEAR MOT: misses, false tracks and switches of numbers, counted over many instants.

Bernardin and Stiefelhagen, "Evaluating Multiple Object Tracking Performance: The CLEAR MOT Metrics", 2008. At each
instant:

1. A pair of the instant before stays a pair while it is within reach.
2. All others are assigned so that the sum of distances is least; pairs beyond reach are none.
3. An object without a track is a miss, a track without an object is false. An object whose track has another number
   than the one it had last, however long ago, is a switch.

    MOTA = 1 - (misses + false + switches) / objects        MOTP = mean distance of the pairs

Objects that need not be found, such as people behind a tree, are given as `ignored`: a track within reach of one of
them, and of nobody else, is neither right nor false.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from skyloop_client.messages import Array

FAR = 1e9


@dataclass(slots=True)
class ClearMot:
    """Give it one instant after the other."""

    reach: float
    """m, within which a track is an object's."""
    objects: int = 0
    matches: int = 0
    misses: int = 0
    false: int = 0
    switches: int = 0
    distance: float = 0.0
    """m, the sum over all pairs."""
    _before: dict[int, int] = field(default_factory=dict)
    """By object, its track at the instant before."""
    _last: dict[int, int] = field(default_factory=dict)
    """By object, the number of the last track it had."""

    def add(
        self, objects: Mapping[int, Array], tracks: Mapping[int, Array], ignored: Mapping[int, Array] | None = None
    ) -> dict[int, int]:
        """The places of objects and tracks by number, at one instant. Returns the tracks by object."""
        pairs = self._pairs(objects, tracks)
        for thing, number in pairs.items():
            self.distance += _apart(objects[thing], tracks[number])
            self.switches += self._last.get(thing, number) != number
            self._last[thing] = number
        self.objects += len(objects)
        self.matches += len(pairs)
        self.misses += len(objects) - len(pairs)
        taken = set(pairs.values())
        for number, place in tracks.items():
            excused = any(_apart(place, there) <= self.reach for there in (ignored or {}).values())
            self.false += number not in taken and not excused
        self._before = pairs
        return pairs

    def _pairs(self, objects: Mapping[int, Array], tracks: Mapping[int, Array]) -> dict[int, int]:
        kept = {
            thing: number
            for thing, number in self._before.items()
            if thing in objects and number in tracks and _apart(objects[thing], tracks[number]) <= self.reach
        }
        things = [thing for thing in objects if thing not in kept]
        numbers = [number for number in tracks if number not in kept.values()]
        if things and numbers:
            # every run imports this file, few have tracks, and this takes as long as all else that a run imports
            from scipy.optimize import linear_sum_assignment

            apart = np.array([[_apart(objects[thing], tracks[number]) for number in numbers] for thing in things])
            rows, columns = linear_sum_assignment(np.where(apart <= self.reach, apart, FAR))
            for i, k in zip(rows.tolist(), columns.tolist(), strict=True):
                if apart[i, k] <= self.reach:
                    kept[things[i]] = numbers[k]
        return kept

    @property
    def mota(self) -> float:
        """1 at best; below 0 if there are more errors than objects; NaN without objects."""
        return 1.0 - (self.misses + self.false + self.switches) / self.objects if self.objects else float("nan")

    @property
    def motp(self) -> float:
        """m; NaN without pairs."""
        return self.distance / self.matches if self.matches else float("nan")

    @property
    def recall(self) -> float:
        return self.matches / self.objects if self.objects else float("nan")

    @property
    def precision(self) -> float:
        """NaN without tracks."""
        found = self.matches + self.false
        return self.matches / found if found else float("nan")


def _apart(a: Array, b: Array) -> float:
    return float(np.linalg.norm(np.asarray(a) - np.asarray(b)))
