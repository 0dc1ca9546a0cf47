"""A grid per particle, in tiles that are shared until one particle writes."""

from __future__ import annotations

import copy
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt

from skyloop.core import quantities
from skyloop_autonomy.grid_slam.tile_kernels import REACH, SIDE, EvidenceWeights, Tiles, add_sweep, take_over
from skyloop_client.messages import Array


class GridSettings(BaseModel):
    """The grid of a particle. Its cells hold evidence: positive for occupied, negative for free, 0 for unknown."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cell: quantities.Length = 0.2
    """m, the side of a cell."""
    half_extent: quantities.Length = 128.0
    """m, from the start to each edge of the map; what is further away is left out."""
    hit: int = Field(default=12, ge=1, le=127)
    """Evidence of a sweep with a return from the cell, in units of 0.07 of log odds."""
    miss: int = Field(default=5, ge=1, le=127)
    """Evidence of a sweep with rays through the cell and no return from it."""
    ray_stride: int = Field(default=4, ge=1)
    """Of every so many rays of a sweep, one clears the cells it crosses; the next sweeps take the others in turn."""
    highest: int = Field(default=100, ge=1, le=127)
    """The most evidence for an obstacle. A limit lets the map forget objects that have moved away."""
    lowest: int = Field(default=-60, ge=-127, le=-1)
    """The most evidence for free space."""
    occupied: int = Field(default=24, ge=1, le=127)
    """A cell with this evidence or more is an obstacle."""


class MatchSettings(BaseModel):
    """How a sweep is laid on the map of a particle."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    residual_sd: quantities.Length = 0.05
    """m, of the distance of a point from the wall on which it lies."""
    most_points: int = Field(default=360, ge=10)
    """At most so many points of a sweep are matched."""
    independent_points: quantities.Positive = 300.0
    """The points of a sweep count as this many independent ones; neighbours on a wall err together."""
    search_below: float = Field(default=0.45, ge=0.0, le=1.0)
    """The mean likelihood at the predicted pose below which a window around it is searched first."""
    search_distance: quantities.Length = 0.6
    """m, half of the side of that window."""
    search_turn: quantities.Positive = 0.07
    """rad, half of its width in heading."""
    iterations: NonNegativeInt = 8
    """Gauss-Newton steps."""


class FilterSettings(BaseModel):
    """The particle filter."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    particles: int = Field(default=12, ge=1, le=1000)
    """The number of particles."""
    seed: int = 0
    """Of the random numbers that spread the particles."""
    odometry_sd: quantities.Length = 0.01
    """m, of the predicted motion between two sweeps, along each axis."""
    odometry_turn_sd: quantities.Positive = 0.0001
    """rad, of the predicted turn between two sweeps."""
    gnss_sd_floor: quantities.Length = 0.3
    """m; a receiver that reports less is taken for this."""
    gnss_correlation_time: quantities.Seconds = 60.0
    """s in which the error of a receiver hardly changes. All fixes of this time together count as one."""
    resample_below: float = Field(default=0.5, ge=0.0, le=1.0)
    """Particles are resampled when their effective number falls below this share."""
    grid: GridSettings = GridSettings()
    match: MatchSettings = MatchSettings()


Evidence = TypeVar("Evidence", np.int8, np.uint8)
Snapshot: TypeAlias = tuple[Tiles, NDArray[np.int32], int]
FIRST_TILES = 256
UNTOUCHED = -1
LAST_STAMP = 2**31 - 4


class TiledMaps:
    """The maps of all particles. The corner of cell [0, 0] is at `origin`; the first index is along x, east."""

    def __init__(self, particles: int, settings: GridSettings, centre: Array) -> None:
        """centre: (2,) m, world."""
        self.settings = settings
        across = int(np.ceil(2.0 * settings.half_extent / settings.cell / SIDE))
        self.cells = across * SIDE
        """Along each side of a map."""
        self.origin: Array = np.asarray(centre, float) - 0.5 * self.cells * settings.cell
        self._numbers = tuple(
            EvidenceWeights(settings.hit, settings.miss, settings.highest, settings.lowest, settings.occupied)
        )
        self._tiles = Tiles(
            np.full((particles, across, across), UNTOUCHED, np.int32),
            np.zeros((FIRST_TILES, SIDE, SIDE), np.int8),
            np.zeros((FIRST_TILES, SIDE, SIDE), np.uint8),
            np.zeros((FIRST_TILES, SIDE, SIDE, 2), np.uint8),
            np.zeros((FIRST_TILES, SIDE, SIDE), np.uint8),
            np.zeros(FIRST_TILES, np.int32),
            np.arange(FIRST_TILES, dtype=np.int32)[::-1].copy(),
            np.array([FIRST_TILES]),
        )
        self._seen = np.zeros((self.cells, self.cells), np.int32)
        self._stamp = 0

    @property
    def arrays(self) -> tuple[NDArray[np.generic], ...]:
        """As kernels are given them; valid until the next change."""
        return tuple(self._tiles)

    @property
    def tiles_in_use(self) -> int:
        """Of all particles together; a shared tile counts once."""
        return len(self._tiles.users) - int(self._tiles.n_unused[0])

    def in_cells(self, points: Array) -> Array:
        """(…, 2) cells from the corner of the map, from m in the world."""
        return np.ascontiguousarray((np.asarray(points, float) - self.origin) / self.settings.cell)

    def add(self, particle: int, start: Array, ends: Array, *, first: int = 0, stride: int = 1) -> None:
        """Add one sweep: rays from `start` (2,) to the returns `ends` (n, 2), m in the world.

        All returns are added. What rays cross is cleared by every `stride`-th of them, from number `first` on."""
        if not len(ends):
            return
        near, far = self.in_cells(start), self.in_cells(ends)
        self._make_room(np.vstack([far, near]))
        if self._stamp > LAST_STAMP:
            self._seen[:] = 0
            self._stamp = 0
        self._stamp += 2
        which = np.array([self._stamp, first, stride])
        add_sweep(self.arrays, particle, far, near, self._numbers, self._seen, which)

    def _make_room(self, reached: Array) -> None:
        """Have as many unused tiles as one sweep can need: all between its outermost points."""
        low, high = np.floor((reached.min(axis=0) - REACH) / SIDE), np.floor((reached.max(axis=0) + REACH) / SIDE)
        edge = self.cells // SIDE - 1
        needed = int(np.prod(np.clip(high, 0, edge) - np.clip(low, 0, edge) + 1))
        tiles, unused = self._tiles, int(self._tiles.n_unused[0])
        if unused >= needed:
            return
        old = len(tiles.users)
        new = max(2 * old, old + needed)
        more, added = (new - old, SIDE, SIDE), np.arange(new - 1, old - 1, -1, dtype=np.int32)
        self._tiles = Tiles(
            tiles.tables,
            np.concatenate([tiles.evidence, np.zeros(more, np.int8)]),
            np.concatenate([tiles.likelihood, np.zeros(more, np.uint8)]),
            np.concatenate([tiles.positions, np.zeros((*more, 2), np.uint8)]),
            np.concatenate([tiles.hits, np.zeros(more, np.uint8)]),
            np.concatenate([tiles.users, np.zeros(new - old, np.int32)]),
            np.concatenate([tiles.unused[:unused], added, np.zeros(old - unused, np.int32)]),
            np.array([unused + new - old]),
        )

    def resample(self, parents: NDArray[np.int64]) -> None:
        """Particle k gets the map of particle `parents[k]`. Nothing is copied but the tables."""
        tiles = self._tiles
        tables, users = np.empty_like(tiles.tables), np.empty_like(tiles.users)
        take_over(tiles.tables, np.ascontiguousarray(parents, np.int64), tables, users)
        unused = np.flatnonzero(users == 0)[::-1].astype(np.int32)
        stack = np.zeros(len(users), np.int32)
        stack[: len(unused)] = unused
        self._tiles = tiles._replace(tables=tables, users=users, unused=stack, n_unused=np.array([len(unused)]))

    def known_part(self, particle: int) -> tuple[NDArray[np.int8], Array]:
        """The evidence in the smallest box of tiles around all that is known, and its corner in m."""
        return self._part(self._tiles.evidence, particle)

    def likelihood(self, particle: int) -> tuple[NDArray[np.uint8], Array]:
        """The likelihood field in the same box."""
        return self._part(self._tiles.likelihood, particle)

    def _part(self, pool: NDArray[Evidence], particle: int) -> tuple[NDArray[Evidence], Array]:
        table = self._tiles.tables[particle]
        rows, columns = np.flatnonzero((table >= 0).any(axis=1)), np.flatnonzero((table >= 0).any(axis=0))
        if not len(rows):
            return np.zeros((0, 0), pool.dtype), self.origin.copy()
        part = table[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        tiles = pool[part]
        tiles[part < 0] = 0
        corner = self.origin + np.array([rows[0], columns[0]]) * SIDE * self.settings.cell
        return tiles.swapaxes(1, 2).reshape(part.shape[0] * SIDE, part.shape[1] * SIDE), corner

    def snapshot(self) -> Snapshot:
        return copy.deepcopy((self._tiles, self._seen, self._stamp))

    def restore(self, saved: Snapshot) -> None:
        self._tiles, self._seen, self._stamp = copy.deepcopy(saved)
