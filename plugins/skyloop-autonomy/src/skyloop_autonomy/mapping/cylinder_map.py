"""The local map: a cylinder around the vehicle that moves with it and never turns, in rings, sectors and layers."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numba import boolean, float32, float64, int8, int32, int64, types, void
from numpy.typing import NDArray

from skyloop.core.frames import Transform
from skyloop.core.jit import inlined, kernel, record_type
from skyloop_autonomy.mapping.counting import CounterRule
from skyloop_autonomy.mapping.evidence_kernels import COUNT_LIMITS, CountLimits, verdict
from skyloop_autonomy.mapping.point_clouds import DEPTH, LENS, DepthLens, Sight, checked_depth, is_surface, rows
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

MOST_CELLS = 50_000_000


@dataclass(frozen=True, slots=True)
class CylinderConfig:
    """E2ES's local map: 6 m around the body, 2 m above and below it."""

    ring: float = 0.3
    """m, width of a ring."""
    rings: int = 20
    sectors: int = 120
    """Sector 0 begins in the east; they are counted anticlockwise."""
    layer: float = 0.2
    """m, height of a layer."""
    layers_below: int = 10
    layers_above: int = 10
    pixels_apart: int = 4
    """Every how many-th pixel of a row and of a column is used."""
    rule: CounterRule = field(default_factory=CounterRule)
    """When a cell is occupied."""
    sight: Sight = field(default_factory=lambda: Sight(hit_pixels=2))
    """Which pixels of a depth image count."""

    def __post_init__(self) -> None:
        counts = (self.rings, self.sectors, self.layers_below + self.layers_above, self.pixels_apart)
        if not (self.ring > 0.0 and self.layer > 0.0 and min(counts) >= 1 and np.prod(self.shape) <= MOST_CELLS):
            raise ScenarioError(f"a local map of {self.shape} cells cannot be made; give widths > 0 and counts >= 1")

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.rings, self.sectors, self.layers_below + self.layers_above


LEARNT = 0.125
"""The share of a later image in the remembered point of a cell."""
ASIDE = 0.01
"""rad; a point farther than this from the mean of a later image is left as it is. Sectors are 0.05 rad wide."""


class _Frame(NamedTuple):
    """The numbers of CylinderConfig and Sight that the kernels need."""

    per_ring: float
    """1/m, the inverse of the width of a ring: a division takes as long as the rest of a pixel."""
    per_layer: float
    below: float
    """Layers below the middle."""
    near: float
    far: float
    edge: float
    stride: int


_FRAME = record_type(
    _Frame, per_ring=float64, per_layer=float64, below=float64, near=float64, far=float64, edge=float64, stride=int64
)  # fmt: skip


@inlined
def _angle(x, y):
    """atan2(y, x) from 0 to 2π, right to 1e-5: it takes a fifth of the time, and a sector is 5e-2 wide."""
    ax, ay = abs(x), abs(y)
    larger = max(ax, ay)
    q = min(ax, ay) / larger if larger > 0.0 else 0.0
    s = q * q
    # odd minimax polynomial of the arc tangent on 0 to 1
    a = q * (0.99997726 + s * (-0.33262347 + s * (0.19354346 + s * (-0.11643287 + s * (0.05265332 - s * 0.01172120)))))
    a = 0.5 * np.pi - a if ay > ax else a
    a = np.pi - a if x < 0.0 else a
    return 2.0 * np.pi - a if y < 0.0 else a


@inlined
def _cell(x, y, z, shape, frame):
    """The number of the cell of a point relative to the middle, and whether the point is in the map.

    For a point outside it is the cell in which the line from the middle to it leaves the map.
    """
    rings, sectors, layers = shape
    radius, height = np.sqrt(x * x + y * y) * frame.per_ring, z * frame.per_layer
    inside = radius < rings and -frame.below <= height < layers - frame.below
    if not inside:
        share = min(rings / radius, 1.0) if radius > 0.0 else 1.0
        if height < 0.0:
            share = min(share, frame.below / -height)
        elif height > 0.0:
            share = min(share, (layers - frame.below) / height)
        radius, height = share * radius, share * height
    i = min(int64(radius), rings - 1)
    j = min(int64(_angle(x, y) * (sectors * (0.5 / np.pi))), sectors - 1)
    k = min(max(int64(height + frame.below), 0), layers - 1)
    return (i * sectors + j) * layers + k, inside


@kernel(void(int8[:, :, ::1], float32[:, ::1], float64[::1], _FRAME, int8[:, :, ::1], float32[:, ::1]))
def _follow(counters, points, moved, given, new_counters, new_points):
    """Enters each remembered point again after the middle has moved; two in one cell leave the surer one.

    Of two that are as sure it is the one nearer to the middle, so that the edge of a door is not lost in its wall."""
    frame = _Frame(*given)
    shape = counters.shape
    old, new = counters.reshape(-1), new_counters.reshape(-1)
    new[:] = 0
    for o in range(old.shape[0]):
        if old[o] <= 0:
            continue
        x, y, z = points[o, 0] - moved[0], points[o, 1] - moved[1], points[o, 2] - moved[2]
        at, inside = _cell(x, y, z, shape, frame)
        surer = inside and old[o] > new[at]
        if inside and old[o] == new[at]:
            away = x * x + y * y
            surer = away < new_points[at, 0] ** 2 + new_points[at, 1] ** 2
        if surer:
            new[at] = old[o]
            new_points[at, 0], new_points[at, 1], new_points[at, 2] = x, y, z


@kernel(void(DEPTH, LENS, float64[:, ::1], _FRAME, types.UniTuple(int64, 3), int32[:, ::1], float32[:, ::1]))
def _enter(depth, lens, m, given, shape, ends, sums):
    """Counts in which cell each pixel ends (column 0) or goes on from (column 1), and sums up the points per cell."""
    frame = _Frame(*given)
    fx, fy, cx, cy = lens
    far_2, per_px = frame.far * frame.far, 1.0 / fx
    for v in range(frame.stride // 2, depth.shape[0], frame.stride):
        y = (v - cy) / fy
        ax, ay, az = m[0, 1] * y + m[0, 2], m[1, 1] * y + m[1, 2], m[2, 1] * y + m[2, 2]
        for u in range(frame.stride // 2, depth.shape[1], frame.stride):
            d = float64(depth[v, u])
            # a camera may say inf where it knows that nothing is in range
            if not (d > frame.near):
                continue
            x = (u - cx) * per_px
            length_2 = 1.0 + x * x + y * y
            beyond = d * d * length_2 > far_2
            if beyond:
                d = frame.far / np.sqrt(length_2)
            elif not is_surface(depth, v, u, frame.edge):
                continue
            px, py, pz = (
                m[0, 3] + d * (m[0, 0] * x + ax),
                m[1, 3] + d * (m[1, 0] * x + ay),
                m[2, 3] + d * (m[2, 0] * x + az),
            )
            at, inside = _cell(px, py, pz, shape, frame)
            if inside and not beyond:
                ends[at, 0] += 1
                sums[at, 0] += px
                sums[at, 1] += py
                sums[at, 2] += pz
            else:
                ends[at, 1] += 1


@kernel(void(int32[:, ::1], types.UniTuple(int64, 3), _FRAME, int32[::1]))
def _sweep(ends, shape, given, passes):
    """For each cell where pixels ended, the cells before it in the same sector at proportional heights were passed."""
    frame = _Frame(*given)
    rings, sectors, layers = shape
    for i in range(rings):
        for j in range(sectors):
            for k in range(layers):
                o = (i * sectors + j) * layers + k
                pixels = ends[o, 0] + ends[o, 1]
                if pixels == 0:
                    continue
                slope = (k + 0.5 - frame.below) / (i + 0.5)
                for ring in range(i):
                    layer = int64(slope * (ring + 0.5) + frame.below)
                    passes[(ring * sectors + j) * layers + layer] += pixels


@inlined
def _is_at(total, count, point):
    """Whether the mean of points is in the direction of a point, seen from the middle."""
    away, along, apart = 0.0, 0.0, 0.0
    for axis in range(3):
        step = total[axis] / count - point[axis]
        away += point[axis] * point[axis]
        along += step * point[axis]
        apart += step * step
    return apart - along * along / max(away, 1e-9) < ASIDE * ASIDE * away


@kernel(void(int32[:, ::1], float32[:, ::1], int32[::1], COUNT_LIMITS, int8[::1], float32[:, ::1], boolean[::1]))
def _settle(ends, sums, passes, given, counters, points, free):
    """Moves the counters, which never go below 0, says which cells were seen free, and empties the scratch.

    A cell that is hit first takes the mean of its points. Means are about a cell apart, so few of them meet in one cell
    when the map moves. Later images improve the point, but do not move it aside: their mean stays in the middle of the
    cell, so the point would slide along a wall with the vehicle, and nothing would be left of the wall out of sight.
    """
    limits = CountLimits(*given)
    for o in range(counters.shape[0]):
        # most cells are not seen by an image, and their scratch need not be written
        if ends[o, 0] + ends[o, 1] + passes[o] == 0:
            free[o] = False
            continue
        held = counters[o] > 0
        said = verdict(ends[o, 0], passes[o], limits) if ends[o, 0] + passes[o] > 0 else 0
        counters[o] = min(max(counters[o] + said, 0), limits.limit)
        free[o] = said < 0 and counters[o] == 0
        if ends[o, 0] > 0:
            share = (LEARNT if _is_at(sums[o], ends[o, 0], points[o]) else 0.0) if held else 1.0
            for axis in range(3):
                if said > 0:
                    points[o, axis] += share * (sums[o, axis] / ends[o, 0] - points[o, axis])
                sums[o, axis] = 0.0
        ends[o, 0] = ends[o, 1] = passes[o] = 0


class CylinderMap:
    """Obstacles near the vehicle. What was seen stays until it is seen to be gone or left behind.

    An obstacle is remembered by a point on it, so that motion does not smear it over the cells.
    """

    def __init__(self, config: CylinderConfig | None = None) -> None:
        self.config = config or CylinderConfig()
        c, s = self.config, self.config.sight
        self._frame = tuple(_Frame(1.0 / c.ring, 1.0 / c.layer, c.layers_below, s.near, s.far, s.edge, c.pixels_apart))
        cells = int(np.prod(c.shape))
        self.middle: Array | None = None
        """(3,) m, world, of the body at the newest image; None before the first one."""
        self.counters: NDArray[np.int8] = np.zeros(c.shape, np.int8)
        """(rings, sectors, layers)"""
        self.free: NDArray[np.bool_] = np.zeros(c.shape, np.bool_)
        """(rings, sectors, layers) cells that the newest image showed to be free."""
        self._points = np.zeros((cells, 3), np.float32)
        self._spare = np.zeros_like(self.counters), np.zeros_like(self._points)
        self._sums = np.zeros_like(self._points)
        self._ends, self._passes = np.zeros((cells, 2), np.int32), np.zeros(cells, np.int32)

    def add_depth(
        self, depth: NDArray[np.float32], lens: DepthLens, world_from_camera: Transform, body_position: Array
    ) -> None:
        """Moves the map to the body, and adds a depth image; camera axes are right, down, forward."""
        image = checked_depth(depth)
        middle = np.array(body_position, float)
        m = rows(Transform(world_from_camera.position - middle, world_from_camera.quat_wxyz))
        if not np.isfinite(m).all():
            raise ScenarioError(
                f"a map was given the pose {world_from_camera}, which is not finite; check the estimate"
            )
        moved = np.zeros(3) if self.middle is None else middle - self.middle
        if moved.any():
            spare = self._spare
            _follow(self.counters, self._points, moved, self._frame, *spare)
            self._spare = self.counters, self._points
            self.counters, self._points = spare
        self.middle = middle
        shape = self.config.shape
        _enter(image, tuple(lens), np.ascontiguousarray(m), self._frame, shape, self._ends, self._sums)
        _sweep(self._ends, shape, self._frame, self._passes)
        sight = self.config.sight
        limits = CountLimits(sight.hit_pixels, sight.hit_share, sight.miss_share, self.config.rule.limit)
        counters, free = self.counters.reshape(-1), self.free.reshape(-1)
        _settle(self._ends, self._sums, self._passes, tuple(limits), counters, self._points, free)

    def forget(self, positions: Array, radius: float, heights: tuple[float, float]) -> None:
        """Forgets obstacles within `radius` of (n, 2) positions, m, world, between two heights."""
        if self.middle is None:
            return
        held = np.flatnonzero(self.counters.reshape(-1) > 0)
        points = self._points[held] + self.middle
        level = (points[:, 2] > heights[0]) & (points[:, 2] < heights[1])
        away = np.linalg.norm(points[:, None, :2] - positions[None], axis=2).min(axis=1)
        self.counters.reshape(-1)[held[level & (away < radius)]] = 0

    @property
    def occupied(self) -> NDArray[np.bool_]:
        """(rings, sectors, layers)"""
        return self.counters > self.config.rule.occupied_above

    def cloud(self) -> NDArray[np.float32]:
        """(n, 3) m, world: a point of each occupied cell."""
        if self.middle is None:
            return np.zeros((0, 3), np.float32)
        return (self._points[self.occupied.reshape(-1)] + self.middle).astype(np.float32)

    def nearest(self) -> Array:
        """(sectors,) m, the horizontal distance from the body to the inner face of the nearest occupied ring."""
        taken = self.occupied.any(axis=2)
        return np.where(taken.any(axis=0), taken.argmax(axis=0) * self.config.ring, np.inf)

    @property
    def memory_bytes(self) -> int:
        own = sum(int(value.nbytes) for value in vars(self).values() if isinstance(value, np.ndarray))
        return own + sum(int(value.nbytes) for value in self._spare)
