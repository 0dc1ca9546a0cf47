"""Roofs for a rectangular house centred on the origin, its width along y and its depth along x, walls up to `z`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from skyloop.world.mesh import Mesh, cylinder
from skyloop.world.panels import Paint, Panels

EAVE: Final = 0.22
"""m, height of the board under the tiles' edge."""
SLAB: Final = 0.1
"""m, thickness of the tiles, measured up."""
TILES: Final = Paint("roof tiles", (255, 255, 255), 3)
BOARD: Final = Paint("wood", (255, 255, 255), 2)
DECK: Final = Paint("gravel", (190, 190, 188))
PARAPET: Final = 0.7
"""m that the walls stand above a flat roof."""


@dataclass(frozen=True, slots=True)
class Roof:
    build: Callable[[Panels, bool], None]
    """Adds its faces; False leaves out what is not seen from afar."""
    extras: tuple[Mesh, ...] = ()
    """Round things on it, at full detail only."""
    top: float = 0.0
    """m, its highest point."""
    pitch: float = 0.0
    """Rise over run of two slopes that reach from gable to gable; 0 for other roofs."""


def gable_roof(width: float, depth: float, z: float, pitch: float, wall: Paint, *, overhang: float = 0.45) -> Roof:
    """Two slopes, the ridge along the width; the gables are wall."""
    half_w, half_d = 0.5 * width, 0.5 * depth
    out = half_d + overhang
    eave, ridge = z + EAVE, z + EAVE + pitch * out

    def build(panels: Panels, near: bool) -> None:
        for side in (1, -1):
            # turned half round about the middle for the back slope
            def at(x: float, y: float, height: float, side: int = side) -> tuple[float, float, float]:
                return (side * x, side * y, height)

            panels.quad(at(out, -half_w, z), at(out, half_w, z), at(out, half_w, eave), at(out, -half_w, eave), BOARD)
            panels.quad(at(out, half_w, z), at(out, -half_w, z), at(half_d, -half_w, z), at(half_d, half_w, z), BOARD)
            gable = [(out, eave), (0.0, ridge), (-out, eave)]
            corner = [at(x, half_w, height) for x, height in gable]
            panels.quad(corner[0], corner[2], corner[1], corner[1], wall)
            panels.quad(at(out, half_w, z), at(-out, half_w, z), at(-out, half_w, eave), at(out, half_w, eave), wall)
            verge = half_w + (0.1 if near else 0.0)
            rise = SLAB if near else 0.0
            drip = out + 0.08 if near else out
            low = eave - pitch * (drip - out)
            lower, upper = [at(drip, -verge, low), at(drip, verge, low)], [at(0, verge, ridge), at(0, -verge, ridge)]
            tops = [(*p[:2], p[2] + rise) for p in (*lower, *upper)]
            panels.quad(tops[0], tops[1], tops[2], tops[3], TILES)
            if near:
                panels.quad(lower[1], lower[0], upper[1], upper[0], BOARD)
                panels.quad(lower[0], lower[1], tops[1], tops[0], TILES)
                panels.quad(lower[1], upper[0], tops[2], tops[1], TILES)
                panels.quad(upper[1], lower[0], tops[0], tops[3], TILES)

    return Roof(build, top=ridge + SLAB, pitch=pitch)


def hip_roof(width: float, depth: float, z: float, pitch: float, *, overhang: float = 0.6) -> Roof:
    """Four slopes over a boxed eave."""
    a, b = 0.5 * depth + overhang, 0.5 * width + overhang
    eave = z + EAVE
    run = min(a, b)
    ridge = eave + pitch * run
    # the ridge's two ends
    e0, e1 = (-(a - run), -(b - run), ridge), (a - run, b - run, ridge)

    def build(panels: Panels, near: bool) -> None:
        panels.box((-a, -b, z), (a, b, eave), BOARD, without=("+z",))
        corners = [(a, -b, eave), (a, b, eave), (-a, b, eave), (-a, -b, eave)]
        front, right, back, left = (e0, e1) if b >= a else (e1, e1), (e1, e1), (e1, e0), (e0, e0)
        if b < a:
            right, back, left = (e1, e0), (e0, e0), (e0, e1)
        ends = (front, right, back, left)
        for k, (first, last) in enumerate(ends):
            low0, low1 = corners[k], corners[(k + 1) % 4]
            panels.quad(low0, low1, last, first, TILES)

    return Roof(build, top=ridge)


def flat_roof(generator: np.random.Generator, width: float, depth: float, z: float, wall: Paint) -> Roof:
    """A deck behind a parapet with a stair head, boxes and vents; walls reach `z`, the deck lies PARAPET lower."""
    a, b, t, deck = 0.5 * depth, 0.5 * width, 0.25, z - PARAPET
    coping = Paint("cement", (225, 225, 220))
    boxes: list[tuple[tuple[float, ...], tuple[float, ...], Paint]] = []
    fans: list[Mesh] = []
    sheet = Paint("metal", (205, 208, 210))
    if min(width, depth) > 7.0:
        x, y = (float(v) for v in generator.uniform(-0.2, 0.2, 2) * (depth, width))
        boxes.append(((x - 1.3, y - 1.6, deck), (x + 1.3, y + 1.6, deck + 2.4), wall))
        boxes.append(((x - 1.45, y - 1.75, deck + 2.4), (x + 1.45, y + 1.75, deck + 2.55), coping))
        boxes.append(
            ((x + 1.3, y - 0.45, deck + 0.05), (x + 1.35, y + 0.45, deck + 2.05), Paint("metal", (95, 100, 105)))
        )
        for side in (-1, 1):
            for _ in range(int(generator.integers(1, 4))):
                ux = float(generator.uniform(-0.5, 0.5)) * (depth - 3.0)
                uy = y + side * float(generator.uniform(2.6, max(2.7, 0.5 * width - abs(y) - 1.3)))
                if abs(uy) > b - 1.2 or any(abs(ux - f.positions[:, 0].mean()) < 1.6 for f in fans):
                    continue
                boxes.append(((ux - 0.5, uy - 0.6, deck + 0.12), (ux + 0.5, uy + 0.6, deck + 0.95), sheet))
                boxes.append(((ux - 0.45, uy - 0.55, deck), (ux + 0.45, uy - 0.45, deck + 0.12), coping))
                boxes.append(((ux - 0.45, uy + 0.45, deck), (ux + 0.45, uy + 0.55, deck + 0.12), coping))
                fan = cylinder(0.36, 0.05, 10, material="rubber", colour=(50, 52, 54)).moved((ux, uy, deck + 0.95))
                fans.append(fan)

    def build(panels: Panels, near: bool) -> None:
        panels.quad((-a, -b, deck), (a, -b, deck), (a, b, deck), (-a, b, deck), DECK)
        ring = [
            ((-a, -b), (a, -b + t)),
            ((-a, b - t), (a, b)),
            ((-a, -b + t), (-a + t, b - t)),
            ((a - t, -b + t), (a, b - t)),
        ]
        inner = (("-y",), ("+y",), ("-x", "-y", "+y"), ("+x", "-y", "+y"))
        for (low, high), hidden in zip(ring, inner, strict=True):
            # the outer sides are the facade's
            panels.box(
                (*low, deck),
                (*high, z),
                wall,
                without=("-z", "-x", "+x", *hidden) if len(hidden) == 1 else ("-z", *hidden),
            )
        if near:
            for low, high in (
                ((-a - 0.06, -b - 0.06), (a + 0.06, -b + t + 0.04)),
                ((-a - 0.06, b - t - 0.04), (a + 0.06, b + 0.06)),
            ):
                panels.box((*low, z), (*high, z + 0.08), coping)
            for x0, x1 in ((-a - 0.06, -a + t + 0.04), (a - t - 0.04, a + 0.06)):
                panels.box((x0, -b + t + 0.04, z), (x1, b - t - 0.04, z + 0.08), coping, without=("-y", "+y"))
        for low, high, paint in boxes if near else boxes[:1]:
            panels.box(low, high, paint, without=("-z",))

    return Roof(build, tuple(fans), top=z + 0.08)


def chimney(panels: Panels, x: float, y: float, z: tuple[float, float]) -> None:
    """From inside the roof up to z[1]; two pots on it."""
    brick, cap = Paint("brick", (235, 225, 215)), Paint("cement", (200, 198, 195))
    panels.box((x - 0.3, y - 0.45, z[0]), (x + 0.3, y + 0.45, z[1]), brick, without=("-z", "+z"))
    panels.box((x - 0.38, y - 0.53, z[1]), (x + 0.38, y + 0.53, z[1] + 0.1), cap)
    for dy in (-0.22, 0.22):
        low, high = (x - 0.1, y + dy - 0.1, z[1] + 0.1), (x + 0.1, y + dy + 0.1, z[1] + 0.45)
        panels.box(low, high, Paint("roof tiles", (200, 150, 130)), without=("-z",))


def skylight(panels: Panels, place: Any, pitch: float, *, side: int) -> None:
    """A window lying in the slope that falls towards side·x; `place` is its middle on the tiles."""
    x, y, z = place
    run, half, lift = 0.45, 0.4, 0.09

    def at(u: float, v: float, up: float) -> tuple[float, float, float]:
        return (x + side * u, y + side * v, z - pitch * u + up)

    frame, glass = Paint("metal", (80, 82, 86)), Paint("glass", (110, 126, 138))
    outer = [(run, -half), (run, half), (-run, half), (-run, -half)]
    panels.quad(*(at(u, v, lift) for u, v in outer), frame)
    for k in range(4):
        (u0, v0), (u1, v1) = outer[k], outer[(k + 1) % 4]
        panels.quad(at(u0, v0, -0.05), at(u1, v1, -0.05), at(u1, v1, lift), at(u0, v0, lift), frame)
    panels.quad(*(at(0.85 * u, 0.85 * v, lift + 0.03) for u, v in outer), glass)
