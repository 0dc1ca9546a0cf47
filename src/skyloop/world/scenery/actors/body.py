"""The limbs of a clothed person, each about its own joint; in their zero pose they hang down.

Every function makes one rigid part at one level of detail, x forward, y left, z up, with the origin in the joint nearer
to the body's middle. Neighbouring parts overlap with rounded ends around the shared joint, so that no gap opens when
they turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from skyloop.world.mesh import Mesh, merged, mesh_of
from skyloop.world.scenery.actors.body_tables import SOLE, Build
from skyloop.world.scenery.actors.skins import Bulge, SkinLook, eased, fewer, of_girth, section, skin, tube
from skyloop_client.messages import Array

SKIN, HAIR, TOP, BOTTOM, SHOES, ACCENT = range(1, 7)
"""Paint slots of a person's palette."""
BARE = SkinLook("skin", SKIN)
TOPS = ("t-shirt", "shirt", "jumper", "jacket")
BOTTOMS = ("trousers", "jeans", "shorts", "skirt")
EASE = {"t-shirt": 0.010, "shirt": 0.012, "jumper": 0.016, "jacket": 0.026}
"""m between a top and the skin."""
HEM = {"t-shirt": 0.515, "shirt": 0.505, "jumper": 0.520, "jacket": 0.495}
"""The height at which a top ends, as a share of stature."""


@dataclass(frozen=True)
class Outfit:
    top: str
    bottom: str
    hair: str


@cache
def _torso(build: Build) -> list[list[float]]:
    """Cross sections from the crotch to the neck; heights are above the bare sole."""
    h, male = build.stature, build.sex == "male"
    hip, waist, chest = build.girth("hip"), build.girth("waist"), build.girth("chest")
    belly = 0.0026 * (build.bmi - 25.0)
    shoulder = build.joints()["shoulder"][1]
    seat = 0.0 if male else 0.006
    neck = build.radius("neck")
    return [
        of_girth(section(0.470 * h, 0.070, 0.095, 0.130, x=-0.004), 0.70 * hip),
        of_girth(section(0.492 * h, 0.094, 0.125 + seat, 0.170, p=2.2), 0.965 * hip),
        of_girth(section(0.515 * h, 0.102, 0.130 + seat, 0.175, p=2.2), hip),
        of_girth(section(0.545 * h, 0.107 + 0.6 * belly, 0.117, 0.172, p=2.2), 0.5 * (hip + max(hip, waist)) * 0.985),
        of_girth(section(0.582 * h, 0.112 + belly, 0.099, 0.160, p=2.2), 0.45 * hip + 0.55 * waist),
        of_girth(section(0.620 * h, 0.112 + belly, 0.092, 0.149, p=2.2), waist),
        of_girth(section(0.668 * h, 0.114 + 0.5 * belly, 0.101, 0.150, p=2.2), 0.5 * (waist + chest) * 0.985),
        of_girth(section(0.722 * h, 0.118, 0.112, 0.156, p=2.3), chest * (1.0 if male else 0.965)),
        section(0.765 * h, 0.52 * chest / 5.2, 0.120 if male else 0.106, 0.90 * shoulder, x=-0.006, p=2.4),
        section(0.793 * h, 0.078 if male else 0.070, 0.108 if male else 0.095, 0.98 * shoulder, x=-0.012, p=2.3),
        section(0.814 * h, 0.060, 0.082, 0.97 * shoulder, x=-0.017, p=2.1),
        section(0.827 * h, 0.054, 0.070, 0.74 * shoulder, x=-0.019, p=2.0),
        section(0.839 * h, 0.052, 0.064, 0.48 * shoulder, x=-0.020, p=2.0),
        section(0.852 * h, neck + 0.004, neck + 0.006, neck + 0.006, x=-0.020),
    ]


def _between(rows: list[list[float]], low: float, high: float) -> list[list[float]]:
    """The sections between two heights, with interpolated ones at both ends."""
    table = np.array(rows)
    ends = [[np.interp(z, table[:, 0], table[:, i]) for i in range(7)] for z in (low, high)]
    return [ends[0], *(row for row in rows if low + 1e-3 < row[0] < high - 1e-3), ends[1]]


def _lifted(rows: list[list[float]], dz: float, dx: float = 0.0) -> list[list[float]]:
    return [[row[0] + dz, row[1] + dx, *row[2:]] for row in rows]


def _lobes(axis: float, height: float, out: float, spread: float, tall: float, depth: float) -> Bulge:
    """A pair of soft bumps left and right of the middle: `axis` 1 on the front, -1 on the back."""

    def bulge(points: Array) -> Array:
        y, z = points[..., 1], points[..., 2]
        facing = np.clip(axis * points[..., 0] / 0.08, 0.0, 1.0)
        side = np.exp(-(((np.abs(y) - spread) / depth) ** 2))
        up = np.exp(-(((z - height) / tall) ** 2))
        moved = points.copy()
        moved[..., 0] += axis * out * facing * side * up
        return moved

    return bulge


def pelvis(build: Build, bottom: str, lod: int) -> Mesh:
    """Trousers, shorts or a skirt from the waist down, about the middle between the hip joints."""
    h = build.stature
    hip = build.height("hip")
    cloth = SkinLook("cloth", BOTTOM)
    # with a coarse top, a waistband would show through
    rows = eased(_between(_torso(build), 0.470 * h, (0.625, 0.545, 0.545)[lod] * h), 0.006)
    if bottom != "skirt":
        seat = _lobes(-1.0, -0.022 * h, 0.014, 0.075, 0.05, 0.055)
        return tube(_lifted(rows, -hip), cloth, lod=lod, n=12, bottom=0.02, bulge=seat)
    waist = [row for row in rows if row[0] > 0.51 * h and (lod == 0 or row[0] < 0.53 * h)]
    wide = waist[0]
    flare = [
        section(0.455 * h, wide[3] + 0.030, wide[4] + 0.012, wide[5] + 0.016, p=2.1),
        section(0.400 * h, wide[3] + 0.062, wide[4] + 0.050, wide[5] + 0.042, p=2.1),
        section(0.352 * h, wide[3] + 0.082, wide[4] + 0.080, wide[5] + 0.062, p=2.1),
    ]
    folds = (16, 0, 0)[lod]

    def pleats(points: Array) -> Array:
        if not folds:
            return points
        low = np.clip((0.47 * h - hip - points[..., 2]) / (0.12 * h), 0.0, 1.0)
        turn = (-1.0) ** np.arange(points.shape[1])
        return points * np.stack([1.0 + 0.035 * low * turn] * 2 + [np.ones_like(low)], -1)

    return tube(_lifted([*flare[::-1], *waist], -hip), cloth, lod=lod, n=18, bulge=pleats)


def chest(build: Build, top: str, lod: int) -> Mesh:
    """The top from its hem to the collar, about the lumbar joint."""
    h = build.stature
    origin = build.joints()["lumbar"]
    drop = SOLE - origin[2]
    ease = EASE[top]
    rows = _between(_torso(build), HEM[top] * h, 0.852 * h)
    slack = ease + 0.35 * np.clip([0.70 - row[0] / h for row in rows], 0.0, 0.04)
    # cloth hangs from chest and seat, and bridges the waist between them
    cloth = [eased([row], s)[0] for row, s in zip(rows, slack, strict=True)]
    for i, row in enumerate(cloth):
        if row[0] > 0.81 * h:
            cloth[i] = eased([rows[i]], min(ease, 0.012))[0]
    cloth = cloth[:-1] if top == "t-shirt" else cloth
    tucked = [*cloth[0]]
    tucked[0] += 0.004
    tucked[3:6] = [0.94 * size for size in tucked[3:6]]
    body = _lifted(cloth if lod else [tucked, *cloth], drop, -origin[0])
    bust = None
    if build.sex == "female":
        bust = _lobes(1.0, 0.722 * h + drop, 0.030, 0.075, 0.050, 0.055)
    parts = [_top(body, top, lod, bust)]
    if lod == 0:
        parts.append(_collar(build, top, drop, -origin[0]))
    if top == "t-shirt" and lod < 2:
        neckline = _lifted([row for row in rows if row[0] > 0.815 * h], drop, -origin[0])
        parts.append(tube(neckline, BARE, lod=lod, n=10))
    return merged(parts)


def _top(rows: list[list[float]], top: str, lod: int, bust: Bulge | None) -> Mesh:
    cloth = SkinLook("cloth", TOP)
    if top == "jacket" and lod == 1:
        return merged([tube(rows, cloth, lod=lod, n=14, bulge=bust), _front_strip(rows, bust)])
    if top != "jacket" or lod:
        return tube(rows, cloth, lod=lod, n=14, bulge=bust)
    low, high = rows[0][0], rows[-1][0]

    def opened(points: Array) -> Array:
        """Makes the columns beside the middle the edges of the open front."""
        points = points if bust is None else bust(points)
        share = (points[:, 0, 2] - low) / (high - low)
        half = np.interp(share, [0.0, 0.35, 0.9, 1.0], [0.055, 0.022, 0.050, 0.050])
        for column, side in ((1, 1.0), (-1, -1.0)):
            points[:, column, 1] = side * np.minimum(half, np.abs(points[:, column, 1]))
            points[:, column, 0] = np.maximum(points[:, column, 0], points[:, 0, 0] - 0.1 * half)
        points[:, 0, 0] -= 0.012
        return points

    front = np.zeros(14, bool)
    front[[0, -1]] = True
    shown = (SkinLook("cloth", ACCENT), lambda centres: np.broadcast_to(front, centres.shape[:2]))
    return tube(rows, cloth, n=14, bulge=opened, paint=shown)


def _front_strip(rows: list[list[float]], bust: Bulge | None) -> Mesh:
    """The strip between a jacket's edges, for the middle level of detail; it lies 1 cm in front of the jacket."""
    kept = fewer(np.array(rows), 1)
    front = np.stack([kept[:, 1] + kept[:, 3], 0.0 * kept[:, 0], kept[:, 0]], -1)
    front = (front if bust is None else bust(front[:, None])[:, 0]) + [0.010, 0.0, 0.0]
    aside = np.array([0.0, 0.03, 0.0])
    points = np.stack([front - aside, front + aside], 1)
    index = np.arange(2 * len(kept)).reshape(-1, 2)
    a, b, c, d = index[:-1, 0], index[:-1, 1], index[1:, 1], index[1:, 0]
    faces = np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)])
    return mesh_of(points, faces, material="cloth", slot=ACCENT, uv=points[..., 1:].reshape(-1, 2))


def _collar(build: Build, top: str, drop: float, dx: float) -> Mesh:
    h, neck = build.stature, build.radius("neck")
    low, high, ahead, beside = {
        "t-shirt": (0.835, 0.846, 0.012, 0.026),
        "shirt": (0.842, 0.868, 0.010, 0.014),
        "jumper": (0.842, 0.860, 0.012, 0.016),
        "jacket": (0.838, 0.870, 0.018, 0.024),
    }[top]
    rows = [
        section(low * h, neck + ahead + 0.008, neck + ahead + 0.010, neck + beside + 0.012, x=-0.019),
        section(high * h, neck + ahead, neck + ahead, neck + beside, x=-0.013),
        section(high * h - 0.002, neck, neck, neck, x=-0.012),
    ]
    return tube(_lifted(rows, drop, dx), SkinLook("cloth", TOP, (235, 235, 235)), n=10)


def upper_arm(build: Build, top: str, side: int, lod: int) -> Mesh:
    """About the shoulder; `side` 1 is left."""
    length, r = build.length("upper arm"), build.radius("upper arm")
    elbow = 0.86 * build.radius("forearm")
    out = 0.006 * side
    rows = [
        section(-0.016, 0.84 * r, 0.90 * r, 0.72 * r, y=-out),
        section(-0.16 * length, 1.06 * r, 1.08 * r, 1.00 * r, y=out),
        section(-0.45 * length, 1.02 * r, 1.02 * r, 0.94 * r),
        section(-0.75 * length, 0.97 * r, 0.95 * r, 0.86 * r),
        section(-1.00 * length, elbow, 1.05 * elbow, 0.95 * elbow),
    ]
    ease = EASE[top]
    cloth = SkinLook("cloth", TOP)
    if lod == 2:
        return tube(eased(rows, 0.75 * ease), cloth, lod=lod, n=6)
    if top == "t-shirt":
        sleeve = eased(rows[:3], 0.008)
        sleeve.append(section(-0.58 * length, 1.02 * r + 0.016, 1.02 * r + 0.014, 0.94 * r + 0.013))
        if lod == 0:
            sleeve.append(section(-0.575 * length, r - 0.004, r - 0.004, 0.9 * r - 0.004))
        return merged([tube(sleeve, cloth, lod=lod, n=8, top=0.022), tube(rows[2:], BARE, lod=lod, n=8, bottom=elbow)])
    return tube(eased(rows, 0.75 * ease), cloth, lod=lod, n=8, top=0.022 + 0.3 * ease, bottom=elbow + 0.75 * ease)


def forearm(build: Build, top: str, lod: int) -> Mesh:
    length, r, wrist = build.length("forearm"), build.radius("forearm"), build.radius("wrist")
    rows = [
        section(0.0, 0.86 * r, 0.90 * r, 0.82 * r),
        section(-0.22 * length, 1.02 * r, 1.02 * r, 0.92 * r),
        section(-0.60 * length, 0.82 * r, 0.82 * r, 0.74 * r),
        section(-1.00 * length, 1.10 * wrist, 1.10 * wrist, 0.86 * wrist),
    ]
    if top == "t-shirt":
        return tube(rows, BARE, lod=lod, n=(8, 8, 6)[lod])
    ease = 0.75 * EASE[top]
    sleeve = eased(rows, ease)
    sleeve[-1] = section(-0.985 * length, 1.15 * wrist + ease, 1.15 * wrist + ease, wrist + ease)
    if lod == 0:
        sleeve.append(section(-0.975 * length, wrist, wrist, 0.85 * wrist))
    return tube(sleeve, SkinLook("cloth", TOP), lod=lod, n=(8, 8, 6)[lod])


def hand(build: Build, side: int, lod: int) -> Mesh:
    """The palm towards the thigh, the fingers slightly bent, the thumb ahead."""
    length, wrist = build.length("hand"), build.radius("wrist")
    palm_length, half = 0.50 * length, 0.225 * length
    inward = -side
    palm = [
        section(0.010, 1.00 * wrist, 1.00 * wrist, 0.80 * wrist),
        section(-0.20 * palm_length, 1.12 * wrist, 1.10 * wrist, 0.66 * wrist),
        section(-0.60 * palm_length, half, 0.95 * half, 0.145 * length * 0.5 + 0.006, p=2.5, y=0.002 * inward),
        section(-1.00 * palm_length, 0.96 * half, half, 0.058 * length + 0.004, p=2.6, y=0.006 * inward),
    ]
    if lod:
        fingers = section(-0.93 * length, 0.6 * half, 0.7 * half, 0.007, y=0.020 * inward)
        return tube([palm[0], palm[2], fingers], BARE, lod=lod, n=6)
    parts = [tube(palm, BARE, n=8)]
    for x, reach, r in ((0.72, 0.43, 0.0086), (0.24, 0.48, 0.0090), (-0.24, 0.45, 0.0086), (-0.70, 0.36, 0.0076)):
        centre = x * half
        bend = [(0.02, 0.005), (-0.50, 0.012), (-0.98, 0.030)]
        rows = [
            section(-palm_length + reach * length * t, s * r, s * r, s * r, x=centre * (1.0 - 0.06 * i), y=inward * y)
            for i, ((t, y), s) in enumerate(zip(bend, (1.1, 1.05, 0.45), strict=True))
        ]
        parts.append(tube(rows, BARE, n=3))
    thumb = [
        section(-0.18 * length, 0.011, 0.011, 0.011, x=0.55 * half, y=0.006 * inward),
        section(-0.34 * length, 0.0105, 0.0105, 0.0105, x=1.08 * half, y=0.014 * inward),
        section(-0.50 * length, 0.006, 0.006, 0.006, x=1.22 * half, y=0.020 * inward),
    ]
    parts.append(tube(thumb, BARE, n=4))
    return merged(parts)


def thigh(build: Build, bottom: str, side: int, lod: int) -> Mesh:
    length, r, knee = build.length("thigh"), build.radius("thigh"), build.radius("knee")
    hip = build.joints()["hip"][1]
    in_reach = min(0.90 * r, hip + 0.004)
    rows = [
        section(0.02, 0.94 * r, 1.02 * r, in_reach, x=0.004),
        section(-0.20 * length, 1.00 * r, 1.02 * r, 0.94 * r, x=0.004, y=0.003 * side),
        section(-0.50 * length, 0.93 * r, 0.90 * r, 0.86 * r, x=0.006, y=0.002 * side),
        section(-0.80 * length, 0.80 * r, 0.72 * r, 0.70 * r, x=0.005),
        section(-1.00 * length, knee, 0.95 * knee, 0.94 * knee, x=0.004),
    ]
    cloth = SkinLook("cloth", BOTTOM)
    if bottom == "skirt":
        # cloth that moves with the leg, because the leg would come through the skirt, which is rigid with the pelvis
        panel = [
            section(0.0, 0.96 * r, 1.00 * r, in_reach),
            section(-0.35 * length, 1.02 * r + 0.018, 1.04 * r + 0.018, r + 0.010, x=0.004),
            section(-0.66 * length, r + 0.034, r + 0.034, r + 0.022, x=0.006),
        ]
        return merged([tube(rows[2:], BARE, lod=lod, n=10, bottom=knee), tube(panel, cloth, lod=lod, n=12)])
    if bottom == "shorts":
        leg = eased(rows[:3], 0.010)
        leg.append(section(-0.80 * length, 0.90 * r + 0.012, 0.88 * r + 0.012, 0.82 * r + 0.012, x=0.005))
        if lod == 0:
            leg.append(section(-0.79 * length, 0.75 * r, 0.75 * r, 0.70 * r))
        return merged([tube(leg, cloth, lod=lod, n=10), tube(rows[2:], BARE, lod=lod, n=10, bottom=knee)])
    loose = 0.007 if bottom == "jeans" else 0.011
    extra = [0.0, 0.0, 0.001, 0.003, 0.0]
    leg = [eased([row], loose + e)[0] for row, e in zip(rows, extra, strict=True)]
    return tube(leg, cloth, lod=lod, n=10, bottom=knee + loose)


def shank(build: Build, bottom: str, lod: int) -> Mesh:
    length, knee, calf, ankle = build.length("shank"), build.radius("knee"), build.radius("calf"), build.radius("ankle")
    rows = [
        section(0.0, knee, 0.95 * knee, 0.94 * knee, x=0.004),
        section(-0.12 * length, 0.94 * knee, 0.96 * knee, 0.90 * knee, x=-0.002),
        section(-0.28 * length, 0.90 * calf, 1.14 * calf, 0.97 * calf, x=-0.008),
        section(-0.55 * length, 0.72 * calf, 0.92 * calf, 0.76 * calf, x=-0.008),
        section(-0.85 * length, 0.98 * ankle, 1.05 * ankle, 0.86 * ankle, x=-0.004),
        section(-1.00 * length, 1.05 * ankle, 1.10 * ankle, 0.98 * ankle, x=-0.004),
    ]
    if bottom in ("shorts", "skirt"):
        return tube(rows, BARE, lod=lod, n=10)
    cloth = SkinLook("cloth", BOTTOM)
    loose, hem = (0.007, 0.056) if bottom == "jeans" else (0.011, 0.066)
    leg = [eased([row], loose)[0] for row in rows[:3]]
    middle = 0.5 * (calf + hem) + 0.4 * loose
    end = -length - 0.30 * build.ankle
    leg += [
        section(-0.60 * length, middle, middle + 0.004, 0.95 * middle, x=-0.006),
        section(-0.90 * length, hem, hem + 0.004, 0.96 * hem, x=-0.002),
        section(end, hem + 0.008, hem + 0.006, hem, x=0.006),
    ]
    if lod == 0:
        leg.append(section(end + 0.008, 0.75 * hem, 0.75 * hem, 0.7 * hem, x=0.002))
    return tube(leg, cloth, lod=lod, n=10)


def sole_outline(build: Build) -> NDArray[np.float64]:
    """(4, 2) m: x and z from the ankle of the points that a shoe rolls over: heel's edge, heel, ball, toe."""
    length, ankle = build.length("foot") + 0.012, build.ankle
    back = -0.27 * length
    return np.array(
        [[back, 0.010 - ankle], [back + 0.02, -ankle], [back + 0.70 * length, -ankle], [back + length, 0.018 - ankle]]
    )


def foot(build: Build, side: int, lod: int) -> Mesh:
    """A shoe: a rubber sole and an upper, along x."""
    outline = sole_outline(build)
    ankle, length = build.ankle, outline[3, 0] - outline[0, 0]
    back = outline[0, 0]
    share = np.array([0.0, 0.07, 0.26, 0.50, 0.70, 0.89, 1.0])
    half = 0.180 * length * np.array([0.45, 0.74, 0.80, 0.82, 1.02, 0.84, 0.30])
    height = ankle * np.array([0.70, 0.98, 1.12, 0.86, 0.62, 0.50, 0.32])
    lift = np.interp(share * length + back, outline[:, 0], outline[:, 1])
    inward = -side * 0.05 * length * np.array([0, 0, 0, 0.15, 0.45, 0.55, 0.5])
    if lod:
        keep = ([0, 2, 4, 6], [1, 5])[lod - 1]
        share, half, height, lift, inward = (a[keep] for a in (share, half, height, lift, inward))
    sole_top = SOLE + 0.004
    rings, x = [], back + share * length
    # y and z of a half section, from the middle of the sole outwards and over the top
    arcs = ([0.0, 0.96, 1.0, 0.86, 0.45, 0.0], [0, 1.0, 0.95, 0], [0, 1.0, 0.0])[lod]
    for i in range(len(x)):
        top = lift[i] + max(height[i], sole_top + 0.012)
        rim = lift[i] + sole_top
        rise = {
            0: [lift[i], lift[i], rim, rim + 0.55 * (top - rim), rim + 0.93 * (top - rim), top],
            1: [lift[i], lift[i], rim + 0.5 * (top - rim), top],
            2: [lift[i], lift[i], top],
        }[lod]
        left = [(x[i], half[i] * a + inward[i], z) for a, z in zip(arcs, rise, strict=True)]
        right = [(x[i], -half[i] * a + inward[i], z) for a, z in zip(arcs, rise, strict=True)]
        rings.append(left + right[-2:0:-1])
    points = np.array(rings)
    ends = [np.broadcast_to(points[i].mean(axis=0), points[i].shape) for i in (0, -1)]
    points = np.concatenate([ends[:1], points, ends[1:]])
    looks = np.zeros((len(points) - 1, points.shape[1]), int)
    if lod == 0:
        looks[:, [0, 1, -1, -2]] = 1
    upper = SkinLook("cloth", SHOES)
    return skin(points, [upper, SkinLook("rubber", 0, (225, 222, 215))], looks)
