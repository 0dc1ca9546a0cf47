"""A voxel map without bounds: cubic blocks of voxels, made when a ray first meets them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skyloop.core.frames import Transform
from skyloop_autonomy.mapping.counting import CounterRule
from skyloop_autonomy.mapping.evidence_kernels import (
    CountLimits,
    cloud_evidence,
    count_in_blocks,
    image_evidence,
    touched_blocks,
)
from skyloop_autonomy.mapping.point_clouds import DepthLens, Sight, checked_depth
from skyloop_autonomy.mapping.voxel_map import (
    MOST_VOXELS,
    count_limits,
    forget_around,
    image_limits,
    in_voxels,
    points_and_origins,
)
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array, VoxelMap

SIDE = 16
"""Voxels along the side of a block."""


@dataclass(frozen=True, slots=True)
class GrowingMapConfig:
    """As VoxelMapConfig, without a box."""

    cell: float = 0.2
    """m, edge of a voxel. Voxel (0, 0, 0) begins at the world's origin."""
    rule: CounterRule = field(default_factory=CounterRule)
    """When a voxel is occupied or free."""
    sight: Sight = field(default_factory=Sight)
    """Which pixels of a depth image count."""

    def __post_init__(self) -> None:
        if not self.cell > 0.0:
            raise ScenarioError(f"a map with voxels of {self.cell} m cannot be made; give a cell > 0")


class GrowingMap:
    """A voxel map that holds what was seen, wherever that is. Its memory grows with the volume seen."""

    def __init__(self, config: GrowingMapConfig | None = None) -> None:
        self.config = config or GrowingMapConfig()
        self.cell = self.config.cell
        self._slots: dict[tuple[int, int, int], int] = {}
        self._pool: NDArray[np.int8] = np.zeros((64, SIDE**3), np.int8)
        self._evidence = np.zeros(0, np.int32)

    def add_depth(self, depth: NDArray[np.float32], lens: DepthLens, world_from_camera: Transform) -> None:
        """Adds a depth image taken from this pose; camera axes are right, down, forward."""
        image, sight = checked_depth(depth), self.config.sight
        h, w = image.shape
        corners = [((u - lens.cx) / lens.fx, (v - lens.cy) / lens.fy, 1.0) for u in (0, w - 1) for v in (0, h - 1)]
        limits = image_limits(sight, lens, self.cell)
        seen = np.array([(0.0, 0.0, 0.0), (0.0, 0.0, 1.0), *corners]) * limits.reach
        first, blocks = self._box(world_from_camera.apply(seen))
        m = in_voxels(world_from_camera, np.asarray(first * (SIDE * self.cell), np.float64), self.cell)
        size = tuple(int(n) * SIDE for n in blocks)
        evidence = self._emptied(blocks)
        image_evidence(image, tuple(lens), m, tuple(limits), size, evidence)
        self._count(evidence, first, blocks, count_limits(sight, self.config.rule))

    def add_points(self, points: ArrayLike, origins: ArrayLike) -> None:
        """Adds points of a LiDAR, (n, 3) m, world, and where the beams began: (3,) for all, or (n, 3)."""
        ends, starts = points_and_origins(points, origins)
        known = np.isfinite(ends).all(axis=1)
        if len(starts) == len(ends):
            starts = starts[known]
        ends = ends[known]
        if len(ends) == 0:
            return
        far = self.config.sight.far
        along = ends - starts
        share = np.minimum(far / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9), 1.0)
        first, blocks = self._box(np.concatenate([starts, starts + share * along]))
        lower = first * (SIDE * self.cell)
        ends, starts = (ends - lower) / self.cell, (starts - lower) / self.cell
        evidence = self._emptied(blocks)
        cloud_evidence(ends, starts, far / self.cell, tuple(int(n) * SIDE for n in blocks), evidence)
        limits = count_limits(self.config.sight, self.config.rule, 1)
        self._count(evidence, first, blocks, limits)

    def _box(self, points: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first block and the number of blocks of a box around points."""
        if not np.isfinite(points).all():
            raise ScenarioError("a map was given a pose that is not finite; check the estimate")
        numbers = np.floor(points / (SIDE * self.cell)).astype(np.int64)
        first = numbers.min(axis=0)
        blocks = numbers.max(axis=0) + 1 - first
        if blocks.prod() * SIDE**3 > MOST_VOXELS:
            raise ScenarioError(
                f"one image reaches over {blocks * SIDE} voxels of {self.cell} m; lower sight.far or take larger voxels"
            )
        return first, blocks

    def _emptied(self, blocks: NDArray[np.int64]) -> NDArray[np.int32]:
        needed = 2 * int(blocks.prod()) * SIDE**3
        if self._evidence.size < needed:
            self._evidence = np.zeros(needed, np.int32)
        return self._evidence[:needed]

    def _count(
        self, evidence: NDArray[np.int32], first: NDArray[np.int64], blocks: NDArray[np.int64], limits: CountLimits
    ) -> None:
        touched = np.zeros(blocks, np.bool_)
        touched_blocks(evidence, touched, SIDE)
        slots = np.full(blocks, -1, np.int32)
        for block in np.argwhere(touched):
            i, j, k = (first + block).tolist()
            slots[tuple(block)] = self._slots.setdefault((i, j, k), len(self._slots))
        while len(self._slots) > len(self._pool):
            self._pool = np.concatenate([self._pool, np.zeros_like(self._pool)])
        count_in_blocks(evidence, slots, tuple(limits), self._pool, SIDE)

    @property
    def bounds(self) -> tuple[Array, Array]:
        """(3,) lower and upper corner, m, world, of the box around everything seen; an empty map has an empty box."""
        if not self._slots:
            return np.zeros(3), np.zeros(3)
        blocks = np.array(list(self._slots))
        return blocks.min(axis=0) * (SIDE * self.cell), (blocks.max(axis=0) + 1) * (SIDE * self.cell)

    def counters(self, lower: ArrayLike, upper: ArrayLike) -> tuple[NDArray[np.int8], Array]:
        """(nx, ny, nz) counters of the voxels that a box meets, and the lower corner of the first one, m, world."""
        first = np.floor(np.asarray(lower, float) / self.cell + 1e-9).astype(np.int64)
        end = np.ceil(np.asarray(upper, float) / self.cell - 1e-9).astype(np.int64)
        size = np.maximum(end - first, 0)
        if size.prod() > MOST_VOXELS:
            raise ScenarioError(f"a box of {size} voxels is more than {MOST_VOXELS}; ask for a smaller one")
        out = np.zeros(size, np.int8)
        for block, slot in self._slots.items():
            begin = np.array(block) * SIDE - first
            low, high = np.maximum(begin, 0), np.minimum(begin + SIDE, size)
            if (low >= high).any():
                continue
            there = tuple(slice(*pair) for pair in zip(low, high, strict=True))
            here = tuple(slice(*pair) for pair in zip(low - begin, high - begin, strict=True))
            out[there] = self._pool[slot].reshape(SIDE, SIDE, SIDE)[here]
        return out, np.asarray(first * self.cell, np.float64)

    def window(self, lower: Array, upper: Array) -> tuple[NDArray[np.int8], Array]:
        """Counters of the blocks that a box meets, and the lower corner of the first one, m, world."""
        side = SIDE * self.cell
        first, end = np.floor(lower / side).astype(int).tolist(), np.floor(upper / side).astype(int).tolist()
        nx, ny, nz = (b - a + 1 for a, b in zip(first, end, strict=True))
        out = np.zeros((nx * SIDE, ny * SIDE, nz * SIDE), np.int8)
        for i, j, k in product(range(nx), range(ny), range(nz)):
            slot = self._slots.get((first[0] + i, first[1] + j, first[2] + k))
            if slot is not None:
                there = out[i * SIDE : (i + 1) * SIDE, j * SIDE : (j + 1) * SIDE, k * SIDE : (k + 1) * SIDE]
                there[:] = self._pool[slot].reshape(SIDE, SIDE, SIDE)
        return out, np.array(first, float) * side

    def forget(self, positions: Array, radius: float, heights: tuple[float, float]) -> None:
        """What was occupied within `radius` of (n, 2) positions, m, world, between two heights, is unknown again."""
        side = SIDE * self.cell
        low, high = positions.min(axis=0) - radius, positions.max(axis=0) + radius
        for block, slot in self._slots.items():
            corner = np.array(block) * side
            if (corner[:2] < high).all() and (corner[:2] + side > low).all():
                counters = self._pool[slot].reshape(SIDE, SIDE, SIDE)
                forget_around(counters, corner, self.cell, positions, radius, heights)

    def message(self, t_ns: int) -> VoxelMap:
        counters, origin = self.counters(*self.bounds)
        return VoxelMap(t_ns, self.config.rule.states(counters), self.cell, origin)

    @property
    def memory_bytes(self) -> int:
        """Of the blocks that are in use and of the scratch for one image; the table of blocks is left out."""
        return len(self._slots) * SIDE**3 + int(self._evidence.nbytes)
