"""Labels of an image: boxes around the visible part of objects, their occlusion and truncation, and their boxes in
space.

The triangles of an object are drawn alone and counted at pixel centres: once as the image is made and, if the object
reaches over the image's edge, once on a canvas that adds one image's width and height on every side:

    occlusion  = 1 - visible pixels / pixels of its own in the image
    truncation = 1 - pixels of its own in the image / pixels of its own on the canvas

Parts off the canvas or behind the camera are not counted. The triangles are those of the level of detail that medium
quality shows at that distance. On the canvas their edges stay straight even with lens distortion.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numba import boolean, float64, int32, int64, void
from numpy.typing import NDArray

from skyloop.core.frames import matrix_from_quat
from skyloop.core.jit import inlined, kernel, readonly
from skyloop.sensors.camera_lens import Lens, Mosaic
from skyloop.world.mesh import Mesh
from skyloop.world.model import Model, MoverStates
from skyloop.world.semantics import CLASS_ID, CLASSES
from skyloop.world.views import ViewPose
from skyloop_client.messages import Array, Label

NEAR = 0.05
"""m in front of the camera, the near plane of lenses without distortion."""


@kernel(void(readonly(int32, 2), int64[:, ::1]))
def _extents(instances, out):
    """Per object: number of pixels, first column, first row, last column, last row."""
    for i in range(instances.shape[0]):
        for j in range(instances.shape[1]):
            row = out[instances[i, j]]
            if row[0] == 0:
                row[1], row[2], row[3], row[4] = j, i, j, i
            row[0] += 1
            row[1], row[3], row[4] = min(row[1], j), max(row[3], j), i


@inlined
def _span(ax, ay, bx, by, row, low, high):
    """Narrows [low, high] by the crossing of an edge with a row of pixel centres."""
    if (ay <= row <= by) or (by <= row <= ay):
        if ay == by:
            return min(low, ax, bx), max(high, ax, bx)
        at = ax + (row - ay) / (by - ay) * (bx - ax)
        return min(low, at), max(high, at)
    return low, high


@kernel(void(readonly(float64, 3), boolean[:, ::1]))
def _cover(triangles, mask):
    """Marks the pixels whose centres lie in any of the (n, 3, 2) triangles; triangles with a NaN are left out."""
    height, width = mask.shape
    for n in range(triangles.shape[0]):
        ax, ay = triangles[n, 0, 0], triangles[n, 0, 1]
        bx, by = triangles[n, 1, 0], triangles[n, 1, 1]
        cx, cy = triangles[n, 2, 0], triangles[n, 2, 1]
        low_y, high_y = min(ay, by, cy), max(ay, by, cy)
        if not (high_y - low_y < 1e7 and abs(ax + bx + cx) < 1e7) or high_y < 0.0 or low_y > height - 1.0:
            continue
        for i in range(int64(max(0.0, math.ceil(low_y))), int64(min(height - 1.0, math.floor(high_y))) + 1):
            low, high = np.inf, -np.inf
            low, high = _span(ax, ay, bx, by, float64(i), low, high)
            low, high = _span(bx, by, cx, cy, float64(i), low, high)
            low, high = _span(cx, cy, ax, ay, float64(i), low, high)
            for j in range(int64(math.ceil(max(low, 0.0))), int64(math.floor(min(high, width - 1.0))) + 1):
                mask[i, j] = True


@kernel(int64(readonly(float64, 3), float64, float64[:, :, ::1]))
def _clip(triangles, near, out):
    """Clips (n, 3, 3) triangles at z = near into `out`, which has twice the length; returns the number of triangles."""
    count = 0
    polygon = np.empty((4, 3))
    for n in range(triangles.shape[0]):
        corners = 0
        for k in range(3):
            this, next_ = triangles[n, k], triangles[n, (k + 1) % 3]
            if this[2] >= near:
                for axis in range(3):
                    polygon[corners, axis] = this[axis]
                corners += 1
            if (this[2] >= near) != (next_[2] >= near):
                share = (near - this[2]) / (next_[2] - this[2])
                for axis in range(3):
                    polygon[corners, axis] = this[axis] + share * (next_[axis] - this[axis])
                corners += 1
        for k in range(1, corners - 1):
            for axis in range(3):
                out[count, 0, axis] = polygon[0, axis]
                out[count, 1, axis] = polygon[k, axis]
                out[count, 2, axis] = polygon[k + 1, axis]
            count += 1
    return count


class Labeller:
    """Labels objects of the chosen classes with at least `min_px` visible pixels."""

    def __init__(self, lens: Lens, mosaic: Mosaic, class_names: Sequence[str], min_px: int) -> None:
        """`mosaic`: that of the whole image, from which the instances come."""
        self._lens = lens
        self._mosaic = mosaic
        self._classes = np.zeros(256, bool)
        self._classes[[CLASS_ID[name] for name in class_names]] = True
        self._min_px = min_px

    def labels(
        self, instances: NDArray[np.int32], model: Model, motion: MoverStates, pose: ViewPose
    ) -> tuple[Label, ...]:
        """The labels in the order of the objects' numbers."""
        extents = np.zeros((len(model.objects), 5), np.int64)
        _extents(np.ascontiguousarray(instances), extents)
        wanted = (extents[:, 0] >= self._min_px) & self._classes[model.object_class]
        wanted[0] = False
        camera_from_world = matrix_from_quat(pose.quat_wxyz).T
        out = []
        for number in np.flatnonzero(wanted).tolist():
            instance = model.objects[number]
            poses = [_row_pose(model, motion, row) for row in instance.rows]
            centre, size, yaw = box_in_space(model, instance.rows, poses)
            triangles = _triangles(model, instance.rows, poses, camera_from_world, np.asarray(pose.position))
            visible, *box = extents[number].tolist()
            out.append(
                Label(
                    instance=number,
                    name=instance.name,
                    class_name=CLASSES[instance.class_id],
                    box_px=(box[0], box[1], box[2], box[3]),
                    visible_px=visible,
                    occlusion=1.0 - visible / self._own_pixels(triangles, instances == number),
                    truncation=self._truncation(triangles),
                    centre=centre,
                    size=size,
                    yaw=yaw,
                    distance=float(np.linalg.norm(centre - pose.position)),
                )
            )
        return tuple(out)

    def _own_pixels(self, triangles: Array, visible: NDArray[np.bool_]) -> int:
        """The object drawn as the image is made. Pixels in which it is visible always count as its own."""
        masks = []
        for face in self._mosaic.faces:
            p = face.lens
            mask = np.zeros((p.height, p.width), bool)
            seen = _cut_off(triangles @ matrix_from_quat(face.quat_wxyz))
            _cover(np.ascontiguousarray(seen[..., :2] / seen[..., 2:] * [p.fx, p.fy] + [p.cx, p.cy]), mask)
            masks.append(mask)
        return int((visible | self._mosaic.mask(masks)).sum())

    def _truncation(self, triangles: Array) -> float:
        width, height = self._lens.pinhole.width, self._lens.pinhole.height
        seen = triangles if self._lens.model == "fisheye" else _cut_off(triangles)
        flat = self._lens.project(seen.reshape(-1, 3)).reshape(-1, 3, 2)
        flat = flat[np.isfinite(flat).all(axis=(1, 2))]
        if not len(flat) or (flat.min() >= 0.0 and (flat.max(axis=(0, 1)) <= (width - 1.0, height - 1.0)).all()):
            return 0.0
        canvas = np.zeros((3 * height, 3 * width), bool)
        _cover(flat + np.array([width, height], float), canvas)
        inside = canvas[height : 2 * height, width : 2 * width].sum()
        return 1.0 - float(inside) / max(1, int(canvas.sum()))


def _triangles(
    model: Model, rows: Sequence[int], poses: Sequence[Array], camera_from_world: Array, eye: Array
) -> Array:
    """(n, 3, 3) m, camera axes."""
    pieces = []
    for row, pose in zip(rows, poses, strict=True):
        mesh = _shown_mesh(model, row, pose, eye)
        points = (mesh.positions @ pose[:, :3].T + (pose[:, 3] - eye)) @ camera_from_world.T
        pieces.append(points.take(mesh.faces, axis=0))
    return np.concatenate(pieces)


def _cut_off(triangles: Array) -> Array:
    """The part of the triangles in front of the camera."""
    out = np.empty((2 * len(triangles), 3, 3))
    return out[: _clip(np.ascontiguousarray(triangles), NEAR, out)]


def box_in_space(model: Model, rows: Sequence[int], poses: Sequence[Array]) -> tuple[Array, Array, float]:
    """Centre, size and yaw of the upright box around an object; its front is the x axis of the object's first part."""
    forward = poses[0][:2, 0]
    yaw = math.atan2(forward[1], forward[0])
    c, s = math.cos(yaw), math.sin(yaw)
    turned = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    parts = [
        model.shapes[model.part_shape[row]].lods[0].positions @ (turned @ pose[:, :3]).T + turned @ pose[:, 3]
        for row, pose in zip(rows, poses, strict=True)
    ]
    # by columns: numpy is many times slower along the short axis
    columns = np.concatenate(parts).T
    low, high = (np.array([end(column) for column in columns]) for end in (np.min, np.max))
    return turned.T @ (0.5 * (low + high)), high - low, yaw


def _row_pose(model: Model, motion: MoverStates, row: int) -> Array:
    """(3, 4) world_from_part."""
    n = model.n_standing
    pose: Array = model.standing_poses[row] if row < n else motion.poses[row - n]
    return pose


def _shown_mesh(model: Model, row: int, pose: Array, eye: Array) -> Mesh:
    shape = model.shapes[model.part_shape[row]]
    scale = math.sqrt(np.square(pose[:, :3]).sum(axis=0).max())
    away = pose[:, 3] - eye
    distance = math.sqrt(away @ away) - scale * shape.lods[0].radius
    mesh: Mesh = shape.lods[sum(distance > limit for limit in shape.ranges)]
    return mesh
