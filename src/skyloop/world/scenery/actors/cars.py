"""The cars of a world: parked cars, and cars that drive along a path."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import float64, void
from numpy.typing import ArrayLike, NDArray

from skyloop.core.jit import kernel, record_type
from skyloop.world.ground import Ground, HeightField, ground_at, height_field_type
from skyloop.world.mesh import Colour
from skyloop.world.model import Model
from skyloop.world.scenery.actors.car_shapes import STYLES, Style, body_shape, parked_shape, wheel_places, wheel_shape
from skyloop.world.scenery.actors.paths import CURVATURE, MoverPath, PathArrays, S, path_at, path_type, piece_at
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

_COLOURS: Final[tuple[Colour, ...]] = (
    (232, 232, 230), (178, 182, 186), (92, 96, 102), (28, 29, 32), (150, 22, 26), (196, 40, 30), (28, 58, 120),
    (70, 120, 170), (34, 74, 54), (190, 176, 140), (206, 122, 36),
)  # fmt: skip
_STYLE_SHARES: Final = (0.34, 0.22, 0.16, 0.20, 0.08)
STEER_AHEAD = 0.8
"""m before and after the start of a bend over which the steering turns."""


def _draw(generator: np.random.Generator) -> tuple[Style, list[Colour]]:
    style = STYLES[generator.choice(len(STYLES), p=_STYLE_SHARES)]
    return style, [_COLOURS[generator.integers(len(_COLOURS))]]


def _attitude(ground: Ground, style: Style, x: float, y: float, yaw: float) -> tuple[Array, float]:
    """The rotation of a car whose middle is at (x, y), and the road's height there."""
    ahead, left = 0.5 * style.wheelbase, 0.5 * style.track
    c, s = np.cos(yaw), np.sin(yaw)
    heights = np.array(
        [[ground.at(x + c * a - s * b, y + s * a + c * b)[0] for b in (-left, left)] for a in (-ahead, ahead)]
    )
    forward = np.array([c, s, (heights[1].mean() - heights[0].mean()) / (2.0 * ahead)])
    leftward = np.array([-s, c, (heights[:, 1].mean() - heights[:, 0].mean()) / (2.0 * left)])
    forward /= np.linalg.norm(forward)
    up = np.cross(forward, leftward)
    up /= np.linalg.norm(up)
    return np.stack([forward, np.cross(up, forward), up], axis=1), float(heights.mean())


def park_car(model: Model, generator: np.random.Generator, ground: Ground, xy: ArrayLike, yaw: float) -> int:
    """Places a parked car with its middle at (x, y) and its nose towards `yaw`."""
    style, palette = _draw(generator)
    x, y = np.asarray(xy, float)
    rotation, height = _attitude(ground, style, x, y, yaw)
    return model.place(parked_shape(style), (x, y, height), rotation=rotation, is_a="car", palette=palette)


def _rolled(path: MoverPath, hubs: NDArray[np.float64]) -> NDArray[np.float64]:
    """(pieces, 8): m that each wheel has rolled at the start of a piece of the path, and m per m on it.

    The middle of the rear axle follows the path. A wheel at (x, y) from it moves (1 - κy, κx) per metre.
    """
    bend = path.pieces[:, CURVATURE, None]
    rate = np.hypot(1.0 - bend * hubs[:, 1], bend * hubs[:, 0])
    lengths = np.diff(path.pieces[:, S], append=path.length)[:, None]
    before = np.cumsum(rate * lengths, axis=0) - rate * lengths
    return np.ascontiguousarray(np.hstack([before, rate]))


class Chassis(NamedTuple):
    """The wheels of a car, and how they roll along its path."""

    wheelbase: float
    """m."""
    radius: float
    """m, of a wheel."""
    hubs: Array
    """(4, 3) as `wheel_places` gives them."""
    rolled: Array
    """As `_rolled` gives it."""
    lap_rolled: Array
    """(4,) m that each wheel rolls in a lap."""


chassis_type = record_type(
    Chassis, wheelbase=float64, radius=float64, hubs=float64[:, ::1], rolled=float64[:, ::1], lap_rolled=float64[::1]
)


@kernel(void(float64, chassis_type, path_type, height_field_type, float64[:, :, ::1]))
def drive_poses(s, chassis, way, ground, out):
    """Writes the poses of body and four wheels at s metres along the path to out (5, 3, 4)."""
    car, path, g = Chassis(*chassis), PathArrays(*way), HeightField(*ground)
    hubs, rolled = car.hubs, car.rolled
    x, y, yaw = path_at(path, s)
    c, sn = np.cos(yaw), np.sin(yaw)
    level = np.empty(4)
    for k in range(4):
        wheel_x, wheel_y = x + c * hubs[k, 0] - sn * hubs[k, 1], y + sn * hubs[k, 0] + c * hubs[k, 1]
        level[k] = ground_at(g.heights, g.origin_x, g.origin_y, g.cell, wheel_x, wheel_y)[0]
    rise = 0.5 * (level[2] + level[3] - level[0] - level[1]) / car.wheelbase
    bank = 0.5 * (level[0] + level[2] - level[1] - level[3]) / (hubs[0, 1] - hubs[1, 1])
    size = 1.0 / np.sqrt(1.0 + rise * rise)
    fx, fy, fz = c * size, sn * size, rise * size
    ux, uy, uz = fy * bank - fz * c, -fz * sn - fx * bank, fx * c + fy * sn
    size = 1.0 / np.sqrt(ux * ux + uy * uy + uz * uz)
    ux, uy, uz = ux * size, uy * size, uz * size
    body = out[0]
    body[0, 0], body[1, 0], body[2, 0] = fx, fy, fz
    body[0, 1], body[1, 1], body[2, 1] = uy * fz - uz * fy, uz * fx - ux * fz, ux * fy - uy * fx
    body[0, 2], body[1, 2], body[2, 2] = ux, uy, uz
    body[0, 3], body[1, 3], body[2, 3] = x, y, 0.5 * (level[0] + level[1])
    before = path_at(path, s - STEER_AHEAD)[2]
    after = path_at(path, s + STEER_AHEAD)[2]
    bend = (after - before) / (2.0 * STEER_AHEAD)
    laps, rest, piece = piece_at(path, s)
    for k in range(4):
        steer = np.arctan2(bend * hubs[k, 0], 1.0 - bend * hubs[k, 1])
        along = rest - path.pieces[piece, 0]
        turned = (laps * car.lap_rolled[k] + rolled[piece, k] + rolled[piece, 4 + k] * along) / car.radius
        cs, ss, cr, sr = np.cos(steer), np.sin(steer), np.cos(turned), np.sin(turned)
        part = out[1 + k]
        for i in range(3):
            bx, by, bz = body[i, 0], body[i, 1], body[i, 2]
            ax = cs * bx + ss * by
            # about its axle, forwards: the top of the wheel moves ahead
            part[i, 0], part[i, 1], part[i, 2] = cr * ax - sr * bz, cs * by - ss * bx, sr * ax + cr * bz
            part[i, 3] = body[i, 3] + bx * hubs[k, 0] + by * hubs[k, 1] + bz * hubs[k, 2]


class Car:
    """A car that drives along a path for ever, with the middle of its rear axle on the path."""

    n_rows = 5

    def __init__(self, style: Style, path: MoverPath, ground: Ground, speed: float, start: float) -> None:
        self.style, self.path, self.ground, self.speed, self.start = style, path, ground, speed, start
        hubs = wheel_places(style)
        rolled = _rolled(path, hubs)
        lengths = np.diff(path.pieces[:, S], append=path.length)[:, None]
        lap_rolled = np.sum(rolled[:, 4:] * lengths, axis=0)
        self._chassis = tuple(Chassis(style.wheelbase, style.wheel, hubs, rolled, lap_rolled))

    def poses(self, t: float) -> Array:
        """(5, 3, 4) world_from_part: the body, then the wheels in the order of `wheel_places`."""
        out = np.empty((self.n_rows, 3, 4))
        s = self.start + self.speed * t
        drive_poses(s, self._chassis, self.path.kernel_arguments, self.ground.kernel_arguments, out)
        return out


def add_car(
    model: Model, generator: np.random.Generator, ground: Ground, path: MoverPath, *, speed: float, start: float = 0.0
) -> int:
    """Adds a car that drives along the path at `speed` (m/s) and is `start` m along it at t = 0."""
    if not 0.0 < speed < 60.0:
        raise ScenarioError(f"a car cannot drive at {speed} m/s; give 0 to 60")
    style, palette = _draw(generator)
    shapes = [body_shape(style), *(wheel_shape(style, side) for side in (1, -1, 1, -1))]
    return model.add_mover(Car(style, path, ground, speed, start), shapes, is_a="car", palette=palette)
