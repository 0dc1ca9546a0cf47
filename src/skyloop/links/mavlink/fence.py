"""The geofence of a vehicle: a cylinder around home from the parameters, circles and polygons from an upload."""

from __future__ import annotations

from collections.abc import Iterator

from skyloop.links.mavlink.dialect import mavlink
from skyloop.links.mavlink.missions import Item
from skyloop.links.mavlink.system import System
from skyloop.links.mavlink.wire import E7
from skyloop.vehicle.behaviours import Fence
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Array

INCLUSIONS = (
    mavlink.MAV_CMD_NAV_FENCE_POLYGON_VERTEX_INCLUSION,
    mavlink.MAV_CMD_NAV_FENCE_CIRCLE_INCLUSION,
)
POLYGONS = (
    mavlink.MAV_CMD_NAV_FENCE_POLYGON_VERTEX_INCLUSION,
    mavlink.MAV_CMD_NAV_FENCE_POLYGON_VERTEX_EXCLUSION,
)


class PlannedFence:
    """Reports whether a position breaks the fence."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._fence = Fence()

    def load(self, items: list[Item]) -> None:
        """Items were checked one by one. A polygon that lacks corners is refused here, and the old fence stays."""
        fence = Fence()
        waiting = list(items)
        while waiting:
            first = waiting[0]
            inside, count = first.command in INCLUSIONS, 1
            if first.command in POLYGONS:
                count = int(first.params[0])
                corners = [self._place(item) for item in waiting[:count] if item.command == first.command]
                if count < 3 or len(corners) < count:
                    raise SetpointError(f"a fence polygon of {count} corners has {len(corners)}; give 3 or more")
                fence.polygons.append((corners, inside))
            elif first.params[0] > 0.0:
                fence.circles.append((self._place(first), first.params[0], inside))
            del waiting[:count]
        self._fence = fence

    def _place(self, item: Item) -> Array:
        system = self._system
        return system.geography.enu_from_global(item.x / E7, item.y / E7, system.home_altitude)[:2]

    def breaches(self, position: Array) -> Iterator[str]:
        """The rules that a world position breaks, as texts."""
        settings = self._system.settings
        self._fence.distance, self._fence.height = settings.fence_distance, settings.fence_height
        return self._fence.breaches(position, self._system.home)
