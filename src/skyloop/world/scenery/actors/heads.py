"""Necks, heads, faces and hair, about the joint at the base of the neck."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skyloop.world.mesh import Mesh, merged
from skyloop.world.scenery.actors.body import ACCENT, BARE, HAIR, SKIN
from skyloop.world.scenery.actors.body_tables import Build
from skyloop.world.scenery.actors.skins import SkinLook, blob, section, skin, tube
from skyloop_client.messages import Array

HAIR_STYLES = ("short", "crop", "long", "bob", "bun", "tail", "bald", "cap")
EAR_X = 0.022
"""m from the neck's joint forward to the line through the ears."""

# share of the head's height above the chin; m in front of and behind the ears' line, half the width; for a head of
# 0.228 m
_LEVELS = np.array(
    [
        [0.000, 0.072, -0.030, 0.022],
        [0.070, 0.086, 0.010, 0.038],
        [0.200, 0.090, 0.046, 0.052],
        [0.300, 0.091, 0.068, 0.060],
        [0.375, 0.091, 0.080, 0.065],
        [0.450, 0.088, 0.088, 0.068],
        [0.530, 0.085, 0.095, 0.0695],
        [0.600, 0.092, 0.099, 0.0715],
        [0.720, 0.090, 0.103, 0.0750],
        [0.850, 0.073, 0.090, 0.0680],
        [0.945, 0.044, 0.060, 0.0460],
    ]
)
_COLUMNS = np.radians([0, 13, 30, 52, 80, 108, 140, 180, 220, 252, 280, 308, 330, 347])
_NOSE = np.array([[0.24, 0.0], [0.300, 0.010], [0.375, 0.021], [0.450, 0.013], [0.530, 0.004], [0.60, 0.0]])


def _extents(build: Build, level: Array) -> tuple[Array, Array, Array]:
    """Front, back and half width (m) at shares of the head's height."""
    size = build.length("head") / 0.228
    fat = 1.0 + 0.012 * (build.bmi - 24.0)
    front, back, half = (size * np.interp(level, _LEVELS[:, 0], _LEVELS[:, i]) for i in (1, 2, 3))
    jowl = np.interp(level, [0.0, 0.35, 0.6], [fat, 0.5 * (fat + 1.0), 1.0])
    slim = 1.0 if build.sex == "male" else 0.97
    return front, back, half * jowl * slim


def _surface(build: Build, level: Array, angle: Array, out: float | Array = 0.0) -> Array:
    """(..., 3) m from the ears' line at the height of the chin; the crown closes as an ellipse."""
    height = build.length("head")
    front, back, half = _extents(build, level)
    c, s = np.cos(angle), np.sin(angle)
    p = 2.0 + 0.25 * np.clip(1.0 - np.abs(level - 0.45) / 0.45, 0.0, 1.0)
    along, across = np.sign(c) * np.abs(c) ** (2 / p), np.sign(s) * np.abs(s) ** (2 / p)
    x = np.where(along > 0.0, front + out, back + out) * along
    return np.stack(np.broadcast_arrays(x, (half + out) * across, level * height), -1)


def _skull(build: Build, lod: int) -> Mesh:
    height, size = build.length("head"), build.length("head") / 0.228
    levels = (_LEVELS[:, 0], np.array([0.0, 0.25, 0.60, 0.90]), np.array([0.10, 0.82]))[lod]
    columns = (_COLUMNS, np.radians([0, 60, 120, 180, 240, 300]), np.radians([45, 135, 225, 315]))[lod]
    points = _surface(build, levels[:, None], columns[None])
    if lod == 0:
        nose = np.interp(levels, _NOSE[:, 0], _NOSE[:, 1], left=0.0, right=0.0) * size
        points[:, 0, 0] += nose
        points[:, [1, -1], 0] += 0.12 * nose[:, None]
        # eye sockets beside the bridge of the nose, a chin in front of the mouth
        socket = np.interp(levels, [0.45, 0.53, 0.60], [0.0, 0.006, 0.0]) * size
        points[:, [1, 2, -1, -2], 0] -= socket[:, None]
    crown = np.broadcast_to([-0.006 * size, 0.0, height], points[0].shape)
    under = np.broadcast_to([0.030 * size, 0.0, -0.004], points[0].shape)
    return skin(np.concatenate([[under], points, [crown]]), BARE)


def _face(build: Build) -> list[Mesh]:
    """Eyes, brows, lips and ears, at full detail only."""
    size = build.length("head") / 0.228

    def on_face(level: float, angle: float, out: float) -> list[float]:
        return [float(v) for v in _surface(build, np.array(level), np.array(angle), out * size)]

    parts = []
    for side in (1.0, -1.0):
        eye = on_face(0.525, side * 0.375, -0.0085)
        parts.append(
            blob(np.array([0.0095, 0.0150, 0.0085]) * size, eye, SkinLook("skin", 0, (235, 230, 225)), rings=3, n=6)
        )
        iris = on_face(0.525, side * 0.355, 0.0005)
        parts.append(
            blob(np.array([0.003, 0.0068, 0.0068]) * size, iris, SkinLook("skin", 0, (50, 36, 28)), rings=2, n=6)
        )
        brow = on_face(0.605, side * 0.37, -0.001)
        arch = blob(np.array([0.006, 0.0185, 0.0045]) * size, (0.0, 0.0, 0.0), SkinLook("hair", HAIR), rings=2, n=6)
        parts.append(arch.moved(brow, yaw=side * 0.42))
        beside = float(_extents(build, np.array(0.47))[2]) + 0.004
        ear = [-0.006 * size, side * beside, 0.46 * build.length("head")]
        parts.append(
            blob(np.array([0.017, 0.009, 0.029]) * size, ear, SkinLook("skin", SKIN, (245, 225, 220)), rings=3, n=6)
        )
    lips = on_face(0.185, 0.0, -0.003)
    red = (215, 150, 145) if build.sex == "male" else (215, 115, 115)
    parts.append(blob(np.array([0.007, 0.0235, 0.0085]) * size, lips, SkinLook("skin", SKIN, red), rings=3, n=6))
    return parts


def _neck(build: Build, lod: int, chin: float) -> Mesh:
    r = build.radius("neck")
    rows = [
        section(-0.035, 1.05 * r, 1.05 * r, 1.08 * r, x=-0.004),
        section(0.45 * chin, 0.96 * r, 1.0 * r, 0.98 * r, x=0.004),
        section(chin + 0.035, 0.92 * r, 0.98 * r, 0.94 * r, x=0.010),
    ]
    return tube(rows, BARE, lod=lod, n=(10, 8, 6)[lod])


def _locks(build: Build, lod: int, low: Array, thick: float, curtain: float = 0.0, volume: float = 0.0) -> Mesh:
    """Hair from the crown down to the level `low` of each column; below `curtain` it hangs straight."""
    size, height = build.length("head") / 0.228, build.length("head")
    columns = (_COLUMNS, np.radians([0, 60, 120, 180, 240, 300]), np.radians([45, 135, 225, 315]))[lod]
    low = np.interp(columns % (2 * np.pi), np.append(_COLUMNS, 2 * np.pi), np.append(low, low[0]))
    shares = (np.array([0.0, 0.13, 0.42, 0.72, 1.0]), np.array([0.0, 0.4, 1.0]), np.array([0.0, 0.4, 1.0]))[lod]
    crown = 1.0
    level = low + (crown - low) * (1.0 - (1.0 - shares[:, None]) ** 1.7)
    # the crown must not show through coarse patches of hair
    out = size * (thick + 0.007 * np.clip((level - 0.6) / 0.3, 0.0, 1.0))
    out[0] = np.minimum(out[0], 0.005 * size)  # the fringe lies against the head
    hang = np.maximum(level, curtain)
    points = _surface(build, np.minimum(hang, 0.93), columns[None], out)
    points[..., 2] = level * height
    points[..., :2] *= 1.0 + volume * np.clip((0.6 - level) / 0.6, 0.0, 1.5)[..., None]
    # the crown of the hair is that of the head, a little higher
    high = level > 0.93
    towards_crown = np.sqrt(((1.0 - level) / 0.07).clip(0.3, 1.0))[..., None]
    points[..., :2] *= np.where(high[..., None], towards_crown, 1.0)
    points[..., 2] += thick * size * np.clip((level - 0.6) / 0.4, 0.0, 1.0)
    tip = np.broadcast_to([-0.006 * size, 0.0, height + 1.05 * thick * size], points[0].shape)
    return skin(np.concatenate([points[:-1], [tip]]), SkinLook("hair", HAIR))


def _hairline(front: float, temple: float, ear: float, nape: float) -> NDArray[np.float64]:
    """The level of the hair's edge at each column of the skull."""
    turned = np.abs(np.remainder(_COLUMNS + np.pi, 2 * np.pi) - np.pi)
    return np.interp(turned, np.radians([0, 30, 52, 80, 108, 140, 180]),
                     [front, front - 0.02, temple, ear + 0.05, ear, 0.5 * (ear + nape), nape])  # fmt: skip


def _hair(build: Build, style: str, lod: int) -> list[Mesh]:
    size, height = build.length("head") / 0.228, build.length("head")
    hair = SkinLook("hair", HAIR)
    if style == "short":
        return [_locks(build, lod, _hairline(0.86, 0.74, 0.45, 0.16), 0.017)]
    if style == "crop":
        return [_locks(build, lod, _hairline(0.88, 0.78, 0.52, 0.22), 0.008)]
    if style == "bald":
        return []
    if style == "bob":
        return [_locks(build, lod, _hairline(0.80, 0.60, 0.02, -0.04), 0.022, curtain=0.42, volume=0.10)]
    if style == "long":
        return [_locks(build, lod, _hairline(0.84, 0.66, -0.22, -0.62), 0.020, curtain=0.46, volume=0.02)]
    if style == "cap":
        return _cap(build, lod)
    parts = [_locks(build, lod, _hairline(0.86, 0.72, 0.46, 0.20), 0.012)]
    if lod == 2:
        return parts
    if style == "bun":
        parts.append(blob(0.037 * size, (-0.098 * size, 0.0, 0.86 * height), hair, rings=(6, 3)[lod], n=(8, 5)[lod]))
    else:
        rows = [
            section(0.72 * height, 0.020, 0.020, 0.020, x=-0.112 * size),
            section(0.50 * height, 0.026, 0.026, 0.030, x=-0.135 * size),
            section(0.10 * height, 0.026, 0.026, 0.032, x=-0.128 * size),
            section(-0.30 * height, 0.014, 0.014, 0.018, x=-0.115 * size),
        ]
        parts.append(tube(rows, hair, lod=lod, n=7, top=0.012, bottom=0.02))
    return parts


def _cap(build: Build, lod: int) -> list[Mesh]:
    """A peaked cap with hair below it."""
    size = build.length("head") / 0.228
    cloth = SkinLook("cloth", ACCENT)
    hair = [] if lod == 2 else [_locks(build, lod, _hairline(0.80, 0.72, 0.48, 0.20), 0.009)]
    crown = _locks(build, lod, np.full(len(_COLUMNS), 0.66), 0.019)
    crown = crown.painted(slot=ACCENT, material="cloth")
    if lod == 2:
        return [crown]
    spread = np.radians(np.linspace(-50.0, 50.0, (7, 3)[lod]))
    inner = _surface(build, np.full(spread.shape, 0.69), spread, 0.010 * size)
    outer = inner + np.stack([0.070 * size * np.cos(1.3 * spread), np.zeros_like(spread),
                              np.full(spread.shape, -0.014 * size) - 0.010 * np.abs(np.sin(spread))], -1)  # fmt: skip
    lower = inner - [0, 0, 0.006]
    rings = np.stack([inner, outer, lower], axis=1)
    return [*hair, crown, skin(rings, cloth)]


def head(build: Build, style: str, lod: int) -> Mesh:
    """Neck, head and hair."""
    chin = build.height("chin") - build.height("neck")
    parts = [_skull(build, lod), *_hair(build, style, lod)]
    if lod == 0:
        parts += _face(build)
    above = merged(parts).moved((EAR_X, 0.0, chin))
    return merged([_neck(build, lod, chin), above])
