"""Collects how a vehicle's map grows during a flight, in memory that does not grow with time; for an animation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from skyloop.core.bus import Bus
from skyloop.recording.flight_log import Curve, ThinnedList
from skyloop_autonomy.reports.navigation_log import ENDS
from skyloop_client.messages import Array, GridMap, Message
from skyloop_client.streams import NS_PER_S, StreamInfo

EVERY_NS = NS_PER_S
"""Simulated time between two maps that are kept, at least."""
MOST_FRAMES = 60
MOST_CELLS = 400
"""Of the longer side of a kept map. A larger map is kept with larger cells."""
UNKNOWN, FREE, OCCUPIED = 0, 1, 2
OCCUPIED_FROM = 50
"""The value of a cell from which it is drawn as occupied."""


@dataclass(frozen=True, slots=True, eq=False)
class MapFrame:
    """A map at one instant, cropped to what is known, with what the pilot was doing then."""

    t: float
    """s."""
    cells: NDArray[np.uint8]
    """(rows, columns) UNKNOWN, FREE or OCCUPIED; columns along x, rows along y."""
    cell: float
    """m, side of a cell."""
    corner: Array
    """(2,) m, world, of the outer corner of cell [0, 0]."""
    known: float
    """m² of the map that are known."""
    way: Array
    """(n, 2) m, the newest planned way; empty before the first."""
    goal: Array | None
    """(2,) m, where the vehicle flies to."""
    ended: int
    """Goals that had ended."""

    @property
    def upper(self) -> Array:
        """(2,) m, the corner opposite to `corner`."""
        return np.asarray(self.corner + self.cell * np.array(self.cells.shape[::-1]))


@dataclass(slots=True)
class VehicleGrowth:
    """The growing map of one vehicle."""

    track: Curve = field(default_factory=lambda: Curve(3))
    """s; m east, north. True."""
    ends: list[tuple[str, Array]] = field(default_factory=list)
    """How the flight to each goal ended, and the goal."""
    kept: ThinnedList[MapFrame] = field(default_factory=lambda: ThinnedList(MOST_FRAMES - 2))
    stream: str = ""
    """The stream of maps that is shown: the first one on which a map came."""
    newest: GridMap | None = None
    way: Array = field(default_factory=lambda: np.zeros((0, 2)))
    goal: Array | None = None
    due_ns: int = 0

    @property
    def frames(self) -> list[MapFrame]:
        """At most MOST_FRAMES; the last one is the newest map."""
        frames = list(self.kept.items)
        if self.newest is not None and frames and self.newest.t_ns / NS_PER_S > frames[-1].t:
            last = map_frame(self.newest, self)
            frames += [] if last is None else [last]
        return frames


class MapGrowth:
    """Follows every vehicle that publishes a GridMap."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._all: dict[str, VehicleGrowth] = {}
        bus.on_new(self._watch)

    @property
    def vehicles(self) -> dict[str, VehicleGrowth]:
        """Those whose map showed anything."""
        return {name: growth for name, growth in self._all.items() if growth.kept.items}

    def _watch(self, info: StreamInfo) -> None:
        takers = {"GridMap": self._on_grid, "Path": self._on_path, "GoalStatus": self._on_status}
        if info.message in takers and info.vehicle:
            self._of(info.vehicle)
            self._bus.on(info.name, takers[info.message])
        elif info.name == f"truth/{info.vehicle}":
            self._bus.on(info.name, self._on_truth)

    def _of(self, vehicle: str) -> VehicleGrowth:
        return self._all.setdefault(vehicle, VehicleGrowth())

    def _on_truth(self, message: Message) -> None:
        growth = self._all.get(message.stream.removeprefix("truth/"))
        if growth is not None:
            x, y = message.data.position[:2].tolist()
            growth.track.add(message.t_ns / NS_PER_S, x, y)

    def _on_path(self, message: Message) -> None:
        self._of(message.stream.split("/")[0]).way = message.data.positions[:, :2]

    def _on_status(self, message: Message) -> None:
        growth, status = self._of(message.stream.split("/")[0]), message.data
        growth.goal = status.goal[:2] if status.state == "flying" else None
        if status.state in ENDS:
            growth.ends.append((status.state, status.goal[:2]))
            growth.way = np.zeros((0, 2))

    def _on_grid(self, message: Message) -> None:
        growth = self._of(message.stream.split("/")[0])
        growth.stream = growth.stream or message.stream
        if message.stream != growth.stream:
            return
        growth.newest = message.data
        if message.t_ns >= growth.due_ns:
            frame = map_frame(message.data, growth)
            if frame is not None:
                growth.due_ns = message.t_ns + EVERY_NS
                growth.kept.add(frame)


def map_frame(grid: GridMap, growth: VehicleGrowth) -> MapFrame | None:
    """A small copy of a map; None if nothing in it is known."""
    states = np.where(grid.cells < 0, UNKNOWN, np.where(grid.cells < OCCUPIED_FROM, FREE, OCCUPIED)).astype(np.uint8)
    rows, columns = np.flatnonzero(states.any(axis=1)), np.flatnonzero(states.any(axis=0))
    if not len(rows):
        return None
    known = float(np.count_nonzero(states)) * grid.resolution**2
    states = states[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    corner = np.asarray(grid.origin[:2]) + grid.resolution * np.array([columns[0], rows[0]])
    times = math.ceil(max(states.shape) / MOST_CELLS)
    if times > 1:
        over = [-size % times for size in states.shape]
        padded = np.pad(states, [(0, over[0]), (0, over[1])])
        # occupied wins over free, free over unknown
        states = padded.reshape(padded.shape[0] // times, times, -1, times).max(axis=(1, 3))
    ended = len(growth.ends)
    return MapFrame(
        grid.t_ns / NS_PER_S, states.copy(), times * grid.resolution, corner, known, growth.way, growth.goal, ended
    )
