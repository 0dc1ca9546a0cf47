"""Things in a warehouse: racks, pallets and their loads, barrels, crates; all stand on the origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from skyloop.world.mesh import Colour, Mesh, circle, cylinder, loft, merged
from skyloop.world.model import Shape
from skyloop.world.scenery.panels import Paint, Panels

BAY: Final = 2.8
"""m from upright to upright of a rack, which holds three pallets."""
RACK_DEPTH: Final = 1.1
RACK_HEIGHT: Final = 7.2
LEVELS: Final = (0.0, 1.9, 3.8, 5.7)
"""m, the heights at which pallets stand."""
SLOTS: Final = (0.5, 1.4, 2.3)
"""m along a bay, the middles of its pallets."""
PALLET: Final = (0.8, 1.2, 0.144)
"""m along x, y and z: the European pallet."""
NEAR: Final = 20.0
"""m beyond which loads and pallets are plain boxes."""

UPRIGHT, BEAM = Paint("car paint", (50, 92, 160)), Paint("car paint", (232, 110, 36))
BOARD: Final = Paint("wood", (240, 220, 185))
CARTON: Final = Paint("cardboard", (255, 255, 255), 1)
TAPE, LABEL = Paint("plastic", (214, 190, 150)), Paint("plastic", (245, 245, 240))
CARTON_COLOURS: Final[tuple[Colour, ...]] = ((255, 255, 255), (235, 215, 190), (255, 240, 215), (215, 195, 170))
DRUM_COLOURS: Final[tuple[Colour, ...]] = ((36, 84, 168), (40, 120, 70), (190, 50, 40), (70, 72, 76), (230, 180, 40))
WRAP_COLOURS: Final[tuple[Colour, ...]] = ((225, 232, 236), (190, 205, 215), (60, 62, 66), (150, 180, 160))


@dataclass(frozen=True, slots=True, eq=False)
class Load:
    """Something that fits on a pallet."""

    shape: Shape
    is_a: str
    colours: tuple[Colour, ...]


def rack_bay_shape(*, ends: bool = False) -> Shape:
    """A bay along +x from an upright on the origin, beams BAY long; with `ends`, only the upright that closes a row."""
    near, far = Panels(), Panels()
    half = 0.5 * RACK_DEPTH
    for panels in (near, far):
        for y in (-half, half - 0.08):
            panels.box((-0.05, y, 0.0), (0.05, y + 0.08, RACK_HEIGHT), UPRIGHT, without=("-z",))
        for level in () if ends else LEVELS[1:]:
            for y in (-half + 0.01, half - 0.06):
                panels.box((0.05, y, level - 0.13), (BAY - 0.05, y + 0.05, level), BEAM, without=("-x", "+x"))
    for y in (-half - 0.03, half - 0.12):
        near.box((-0.065, y, 0.0), (0.065, y + 0.15, 0.012), UPRIGHT, without=("-z",))
    inner = half - 0.08
    for k in range(6):
        z0, z1 = 0.3 + 1.15 * k, 0.3 + 1.15 * (k + 1)
        a, b = (-inner, inner) if k % 2 == 0 else (inner, -inner)
        near.quad((0.0, a, z0), (0.0, b, z1 - 0.06), (0.0, b, z1), (0.0, a, z0 + 0.06), UPRIGHT)
    return Shape("rack end" if ends else "rack bay", (near.mesh(), far.mesh()), (NEAR,))


def pallet_shape() -> Shape:
    """Boards on bearers on boards."""
    x, y, top = 0.5 * PALLET[0], 0.5 * PALLET[1], PALLET[2]
    near, far = Panels(), Panels()
    step = (PALLET[0] - 0.12) / 4.0
    for k in range(5):
        left = -x + step * k
        near.box((left, -y, top - 0.022), (left + 0.12, y, top), BOARD)
    for v in (-y, -0.07, y - 0.14):
        near.box((-x, v, 0.022), (x, v + 0.14, top - 0.022), BOARD, without=("+z", "-z"))
    for u in (-x, -0.06, x - 0.12):
        near.box((u, -y, 0.0), (u + 0.12, y, 0.022), BOARD)
    far.box((-x, -y, 0.0), (x, y, top), Paint("wood", (190, 165, 130)))
    return Shape("pallet", (near.mesh(), far.mesh()), (NEAR,))


def pallet_loads(generator: np.random.Generator) -> list[Load]:
    """One of each kind, several of cartons."""
    stacks = [_cartons(generator, *n) for n in ((2, 2, 3), (2, 3, 4), (1, 2, 2), (2, 2, 2))]
    loads = [Load(stack, "box", CARTON_COLOURS) for stack in stacks]
    loads.append(Load(_big_carton(), "box", CARTON_COLOURS))
    loads.append(Load(_wrapped(), "box", WRAP_COLOURS))
    loads.append(Load(_sacks(), "box", ((235, 228, 205), (205, 190, 160))))
    loads.append(Load(crate_shape(), "box", ((255, 255, 255), (225, 205, 175))))
    loads.append(Load(_drums(), "barrel", DRUM_COLOURS))
    return loads


def _boxed(name: str, near: Mesh, paint: Paint) -> Shape:
    """The mesh with its bounding box as the far detail."""
    low, high = near.positions.min(axis=0), near.positions.max(axis=0)
    far = Panels()
    far.box((low[0], low[1], 0.0), (high[0], high[1], high[2]), paint, without=("-z",))
    return Shape(name, (near, far.mesh()), (NEAR,))


def _cartons(generator: np.random.Generator, nx: int, ny: int, nz: int) -> Shape:
    """Layers of equal cartons with tape and labels; one may be missing in the top layer."""
    gap = 0.012
    size = np.array([0.78 / nx, 1.16 / ny, float(generator.uniform(0.26, 0.4)) if nz > 1 else 0.8])
    panels = Panels()
    missing = (0, ny - 1, nz - 1) if generator.random() < 0.5 and nx > 1 else None
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                if (i, j, k) == missing:
                    continue
                low = np.array([-0.39, -0.58, 0.0]) + size * (i, j, k)
                high = low + size - gap * np.array([1.0, 1.0, 0.0])
                _carton(panels, low.tolist(), high.tolist(), sides=(j == 0, j == ny - 1), top=k == nz - 1)
    return _boxed("cartons", panels.mesh(), CARTON)


def _carton(panels: Panels, low: list[float], high: list[float], *, sides: tuple[bool, bool], top: bool) -> None:
    (x0, y0, z0), (x1, y1, z1) = low, high
    panels.box((x0, y0, z0), (x1, y1, z1), CARTON, without=("-z",))
    middle = 0.5 * (x0 + x1)
    if top:
        panels.floor((middle - 0.03, y0), (middle + 0.03, y1), z1 + 0.006, TAPE)
    width, height = 0.12, 0.08
    for shown, y, way in ((sides[0], y0 - 0.006, 1.0), (sides[1], y1 + 0.006, -1.0)):
        if shown:
            a, b = middle + 0.04 * way, middle + (0.04 + width) * way
            z = 0.5 * (z0 + z1)
            panels.quad((a, y, z), (b, y, z), (b, y, z + height), (a, y, z + height), LABEL)


def _big_carton() -> Shape:
    panels = Panels()
    _carton(panels, [-0.38, -0.56, 0.0], [0.38, 0.56, 1.05], sides=(True, True), top=True)
    for y, way in ((-0.568, 1.0), (0.568, -1.0)):
        a, b = -0.3 * way, -0.08 * way
        panels.quad((a, y, 0.2), (b, y, 0.2), (b, y, 0.42), (a, y, 0.42), Paint("plastic", (200, 60, 50)))
    return _boxed("big carton", panels.mesh(), CARTON)


def _wrapped() -> Shape:
    """Goods in stretch film: a block with rounded edges."""
    x, y, bevel = 0.38, 0.57, 0.06
    corner = [(x, y - bevel), (x - bevel, y), (bevel - x, y), (-x, y - bevel)]
    outline = corner + [(-u, -v) for u, v in corner]
    rings = [[(s * u, s * v, z) for u, v in outline] for s, z in ((1.0, 0.0), (1.0, 0.5), (0.99, 1.1), (0.9, 1.17))]
    film = Paint("plastic", (255, 255, 255), 1)
    return _boxed("wrapped goods", loft(rings, **film.look).flat(), film)


def _sacks() -> Shape:
    """Four layers of two filled sacks."""
    cloth = Paint("cloth", (255, 255, 255), 1)
    outline = np.array([(0.3, 0.26), (-0.3, 0.26), (-0.38, 0.16), (-0.38, -0.16)])
    outline = np.concatenate([outline, -outline])
    rings = [np.column_stack([scale * outline, np.full(8, z)]) for scale, z in ((0.86, 0.0), (1.0, 0.1), (0.84, 0.19))]
    sack = loft(rings, **cloth.look)
    places = [(0.0, 0.285 * side, 0.185 * layer) for layer in range(4) for side in (-1, 1)]
    return _boxed("sacks", merged([sack.moved(place) for place in places]), cloth)


def crate_shape() -> Shape:
    """A planked wooden case with battens."""
    plank = Paint("wood", (255, 255, 255), 1)
    panels = Panels()
    panels.box((-0.36, -0.54, 0.0), (0.36, 0.54, 0.95), Paint("wood", (190, 170, 145), 1), without=("-z",))
    for k in range(4):
        z = 0.02 + 0.235 * k
        panels.box((-0.385, -0.565, z), (0.385, -0.54, z + 0.2), plank)
        panels.box((-0.385, 0.54, z), (0.385, 0.565, z + 0.2), plank)
        panels.box((-0.385, -0.54, z), (-0.36, 0.54, z + 0.2), plank)
        panels.box((0.36, -0.54, z), (0.385, 0.54, z + 0.2), plank)
    for y in (-0.48, 0.36):
        panels.box((-0.39, y, 0.95), (0.39, y + 0.12, 0.985), plank, without=("-z",))
    return _boxed("crate", panels.mesh(), plank)


def _drum(n: int) -> Mesh:
    """A steel drum of 200 l with two ribs."""
    paint = Paint("car paint", (255, 255, 255), 1)
    profile = [(0.28, 0.0), (0.28, 0.29), (0.292, 0.31), (0.28, 0.33), (0.28, 0.57), (0.292, 0.59), (0.28, 0.61)]
    profile += [(0.28, 0.86), (0.292, 0.88)]
    if n < 10:
        profile = [(0.285, 0.0), (0.285, 0.88)]
    body = loft([circle(r, n, centre=(0, 0, z)) for r, z in profile], closed_ends=False, **paint.look)
    lid = cylinder(0.275, 0.86, n, material="car paint", colour=(225, 225, 225), slot=1)
    return merged([body, lid])


def barrel_shape() -> Shape:
    return Shape("barrel", (_drum(14), _drum(6)), (NEAR,))


def _drums() -> Shape:
    """Two drums on a pallet; four would hang over its edge."""
    places = ((0.0, -0.3, 0.0), (0.0, 0.3, 0.0))
    lods = tuple(merged([_drum(n).moved(place) for place in places]) for n in (12, 5))
    return Shape("drums", lods, (NEAR,))


def guard_shape() -> Shape:
    """A yellow post with black bands that protects a rack's end from forklifts."""
    post = cylinder(0.08, 0.9, 10, material="car paint", colour=(240, 190, 30))
    bands = [cylinder(0.086, 0.12, 10, material="car paint", colour=(30, 30, 30)).moved((0, 0, z)) for z in (0.3, 0.6)]
    far = cylinder(0.08, 0.9, 5, material="car paint", colour=(190, 150, 30))
    return Shape("guard post", (merged([post, *bands]), far), (NEAR,))


def packing_table_shape() -> Shape:
    """A bench for packing, with a shelf over it and cartons on it; the person who works at it stands at -x."""
    panels = Panels()
    steel, top = Paint("metal", (120, 130, 140)), Paint("wood", (245, 235, 215))
    panels.box((-0.4, -1.0, 0.86), (0.4, 1.0, 0.92), top)
    for y in (-0.95, 0.89):
        panels.box((-0.36, y, 0.0), (-0.3, y + 0.06, 0.86), steel, without=("+z",))
        panels.box((0.3, y, 0.0), (0.36, y + 0.06, 1.75), steel)
    panels.box((0.0, -1.0, 1.5), (0.3, 1.0, 1.53), top)
    panels.box((-0.3, -0.89, 0.25), (0.3, 0.89, 0.28), steel)
    for y, size in ((-0.7, 0.3), (0.1, 0.42), (0.6, 0.22)):
        _carton(panels, [-0.15, y, 0.92], [0.2, y + size, 0.92 + size], sides=(True, True), top=True)
    panels.box((0.02, -0.8, 1.53), (0.26, -0.3, 1.75), Paint("cardboard", (235, 215, 190)), without=("-z",))
    return Shape("packing table", (panels.mesh(),))
