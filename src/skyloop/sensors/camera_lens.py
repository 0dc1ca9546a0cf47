"""Lenses: where a direction falls on the image, and which pinhole views make up the image of a lens with distortion.

Camera axes are right, down, forward; pixel (0, 0) has its centre at image coordinates (0, 0), as in OpenCV.
Brown-Conrady has (k1, k2, p1, p2[, k3]), the fisheye is Kannala and Brandt's θ·(1 + k1·θ² + k2·θ⁴ + k3·θ⁶ + k4·θ⁸).
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import float32, float64, int8, int64, types, uint8, uint32, void
from numpy.typing import NDArray

from skyloop.core.frames import quat_from_matrix
from skyloop.core.jit import inlined, kernel, readonly
from skyloop.world.views import Pinhole, View
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

PINHOLE, BROWN_CONRADY, FISHEYE = range(3)
LENS_MODELS = {"pinhole": PINHOLE, "brown-conrady": BROWN_CONRADY, "fisheye": FISHEYE}
COEFFICIENTS = {"pinhole": (0,), "brown-conrady": (4, 5), "fisheye": (4,)}
"""The numbers of distortion coefficients that a model accepts, besides none."""

FISHEYE_SIGHT = math.radians(100.0)
"""rad off the axis, where a fisheye's image ends; pixels outside the circle are black."""
_ONE_FACE_SIGHT = math.radians(60.0)
"""rad off the axis. A fisheye that sees no farther is made of one view instead of five sides of a cube."""

# camera_from_face: columns are the face's right, down, forward
_FRONT = np.eye(3)
_CUBE = (
    _FRONT,
    np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]),  # right
    np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),  # left
    np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),  # down
    np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),  # up
)


@inlined
def project(model, p, x, y, z):
    """(u, v) px of a point; p holds fx, fy, cx, cy, five coefficients and the square of where the lens folds."""
    a, b = x, y
    if model == FISHEYE:
        r = math.sqrt(x * x + y * y)
        t = math.atan2(r, z)
        t2 = t * t
        if t2 > p[9]:
            return np.nan, np.nan
        bent = t * (1.0 + t2 * (p[4] + t2 * (p[5] + t2 * (p[6] + t2 * p[7]))))
        scale = bent / r if r > 1e-12 else 1.0 / z
        a, b = scale * x, scale * y
    else:
        if z <= 0.0:
            return np.nan, np.nan
        a, b = x / z, y / z
        if model == BROWN_CONRADY:
            r2 = a * a + b * b
            if r2 > p[9]:
                return np.nan, np.nan
            radial = 1.0 + r2 * (p[4] + r2 * (p[5] + r2 * p[8]))
            a, b = (
                a * radial + 2.0 * p[6] * a * b + p[7] * (r2 + 2.0 * a * a),
                b * radial + p[6] * (r2 + 2.0 * b * b) + 2.0 * p[7] * a * b,
            )
    return p[0] * a + p[2], p[1] * b + p[3]


@kernel(void(int64, readonly(float64, 1), readonly(float64, 2), float64[:, ::1]))
def _project_all(model, p, points, out):
    for i in range(points.shape[0]):
        out[i, 0], out[i, 1] = project(model, p, points[i, 0], points[i, 1], points[i, 2])


@dataclass(frozen=True, eq=False)
class Lens:
    model: str
    pinhole: Pinhole
    """Image size, focal lengths and principal point."""
    distortion: tuple[float, ...]
    """k1, k2, p1, p2, k3 or, for a fisheye, k1 to k4."""

    @staticmethod
    def from_fov(model: str, width: int, height: int, horizontal_fov: float, distortion: Sequence[float]) -> Lens:
        """The angle is the field of view of the middle row; for Brown-Conrady, without distortion."""
        k = [*distortion, *[0.0] * (COEFFICIENTS[model][-1] - len(distortion))]
        if model != "fisheye":
            return Lens(model, Pinhole.from_fov(width, height, horizontal_fov), tuple(k))
        half = 0.5 * horizontal_fov
        f = 0.5 * width / max(half * (1.0 + sum(c * half ** (2 * i + 2) for i, c in enumerate(k))), 1e-9)
        lens = Lens(model, Pinhole(width, height, f, f, 0.5 * (width - 1), 0.5 * (height - 1)), tuple(k))
        if half * half >= lens._fold_squared():
            raise ScenarioError(
                f"distortion {k} folds the image before its edge; weaken it or narrow horizontal_fov_deg"
            )
        return lens

    @property
    def code(self) -> int:
        return LENS_MODELS[self.model]

    @cached_property
    def numbers(self) -> Array:
        """(10,) in the order that `project` expects."""
        lens, d = self.pinhole, np.zeros(5)
        d[: len(self.distortion)] = self.distortion
        return np.array([lens.fx, lens.fy, lens.cx, lens.cy, *d, self._fold_squared()])

    def _fold_squared(self) -> float:
        """The square of the tangent (Brown-Conrady) or angle (fisheye) at which the image folds back."""
        if self.model == "pinhole":
            return math.inf
        k = self.distortion
        radial = k if self.model == "fisheye" else (k[0], k[1], k[4])
        # derivative of r·(1 + k1·r² + k2·r⁴ ...), as a polynomial in r²
        slope = [1.0, *((2 * i + 3) * c for i, c in enumerate(radial))]
        roots = np.roots(slope[::-1]) if any(radial) else np.zeros(0)
        folds = [float(root.real) for root in roots if abs(root.imag) < 1e-9 and root.real > 0.0]
        return min([*folds, (0.99 * math.pi) ** 2 if self.model == "fisheye" else math.inf])

    def project(self, points: Array) -> Array:
        """(n, 2) px of (n, 3) m in camera axes; NaN where the lens cannot see."""
        out = np.empty((len(points), 2))
        _project_all(self.code, self.numbers, np.ascontiguousarray(points, np.float64), out)
        return out

    @cached_property
    def directions(self) -> Array:
        """(height, width, 3) unit vectors in camera axes of each pixel's centre; NaN where the lens sees nothing."""
        lens = self.pinhole
        plane = lens.rays()
        a, b = plane[..., 0], plane[..., 1]
        if self.model == "fisheye":
            bent = np.hypot(a, b)
            angle = self._angle(bent)
            scale = np.sin(angle) / np.where(bent > 0.0, bent, 1.0)
            return np.ascontiguousarray(np.stack([scale * a, scale * b, np.cos(angle)], axis=-1))
        if self.model == "brown-conrady":
            a, b = self._undistorted(a, b)
        rays = np.stack([a, b, np.ones_like(a)], axis=-1)
        return np.ascontiguousarray(rays / np.linalg.norm(rays, axis=-1, keepdims=True))

    def _angle(self, bent: Array) -> Array:
        """From the distorted angle to the true one; NaN beyond the fold and beyond FISHEYE_SIGHT."""
        last = min(math.sqrt(self.numbers[9]), FISHEYE_SIGHT)
        # it rises all the way to `last`, so a table gives a start close enough for Newton's method
        table = np.linspace(0.0, last, 2000)
        angle = np.interp(bent, self._bend(table), table, right=np.nan)
        for _ in range(4):
            angle = angle - (self._bend(angle) - bent) / (1.0 + self._bend_slope(angle))
        return angle

    def _bend(self, angle: Array) -> Array:
        return np.asarray(angle * (1.0 + sum(c * angle ** (2 * i + 2) for i, c in enumerate(self.distortion))))

    def _bend_slope(self, angle: Array) -> Array:
        return np.asarray(sum((2 * i + 3) * c * angle ** (2 * i + 2) for i, c in enumerate(self.distortion)))

    def _undistorted(self, a: Array, b: Array) -> tuple[Array, Array]:
        """Removes the distortion by Newton's method on both coordinates at once; the Jacobian is symmetric."""
        k1, k2, p1, p2, k3 = self.distortion
        x, y = a.copy(), b.copy()
        with np.errstate(all="ignore"):
            for _ in range(30):
                r2 = x * x + y * y
                radial = 1.0 + r2 * (k1 + r2 * (k2 + r2 * k3))
                slope = 2.0 * (k1 + r2 * (2.0 * k2 + r2 * 3.0 * k3))
                ex = x * radial + 2.0 * p1 * x * y + p2 * (r2 + 2.0 * x * x) - a
                ey = y * radial + p1 * (r2 + 2.0 * y * y) + 2.0 * p2 * x * y - b
                jxx = radial + slope * x * x + 2.0 * p1 * y + 6.0 * p2 * x
                jyy = radial + slope * y * y + 6.0 * p1 * y + 2.0 * p2 * x
                jxy = slope * x * y + 2.0 * p1 * x + 2.0 * p2 * y
                area = jxx * jyy - jxy * jxy
                x, y = x - (jyy * ex - jxy * ey) / area, y - (jxx * ey - jxy * ex) / area
                if np.abs(ex).max() + np.abs(ey).max() < 1e-13:
                    break
            sound = (np.hypot(ex, ey) < 1e-9) & (x * x + y * y < self.numbers[9])
        if not sound.all():
            raise ScenarioError(
                f"distortion {list(self.distortion)} folds the image before its corner; "
                "weaken it, narrow horizontal_fov_deg or take model: fisheye"
            )
        return x, y


@kernel(
    void(readonly(uint8, 3), int64, readonly(int8, 2), readonly(float32, 2), readonly(float32, 2), uint8[:, :, ::1])
)
def _blend_colour(colour, number, face, x, y, out):
    """Bilinear interpolation of the pixels that face `number` shows."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            if face[i, j] != number:
                continue
            c, r = int64(x[i, j]), int64(y[i, j])
            u, v = x[i, j] - float32(c), y[i, j] - float32(r)
            for k in range(3):
                top = float32(colour[r, c, k]) * (float32(1.0) - u) + float32(colour[r, c + 1, k]) * u
                low = float32(colour[r + 1, c, k]) * (float32(1.0) - u) + float32(colour[r + 1, c + 1, k]) * u
                out[i, j, k] = uint8(top * (float32(1.0) - v) + low * v + float32(0.5))


@kernel(
    void(
        readonly(uint32, 3), int64, types.Tuple((readonly(int8, 2), readonly(float32, 2), readonly(float32, 2))),
        types.UniTuple(float64, 3), float32[:, ::1], uint32[:, :, ::1],
    )
)  # fmt: skip
def _pick_surface(surface, number, places, lens, distance, out):
    """Copies the nearest pixel. Where all four neighbours belong to one row, 1/depth is interpolated, exact on planes.

    places: the face that each pixel of the image is taken from, and the position in it; lens: of this face, f, cx, cy.
    """
    face, x, y = places
    f, cx, cy = lens
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            if face[i, j] != number:
                continue
            u, v = float64(x[i, j]), float64(y[i, j])
            r, c = int64(v + 0.5), int64(u + 0.5)
            out[i, j, 1], out[i, j, 2], out[i, j, 3] = surface[r, c, 1], surface[r, c, 2], surface[r, c, 3]
            z = float64(np.uint32(surface[r, c, 0]).view(np.float32))
            r, c = int64(v), int64(u)
            row = surface[r, c, 1]
            same = row == surface[r + 1, c, 1] and row == surface[r, c + 1, 1] and row == surface[r + 1, c + 1, 1]
            if same and row != 0:
                u, v = u - c, v - r
                z00 = float64(np.uint32(surface[r, c, 0]).view(np.float32))
                z01 = float64(np.uint32(surface[r, c + 1, 0]).view(np.float32))
                z10 = float64(np.uint32(surface[r + 1, c, 0]).view(np.float32))
                z11 = float64(np.uint32(surface[r + 1, c + 1, 0]).view(np.float32))
                z = 1.0 / ((1.0 - v) * ((1.0 - u) / z00 + u / z01) + v * ((1.0 - u) / z10 + u / z11))
            a = (float64(x[i, j]) - cx) / f
            b = (float64(y[i, j]) - cy) / f
            distance[i, j] = z * math.sqrt(1.0 + a * a + b * b)


@dataclass(frozen=True, eq=False)
class Face:
    lens: Pinhole
    quat_wxyz: Array
    """(4,) camera_from_face."""


class Mosaic:
    """The pinhole views that make up the rows `first` to `last` (exclusive) of a lens's image."""

    def __init__(self, lens: Lens, first: int, last: int) -> None:
        p = lens.pinhole
        self.direct = lens.model == "pinhole"
        """Whether one view is the image itself."""
        self._shape = (last - first, p.width)
        if self.direct:
            rows = Pinhole(p.width, last - first, p.fx, p.fy, p.cx, p.cy - first)
            self.faces = [Face(rows, quat_from_matrix(_FRONT))]
            self._distance_over_depth = np.linalg.norm(rows.rays(), axis=2).astype(np.float32)
            return
        directions = lens.directions[first:last]
        self._cosine = directions[..., 2]
        seen = np.isfinite(self._cosine)
        narrow = np.all(self._cosine[seen] > math.cos(_ONE_FACE_SIGHT)) or lens.model == "brown-conrady"
        sides = (_FRONT,) if narrow else _CUBE
        along = np.stack([directions @ side[:, 2] for side in sides])
        side_of = np.where(seen, np.argmax(np.where(seen, along, 0.0), axis=0), -1)
        self.faces = []
        self._face = np.full(self._shape, -1, np.int8)
        self._x, self._y = np.zeros(self._shape, np.float32), np.zeros(self._shape, np.float32)
        f = max(p.fx, p.fy)
        for number, side in enumerate(sides):
            mine = side_of == number
            if not mine.any():
                continue
            local = directions[mine] @ side
            x, y = f * local[:, 0] / local[:, 2], f * local[:, 1] / local[:, 2]
            # near the axis the pixels of the views coincide with those of the image
            left, top = math.floor(x.min() + p.cx) - p.cx, math.floor(y.min() + p.cy) - p.cy
            width, height = math.floor(x.max() - left) + 2, math.floor(y.max() - top) + 2
            self._face[mine] = len(self.faces)
            self._x[mine], self._y[mine] = x - left, y - top
            self.faces.append(Face(Pinhole(width, height, f, f, -left, -top), quat_from_matrix(side)))

    def colour(self, views: Sequence[View]) -> NDArray[np.uint8]:
        if self.direct:
            return views[0].colour
        out = np.zeros((*self._shape, 3), np.uint8)
        for number, view in enumerate(views):
            _blend_colour(view.colour, number, self._face, self._x, self._y, out)
        return out

    def surface(self, views: Sequence[View]) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
        """(rows, width, 4) as in a View, and (rows, width) m of distance; pixels outside the lens's view are sky."""
        if self.direct:
            return views[0].surface, views[0].depth * self._distance_over_depth
        out, distance = np.zeros((*self._shape, 4), np.uint32), np.full(self._shape, np.inf, np.float32)
        for number, view in enumerate(views):
            lens = view.lens
            places = (self._face, self._x, self._y)
            _pick_surface(view.surface, number, places, (lens.fx, lens.cx, lens.cy), distance, out)
        depth = np.where(np.isfinite(distance), distance * self._cosine, np.inf)
        out[..., 0] = depth.astype(np.float32).view(np.uint32)
        return out, distance

    def mask(self, masks: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """(rows, width) from one mask per face, by the nearest pixel."""
        if self.direct:
            return masks[0]
        out = np.zeros(self._shape, bool)
        for number, mask in enumerate(masks):
            mine = self._face == number
            out[mine] = mask[(self._y[mine] + 0.5).astype(np.intp), (self._x[mine] + 0.5).astype(np.intp)]
        return out
