"""Which voxels of a box in the world are occupied: the truth against which maps are scored."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, void
from numpy.typing import ArrayLike, NDArray

from skyloop.core.jit import inlined, kernel
from skyloop.core.rotations import cross
from skyloop.world.mesh import Mesh
from skyloop.world.model import Model, MoverStates
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

MOST_VOXELS = 200_000_000
TOUCH = 1e-6
"""Voxels; a surface this near to a voxel's face touches it."""
GROUND_SLACK = 1e-5
"""Voxels²; how far beside a ground triangle a column still counts, so that no gap is left between two tiles."""
WELD = 1e-4
"""m; vertices nearer than this count as one when a mesh is tested for being closed."""
OPEN, CLOSED, BOTTOMLESS, GROUND = range(4)


def occupancy(
    model: Model, motion: MoverStates | None, lower: ArrayLike, upper: ArrayLike, voxel: float
) -> NDArray[np.bool_]:
    """(nx, ny, nz) True where a voxel is occupied; voxel (i, j, k) begins at lower + voxel·(i, j, k), world axes.

    A voxel is occupied if a triangle of full detail passes through it or touches it (a wall on the boundary of two
    voxels occupies both), if its centre is below the ground, or if its centre is inside a solid object. A mesh is solid
    if it is closed with its faces outwards, or closed but for a flat bottom on which it stands upright. Of other
    meshes, such as trees in leaf or rooms seen from inside, only the surfaces count. Without `motion`, moving objects
    are left out.
    """
    low, high = np.asarray(lower, float), np.asarray(upper, float)
    if not (voxel > 0.0 and (high > low).all()):
        raise ScenarioError(f"occupancy from {low} to {high} in voxels of {voxel} m is empty; give lower < upper")
    size = np.maximum(np.ceil((high - low) / voxel - 1e-9), 1.0)
    if size.prod() > MOST_VOXELS:
        raise ScenarioError(f"occupancy of {size.prod():.3g} voxels is more than {MOST_VOXELS}; take larger voxels")
    grid = np.zeros(size.astype(int), np.bool_)
    kinds: dict[int, int] = {}
    poses = model.standing_poses if motion is None else np.concatenate([model.standing_poses, motion.poses])
    for row, pose in enumerate(poses):
        number = int(model.part_shape[row])
        mesh = model.shapes[number].lods[0]
        # in voxels from the lower corner
        points = (mesh.positions @ pose[:, :3].T + pose[:, 3] - low) / voxel
        first, end = points.min(axis=0) - TOUCH, points.max(axis=0) + TOUCH
        solid = bool(model.part_solid[row])
        # ground above the box fills the box
        if (end < 0.0).any() or (first[:2] > size[:2]).any() or (solid and first[2] > size[2]):
            continue
        if solid and number not in kinds:
            kinds[number] = closure(mesh)
        i, j = (slice(max(int(first[axis]) - 1, 0), int(end[axis]) + 1) for axis in (0, 1))
        corner = np.array([i.start, j.start, 0])
        _add(points[mesh.faces] - corner, kinds[number] if solid else GROUND, pose, grid[i, j])
    return grid


def _add(triangles: Array, kind: int, pose: Array, part: NDArray[np.bool_]) -> None:
    """Marks the voxels that one row occupies in the columns of the grid that it covers."""
    window = np.ascontiguousarray(part)
    _mark_surfaces(triangles, window)
    upright = np.abs(pose[2, :2]).max() < 1e-9 and pose[2, 2] > 0.0
    if kind in (CLOSED, GROUND) or (kind == BOTTOMLESS and upright):
        # mirrored placements turn faces inside out
        _fill(triangles, kind, 1 if np.linalg.det(pose[:, :3]) > 0.0 else -1, window)
    part[:] = window


def closure(mesh: Mesh) -> int:
    """CLOSED if every edge runs as often one way as the other, BOTTOMLESS if that fails only for edges at the mesh's
    lowest height."""
    points = mesh.positions.astype(np.float64)
    # imported here, because these take half a second and every start of a simulation imports this file
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    pairs = cKDTree(points).query_pairs(WELD, output_type="ndarray")
    links = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), (len(points), len(points)))
    n, corner = connected_components(links, directed=False)
    faces = corner[mesh.faces].astype(np.int64)
    start, end = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    edges, numbers = np.unique(np.minimum(start, end) * n + np.maximum(start, end), return_inverse=True)
    balance = np.bincount(numbers, np.sign(end - start))
    unmatched = edges[balance != 0]
    if len(unmatched) == 0:
        return CLOSED
    height = np.empty(n)
    height[corner] = points[:, 2]
    ends = np.concatenate([unmatched // n, unmatched % n])
    return BOTTOMLESS if height[ends].max() <= points[:, 2].min() + 2 * WELD else OPEN


@inlined
def _voxels(t, axis, n):
    """First and last + 1 of the n voxels along an axis that triangle t touches."""
    low, high = min(t[0, axis], t[1, axis], t[2, axis]), max(t[0, axis], t[1, axis], t[2, axis])
    first, end = int64(np.ceil(low - TOUCH)) - 1, int64(np.floor(high + TOUCH)) + 1
    return min(max(first, 0), n), min(max(end, 0), n)


@inlined
def _set_axes(axes, t):
    """Sets the ten axes that can separate a triangle from a cube, beside the cube's own three: the normal, and the
    edges × the cube's axes. Each has the interval of the cube's centre in which the two may touch."""
    for number in range(10):
        i, j = number // 3 % 3, (number // 3 + 1) % 3
        x, y, z = t[j, 0] - t[i, 0], t[j, 1] - t[i, 1], t[j, 2] - t[i, 2]
        kind, axis = number % 3 if number < 9 else 3, axes[number]
        if kind == 0:
            axis[0], axis[1], axis[2] = 0.0, z, -y
        elif kind == 1:
            axis[0], axis[1], axis[2] = -z, 0.0, x
        elif kind == 2:
            axis[0], axis[1], axis[2] = y, -x, 0.0
        else:
            axis[0], axis[1], axis[2] = cross(x, y, z, t[2, 0] - t[0, 0], t[2, 1] - t[0, 1], t[2, 2] - t[0, 2])
        slack = (0.5 + TOUCH) * (abs(axis[0]) + abs(axis[1]) + abs(axis[2]))
        axis[3], axis[4] = np.inf, -np.inf
        for corner in range(3):
            along = axis[0] * t[corner, 0] + axis[1] * t[corner, 1] + axis[2] * t[corner, 2]
            axis[3], axis[4] = min(axis[3], along - slack), max(axis[4], along + slack)


@inlined
def _touches(axes, x, y, z):
    for number in range(10):
        along = axes[number, 0] * x + axes[number, 1] * y + axes[number, 2] * z
        if along < axes[number, 3] or along > axes[number, 4]:
            return False
    return True


@kernel(void(float64[:, :, ::1], boolean[:, :, ::1]))
def _mark_surfaces(triangles, grid):
    """Marks every voxel that a triangle touches."""
    axes = np.empty((10, 5))
    for number in range(triangles.shape[0]):
        t = triangles[number]
        i0, i1 = _voxels(t, 0, grid.shape[0])
        j0, j1 = _voxels(t, 1, grid.shape[1])
        k0, k1 = _voxels(t, 2, grid.shape[2])
        if i0 >= i1 or j0 >= j1 or k0 >= k1:
            continue
        _set_axes(axes, t)
        for i in range(i0, i1):
            for j in range(j0, j1):
                for k in range(k0, k1):
                    if not grid[i, j, k] and _touches(axes, i + 0.5, j + 0.5, k + 0.5):
                        grid[i, j, k] = True


@inlined
def _side(a, b, x, y):
    """Positive left of the edge from a to b, never 0: a point on an edge is left of one of its triangles only."""
    # computed in the same order for both triangles
    flip = a[0] > b[0] or (a[0] == b[0] and a[1] > b[1])
    if flip:
        a, b = b, a
    area = (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])
    if area == 0.0:
        area = 1e-300
    return -area if flip else area


@inlined
def _crossing(t, x, y, slack):
    """Crossing of the vertical line at (x, y) with a triangle: 1 faces up, -1 down, 0 misses; and the height."""
    low, high = np.inf, -np.inf
    for corner in range(3):
        side = _side(t[corner], t[(corner + 1) % 3], x, y)
        low, high = min(low, side), max(high, side)
    facing = 1 if low > -slack else (-1 if high < slack else 0)
    ux, uy, vx, vy = t[1, 0] - t[0, 0], t[1, 1] - t[0, 1], t[2, 0] - t[0, 0], t[2, 1] - t[0, 1]
    area = ux * vy - uy * vx
    if facing == 0 or area == 0.0:
        return 0, 0.0
    dx, dy = x - t[0, 0], y - t[0, 1]
    along_u, along_v = (dx * vy - dy * vx) / area, (ux * dy - uy * dx) / area
    z = t[0, 2] + along_u * (t[1, 2] - t[0, 2]) + along_v * (t[2, 2] - t[0, 2])
    # beside a steep triangle, within the slack, its plane is far above or below
    return facing, min(max(z, min(t[0, 2], t[1, 2], t[2, 2])), max(t[0, 2], t[1, 2], t[2, 2]))


@inlined
def _centres_below(z, n):
    return min(max(int64(np.ceil(z - 0.5)), 0), n)


@kernel(void(float64[:, :, ::1], int64, int64, boolean[:, :, ::1]))
def _fill(triangles, kind, sign, grid):
    """Marks voxels whose centre has more upward than downward faces of the mesh above it; for GROUND, any face.

    sign -1: the mesh is mirrored.
    """
    nx, ny, nz = grid.shape
    # steps[i, j, k]: crossings of column (i, j) with k voxel centres below them
    steps = np.zeros((nx, ny, nz + 1), np.int16)
    lowest = np.inf
    for number in range(triangles.shape[0]):
        t = triangles[number]
        lowest = min(lowest, t[0, 2], t[1, 2], t[2, 2])
        i0, i1 = _voxels(t, 0, nx)
        j0, j1 = _voxels(t, 1, ny)
        for i in range(i0, i1):
            for j in range(j0, j1):
                facing, z = _crossing(t, i + 0.5, j + 0.5, GROUND_SLACK if kind == GROUND else 0.0)
                if facing != 0:
                    steps[i, j, _centres_below(z, nz)] += 1 if kind == GROUND else facing * sign
    bottom = _centres_below(lowest, nz)
    for i in range(nx):
        for j in range(ny):
            total = 0
            for k in range(nz + 1):
                total += steps[i, j, k]
            if kind == BOTTOMLESS:
                steps[i, j, bottom] -= total
            elif kind == CLOSED and total != 0:
                continue
            above = 0
            for k in range(nz, 0, -1):
                above += steps[i, j, k]
                if above > 0:
                    grid[i, j, k - 1] = True
