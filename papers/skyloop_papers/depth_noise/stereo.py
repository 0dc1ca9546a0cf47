"""Three large walls, and a rendered and matched IR pair with a dot projector in front of them.

The pair's depth noise is not put in by hand. The renderer has no projector, so the dots are added afterwards: each
pixel's surface point, known from its depth, receives the projector's light in that direction. The numbers are estimates
from a D435's data; none is fitted. 30 µW per dot at 850 nm (150 mW on 5000 dots), an f/2 lens of 1.93 mm, half of the
light lost in filter and lens and 0.2 electrons per photon give, in the 33 ms between two images, some 20 000 e⁻ at the
middle of a dot 1 m away on a white wall; 200 lx in the room give 8000. The exposure is shortened until no dot
saturates.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import TracebackType

import numpy as np
from numba import float32, float64, int32, types, void
from numpy.typing import NDArray

from skyloop.core.frames import SENSOR_FROM_CAMERA, matrix_from_quat
from skyloop.core.jit import inlined, kernel
from skyloop.rendering.client import Renderer
from skyloop.world.materials import MATERIAL_ID, MATERIALS
from skyloop.world.mesh import quad
from skyloop.world.model import Model, Shape
from skyloop.world.views import Pinhole, View, ViewPose, ViewRequest
from skyloop.world.weather import WeatherConfig, weather_at
from skyloop_client.messages import Array, Kinematics

MATERIAL_NAMES = ("plastic", "cement", "formboard")
"""In the order of Table 1."""
APART = 80.0
"""m between the middles of two walls, so that each is alone in its image."""
HALF_WIDTH, HALF_HEIGHT = 12.0, 8.0
"""m. Larger than a view of 87° by 67° at 8 m."""


class Walls:
    """Those of section 2.2 of the paper, lit from behind so that their shade is even, and the renderer for them."""

    def __init__(self) -> None:
        self.model = Model()
        for number, material in enumerate(MATERIAL_NAMES):
            y, z = HALF_WIDTH, HALF_HEIGHT
            mesh = quad((0, y, -z), (0, -y, -z), (0, -y, z), (0, y, z), material=material)
            self.model.place(Shape(f"{material} wall", (mesh,)), (0.0, number * APART, 0.0), is_a="wall")
        self.model.freeze()
        self.weather = weather_at(WeatherConfig(time_of_day=8.0, clouds=1.0), 47.0)
        self._renderer = Renderer(self.model)

    def __enter__(self) -> Walls:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._renderer.close()

    def views(self, requests: Sequence[ViewRequest]) -> list[View]:
        return self._renderer.render(requests, self.weather)


def in_front_of(material: str, distance: float, *, right: float = 0.0) -> Kinematics:
    """At rest, `distance` m from the middle of a wall, facing it squarely, `right` m to the side."""
    position: Array = np.array([-distance, MATERIAL_NAMES.index(material) * APART - right, 0.0])
    still, ahead = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    return Kinematics(0, position, still, ahead, still, still, still)


# ---- the pair

BASELINE = 0.05
"""m."""
LENS = Pinhole.from_fov(640, 360, 1.5)
ACROSS = BASELINE * LENS.fx
"""m·px, disparity times depth."""
STRIP = replace(LENS, height=96, cy=47.5)
"""Fewer rows, for the quick form."""
DOT_SPACING = 7.0 / LENS.fx
"""Distance of neighbouring dots as a tangent: about 5000 dots over the image."""
DOT_SD = 0.9 / LENS.fx
"""Standard deviation of a dot as the camera sees it, including lens and pixel."""
DOT_ELECTRONS = 20_000.0
AMBIENT_ELECTRONS, USUAL_LUX = 8000.0, 200.0
FULL_WELL = 10_000.0
READ_NOISE = 8.0
"""e⁻."""
ELECTRONS_PER_COUNT = FULL_WELL / 1023.0
MAX_DISPARITY = 48
"""px. It corresponds to a nearest distance of 0.36 m."""
HALF_BLOCK = 4
UNIQUENESS = 1.5
"""Least ratio of any other cost to the best, except for its two neighbours. Of pure noise, 2 % still match."""
NEAREST, FARTHEST = 0.1, 20.0
"""m."""
_MATT = np.array([m.reflectance * (1.0 - m.gloss) for m in MATERIALS], np.float32)
"""Diffuse share of a wall's reflection. The specular rest goes elsewhere, except for one spot that is ignored."""
_LINEAR = ((np.arange(256) / 255.0) ** 2.2).astype(np.float32)
"""Inverts the display's gamma."""

_IN, _NORMALS = types.Array(float32, 2, "C", readonly=True), types.Array(float32, 3, "C", readonly=True)
_DOTS, _COUNTS = types.Array(float64, 3, "C", readonly=True), types.Array(int32, 2, "C", readonly=True)


def dot_table(seed: int = 0) -> NDArray[np.float64]:
    """(rows, columns, 3) position within its cell (both directions) and brightness of every dot: a jittered grid."""
    rng = np.random.default_rng(seed)
    shape = tuple(2 * int(np.ceil(0.6 * n / LENS.fx / DOT_SPACING)) + 2 for n in (LENS.height, LENS.width))
    return np.concatenate([rng.uniform(0.15, 0.85, (*shape, 2)), rng.uniform(0.7, 1.0, (*shape, 1))], axis=2)


@kernel(void(_IN, _NORMALS, types.UniTuple(float64, 3), float64, _DOTS, float32[:, ::1]))
def paint_dots(depth, normals, lens, to_projector, dots, out):
    """The projector's light on each pixel's surface point. It is 1 at the middle of a dot 1 m away and square to it.

    lens: focal length, cx, cy, px; to_projector: m to the right; normals: in camera axes."""
    focal, cx, cy = lens
    rows, columns, _ = dots.shape
    for i in range(depth.shape[0]):
        y = (i - cy) / focal
        v = y / DOT_SPACING + 0.5 * rows
        for j in range(depth.shape[1]):
            z = depth[i, j]
            x = (j - cx) / focal - to_projector / z
            u = x / DOT_SPACING + 0.5 * columns
            pattern = 0.0
            for row in range(max(int(v) - 1, 0), min(int(v) + 2, rows)):
                for column in range(max(int(u) - 1, 0), min(int(u) + 2, columns)):
                    dv, du = v - row - dots[row, column, 0], u - column - dots[row, column, 1]
                    away = (du * du + dv * dv) * (DOT_SPACING / DOT_SD) ** 2
                    if away < 25.0:
                        pattern += dots[row, column, 2] * np.exp(-0.5 * away)
            far2 = 1.0 + x * x + y * y
            facing = abs(x * normals[i, j, 0] + y * normals[i, j, 1] + normals[i, j, 2]) / np.sqrt(far2)
            out[i, j] = pattern * facing / (z * z * far2)


@inlined
def _refined(costs, j, best):
    """The disparity with its fraction, or 0 if another position fits nearly as well in either image."""
    middle = costs[j, best]
    for d in range(costs.shape[1]):
        if abs(d - best) > 1:
            other = j - best + d
            taken = d < other < costs.shape[0] and costs[other, d] < middle
            if costs[j, d] < UNIQUENESS * middle or taken:
                return 0.0
    low, high = costs[j, best - 1], costs[j, best + 1]
    bend = float(low) - 2.0 * float(middle) + float(high)
    return best + 0.5 * float(low - high) / bend if bend > 0.0 else 0.0


@kernel(void(_COUNTS, _COUNTS, float32[:, ::1]))
def match_blocks(left, right, disparity):
    """px by least squared differences of 9 × 9 blocks, refined by a parabola. 0: no match."""
    h, w = left.shape
    n, r = MAX_DISPARITY, HALF_BLOCK
    columns = np.zeros((n, w), np.int32)
    costs = np.full((w - r, n), np.iinfo(np.int32).max, np.int32)
    disparity[:] = 0.0
    for i in range(h):
        for d in range(n):
            for j in range(d, w):
                difference = left[i, j] - right[i, j - d]
                columns[d, j] += difference * difference
            if i > 2 * r:
                for j in range(d, w):
                    difference = left[i - 2 * r - 1, j] - right[i - 2 * r - 1, j - d]
                    columns[d, j] -= difference * difference
        if i < 2 * r:
            continue
        for d in range(n):
            total = columns[d, n - 1 : n + 2 * r].sum()
            for j in range(n - 1 + r, w - r):
                costs[j, d] = total
                if j + r + 1 < w:
                    total += columns[d, j + r + 1] - columns[d, j - r]
        for j in range(n - 1 + r, w - r):
            best = np.argmin(costs[j])
            if 0 < best < n - 1:
                disparity[i - r, j] = _refined(costs, j, best)


@dataclass(frozen=True, slots=True, eq=False)
class IrPair:
    """One pair of images in counts of the converter."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]


def shoot_pair(walls: Walls, material: str, distance: float, seed: int, lens: Pinhole = LENS) -> IrPair:
    """Both views, rendered, with dots and noise."""
    return shoot_pairs(walls, material, distance, (seed,), lens)[0]


def shoot_pairs(
    walls: Walls,
    material: str,
    distance: float,
    seeds: Sequence[int],
    lens: Pinhole = LENS,
    *,
    lux: float = USUAL_LUX,
) -> list[IrPair]:
    """One pair for each seed, in a room of this brightness."""
    requests = []
    for right in (0.0, BASELINE):
        at = in_front_of(material, distance, right=right)
        requests.append(ViewRequest(lens, ViewPose(0, at.position, SENSOR_FROM_CAMERA)))
    left, right_view = walls.views(requests)
    dots, ambient = dot_table(), AMBIENT_ELECTRONS * lux / USUAL_LUX
    # the projector is half-way between the two cameras
    light = _electrons(left, 0.5 * BASELINE, dots, ambient), _electrons(right_view, -0.5 * BASELINE, dots, ambient)
    # both cameras have the same exposure
    exposure = min(1.0, 0.9 * FULL_WELL / max(float(eye.max()) for eye in light))
    shots = []
    for seed in seeds:
        rng = np.random.default_rng([seed, MATERIAL_ID[material], round(1000 * distance)])
        shots.append(IrPair(*(_counts(exposure * eye, rng) for eye in light)))
    return shots


def _electrons(view: View, to_projector: float, dots: NDArray[np.float64], ambient: float) -> NDArray[np.float32]:
    lens = view.lens
    normals = view.normals @ matrix_from_quat(view.pose.quat_wxyz).astype(np.float32)
    projected = np.empty_like(view.depth)
    paint_dots(view.depth, normals, (lens.fx, lens.cx, lens.cy), to_projector, dots, projected)
    texture = _LINEAR[view.colour].mean(axis=2)
    light = ambient + DOT_ELECTRONS * projected
    return np.asarray(_MATT[view.materials] * (texture / texture.mean()) * light, np.float32)


def _counts(electrons: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.int32]:
    noise = rng.standard_normal(electrons.shape, np.float32) * np.sqrt(electrons + READ_NOISE**2)
    return np.asarray(np.rint(np.clip(electrons + noise, 0.0, FULL_WELL) / ELECTRONS_PER_COUNT), np.int32)


def matched_depth(pair: IrPair) -> NDArray[np.float32]:
    """m, of the central 460 × 320 px of the left image. 0 if there is no match within 0.1 to 20 m."""
    disparity = np.empty(pair.left.shape, np.float32)
    match_blocks(_smoothed(pair.left), _smoothed(pair.right), disparity)
    depth = np.where(disparity > 0.0, ACROSS / np.maximum(disparity, 1e-3), 0.0)
    rows = (len(depth) - min(320, len(depth) - 16)) // 2
    depth = depth[rows:-rows, 90:-90]
    return np.where((depth >= NEAREST) & (depth <= FARTHEST), depth, 0.0).astype(np.float32)


def _smoothed(counts: NDArray[np.int32]) -> NDArray[np.int32]:
    """Twice the mean over about one dot (3 × 3 binomial). Less noise; squares over a block still fit 32 bits."""
    rows = counts[:-2] + 2 * counts[1:-1] + counts[2:]
    out = np.zeros_like(counts)
    out[1:-1, 1:-1] = (rows[:, :-2] + 2 * rows[:, 1:-1] + rows[:, 2:]) // 8
    return out
