"""A geofence: a cylinder around home, circles and polygons, to stay in or out of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from skyloop.vehicle.behaviours.behaviour import Behaviour, Order, Situation
from skyloop_client.messages import Array, Hover


@dataclass
class Fence:
    """Limits of where a vehicle may be."""

    distance: float = 0.0
    """m from home, horizontally. 0: no limit."""
    height: float = 0.0
    """m above home. 0: no limit."""
    circles: list[tuple[ArrayLike, float, bool]] = field(default_factory=list)
    """Centre, (2,) m, world, radius in m, and whether to stay inside."""
    polygons: list[tuple[ArrayLike, bool]] = field(default_factory=list)
    """(n, 2) corners in m, world, and whether to stay inside."""

    def breaches(self, position: Array, home: Array | None) -> Iterator[str]:
        """The rules that a world position breaks, as texts."""
        if home is not None:
            away, height = float(np.hypot(*(position - home)[:2])), float(position[2] - home[2])
            if 0.0 < self.distance < away:
                yield f"{away:.0f} m from home, {self.distance:g} m allowed"
            if 0.0 < self.height < height:
                yield f"{height:.0f} m above home, {self.height:g} m allowed"
        for centre, radius, inside in self.circles:
            if (float(np.hypot(*(position[:2] - np.asarray(centre)))) <= radius) != inside:
                yield f"{'outside' if inside else 'inside'} a circle of {radius:g} m"
        for corners, inside in self.polygons:
            if contains(np.asarray(corners), position) != inside:
                yield f"{'outside' if inside else 'inside'} a polygon of {len(np.asarray(corners))} corners"


def contains(corners: Array, point: Array) -> bool:
    """Even-odd rule with a ray to the east."""
    x, y = point[0], point[1]
    odd = False
    for (x1, y1), (x2, y2) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        if (y1 > y) != (y2 > y) and x < x1 + (y - y1) * (x2 - x1) / (y2 - y1):
            odd = not odd
    return odd


class Fenced(Behaviour):
    """Another behaviour inside a fence: it fails as soon as the vehicle breaks it, and gives the order `then`."""

    def __init__(self, fence: Fence, behaviour: Behaviour, then: Order | None = None) -> None:
        self._fence, self._behaviour, self._then = fence, behaviour, then or Hover()
        self.breach = ""
        """The rule that was broken."""

    def update(self, now: Situation) -> Order | None:
        self.breach = next(self._fence.breaches(now.state.position, now.home), "") if now.is_flying else ""
        if self.breach:
            self.done = self.failed = True
            return self._then
        order = self._behaviour.update(now)
        self.done, self.failed = self._behaviour.done, self._behaviour.failed
        return order
