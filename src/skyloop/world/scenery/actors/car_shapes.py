"""Cars: a skin over cross sections along the length, with wheel arches, windows, lamps and wheels.

x forward from the rear axle, y left, z up from the road.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from skyloop.world.mesh import Indices, Mesh, box, merged, mesh_of
from skyloop.world.model import Shape
from skyloop.world.scenery.actors.skins import SkinLook, skin
from skyloop_client.messages import Array

PAINT, GLASS, BLACK = SkinLook("car paint", 1), SkinLook("glass", 0, (70, 80, 88)), SkinLook("rubber", 0, (24, 24, 26))
TRIM, CHROME = SkinLook("plastic", 0, (38, 38, 40)), SkinLook("metal", 0, (156, 158, 162))
WHITE_LAMP, RED_LAMP = SkinLook("plastic", 0, (222, 224, 220)), SkinLook("plastic", 0, (176, 20, 22))
PLATE = SkinLook("plastic", 0, (216, 210, 180))
RANGES = (18.0, 60.0)
"""m beyond which the camera uses the coarser bodies."""
_CREASE = np.cos(np.radians(38.0))
"""The cosine of the angle above which an edge stays sharp."""
_POINTS = 6
"""Points of half a cross section: lower edge, widest, below the windows, above them, on the roof, middle."""


@dataclass(frozen=True)
class Style:
    """The measures of a kind of car, all in m; lines are (x, z) points from the rear."""

    name: str
    wheelbase: float
    width: float
    wheel: float
    """The radius."""
    top: tuple[tuple[float, float], ...]
    """The middle line of the top, from the rear end to the nose."""
    belt: tuple[tuple[float, float], ...]
    """The line below the windows."""
    rear_glass: tuple[float, float]
    """x of the rear window's lower and upper edge."""
    windscreen: tuple[float, float]
    """x of its upper and lower edge."""
    side_glass: tuple[tuple[float, float], ...]
    """x of each window's ends."""
    seams: tuple[float, ...]
    """x of the doors' edges."""

    @property
    def track(self) -> float:
        """m between the middles of two wheels of an axle."""
        return self.width - 0.24

    @property
    def rear(self) -> float:
        return self.top[0][0]

    @property
    def nose(self) -> float:
        return self.top[-1][0]


STYLES: Final = (
    Style(
        "hatchback", 2.55, 1.76, 0.31,
        ((-0.70, 0.92), (-0.66, 1.02), (-0.34, 1.40), (0.55, 1.48), (1.40, 1.45),
         (2.18, 1.03), (2.95, 0.88), (3.33, 0.72)),
        ((-0.70, 0.88), (2.2, 0.92), (2.95, 0.80), (3.33, 0.64)),
        (-0.64, -0.36), (1.42, 2.16), ((-0.12, 0.55), (0.63, 2.08)), (0.59, 1.78),
    ),
    Style(
        "saloon", 2.72, 1.80, 0.32,
        ((-1.02, 0.90), (-0.98, 1.02), (-0.52, 1.07), (0.22, 1.38), (0.85, 1.45),
         (1.52, 1.41), (2.30, 1.01), (3.15, 0.86), (3.60, 0.70)),
        ((-1.02, 0.86), (2.3, 0.92), (3.15, 0.79), (3.60, 0.62)),
        (-0.48, 0.18), (1.54, 2.28), ((0.10, 0.72), (0.80, 2.20)), (0.76, 1.90),
    ),
    Style(
        "estate", 2.70, 1.82, 0.33,
        ((-0.98, 0.92), (-0.94, 1.04), (-0.66, 1.44), (0.40, 1.50), (1.48, 1.46),
         (2.26, 1.04), (3.10, 0.90), (3.58, 0.74)),
        ((-0.98, 0.90), (2.3, 0.95), (3.10, 0.83), (3.58, 0.66)),
        (-0.92, -0.68), (1.50, 2.24), ((-0.60, -0.02), (0.06, 0.70), (0.78, 2.16)), (0.74, 1.88),
    ),
    Style(
        "suv", 2.66, 1.88, 0.36,
        ((-0.84, 0.98), (-0.80, 1.14), (-0.56, 1.60), (0.50, 1.69), (1.45, 1.64),
         (2.14, 1.18), (3.02, 1.06), (3.46, 0.86)),
        ((-0.84, 1.00), (2.2, 1.08), (3.02, 0.98), (3.46, 0.78)),
        (-0.78, -0.58), (1.47, 2.12), ((-0.48, 0.02), (0.10, 0.66), (0.74, 2.04)), (0.70, 1.82),
    ),
    Style(
        "van", 3.00, 1.92, 0.34,
        ((-0.92, 1.20), (-0.90, 1.30), (-0.84, 1.94), (0.80, 1.99), (2.20, 1.95),
         (3.02, 1.22), (3.55, 1.02), (3.86, 0.78)),
        ((-0.92, 1.12), (3.05, 1.12), (3.55, 0.94), (3.86, 0.70)),
        (-0.90, -0.86), (2.22, 3.00), ((1.90, 2.92),), (1.78, 2.88, -0.2),
    ),
)  # fmt: skip


def _stations(style: Style, lod: int) -> NDArray[np.float64]:
    """x of the cross sections, from the rear."""
    keys = [x for x, _ in style.top]
    keys += [style.rear + 0.10, style.nose - 0.12]
    keys += style.windscreen
    keys += [x for window in style.side_glass for x in window] if lod == 0 else [style.side_glass[0][0]]
    if lod == 2:
        keys = [style.rear, *style.windscreen, style.rear_glass[1], style.top[-2][0], style.nose]
    arch = style.wheel + 0.055
    around = ([-1.001, -1.0, -0.75, 0.0, 0.75, 1.0, 1.001], [-1.0, -0.6, 0.6, 1.0], [])[lod]
    keys += [axle + arch * a for axle in (0.0, style.wheelbase) for a in around]
    ordered = np.unique(np.round(keys, 4))
    apart = np.diff(ordered, prepend=-9.0) > (1e-4, 0.09, 0.01)[lod]
    return ordered[apart]


def _half(style: Style, x: Array, lod: int) -> Array:
    """(k, 6, 3) points of the left half at each station."""
    top_x, top_z = np.array(style.top).T
    top = np.interp(x, top_x, top_z)
    belt = np.minimum(np.interp(x, *np.array(style.belt).T), top - 0.05)
    rear, nose = style.rear, style.nose
    plan = np.interp(x, [rear, rear + 0.10, rear + 0.7, nose - 0.9, nose - 0.12, nose], [0.88, 0.95, 1, 1, 0.90, 0.74])
    half = 0.5 * style.width * plan
    low = np.interp(x, [rear, rear + 0.3, nose - 0.4, nose], [0.34, 0.20, 0.19, 0.26])
    arch = style.wheel + 0.055
    if lod == 2:
        low = np.full(len(x), 0.36)
    for axle in () if lod == 2 else (0.0, style.wheelbase):
        inside = np.abs(x - axle) <= arch + 1e-4
        low = np.where(inside, style.wheel + np.sqrt(np.maximum(arch**2 - (x - axle) ** 2, 0.0)), low)
    glazed = np.clip((top - belt - 0.06) / 0.32, 0.0, 1.0)  # 1 where the cabin is
    rail_z = top - 0.02 - 0.05 * glazed
    rail_y = half * (0.86 - 0.13 * glazed)
    widest = np.maximum(0.58 * belt, np.minimum(low + 0.05, belt - 0.06))
    return np.stack(
        [
            np.stack([x, 0.955 * half, low], -1),
            np.stack([x, half, widest], -1),
            np.stack([x, 0.965 * half, belt], -1),
            np.stack([x, rail_y, np.maximum(rail_z, belt + 0.01)], -1),
            np.stack([x, 0.55 * rail_y, top - 0.006], -1),
            np.stack([x, 0.0 * x, top], -1),
        ],
        axis=1,
    )


def _inside(x: Array, span: tuple[float, float]) -> NDArray[np.bool_]:
    return (x > span[0] + 1e-4) & (x < span[1] - 1e-4)


def _shell(style: Style, lod: int) -> Mesh:
    x = _stations(style, lod)
    half = _half(style, x, lod)
    if lod:
        half = half[:, [0, 1, 2, 3, 5]] if lod == 1 else half[:, [0, 2, 3, 5]]
    strip = np.concatenate([half, half[:, -2::-1] * [1.0, -1.0, 1.0]], axis=1)
    k, m = strip.shape[:2]
    middle = 0.5 * (x[1:] + x[:-1])
    glass = np.zeros((k - 1, m - 1), bool)
    side = {0: 2, 1: 2, 2: 1}[lod]
    windows = np.any([_inside(middle, window) for window in style.side_glass], axis=0)
    glass[windows, side] = glass[windows, m - 2 - side] = True
    roof = np.arange(side + 1, m - 2 - side)
    for span in (style.windscreen, style.rear_glass):
        glass[np.ix_(_inside(middle, span), roof)] = True
    index = np.arange(k * m).reshape(k, m)
    a, b, c, d = index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]
    quads = np.stack([a, b, c, d], -1)
    faces = np.concatenate([quads[..., [0, 1, 2]], quads[..., [0, 2, 3]]], axis=2).reshape(k - 1, m - 1, 2, 3)
    ends = []
    for row, order in ((index[0], 1), (index[-1], -1)):
        for i in range((m - 1) // 2):
            corners = [row[i], row[m - 1 - i], row[m - 2 - i], row[i + 1]][::order]
            ends += [corners[:3], [corners[0], *corners[2:]]]
    looks = np.concatenate([np.repeat(glass.ravel(), 2).astype(int), np.zeros(len(ends), int)])
    every = np.concatenate([faces.reshape(-1, 3), np.array(ends)])
    return _creased(strip.reshape(-1, 3), every, [PAINT, GLASS], looks)


def _creased(points: Array, faces: Indices, choices: list[SkinLook], looks: Indices) -> Mesh:
    """Smooth over gentle bends and sharp over strong ones; no two faces share corners."""
    p = points[faces]
    across = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    area = np.linalg.norm(across, axis=1)
    faces, looks, across, p = (part[area > 1e-10] for part in (faces, looks, across, p))
    unit = across / np.linalg.norm(across, axis=1, keepdims=True)
    around: dict[int, list[int]] = {}
    for face, corners in enumerate(faces):
        for corner in corners:
            around.setdefault(int(corner), []).append(face)
    normals = np.empty((len(faces), 3, 3))
    for face, corners in enumerate(faces):
        for i, corner in enumerate(corners):
            near = [other for other in around[int(corner)] if unit[other] @ unit[face] > _CREASE]
            summed = across[near].sum(axis=0)
            normals[face, i] = summed / np.linalg.norm(summed)
    parts = []
    for number, look in enumerate(choices):
        mine = looks == number
        if mine.any():
            corners = p[mine].reshape(-1, 3)
            parts.append(
                mesh_of(
                    corners,
                    np.arange(len(corners)),
                    uv=corners[:, [0, 2]],
                    normals=normals[mine].reshape(-1, 3),
                    material=look.material,
                    colour=look.colour,
                    slot=look.slot,
                )
            )
    return merged(parts)


def _block(size: tuple[float, float, float], centre: tuple[float, float, float], look: SkinLook) -> Mesh:
    return box(size, centre=centre, material=look.material, colour=look.colour, slot=look.slot)


def _pillars(style: Style) -> list[Mesh]:
    """Painted strips along the edges of the windscreen, and thin dark seams around the doors."""
    parts = []
    ends = _half(style, np.array(style.windscreen), 0)
    for side in (1.0, -1.0):
        mirror = np.array([1.0, side, 1.0])
        edge = ends[:, 3] * mirror
        out, up = np.array([0.0, 0.05 * side, -0.045]), np.array([0.0, -0.02 * side, 0.012])
        corners = [edge[0] + up + 0.3 * out, edge[1] + up + 0.3 * out, edge[1] + out + [0, 0, 0.02], edge[0] + out]
        inner = [edge[0] + up - 0.5 * out, edge[1] + up - 0.5 * out, edge[1] + up + 0.3 * out, edge[0] + up + 0.3 * out]
        for four in (corners, inner):
            faces = np.array([[0, 1, 2], [0, 2, 3]])[:, :: int(-side)]
            parts.append(_creased(np.array(four), faces, [PAINT], np.zeros(2, int)))
        for x in style.seams:
            line = _half(style, np.array([x - 0.006, x + 0.006]), 0)[:, :3] * mirror + [0.0, 0.010 * side, 0.0]
            index = np.array([[0, 3, 4], [0, 4, 1], [1, 4, 5], [1, 5, 2]])[:, :: int(-side)]
            parts.append(_creased(line.reshape(-1, 3), index, [TRIM], np.zeros(4, int)))
    return parts


def _fittings(style: Style, lod: int) -> list[Mesh]:
    """Lamps, grille, plates, mirrors, and the dark inside of the wheel arches."""
    w, nose, rear = 0.5 * style.width, style.nose, style.rear
    front_z, rear_z = float(style.belt[-1][1]), float(style.belt[0][1])
    length = nose - rear
    parts = [_block((length - 0.30, 2 * w - 0.50, 0.42), (0.5 * (nose + rear), 0.0, 0.43), BLACK)]
    for side in (1.0, -1.0):
        parts.append(_block((0.26, 0.27, 0.11), (nose - 0.114, 0.54 * w * side, front_z - 0.005), WHITE_LAMP))
        parts.append(_block((0.14, 0.22, 0.17), (rear + 0.052, 0.72 * w * side, rear_z - 0.14), RED_LAMP))
        if lod == 0:
            mirror = style.windscreen[1] - 0.18
            z = float(np.interp(mirror, *np.array(style.belt).T)) + 0.09
            parts.append(_block((0.10, 0.17, 0.12), (mirror, (w + 0.055) * side, z), PAINT))
            parts.append(_block((0.14, 0.020, 0.025), (style.seams[0] + 0.14, 0.983 * w * side, rear_z - 0.10), TRIM))
    if lod == 0:
        parts.append(_block((0.03, 0.75 * w, 0.10), (nose - 0.004, 0.0, front_z - 0.06), TRIM))
        parts.append(_block((0.05, 1.15 * w, 0.12), (nose - 0.014, 0.0, 0.34), TRIM))
        parts.append(_block((0.02, 0.52, 0.11), (nose + 0.018, 0.0, 0.46), PLATE))
        parts.append(_block((0.02, 0.52, 0.11), (rear - 0.004, 0.0, rear_z - 0.22), PLATE))
        parts.append(_block((0.06, 1.45 * w, 0.12), (rear + 0.020, 0.0, 0.42), TRIM))
        parts += _pillars(style)
    return parts


def car_body(style: Style, lod: int) -> Mesh:
    return merged([_shell(style, lod), *(_fittings(style, lod) if lod < 2 else [])])


def wheel(style: Style, side: int, lod: int) -> Mesh:
    """A wheel about its hub, with the axle along y; `side` 1 is left, with the outside towards +y."""
    r, n = style.wheel, (14, 8, 6)[lod]
    angle = 2.0 * np.pi * np.arange(n) / n
    unit = np.stack([np.cos(angle), np.zeros(n), np.sin(angle)], -1)

    def ring(y: float, radius: float) -> Array:
        return unit * radius + [0.0, y, 0.0]

    depth = (0.075, 0.095, 0.10)[lod]
    rim = np.vstack([ring(depth, (0.69, 0.69, 1.0)[lod] * r), [[0.0, depth + 0.01, 0.0]]])
    faces = np.array([[(i + 1) % n, i, n] for i in range(n)])
    spokes = np.arange(n) % 2 if lod == 0 else np.zeros(n, int)
    parts = [_creased(rim, faces, [BLACK] if lod == 2 else [CHROME, TRIM], spokes)]
    if lod < 2:
        tread = ([(-0.10, 1.0), (0.075, 1.0), (0.10, 0.90), (0.10, 0.68)], [(0.0, 1.0), (0.1, 0.68)])[lod]
        # rings run from inside to outside, and around so that their skin faces out
        parts.append(skin(np.array([ring(y, share * r) for y, share in tread])[:, ::-1], BLACK))
    whole = merged(parts)
    return whole if side == 1 else whole.moved(yaw=np.pi)


def wheel_places(style: Style) -> NDArray[np.float64]:
    """(4, 3) m of the hubs: rear left, rear right, front left, front right."""
    y = 0.5 * style.track
    return np.array([[x, side * y, style.wheel] for x in (0.0, style.wheelbase) for side in (1, -1)])


@cache
def body_shape(style: Style) -> Shape:
    return Shape(f"{style.name} body", tuple(car_body(style, lod) for lod in range(3)), RANGES)


@cache
def wheel_shape(style: Style, side: int) -> Shape:
    return Shape(f"{style.name} wheel", tuple(wheel(style, side, lod) for lod in range(3)), RANGES)


@cache
def parked_shape(style: Style) -> Shape:
    """Body and wheels in one shape, about the car's middle on the road."""
    lods = []
    for lod in range(3):
        wheels = [
            wheel_shape(style, side).lods[lod].moved(position)
            for side, position in zip((1, -1, 1, -1), wheel_places(style), strict=True)
        ]
        lods.append(merged([body_shape(style).lods[lod], *wheels]).moved((-0.5 * style.wheelbase, 0.0, 0.0)))
    return Shape(f"parked {style.name}", tuple(lods), RANGES)
