"""Street and park furniture; everything stands on the origin and faces +x."""

from __future__ import annotations

from typing import Final

import numpy as np

from skyloop.world.lamps import Lamp
from skyloop.world.mesh import Colour, Mesh, circle, cylinder, ellipsoid, loft, merged
from skyloop.world.model import Shape
from skyloop.world.scenery.panels import Paint, Panels, strokes

TOWARDS_X: Final = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""Rotates an object that points up (+z) to point along +x, with its x axis to the left (+y)."""
IRON: Final = Paint("car paint", (62, 66, 70))
"""Painted, as are the posts below; bare metal is brushed."""
STEEL: Final = Paint("metal", (165, 168, 172))
RED: Final[Colour] = (190, 30, 32)
BLUE: Final[Colour] = (28, 72, 160)
YELLOW: Final[Colour] = (240, 195, 40)
BROWNS: Final[tuple[Colour, ...]] = ((255, 255, 255), (200, 160, 120), (225, 190, 150))
GREENS: Final[tuple[Colour, ...]] = ((60, 90, 70), (70, 74, 78), (90, 60, 45))


def _pick(generator: np.random.Generator, colours: tuple[Colour, ...]) -> Colour:
    return colours[int(generator.integers(len(colours)))]


def _disc(radius: float, n: int, thickness: float, paint: Paint, *, turn: float = 0.0) -> Mesh:
    """An n-sided plate facing +x, its back on x = 0; `turn` rotates it in its plane."""
    plate = cylinder(radius, thickness, n, **paint.look).flat()
    return plate.moved(yaw=turn).moved(rotation=TOWARDS_X)


def _post(radius: float, height: float, paint: Paint, *, n: int = 8, top: float | None = None) -> Mesh:
    return cylinder(radius, height, n, top=top, **paint.look)


def bench_shape(generator: np.random.Generator) -> Shape:
    """A slatted bench with a back; a person who sits on it faces +x."""
    length = float(generator.uniform(1.6, 2.0))
    slat, frame = Paint("wood", _pick(generator, BROWNS)), Paint("car paint", _pick(generator, GREENS))
    half = 0.5 * length
    panels = Panels()
    for k in range(4):
        x = -0.2 + 0.12 * k
        panels.box((x, -half, 0.42), (x + 0.095, half, 0.455), slat)
    for k in range(3):
        x, z = -0.245 - 0.035 * k, 0.55 + 0.12 * k
        panels.box((x - 0.035, -half, z), (x, half, z + 0.095), slat)
    for y in (-half + 0.18, half - 0.24):
        panels.box((-0.24, y, 0.38), (0.27, y + 0.06, 0.42), frame)
        panels.box((0.2, y, 0.0), (0.26, y + 0.06, 0.38), frame, without=("+z",))
        panels.box((-0.24, y, 0.0), (-0.18, y + 0.06, 0.38), frame, without=("+z",))
        lean = [(-0.24, 0.42), (-0.20, 0.42), (-0.305, 0.9), (-0.355, 0.9)]
        _prism(panels, lean, y, y + 0.06, frame)
        panels.box((-0.21, y, 0.64), (0.2, y + 0.06, 0.67), frame)
        panels.box((0.2, y, 0.42), (0.23, y + 0.06, 0.67), frame)
    far = Panels()
    far.box((-0.2, -half, 0.42), (0.26, half, 0.455), slat)
    far.box((-0.33, -half, 0.55), (-0.25, half, 0.88), slat)
    for y in (-half + 0.18, half - 0.24):
        far.box((-0.24, y, 0.0), (0.26, y + 0.06, 0.42), frame, without=("-z", "+z"))
    return Shape("bench", (panels.mesh(), far.mesh()), (25.0,))


def _prism(panels: Panels, outline: list[tuple[float, float]], y0: float, y1: float, paint: Paint) -> None:
    """A four-sided (x, z) outline, counter-clockwise seen from -y, extruded from y0 to y1."""
    near, far = [[(x, y, z) for x, z in outline] for y in (y0, y1)]
    panels.quad(near[0], near[1], near[2], near[3], paint)
    panels.quad(far[3], far[2], far[1], far[0], paint)
    for k in range(4):
        m = (k + 1) % 4
        panels.quad(near[k], far[k], far[m], near[m], paint)


def lamp_shape(generator: np.random.Generator, style: str = "lantern") -> Shape:
    """A "lantern" on a post as in parks, or a "street" lamp whose arm reaches over the road at +x."""
    paint = Paint("car paint", _pick(generator, GREENS))
    return _lantern(generator, paint) if style == "lantern" else _street_lamp(generator, paint)


def _lantern(generator: np.random.Generator, paint: Paint) -> Shape:
    height = float(generator.uniform(3.4, 4.0))
    glow = Paint("plastic", (250, 244, 220)).look
    iron = paint.look
    rings = [
        circle(r, 10, centre=(0, 0, z))
        for r, z in ((0.16, 0), (0.16, 0.25), (0.09, 0.45), (0.055, 0.6), (0.045, height))
    ]
    globe = [circle(r, 8, centre=(0, 0, height + z)) for r, z in ((0.10, 0.0), (0.20, 0.42))]
    roof = [circle(r, 8, centre=(0, 0, height + z)) for r, z in ((0.26, 0.42), (0.2, 0.5), (0.05, 0.62), (0.02, 0.72))]
    near = merged([loft(rings, **iron), loft(globe, **glow).flat(), loft(roof, **iron)])
    far = merged(
        [
            _post(0.07, height, paint, n=4),
            loft([ring[::2] for ring in globe], **glow),
            loft([roof[0][::2], roof[-1][::2]], **iron),
        ]
    )
    return Shape("lantern", (near, far), (30.0,), lamp=Lamp((0.0, 0.0, height + 0.2), 0.3))


def _street_lamp(generator: np.random.Generator, paint: Paint) -> Shape:
    height, reach = float(generator.uniform(6.0, 7.0)), 1.8
    iron = paint.look
    angle = np.linspace(0.0, 0.5 * np.pi, 5)
    bend = [circle(0.045, 8, centre=(0, 0, z)) for z in (height - 0.6,)]
    for a in angle[1:]:
        tilt = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
        bend.append(circle(0.045, 8) @ tilt.T + [0.6 * (1 - np.cos(a)), 0, height - 0.6 + 0.6 * np.sin(a)])
    bend.append(bend[-1] + [reach - 0.9, 0, 0])
    head = Panels()
    head.box((reach - 0.35, -0.14, height - 0.06), (reach + 0.35, 0.14, height + 0.08), paint)
    glass = Paint("plastic", (250, 244, 220))
    head.box((reach - 0.28, -0.11, height - 0.1), (reach + 0.28, 0.11, height - 0.06), glass, without=("+z",))
    base = _post(0.11, 0.9, paint, n=8)
    pole = _post(0.07, height - 0.6, paint, n=8, top=0.045)
    near = merged([base, pole, loft(bend, **iron), head.mesh()])
    arm = Panels()
    arm.box((0, -0.04, height - 0.04), (reach, 0.04, height + 0.04), paint)
    far = merged([_post(0.07, height, paint, n=4, top=0.05), arm.mesh(), head.mesh()])
    return Shape("street lamp", (near, far), (40.0,), lamp=Lamp((reach, 0.0, height - 0.12), 0.35))


def bin_shape(generator: np.random.Generator) -> Shape:
    """A litter bin of slats or of sheet metal."""
    paint = Paint("car paint", _pick(generator, GREENS))
    dark = Paint("rubber", (25, 25, 25))
    look = paint.look
    if generator.random() < 0.5:
        body = loft([circle(r, 14, centre=(0, 0, z)) for r, z in ((0.2, 0.05), (0.24, 0.8))], **look)
        foot = _post(0.1, 0.06, dark)
        rim = loft([circle(r, 14, centre=(0, 0, z)) for r, z in ((0.255, 0.78), (0.255, 0.85), (0.2, 0.85))], **look)
        hollow = _post(0.19, 0.015, dark, n=12).moved((0, 0, 0.845))
        plain = _post(0.23, 0.85, paint, n=6)
        return Shape("round bin", (merged([body, foot, rim, hollow]), plain), (25.0,))
    panels = Panels()
    panels.box((-0.18, -0.2, 0.06), (0.18, 0.2, 0.78), Paint("metal", (120, 124, 128)))
    for side in (-1, 1):
        for k in range(5):
            y = -0.19 + 0.08 * k
            low, high = sorted((side * 0.18, side * 0.205))
            panels.box((low, y, 0.1), (high, y + 0.06, 0.76), Paint("wood"))
    panels.box((-0.2, -0.22, 0.95), (0.2, 0.22, 0.99), paint)
    for y in (-0.2, 0.17):
        for x in (-0.18, 0.15):
            panels.box((x, y, 0.78), (x + 0.03, y + 0.03, 0.95), paint, without=("+z", "-z"))
            panels.box((x, y, 0.0), (x + 0.03, y + 0.03, 0.06), dark)
    panels.box((-0.14, -0.16, 0.78), (0.14, 0.16, 0.795), dark, without=("-z",))
    far = Panels()
    far.box((-0.2, -0.2, 0.0), (0.2, 0.2, 0.78), Paint("wood"), without=("-z",))
    far.box((-0.2, -0.22, 0.95), (0.2, 0.22, 0.99), paint)
    far.box((-0.02, -0.2, 0.78), (0.02, 0.2, 0.95), paint, without=("-z", "+z"))
    return Shape("slatted bin", (panels.mesh(), far.mesh()), (25.0,))


SIGNS: Final = ("stop", "no entry", "warning", "limit", "parking", "crossing", "way")


def sign_shape(generator: np.random.Generator, kind: str = "") -> Shape:
    """A traffic sign on its post, facing +x; `kind` is one of SIGNS, or is drawn at random."""
    kind = kind or SIGNS[int(generator.integers(len(SIGNS)))]
    z, front, ink = 2.3, 0.06, 0.012
    white, red = Paint("plastic", (245, 245, 245)), Paint("plastic", RED)
    blue, black = Paint("plastic", BLUE), Paint("plastic", (25, 25, 25))
    plates: list[Mesh] = []
    marks = Panels()

    def mark(y0: float, z0: float, y1: float, z1: float, paint: Paint, layer: int = 1) -> None:
        x = front - 0.02 + (1 + layer) * ink
        marks.quad((x, y0, z + z0), (x, y1, z + z0), (x, y1, z + z1), (x, y0, z + z1), paint)

    def layers(*discs: tuple[float, int, Paint, float]) -> None:
        for k, (radius, n, paint, turn) in enumerate(discs):
            plates.append(_disc(radius, n, 0.02 + k * ink, paint, turn=turn).moved((front - 0.02, 0, z)))

    if kind == "stop":
        layers((0.42, 8, white, np.pi / 8), (0.385, 8, red, np.pi / 8))
        for y0, z0, y1, z1 in strokes("STOP", 0.19):
            mark(y0, z0, y1, z1, white, 2)
    elif kind == "no entry":
        layers((0.36, 16, red, 0.0))
        mark(-0.25, -0.06, 0.25, 0.06, white)
    elif kind == "warning":
        layers((0.5, 3, red, np.pi / 2), (0.36, 3, white, np.pi / 2))
        mark(-0.03, -0.02, 0.03, 0.16, black, 2)
        mark(-0.03, -0.11, 0.03, -0.06, black, 2)
    elif kind == "limit":
        layers((0.36, 16, red, 0.0), (0.27, 16, white, 0.0))
        for y0, z0, y1, z1 in strokes("30", 0.26):
            mark(y0, z0, y1, z1, black, 2)
    else:
        _board(marks, kind, (white, blue, black), z)
    return Shape(f"{kind} sign", (merged([_post(0.035, z + 0.35, STEEL, n=8), *plates, marks.mesh()]),))


def _board(marks: Panels, kind: str, paints: tuple[Paint, Paint, Paint], z: float) -> None:
    """The square and the long signs."""
    white, blue, black = paints
    if kind == "way":
        marks.box((0.04, -0.65, z - 0.15), (0.06, 0.65, z + 0.15), white)
        marks.box((0.06, -0.58, z - 0.1), (0.072, 0.58, z + 0.1), blue, without=("-x",))
        for y0, z0, y1, z1 in strokes("CENTRE", 0.13):
            x = 0.084
            marks.quad((x, y0, z + z0), (x, y1, z + z0), (x, y1, z + z1), (x, y0, z + z1), white)
        return
    marks.box((0.04, -0.32, z - 0.32), (0.06, 0.32, z + 0.32), white)
    marks.box((0.06, -0.29, z - 0.29), (0.072, 0.29, z + 0.29), blue, without=("-x",))
    x = 0.084
    if kind == "parking":
        for y0, z0, y1, z1 in (
            (-0.12, -0.2, -0.04, 0.2),
            (-0.04, 0.13, 0.14, 0.2),
            (0.08, 0.0, 0.14, 0.13),
            (-0.04, -0.04, 0.14, 0.03),
        ):
            marks.quad((x, y0, z + z0), (x, y1, z + z0), (x, y1, z + z1), (x, y0, z + z1), white)
        return
    marks.quad((x, -0.24, z - 0.2), (x, 0.24, z - 0.2), (x, 0.0, z + 0.24), (x, 0.0, z + 0.24), white)
    for k in range(3):
        y = -0.1 + 0.08 * k
        marks.quad(
            (x + 0.01, y, z - 0.18),
            (x + 0.01, y + 0.04, z - 0.18),
            (x + 0.01, y + 0.04, z - 0.06),
            (x + 0.01, y, z - 0.06),
            black,
        )


def traffic_light_shape(generator: np.random.Generator) -> Shape:
    """A post with three hooded lights facing +x; one of them is lit."""
    lit = int(generator.integers(3))
    body = Panels()
    body.box((-0.12, -0.17, 2.4), (0.1, 0.17, 3.35), Paint("plastic", (34, 36, 38)))
    body.box((-0.14, -0.24, 2.33), (-0.12, 0.24, 3.42), Paint("plastic", (60, 62, 64)))
    meshes, lamps = [_post(0.06, 2.5, IRON, n=8), body.mesh()], []
    lights: tuple[Colour, ...] = ((40, 225, 90), (250, 190, 40), (240, 40, 36))
    for k, colour in enumerate(lights):
        shown = colour if k == lit else tuple(v // 3 for v in colour)
        z = 2.56 + 0.31 * k
        lamps.append(_disc(0.11, 8, 0.02, Paint("plastic", (shown[0], shown[1], shown[2]))).moved((0.1, 0, z)))
        hood = Panels()
        hood.box((0.1, -0.13, z + 0.115), (0.28, 0.13, z + 0.13), Paint("plastic", (34, 36, 38)))
        meshes.append(hood.mesh())
    far = merged([_post(0.06, 2.5, IRON, n=4), body.mesh(), *lamps])
    return Shape("traffic light", (merged([*meshes, *lamps]), far), (30.0,))


def bollard_shape() -> Shape:
    """A waist-high post with a bright band."""
    band = cylinder(0.085, 0.1, 10, material="plastic", colour=(235, 235, 235)).moved((0, 0, 0.75))
    head = loft([circle(r, 10, centre=(0, 0, z)) for r, z in ((0.075, 0.0), (0.075, 0.95), (0.03, 1.0))], **IRON.look)
    return Shape("bollard", (merged([head, band]),))


def fence_shape(length: float, *, colour: Colour = (235, 235, 230)) -> Shape:
    """Pickets between two posts along y, 1 m high."""
    paint = Paint("wood", colour)
    half = 0.5 * length
    panels, far = Panels(), Panels()
    for z in (0.25, 0.75):
        panels.box((-0.05, -half, z), (-0.02, half, z + 0.08), paint)
    n = max(2, round(length / 0.22))
    for y in length / n * (np.arange(n) + 0.5) - half:
        panels.box((-0.02, y - 0.06, 0.08), (0.0, y + 0.06, 0.95), paint, without=("-z",))
    for y in (-half, half - 0.09):
        panels.box((-0.11, y, 0.0), (-0.02, y + 0.09, 1.05), paint, without=("-z",))
    far.box((-0.05, -half, 0.1), (0.0, half, 0.95), paint)
    return Shape("fence", (panels.mesh(), far.mesh()), (30.0,))


def shelter_shape() -> Shape:
    """A bus shelter, open towards +x, with its bench and board."""
    glass, poster = Paint("glass", (150, 175, 185)), Paint("plastic", (230, 120, 60))
    panels = Panels()
    panels.box((-0.85, -2.0, 2.35), (0.75, 2.0, 2.47), IRON)
    for y in (-1.95, 1.87):
        panels.box((-0.8, y, 0.0), (-0.72, y + 0.08, 2.35), IRON, without=("-z", "+z"))
    panels.box((-0.78, -1.87, 0.25), (-0.74, 1.87, 2.1), glass)
    panels.box((-0.72, 1.89, 0.25), (0.3, 1.93, 2.1), poster)
    panels.box((-0.72, -1.93, 0.25), (0.3, -1.89, 2.1), glass)
    for y in (-1.95, 1.87):
        panels.box((0.3, y, 0.0), (0.38, y + 0.08, 2.35), IRON, without=("-z", "+z"))
    panels.box((-0.6, -1.3, 0.42), (-0.2, 1.0, 0.47), Paint("wood"))
    for y in (-1.1, 0.75):
        panels.box((-0.45, y, 0.0), (-0.35, y + 0.06, 0.42), IRON, without=("+z",))
    return Shape("bus shelter", (panels.mesh(),))


def planter_shape(generator: np.random.Generator) -> Shape:
    """A concrete tub of soil with a clipped shrub and flowers."""
    tub, far = Panels(), Panels()
    stone, soil = Paint("cement", (215, 210, 200)), Paint("soil")
    for low, high in (((-0.6, -0.6), (-0.5, 0.6)), ((0.5, -0.6), (0.6, 0.6))):
        tub.box((*low, 0.0), (*high, 0.55), stone)
    for low, high in (((-0.5, -0.6), (0.5, -0.5)), ((-0.5, 0.5), (0.5, 0.6))):
        tub.box((*low, 0.0), (*high, 0.55), stone, without=("-x", "+x"))
    tub.floor((-0.5, -0.5), (0.5, 0.5), 0.47, soil)
    far.box((-0.6, -0.6, 0.0), (0.6, 0.6, 0.55), stone, without=("-z",))
    shrub = ellipsoid((0.4, 0.4, 0.38), rings=5, n=8, material="leaves", colour=(190, 220, 170)).moved((0, 0, 0.8))
    flowers = [
        ellipsoid(0.07, rings=2, n=4, material="plain", colour=_pick(generator, ((220, 60, 70), (245, 200, 60)))).moved(
            (0.44 * np.cos(angle), 0.44 * np.sin(angle), 0.53)
        )
        for angle in np.linspace(0.0, 2.0 * np.pi, 9)[:-1]
    ]
    return Shape("planter", (merged([tub.mesh(), shrub, *flowers]), merged([far.mesh(), shrub])), (30.0,))


def fountain_shape() -> Shape:
    """A round stone basin with water and a bowl on a column in its middle."""
    stone, water = Paint("cement", (225, 220, 210)).look, Paint("water").look

    def turned(profile: tuple[tuple[float, float], ...], n: int) -> Mesh:
        return loft([circle(r, n, centre=(0, 0, z)) for r, z in profile], closed_ends=False, **stone)

    def built(n: int) -> Mesh:
        basin = turned(((3.0, 0.0), (3.0, 0.5), (3.05, 0.5), (3.05, 0.58), (2.65, 0.58), (2.65, 0.1)), n)
        column = turned(
            ((0.5, 0.1), (0.3, 0.6), (0.22, 1.3), (0.9, 1.6), (0.95, 1.72), (0.85, 1.72), (0.8, 1.55)), n // 2
        )
        pool = cylinder(2.65, 0.3, n, **water).moved((0, 0, 0.1))
        upper = cylinder(0.82, 0.05, n // 2, **water).moved((0, 0, 1.6))
        jet = cylinder(0.06, 0.9, 6, top=0.02, material="water", colour=(235, 245, 250)).moved((0, 0, 1.64))
        return merged([basin.flat(), column, pool, upper, jet])

    return Shape("fountain", (built(24), built(12)), (40.0,))
