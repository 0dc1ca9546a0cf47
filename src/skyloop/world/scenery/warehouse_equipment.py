"""Objects in a warehouse: racks, pallets and their loads, barrels, crates, forklifts; all stand on the origin.

Forklifts are counterbalanced trucks, forks towards +x; one drives along a path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from skyloop.world.ground import Ground
from skyloop.world.mesh import Colour, Mesh, circle, cylinder, loft, merged
from skyloop.world.model import Shape
from skyloop.world.scenery.actors.paths import Path
from skyloop.world.scenery.panels import Paint, Panels
from skyloop_client.messages import Array

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


FORK_TIP: Final = 1.95
"""m ahead of the origin."""
TAIL: Final = 1.25
"""m behind it."""
HALF_WIDTH: Final = 0.58
COLOURS: Final[tuple[Colour, ...]] = ((240, 180, 30), (226, 96, 32), (190, 40, 36), (60, 120, 70))
"""The colours of paint slot 1."""

BODY, DARK = Paint("car paint", (255, 255, 255), 1), Paint("metal", (48, 50, 54))
BLACK: Final = Paint("rubber", (28, 28, 30))


def forklift_shape(*, lift: float = 0.12) -> Shape:
    """lift: m of the forks above the floor."""
    return Shape("forklift", (_near(lift), _middle(lift), _far(lift)), (15.0, 40.0))


def _wheel(x: float, y: float, radius: float, width: float, n: int) -> Mesh:
    tyre = cylinder(radius, width, n, **BLACK.look)
    hub = cylinder(0.55 * radius, width + 0.02, n, material="metal", colour=(200, 200, 200)).moved((0, 0, -0.01))
    # on its side, with the axle along y
    lying = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    return merged([tyre, hub]).moved((x, y - 0.5 * width, radius), rotation=lying)


def _mast(panels: Panels, lift: float) -> None:
    for y in (-0.36, 0.28):
        panels.box((0.72, y, 0.08), (0.86, y + 0.08, 2.15), DARK)
    for z in (0.5, 1.3, 2.07):
        panels.box((0.74, -0.28, z), (0.82, 0.28, z + 0.08), DARK)
    # the carriage with its load guard, and the forks
    for y in (-0.42, -0.02, 0.38):
        panels.box((0.86, y, lift + 0.04), (0.9, y + 0.04, lift + 1.1), DARK)
    for z in (0.08, 0.4, 1.06):
        panels.box((0.87, -0.46, lift + z), (0.93, 0.46, lift + z + 0.06), DARK)
    for y in (-0.3, 0.18):
        panels.box((0.9, y, lift - 0.04), (FORK_TIP, y + 0.12, lift), Paint("metal", (90, 92, 96)))
        panels.box((0.9, y, lift), (0.95, y + 0.12, lift + 0.5), Paint("metal", (90, 92, 96)))


def _guard(panels: Panels, bars: int) -> None:
    """The roof over the driver."""
    for x, y in ((0.5, -0.46), (0.5, 0.4), (-0.75, -0.46), (-0.75, 0.4)):
        panels.box((x, y, 0.9 if x < 0 else 0.6), (x + 0.06, y + 0.06, 2.05), DARK, without=("-z", "+z"))
    for y in (-0.46, 0.4):
        panels.box((-0.75, y, 2.05), (0.56, y + 0.06, 2.11), DARK)
    for k in range(bars):
        x = -0.75 + 1.25 * k / (bars - 1)
        panels.box((x, -0.4, 2.06), (x + 0.06, 0.4, 2.1), DARK, without=("-y", "+y"))


def _near(lift: float) -> Mesh:
    panels = Panels()
    w = HALF_WIDTH - 0.1
    panels.box((-0.7, -w, 0.22), (0.66, w, 0.62), BODY)
    # the counterweight slopes inwards at the back
    outline = ((-0.7, 0.22), (-0.7, 1.0), (-1.05, 0.98), (-TAIL, 0.75), (-TAIL, 0.3), (-1.1, 0.22))
    for (x0, z0), (x1, z1) in zip(outline, (*outline[1:], outline[0]), strict=True):
        panels.quad((x0, -w, z0), (x0, w, z0), (x1, w, z1), (x1, -w, z1), BODY)
    for y, order in ((-w, -1), (w, 1)):
        ring = [(x, y, z) for x, z in outline][::order]
        panels.quad(ring[0], ring[1], ring[2], ring[3], BODY)
        panels.quad(ring[0], ring[3], ring[4], ring[5], BODY)
    panels.box((-0.7, -0.4, 0.62), (-0.1, 0.4, 0.86), BODY)
    panels.box((-0.6, -0.27, 0.86), (-0.1, 0.27, 0.96), BLACK)
    panels.box((-0.68, -0.27, 0.9), (-0.58, 0.27, 1.45), BLACK)
    panels.box((0.42, -0.42, 0.62), (0.62, 0.42, 1.05), BODY)
    panels.box((-TAIL - 0.012, -0.3, 0.45), (-TAIL, 0.3, 0.6), Paint("plastic", (245, 240, 200)), without=("+x",))
    _mast(panels, lift)
    _guard(panels, 6)
    tilt = np.array([[0.8, 0.0, -0.6], [0.0, 1.0, 0.0], [0.6, 0.0, 0.8]])
    steering = cylinder(0.17, 0.03, 12, **BLACK.look).moved((0.24, 0.05, 1.12), rotation=tilt)
    column = cylinder(0.03, 0.35, 6, **BLACK.look).moved((0.42, 0.05, 0.85), rotation=tilt)
    beacon = cylinder(0.06, 0.1, 8, material="plastic", colour=(255, 150, 30)).moved((-0.5, 0.0, 2.1))
    wheels = [_wheel(x, y, r, 0.2, 14) for x, r in ((0.52, 0.33), (-0.78, 0.27)) for y in (-0.48, 0.48)]
    return merged([panels.mesh(), steering, column, beacon, *wheels])


def _middle(lift: float) -> Mesh:
    panels = Panels()
    w = HALF_WIDTH - 0.1
    panels.box((-0.7, -w, 0.22), (0.66, w, 0.7), BODY)
    panels.box((-TAIL + 0.05, -w, 0.24), (-0.7, w, 0.98), BODY)
    panels.box((-0.68, -0.27, 0.7), (-0.58, 0.27, 1.45), BLACK)
    _mast(panels, lift)
    _guard(panels, 3)
    wheels = [_wheel(x, y, r, 0.2, 8) for x, r in ((0.52, 0.33), (-0.78, 0.27)) for y in (-0.48, 0.48)]
    return merged([panels.mesh(), *wheels])


def _far(lift: float) -> Mesh:
    panels = Panels()
    w = HALF_WIDTH - 0.1
    panels.box((-TAIL + 0.05, -w, 0.1), (0.66, w, 0.8), BODY)
    panels.box((0.74, -0.36, 0.08), (0.9, 0.36, 2.15), DARK)
    panels.box((0.9, -0.3, lift - 0.04), (FORK_TIP, 0.3, lift), DARK)
    panels.box((-0.75, -0.48, 2.0), (0.56, 0.48, 2.1), DARK)
    return panels.mesh()


class DrivingForklift:
    """Drives along a closed path for ever."""

    n_rows = 1

    def __init__(self, path: Path, ground: Ground, *, speed: float, start: float = 0.0) -> None:
        """speed: m/s; start: m along the path at t = 0."""
        self._path, self._ground, self._speed, self._start = path, ground, speed, start

    def poses(self, t: float) -> Array:
        """(1, 3, 4) world_from_part."""
        place, heading = self._path.at([self._start + self._speed * t])
        x, y = place[0]
        c, s = np.cos(heading[0]), np.sin(heading[0])
        return np.array([[[c, -s, 0.0, x], [s, c, 0.0, y], [0.0, 0.0, 1.0, self._ground.at(x, y)[0]]]])
