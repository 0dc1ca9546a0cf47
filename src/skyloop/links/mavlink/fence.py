"""Geofence: a cylinder around home from the parameters, and circles and polygons from an uploaded fence."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from skyloop.links.mavlink.dialect import mavlink
from skyloop.links.mavlink.missions import Item
from skyloop.links.mavlink.system import System
from skyloop.links.mavlink.wire import E7
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Array

POLYGONS = {
    mavlink.MAV_CMD_NAV_FENCE_POLYGON_VERTEX_INCLUSION: True,
    mavlink.MAV_CMD_NAV_FENCE_POLYGON_VERTEX_EXCLUSION: False,
}


class Fence:
    """Reports whether a position breaks the fence."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._circles: list[tuple[Array, float, bool]] = []
        """Centre, radius, and whether to stay inside."""
        self._polygons: list[tuple[Array, bool]] = []
        """(n, 2) corners, and whether to stay inside."""

    def load(self, items: list[Item]) -> None:
        """Items were checked one by one. A polygon that lacks corners is refused here, and the old fence stays."""
        circles: list[tuple[Array, float, bool]] = []
        polygons: list[tuple[Array, bool]] = []
        waiting = list(items)
        while waiting:
            first = waiting[0]
            if first.command in POLYGONS:
                count = int(first.params[0])
                corners = [item for item in waiting[:count] if item.command == first.command]
                if count < 3 or len(corners) < count:
                    raise SetpointError(f"a fence polygon of {count} corners has {len(corners)}; give 3 or more")
                del waiting[:count]
                polygons.append((np.array([self._place(item) for item in corners]), POLYGONS[first.command]))
            else:
                inside = first.command == mavlink.MAV_CMD_NAV_FENCE_CIRCLE_INCLUSION
                if first.params[0] > 0.0:
                    circles.append((self._place(first), first.params[0], inside))
                del waiting[:1]
        self._circles, self._polygons = circles, polygons

    def _place(self, item: Item) -> Array:
        system = self._system
        return system.geography.enu_from_global(item.x / E7, item.y / E7, system.home_altitude)[:2]

    def breaches(self, position: Array) -> Iterator[str]:
        """The rule that a world position breaks, as text, or an empty text."""
        settings, home = self._system.settings, self._system.home
        if home is not None:
            away = float(np.hypot(*(position - home)[:2]))
            if 0.0 < settings.fence_distance < away:
                yield f"{away:.0f} m from home, {settings.fence_distance:g} m allowed"
            height = float(position[2] - home[2])
            if 0.0 < settings.fence_height < height:
                yield f"{height:.0f} m above home, {settings.fence_height:g} m allowed"
        for centre, radius, inside in self._circles:
            if (float(np.hypot(*(position[:2] - centre))) <= radius) != inside:
                yield f"{'outside' if inside else 'inside'} a circle of {radius:g} m"
        for corners, inside in self._polygons:
            if contains(corners, position) != inside:
                yield f"{'outside' if inside else 'inside'} a polygon of {len(corners)} corners"


def contains(corners: Array, point: Array) -> bool:
    """Even-odd rule with a ray to the east."""
    x, y = point[0], point[1]
    odd = False
    for (x1, y1), (x2, y2) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        if (y1 > y) != (y2 > y) and x < x1 + (y - y1) * (x2 - x1) / (y2 - y1):
            odd = not odd
    return odd
