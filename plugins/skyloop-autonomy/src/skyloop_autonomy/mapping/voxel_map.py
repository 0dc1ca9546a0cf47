"""The global voxel map: a fixed box of the world in cubes, each with a counter of hits and misses."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skyloop.core.frames import Transform
from skyloop_autonomy.mapping.counting import CounterRule
from skyloop_autonomy.mapping.evidence_kernels import CountLimits, ImageLimits, cloud_evidence, count, image_evidence
from skyloop_autonomy.mapping.point_clouds import DepthLens, Sight, checked_depth, rows
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array, VoxelMap

MOST_VOXELS = 200_000_000


@dataclass(frozen=True, slots=True)
class VoxelMapConfig:
    """E2ES's box of the world and its rule for counters."""

    cell: float = 0.2
    """m, edge of a voxel."""
    size: tuple[int, int, int] = (110, 110, 15)
    """Voxels east, north and up."""
    lower: tuple[float, float, float] | None = None
    """m, world, of the lower corner. None: the origin is in the middle, and the map begins `bottom` above it."""
    bottom: float = 0.5
    """m, the height at which the map begins when `lower` is None."""
    rule: CounterRule = field(default_factory=CounterRule)
    """When a voxel is occupied or free."""
    sight: Sight = field(default_factory=Sight)
    """Which pixels of a depth image count."""

    def __post_init__(self) -> None:
        if self.cell <= 0.0 or min(self.size) < 1 or np.prod(self.size, dtype=float) > MOST_VOXELS:
            raise ScenarioError(
                f"a map of {self.size} voxels of {self.cell} m cannot be made; give a cell > 0, at most {MOST_VOXELS}"
            )

    @property
    def origin(self) -> Array:
        """(3,) m, world, of the lower corner."""
        if self.lower is not None:
            return np.array(self.lower, float)
        half = 0.5 * self.cell * np.array(self.size[:2])
        return np.array([-half[0], -half[1], self.bottom])


class WorldVoxels:
    """A voxel map that stands still in the world."""

    def __init__(self, config: VoxelMapConfig | None = None) -> None:
        self.config = config or VoxelMapConfig()
        self.origin, self.cell = self.config.origin, self.config.cell
        self.counters: NDArray[np.int8] = np.zeros(self.config.size, np.int8)
        self._evidence = np.zeros(2 * self.counters.size, np.int32)

    def add_depth(self, depth: NDArray[np.float32], lens: DepthLens, world_from_camera: Transform) -> None:
        """Adds a depth image taken from this pose; camera axes are right, down, forward."""
        sight = self.config.sight
        limits = image_limits(sight, lens, self.cell)
        m = in_voxels(world_from_camera, self.origin, self.cell)
        image_evidence(checked_depth(depth), tuple(lens), m, tuple(limits), self.counters.shape, self._evidence)
        count(self._evidence, tuple(count_limits(sight, self.config.rule)), self.counters.reshape(-1))

    def add_points(self, points: ArrayLike, origins: ArrayLike) -> None:
        """Adds points of a LiDAR, (n, 3) m, world, and where the beams began: (3,) for all, or (n, 3)."""
        ends, starts = points_and_origins(points, origins)
        far = self.config.sight.far / self.cell
        ends, starts = (ends - self.origin) / self.cell, (starts - self.origin) / self.cell
        cloud_evidence(ends, starts, far, self.counters.shape, self._evidence)
        limits = count_limits(self.config.sight, self.config.rule, 1)
        count(self._evidence, tuple(limits), self.counters.reshape(-1))

    @property
    def occupied(self) -> NDArray[np.bool_]:
        """(nx, ny, nz)"""
        return self.counters > self.config.rule.occupied_above

    @property
    def free(self) -> NDArray[np.bool_]:
        """(nx, ny, nz); what is neither occupied nor free is unknown."""
        return self.counters < self.config.rule.free_below

    def window(self, lower: Array, upper: Array) -> tuple[NDArray[np.int8], Array]:
        """Counters of a box that holds at least this one as far as the map does, and its lower corner, m, world.

        It is the map itself, not a copy."""
        return self.counters, self.origin

    def forget(self, positions: Array, radius: float, heights: tuple[float, float]) -> None:
        """What was occupied within `radius` of (n, 2) positions, m, world, between two heights, is unknown again."""
        forget_around(self.counters, self.origin, self.cell, positions, radius, heights)

    def message(self, t_ns: int) -> VoxelMap:
        return VoxelMap(t_ns, self.config.rule.states(self.counters), self.cell, self.origin.copy())

    @property
    def memory_bytes(self) -> int:
        return int(self.counters.nbytes + self._evidence.nbytes)


def forget_around(
    counters: NDArray[np.int8],
    origin: Array,
    cell: float,
    positions: Array,
    radius: float,
    heights: tuple[float, float],
) -> None:
    """Sets positive counters within upright cylinders to 0."""
    nx, ny, nz = counters.shape
    x, y, z = (origin[axis] + (np.arange(n) + 0.5) * cell for axis, n in enumerate((nx, ny, nz)))
    layers = (z > heights[0]) & (z < heights[1])
    for position in positions:
        i, j = np.flatnonzero(np.abs(x - position[0]) < radius), np.flatnonzero(np.abs(y - position[1]) < radius)
        if len(i) and len(j) and layers.any():
            part = counters[i[0] : i[-1] + 1, j[0] : j[-1] + 1]
            near = np.hypot(x[i, None] - position[0], y[None, j] - position[1]) < radius
            part[near[:, :, None] & layers & (part > 0)] = 0


def image_limits(sight: Sight, lens: DepthLens, cell: float) -> ImageLimits:
    stride = sight.stride(min(lens.fx, lens.fy), cell)
    reach = sight.far + math.sqrt(3.0) * cell
    return ImageLimits(sight.near, sight.far, reach, sight.edge, stride, sight.blank_is_far)


def count_limits(sight: Sight, rule: CounterRule, hit_pixels: int | None = None) -> CountLimits:
    """hit_pixels: in place of that of `sight`, such as 1 for the points of a LiDAR."""
    return CountLimits(hit_pixels or sight.hit_pixels, sight.hit_share, sight.miss_share, rule.limit)


def in_voxels(world_from_camera: Transform, origin: Array, cell: float) -> Array:
    """(3, 4) from camera axes in metres to voxels from the lower corner."""
    pose = rows(Transform(world_from_camera.position - origin, world_from_camera.quat_wxyz))
    if not np.isfinite(pose).all():
        raise ScenarioError(f"a map was given the pose {world_from_camera}, which is not finite; check the estimate")
    return np.ascontiguousarray(pose / cell)


def points_and_origins(points: ArrayLike, origins: ArrayLike) -> tuple[Array, Array]:
    """As float64 of shapes (n, 3) and (1 or n, 3)."""
    ends, starts = np.atleast_2d(np.array(points, float)), np.atleast_2d(np.array(origins, float))
    if ends.size == 0:
        ends = ends.reshape(0, 3)
    if ends.shape[1] != 3 or starts.shape[1] != 3 or len(starts) not in (1, len(ends)):
        raise ScenarioError(f"points of shape {ends.shape} from {starts.shape}; give (n, 3) from (3,) or (n, 3)")
    return ends, starts
