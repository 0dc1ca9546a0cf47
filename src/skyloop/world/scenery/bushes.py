"""Undergrowth and objects on the ground: bushes, hedges, ferns, grass, flowers, reeds, rocks, fallen trunks."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from skyloop.world.mesh import Colour, Look, Mesh, box, circle, loft, merged, mesh_of, unit
from skyloop.world.model import Shape
from skyloop.world.scenery.foliage import (
    Light,
    Points,
    Sprays,
    bent,
    box_mapped,
    coloured,
    directions,
    limb,
    lumps,
    speckle,
    spray_mesh,
    together,
)

SMALL_LEAVES: Final = 1
"""The texture variant of bushes and hedges."""
BUSH_GREENS: Final[tuple[Colour, ...]] = ((255, 255, 225), (225, 255, 205), (255, 245, 190), (215, 240, 225))
FERN_GREENS: Final[tuple[Colour, ...]] = ((245, 255, 190), (225, 255, 175))
BLOSSOMS: Final[tuple[Colour, ...]] = (
    (214, 48, 52), (246, 196, 40), (244, 240, 236), (170, 84, 190), (240, 120, 40), (236, 110, 160), (72, 84, 190),
)  # fmt: skip
UP: Final = np.array([0.0, 0.0, 1.0])
BLADE: Final = np.array([0.46, 0.56, 0.25])
"""The colour of long grass; painted, because a texture is too coarse for a blade."""
HEDGE_LENGTH = 2.0
"""m of one piece of hedge."""


def bush_shape(generator: np.random.Generator) -> Shape:
    """A round bush, about 1.3 m high and 1.7 m wide."""
    n = 5
    flat = directions(n) * [0.42, 0.42, 0.22]
    centres = flat + np.array([0.0, 0.0, 0.55]) + generator.normal(0.0, 0.06, (n, 3))
    radii = generator.uniform(0.42, 0.6, (n, 1)) * [1.0, 1.0, 0.95]
    sprays = _on_lobes(generator, centres, radii, 130, (0.26, 0.17))
    light = Light(sprays)
    rough = generator.uniform(0.85, 1.1, (n, 12))
    inner = lumps(0.84 * rough, centres, radii, material="leaves")
    outer = lumps(1.12 * rough[:, ::2], centres, radii, material="leaves")
    whole = lumps(generator.uniform(0.9, 1.1, 12), (0.0, 0.0, 0.55), (0.88, 0.88, 0.62), material="leaves")
    few, own = sprays.some(24, 1.6), speckle(len(sprays), generator)
    return Shape(
        "bush",
        (
            merged([spray_mesh(sprays, light.of_sprays(sprays) * own), light.on(inner, 0.62, generator)]),
            merged([spray_mesh(few, light.of_sprays(few)), light.on(outer, 0.88, generator)]),
            light.on(whole, 0.86, generator),
        ),
        (12.0, 35.0),
    )


def _on_lobes(
    generator: np.random.Generator, centres: Points, radii: Points, count: int, size: tuple[float, float]
) -> Sprays:
    owner = generator.integers(0, len(centres), 3 * count)
    aim = unit(generator.normal(0.0, 1.0, (len(owner), 3)) + 0.3 * UP)
    position = centres[owner] + aim * radii[owner] * generator.uniform(0.85, 1.05, (len(owner), 1))
    outside = np.linalg.norm((position[:, None] - centres) / radii, axis=2).min(axis=1) > 0.8
    picked = np.flatnonzero(outside & (position[:, 2] > 0.06))[:count]
    return scattered_sprays(generator, position[picked], aim[picked], size)


def scattered_sprays(
    generator: np.random.Generator, position: Points, aim: Points, size: tuple[float, float]
) -> Sprays:
    """Kites at `position` that face about `aim`, each with a random rotation."""
    n = len(position)
    growth = generator.uniform(0.75, 1.25, (n, 1))
    side = unit(np.cross(aim, generator.normal(0.0, 1.0, (n, 3))))
    along = unit(np.cross(side, aim) + aim * generator.uniform(-0.2, 0.7, (n, 1)))
    across = unit(np.cross(along, aim + 0.5 * generator.normal(0.0, 1.0, (n, 3))))
    reach = along * growth * size[0]
    return Sprays(position - 0.5 * reach, reach, across * growth * 0.5 * size[1], aim)


def hedge_shape(generator: np.random.Generator, *, height: float = 1.1, width: float = 0.8) -> Shape:
    """HEDGE_LENGTH of trimmed hedge along x, from the ground up; pieces stand end to end."""
    n, half = 120, 0.5 * HEDGE_LENGTH
    side = generator.choice(3, n, p=[0.36, 0.36, 0.28])
    across = np.where(side == 0, -1.0, np.where(side == 1, 1.0, generator.uniform(-1.0, 1.0, n)))
    z = np.where(side == 2, height, generator.uniform(0.05, height, n))
    position = np.stack([generator.uniform(-half, half, n), 0.53 * width * across, z], axis=1)
    aim = np.where(side[:, None] == 2, [[0.0, 0.0, 1.0]], np.stack([0 * z, np.sign(across), 0.25 + 0 * z], 1))
    sprays = scattered_sprays(generator, position, unit(aim), (0.24, 0.16))
    light = Light(sprays)
    few = sprays.some(20, 1.6)
    sunk = 0.25
    core = box((HEDGE_LENGTH, 0.94 * width, height * 0.97 + sunk), centre=(0, 0, 0.5 * (0.97 * height - sunk)))
    core = core.painted(material="leaves")
    return Shape(
        "hedge",
        (
            merged([spray_mesh(sprays, light.of_sprays(sprays) * speckle(n, generator)), light.on(core, 0.74)]),
            merged([spray_mesh(few, light.of_sprays(few)), light.on(core, 0.80)]),
            light.on(core, 0.84),
        ),
        (14.0, 35.0),
    )


def fern_shape(generator: np.random.Generator) -> Shape:
    """A rosette of arching fronds, 0.6 m high."""
    n = 9
    angle = np.arange(n) * 2.4 + generator.normal(0.0, 0.2, n)
    flat = np.stack([np.cos(angle), np.sin(angle), np.zeros(n)], axis=1)
    length = generator.uniform(0.45, 0.7, (n, 1))
    up = UP
    rise, fall = flat * 0.5 * length + up * 0.75 * length, flat * 0.75 * length - up * 0.12 * length
    side = np.cross(flat, up) * generator.uniform(0.09, 0.13, (n, 1))
    lower = Sprays(np.zeros((n, 3)) - 0.05 * up, rise, side, unit(up - 0.2 * flat))
    upper = Sprays(rise * 0.86, fall, side, unit(up + 0.3 * flat))
    whole = together(lower, upper)
    few = Sprays(lower.root[::2], (rise + 0.4 * fall)[::2], 1.9 * side[::2], lower.outward[::2])
    return Shape(
        "fern",
        (_plain_sprays(whole, speckle(2 * n, generator)), _plain_sprays(few, 0.9 * np.ones((len(few), 3)))),
        (14.0,),
    )


def _plain_sprays(sprays: Sprays, light: ArrayLike, *, roundness: float = 3.0, material: str = "leaves") -> Mesh:
    """Darker at the root, where less light falls."""
    mesh = spray_mesh(sprays, light, roundness=roundness, material=material)
    height = np.clip(mesh.positions[:, 2:] / max(float(mesh.positions[:, 2].max()), 0.05), 0.0, 1.0)
    return coloured(mesh, (0.70 + 0.30 * height) * mesh.colours[:, :3] / 255.0)


def grass_shape(
    generator: np.random.Generator, *, height: float = 0.32, blades: int = 16, spread: float = 0.22
) -> Shape:
    """A tuft of long blades; with more `height`, reeds."""
    root = np.column_stack([generator.normal(0.0, spread, (blades, 2)), np.full(blades, -0.06)])
    lean = generator.normal(0.0, 0.28, (blades, 2))
    reach = np.column_stack([lean, np.ones(blades)]) * height * generator.uniform(0.6, 1.15, (blades, 1))
    turn = generator.uniform(0.0, np.pi, blades)
    across = np.stack([np.cos(turn), np.sin(turn), 0 * turn], 1) * (0.02 + 0.012 * height)
    sprays = Sprays(root, reach, across, unit(np.column_stack([lean, np.full(blades, 0.8)])))
    far = sprays.some(4, 1.0)
    wide = Sprays(far.root, far.reach, 2.6 * far.across, far.outward)
    return Shape(
        "grass tuft",
        (
            # upright blades look the same from both sides
            _plain_sprays(sprays, BLADE * speckle(blades, generator), roundness=0.0, material="plain"),
            _plain_sprays(wide, np.tile(BLADE, (len(wide), 1)), roundness=0.0, material="plain"),
        ),
        (16.0,),
        casts_shadow=height > 0.6,
    )


def reeds_shape(generator: np.random.Generator) -> Shape:
    """Tall blades with a few brown heads, for the water's edge."""
    grown = grass_shape(generator, height=1.5, blades=22, spread=0.28)
    heads = []
    for _ in range(4):
        foot = np.append(generator.normal(0.0, 0.22, 2), -0.05)
        top = foot + np.append(generator.normal(0.0, 0.08, 2), generator.uniform(1.2, 1.6))
        heads.append(limb(bent(foot, top, (0, 0, 0), 2), [0.008, 0.008], 3, material="plain", colour=(120, 130, 70)))
        stalk = [top - 0.06 * UP, top, top + 0.16 * UP, top + 0.19 * UP]
        heads.append(limb(stalk, [0.004, 0.025, 0.025, 0.004], 5, material="plain", colour=(92, 60, 36)))
    return Shape("reeds", (merged([grown.lods[0], *heads]), grown.lods[1]), (16.0,))


def flowers_shape(generator: np.random.Generator, *, radius: float = 1.1) -> Shape:
    """A round bed: a mound of earth, leaves, and blossoms in the colours of paint slots 2 and 3."""
    n = 44
    rings = [circle(radius, 14, centre=(0, 0, -0.15)), circle(0.8 * radius, 14, centre=(0, 0, 0.12))]
    mound = loft(rings, material="soil", colour=(200, 185, 170))
    spot = _sunflower(n, 0.92 * radius)
    aim = unit(UP + generator.normal(0.0, 0.7, (n, 3)))
    leaves = scattered_sprays(generator, spot + 0.22 * UP, aim, (0.34, 0.2))
    green = lumps(np.ones(12), (0, 0, 0.1), (0.95 * radius, 0.95 * radius, 0.26), material="leaves")
    return Shape(
        "flower bed",
        (
            merged([mound, _plain_sprays(leaves, speckle(n, generator)), _blossoms(generator, spot, 0.13)]),
            merged([green.painted((215, 215, 215), slot=1), _blossoms(generator, spot[::2], 0.17)]),
        ),
        (16.0,),
    )


def _blossoms(generator: np.random.Generator, spot: Points, size: float) -> Mesh:
    """Open cups of four petals in two alternating colours, none of them level."""
    n = len(spot)
    heart = spot + np.stack([0 * spot[:, 0], 0 * spot[:, 0], generator.uniform(0.34, 0.5, n)], 1)
    axis = unit(UP + generator.normal(0.0, 0.35, (n, 3)))
    first = unit(np.cross(axis, generator.normal(0.0, 1.0, (n, 3))))
    second = np.cross(axis, first)
    rim = [heart + size * (c * first + s * second + 0.35 * axis) for c, s in ((1, 0), (0, 1), (-1, 0), (0, -1))]
    points = np.stack([heart, *rim], axis=1).reshape(-1, 3)
    start = 5 * np.arange(n)[:, None]
    faces = np.concatenate([start + np.array([0, k, k % 4 + 1]) for k in range(1, 5)])
    mesh = mesh_of(points, faces, normals=np.repeat(axis, 5, axis=0), material="plain")
    colours = np.full((5 * n, 4), 240, np.uint8)
    colours[::5, :3] = 170
    colours[:, 3] = np.repeat(2 + np.arange(n) % 2, 5)
    return replace(mesh, colours=colours)


def _sunflower(n: int, radius: float) -> Points:
    """(n, 3) points spread evenly over a disc."""
    k = np.arange(n) + 0.5
    r, angle = radius * np.sqrt(k / n), 2.39996 * k
    return np.stack([r * np.cos(angle), r * np.sin(angle), 0.0 * k], axis=1)


def rock_shape(generator: np.random.Generator) -> Shape:
    """A boulder of about 1 m, a third of it in the ground."""
    size = generator.uniform(0.75, 1.2, 3) * [0.55, 0.5, 0.42]
    shade: Colour = (215, 212, 205)
    near = lumps(generator.uniform(0.84, 1.1, 34), (0, 0, 0.1), size, material="rock", colour=shade)
    far = lumps(generator.uniform(0.9, 1.06, 12), (0, 0, 0.1), size, material="rock", colour=shade)
    return Shape("rock", (near.flat(), far), (20.0,))


def fallen_trunk_shape(generator: np.random.Generator, *, length: float = 7.0, radius: float = 0.22) -> Shape:
    """A trunk along x around the origin, a quarter sunk in, with broken ends, stumps of boughs and moss on top."""
    line = bent((-0.5 * length, 0, 0.7 * radius), (0.5 * length, 0, 0.6 * radius), (0, generator.normal(0, 0.15), 0), 5)
    radii = radius * np.linspace(1.1, 0.6, 5)
    bark: Look = {"material": "bark", "colour": (165, 150, 130)}
    ends = [_broken_end(line[0], radii[0], -1.0), _broken_end(line[-1], radii[-1], 1.0)]
    parts = [limb(line, radii, 8, **bark), *ends]
    for _ in range(4):
        x = generator.uniform(-0.3, 0.45) * length
        angle = generator.uniform(0.1, np.pi - 0.1)
        foot = np.array([x, 0.0, 0.65 * radius])
        way = np.array([0.4, np.cos(angle), np.sin(angle)]) * generator.uniform(0.35, 1.1)
        parts.append(limb([foot, foot + 0.6 * way, foot + way], 0.3 * radius * np.array([1.0, 0.7, 0.3]), 4, **bark))
    full = _mossy(merged(parts))
    far = _mossy(merged([limb(line[[0, 2, 4]], radii[[0, 2, 4]], 6, **bark), *ends]))
    return Shape("fallen trunk", (full, far), (25.0,))


def _broken_end(centre: Points, radius: float, way: float) -> Mesh:
    """Pale splintered wood that closes the end of a trunk towards way·x."""
    angle = np.arange(8) * 0.25 * np.pi * way
    rim = centre + radius * np.stack([0 * angle, np.cos(angle), np.sin(angle)], 1)
    tip = centre + np.array([0.12 * way, 0.0, 0.0])
    faces = [[8, k, (k + 1) % 8] for k in range(8)]
    return box_mapped(mesh_of(np.vstack([rim, tip]), faces, material="wood", colour=(205, 180, 140)))


def _mossy(mesh: Mesh) -> Mesh:
    up = np.clip(mesh.normals[:, 2:], 0.0, 1.0)
    base = mesh.colours[:, :3] / 255.0
    return coloured(mesh, base * (1.0 - up * np.array([0.35, 0.05, 0.45])), slot=0)
