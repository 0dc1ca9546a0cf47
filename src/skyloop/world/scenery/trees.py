"""Tree species, and trees: trunk and boughs under kites of foliage, at three levels of detail with the same outline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from skyloop.world.ground import Ground
from skyloop.world.mesh import Colour, Look, Mesh, merged, mesh_of, unit
from skyloop.world.model import Model, Shape
from skyloop.world.scenery.foliage import (
    Light,
    Points,
    Sprays,
    Tint,
    bent,
    coloured,
    directions,
    hull,
    limb,
    limbs,
    lumps,
    skirt,
    speckle,
    spray_mesh,
    tinted,
    together,
)


@dataclass(frozen=True, slots=True)
class Species:
    name: str
    height: float
    """m."""
    crown_radius: float
    """m."""
    crown_base: float
    """The share of the height that is below the foliage."""
    trunk_radius: float
    """m, at chest height."""
    form: str
    """lobed: round masses at the ends of boughs; conical: whorls of boughs; weeping: lobed, with strands."""
    lobes: int
    lobe_size: float
    """The radius of a lobe as a share of the crown's."""
    sprays: int
    """Kites of foliage at full detail."""
    spray: tuple[float, float]
    """m, length and width of one."""
    summer: tuple[Colour, ...]
    """Hues of the foliage, one per tree."""
    autumn: tuple[Colour, ...] = ()
    """The same in autumn; None for evergreens."""
    bark: Colour = (150, 125, 100)
    bark_material: str = "bark"
    leaf_material: str = "leaves"
    """Green by itself; "plain" for blossom."""
    variant: int = 0
    """The variant of the bark and leaf textures: 0 oak bark, broad leaves; 1 small leaves; 2 pale bark, needles."""
    droop: float = 0.0
    """How far sprays hang down, as a share of their length."""


GREENS: Final[tuple[Colour, ...]] = ((255, 255, 235), (240, 255, 215), (255, 245, 205), (230, 245, 225))
REDS: Final[tuple[Colour, ...]] = ((222, 140, 44), (196, 92, 38), (226, 178, 62), (160, 62, 38), (148, 140, 62))

OAK: Final = Species("oak", 11.5, 4.9, 0.22, 0.36, "lobed", 13, 0.46, 660, (0.85, 0.52), GREENS, REDS)
BEECH: Final = Species(
    "beech", 17.0, 3.6, 0.38, 0.28, "lobed", 11, 0.46, 560, (0.78, 0.46), GREENS, REDS, (235, 230, 220)
)
BIRCH: Final = Species(
    "birch", 12.5, 2.2, 0.28, 0.15, "lobed", 12, 0.50, 620, (0.52, 0.30),
    ((255, 255, 190), (240, 255, 175), (255, 250, 205)), ((236, 196, 62), (224, 176, 50), (214, 188, 88)),
    (232, 230, 222), "plain", variant=1, droop=0.55,
)  # fmt: skip
POPLAR: Final = Species(
    "poplar", 16.0, 1.75, 0.03, 0.24, "lobed", 15, 0.66, 600, (0.78, 0.42),
    ((225, 250, 200), (240, 255, 210)), ((230, 188, 60), (214, 166, 54)), variant=1, droop=-0.5,
)  # fmt: skip
CHERRY: Final = Species(
    "cherry", 5.2, 2.5, 0.30, 0.15, "lobed", 10, 0.47, 780, (0.38, 0.27),
    ((255, 196, 212), (255, 214, 226), (250, 178, 200)), ((196, 72, 44), (214, 106, 48)),
    (190, 165, 160), leaf_material="plain",
)  # fmt: skip
PINE: Final = Species(
    "pine", 17.0, 2.7, 0.62, 0.24, "lobed", 9, 0.48, 560, (0.62, 0.36),
    ((225, 250, 225), (235, 255, 205)), (), (165, 112, 82), variant=2,
)  # fmt: skip
SPRUCE: Final = Species(
    "spruce", 14.0, 2.7, 0.10, 0.22, "conical", 14, 0.0, 640, (1.0, 0.62),
    ((230, 255, 235), (210, 250, 245), (240, 255, 215)), (), (112, 92, 76), variant=2, droop=0.3,
)  # fmt: skip
WILLOW: Final = Species(
    "willow", 8.5, 3.8, 0.30, 0.34, "weeping", 10, 0.42, 640, (0.70, 0.34),
    ((255, 255, 165), (240, 255, 160)), ((226, 200, 84), (210, 204, 112)), variant=1, droop=0.7,
)  # fmt: skip

SPECIES: Final = {s.name: s for s in (OAK, BEECH, BIRCH, POPLAR, CHERRY, PINE, SPRUCE, WILLOW)}


def in_autumn(species: Species) -> Species:
    """The same tree with autumn leaves; evergreens do not change."""
    return replace(species, summer=species.autumn, leaf_material="plain") if species.autumn else species


RANGES = (22.0, 55.0)
"""m where the middle and the far level of detail begin."""
SPARSE = 0.15
"""The detail below which trunks and lobes are simpler too."""
SMALLEST, LARGEST = 0.8, 1.25
"""Factors on the size of an average tree."""
VARIANTS, HUES = 3, 6
"""Shapes and colours of a species in one world."""
BURIED = 0.3
"""m of trunk below the ground, for slopes."""


def tree_shape(species: Species, generator: np.random.Generator, *, detail: float = 1.0, number: int = 0) -> Shape:
    """One tree that stands on its origin; `detail` is the share of the full number of sprays and boughs, 0.05 to 1."""
    line, radii = _trunk(species, generator)
    boughs: list[Mesh] = []
    if species.form == "conical":
        sprays = _whorls(species, generator, detail)
        masses = _skirts(species, generator)
    else:
        lobes = _lobes(species, generator)
        boughs = [_boughs(species, generator, line, radii, lobes, detail)] if detail > SPARSE else []
        sprays = _lobe_sprays(species, generator, lobes, detail)
        masses = _masses(species, generator, lobes, detail)
    if species.form == "weeping":
        sprays = together(sprays.some(len(sprays) // 2, 1.1), _strands(species, generator, lobes, detail))
    light = Light(sprays)
    own = speckle(len(sprays), generator)
    hanging = species.form == "weeping"
    groups = (
        sprays,
        sprays.some(120 if hanging else 90 if detail > 0.5 else 50, 1.6),
        sprays.some(24 if detail > 0.5 else 8, 2.0),
    )
    step = 1 if detail > SPARSE else 2
    wood = (
        [
            _bark(species, line[::step], radii[::step], 8 if detail > 0.5 else 6 if detail > SPARSE else 5, generator),
            *boughs,
        ],
        [_bark(species, line[::2], radii[::2], 5, generator)],
        # three sides look as wide as a round trunk when they are a little narrower
        [_bark(species, line[[0, 4]], np.array([0.95, 0.8]) * species.trunk_radius, 3, generator)],
    )
    lods = []
    for k, shade in enumerate((0.62, 0.80, 0.80)):
        kites = spray_mesh(
            groups[k], light.of_sprays(groups[k]) * own[: len(groups[k])], material=species.leaf_material
        )
        lods.append(merged([*wood[k], kites, light.on(masses[k], shade, generator)]))
    return Shape(f"{species.name} {number}", tuple(lods), RANGES)


class Stock:
    """A few shapes and colours of one species, to be planted many times."""

    def __init__(
        self,
        species: Species,
        generator: np.random.Generator,
        *,
        detail: float = 1.0,
        autumn: bool = False,
        tint: Tint = (1.0, 1.0, 1.0),
    ) -> None:
        self.species = in_autumn(species) if autumn else species
        self.shapes = [tree_shape(self.species, generator, detail=detail, number=k) for k in range(VARIANTS)]
        self.palettes = []
        for _ in range(HUES):
            hue = self.species.summer[int(generator.integers(len(self.species.summer)))]
            own = generator.uniform(0.86, 1.0)
            self.palettes.append([tinted(hue, (own * tint[0], own * tint[1], own * tint[2]))])

    def plant(
        self, model: Model, ground: Ground, x: float, y: float, generator: np.random.Generator, name: str
    ) -> None:
        scale = generator.uniform(SMALLEST, LARGEST)
        model.place(
            self.shapes[int(generator.integers(VARIANTS))],
            (x, y, ground.at(x, y)[0]),
            yaw=float(generator.uniform(0.0, 2.0 * np.pi)),
            scale=(scale, scale, scale * generator.uniform(0.92, 1.08)),
            is_a="tree",
            name=name,
            palette=self.palettes[int(generator.integers(HUES))],
            variant=self.species.variant,
        )


def _trunk(species: Species, generator: np.random.Generator) -> tuple[Points, Points]:
    straight = species.form == "conical" or species.name in ("poplar", "pine")
    top = (0.94 if straight else 0.80) * species.height
    inside = (species.crown_base + 0.15) * species.height
    z = np.array([-BURIED, 0.15, 0.9, 0.5 * (inside + 0.9), inside, 0.5 * (inside + top), top])
    up = np.clip(z / top, 0.0, 1.0)[:, None]
    lean, bow = generator.normal(0.0, (0.006 if straight else 0.022) * species.height, (2, 2))
    sway = lean * up**1.6 + bow * np.sin(np.pi * up)
    radii = species.trunk_radius * (1.0 - 0.86 * up[:, 0])
    radii[:2] *= (1.75, 1.4)
    return np.column_stack([sway, z]), radii


def _bark(species: Species, line: Points, radii: Points, sides: int, generator: np.random.Generator) -> Mesh:
    mesh = limb(line, radii, sides, colour=species.bark, material=species.bark_material)
    if species.bark_material != "plain":
        return mesh
    # birch: a grey foot and dark scars on white
    light = generator.uniform(0.86, 1.0, len(mesh.positions))
    light[mesh.positions[:, 2] < 0.2] = 0.45
    white = coloured(mesh, light[:, None] * np.array(species.bark) / 255.0, slot=0)
    return merged([white, _scars(line, radii, 30 if sides > 6 else 14, generator)]) if len(line) > 4 else white


def _scars(line: Points, radii: Points, n: int, generator: np.random.Generator) -> Mesh:
    """Narrow dark arcs on a trunk, each two quads wide."""
    z = generator.uniform(0.3, line[4, 2], n)
    centre = np.stack([np.interp(z, line[:, 2], line[:, k]) for k in range(3)], axis=1)
    radius = 1.03 * np.interp(z, line[:, 2], radii)
    half, tall = generator.uniform(0.35, 1.0, n), generator.uniform(0.02, 0.08, n)
    angle = generator.uniform(0.0, 2.0 * np.pi, n)[:, None] + half[:, None] * np.array([-1.0, 0.0, 1.0])
    # a chord is nearer to the axis than its ends, so the points are moved outwards by its sag
    lifted = (radius / np.cos(0.5 * half))[:, None]
    ring = np.stack([lifted * np.cos(angle), lifted * np.sin(angle), np.zeros((n, 3))], axis=-1) + centre[:, None]
    up = np.array([0.0, 0.0, 1.0]) * tall[:, None, None]
    points = np.concatenate([ring, ring + up], axis=1).reshape(-1, 3)
    quads = np.array([[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]])
    faces = (6 * np.arange(n)[:, None, None] + quads).reshape(-1, 3)
    return mesh_of(points, faces, material="plain", colour=(62, 56, 52))


def _lobes(species: Species, generator: np.random.Generator) -> tuple[Points, Points]:
    """Centres and radii (n, 3) of the round masses that make up the crown."""
    low, high = species.crown_base * species.height, species.height
    half = np.array([species.crown_radius, species.crown_radius, 0.5 * (high - low)])
    size = species.lobe_size * species.crown_radius * generator.uniform(0.82, 1.15, species.lobes)
    tall = np.clip(half[2] / half[0], 0.6, 1.6)
    radii = size[:, None] * np.array([1.0, 1.0, tall])
    if species.name == "pine":
        radii[:, 2] *= 0.55
    aim = unit(directions(species.lobes) + generator.normal(0.0, 0.22, (species.lobes, 3)))
    if species.name == "poplar":
        radii *= 1.0 - 0.45 * aim[:, 2:] ** 2
    else:
        # fewer at the bottom, where a crown is open
        aim[:, 2] = np.where(aim[:, 2] < -0.55, -0.55 * generator.random(species.lobes), aim[:, 2])
    inner = half - radii
    centres = np.array([0.0, 0.0, 0.5 * (low + high)]) + aim * inner
    return centres, radii


def _boughs(
    species: Species,
    generator: np.random.Generator,
    line: Points,
    radii: Points,
    lobes: tuple[Points, Points],
    detail: float,
) -> Mesh:
    """Boughs from the trunk to the middle of every lobe, or of a few."""
    centres = lobes[0] if detail > 0.5 else lobes[0][:: max(1, len(lobes[0]) // 4)]
    lowest, top = 0.75 * species.crown_base * species.height, line[-1, 2]
    n = 4 if detail > 0.5 else 3
    paths, widths = [], []
    for centre in centres:
        aside = float(np.linalg.norm(centre[:2]))
        z = float(np.clip(centre[2] - (0.5 + 0.4 * generator.random()) * aside, lowest, 0.92 * top))
        start = np.array([np.interp(z, line[:, 2], line[:, k]) for k in range(3)])
        paths.append(bent(start, centre, (0.0, 0.0, 0.10 * aside * generator.uniform(-1.0, 0.6)), n))
        widths.append(0.62 * float(np.interp(z, line[:, 2], radii)) * np.linspace(1.0, 0.22, n))
    return limbs(np.stack(paths), np.stack(widths), n, colour=species.bark, material=species.bark_material)


def _lobe_sprays(
    species: Species, generator: np.random.Generator, lobes: tuple[Points, Points], detail: float
) -> Sprays:
    centres, radii = lobes
    wanted = max(24, int(species.sprays * detail))
    area = np.prod(radii, axis=1) ** (2.0 / 3.0)
    owner = generator.choice(len(centres), 4 * wanted, p=area / area.sum())
    heart = centres.mean(axis=0)
    outward = unit(centres[owner] - heart)
    aim = unit(generator.normal(0.0, 1.0, (len(owner), 3)) + 0.45 * outward + [0.0, 0.0, 0.25])
    position = centres[owner] + aim * radii[owner] * generator.uniform(0.78, 1.02, (len(owner), 1))
    depth = np.linalg.norm((position[:, None] - centres) / radii, axis=2).min(axis=1)
    open_air = np.flatnonzero(depth > 0.74)[:wanted]
    position, aim = position[open_air], unit(aim[open_air] / radii[owner[open_air]])
    return _tilted(species, generator, position, aim, detail)


def _tilted(species: Species, generator: np.random.Generator, position: Points, aim: Points, detail: float) -> Sprays:
    """Kites around `position` that face about `aim`, each with a random rotation."""
    n = len(position)
    growth = min(detail**-0.4, 2.0) * generator.uniform(0.75, 1.25, (n, 1))
    side = unit(np.cross(aim, generator.normal(0.0, 1.0, (n, 3))))
    along = unit(np.cross(side, aim) + aim * generator.uniform(-0.35, 0.75, (n, 1)) - [0.0, 0.0, species.droop])
    across = unit(np.cross(along, aim + 0.5 * generator.normal(0.0, 1.0, (n, 3))))
    reach = along * growth * species.spray[0]
    return Sprays(position - 0.5 * reach, reach, across * growth * 0.5 * species.spray[1], aim)


def _strands(species: Species, generator: np.random.Generator, lobes: tuple[Points, Points], detail: float) -> Sprays:
    """Hanging twigs around the crown, three kites one under the other."""
    n = max(20, int(0.22 * species.sprays * detail))
    centres, radii = lobes
    owner = generator.integers(0, len(centres), n)
    angle = generator.uniform(0.0, 2.0 * np.pi, n)
    flat = np.stack([np.cos(angle), np.sin(angle), np.zeros(n)], axis=1)
    flat = unit(flat + 1.2 * unit(centres[owner] * [1.0, 1.0, 0.0]))
    top = centres[owner] + flat * radii[owner] * generator.uniform(0.75, 1.05, (n, 1))
    length = np.maximum(top[:, 2] - generator.uniform(0.5, 2.2, n), 0.8)
    groups = []
    for k in range(3):
        root = top - np.stack([0 * length, 0 * length, 0.30 * k * length], 1) + 0.12 * k * flat
        reach = np.stack([0.12 * flat[:, 0], 0.12 * flat[:, 1], -0.42 * length], 1)
        turn = unit(np.cross(flat, [0.0, 0.0, 1.0]) + 0.6 * generator.normal(0.0, 1.0, (n, 3)) * [1.0, 1.0, 0.0])
        groups.append(Sprays(root, reach, turn * generator.uniform(0.14, 0.24, (n, 1)) * detail**-0.4, flat))
    return together(*groups)


def _masses(
    species: Species, generator: np.random.Generator, lobes: tuple[Points, Points], detail: float
) -> tuple[Mesh, Mesh, Mesh]:
    """The dark middles of the lobes; whole lobes for the middle distance; four groups of lobes for far away."""
    centres, radii = lobes
    look: Look = {"material": species.leaf_material}
    corners = 14 if detail > 0.5 else 8 if detail > SPARSE else 6
    rough = generator.uniform(0.80, 1.14, (len(centres), corners))
    inner = lumps(0.80 * rough, centres, radii, **look)
    outer = lumps(1.06 * rough, centres, radii, **look)
    around = centres[:, None] + directions(20) * radii[:, None]
    if species.form == "weeping":
        whole = np.concatenate([around.reshape(-1, 3), centres * [1.2, 1.2, 0.3]])
        return inner, outer, hull(whole, 30, generator.uniform(0.92, 1.05, 30), **look)
    quarters = np.array([[1, 1, 1], [-1, -1, 1], [-1, 1, -1], [1, -1, -1]])
    group = np.argmax(unit((centres - centres.mean(axis=0)) / np.ptp(centres, axis=0)) @ quarters.T, axis=1)
    n_far = 13 if detail > 0.5 else 9
    far = [
        hull(around[group == k].reshape(-1, 3), n_far, generator.uniform(0.92, 1.10, n_far), **look)
        for k in np.unique(group)
    ]
    return inner, outer, merged(far)


def _skirts(species: Species, generator: np.random.Generator) -> tuple[Mesh, Mesh, Mesh]:
    """A dark cone inside; jagged tiers for the middle distance; fewer of them for far away."""
    low = species.crown_base * species.height
    span = species.height - low
    look: Look = {"material": species.leaf_material}
    inner = skirt((0.0, 0.0, low + 0.9 * span), 0.5 * species.crown_radius, 0.86 * span, 6, 0.0, **look)
    levels = []
    for tiers, points in ((7, 7), (5, 5)):
        drop = span * (1.55 / tiers)
        skirts = []
        for t in np.arange(tiers) / tiers:
            apex = (0.0, 0.0, min(low + t * span + drop, species.height))
            radius = species.crown_radius * (1.04 * (1.0 - t) ** 0.85 + 0.04)
            skirts.append(skirt(apex, radius, drop, points, generator.uniform(0.0, np.pi), **look))
        levels.append(merged(skirts))
    return inner, levels[0], levels[1]


def _whorls(species: Species, generator: np.random.Generator, detail: float) -> Sprays:
    """Rings of boughs, longest at the bottom, each a long kite with shorter ones at its sides."""
    per_bough = 4
    # boughs hide each other less than leaves do, so a crown with few of them needs more
    n = max(24, int(species.sprays * detail**0.75) // per_bough)
    # more boughs where they are long
    t = np.sort(1.3 - np.sqrt(1.69 - 1.6 * generator.uniform(0.0, 0.995, n)))
    ring = (np.floor(t * species.lobes) + 0.5 * generator.random(n)) / species.lobes
    t = 0.65 * ring + 0.35 * t
    low = species.crown_base * species.height
    z = low + t * (0.985 * species.height - low)
    angle = np.arange(n) * 2.39996 + generator.normal(0.0, 0.25, n)
    length = species.crown_radius * ((1.0 - t) ** 0.85 * generator.uniform(0.82, 1.08, n) + 0.08)
    flat = np.stack([np.cos(angle), np.sin(angle), np.zeros(n)], axis=1)
    slope = 0.45 * t - 0.30 * (1.0 - t)
    aim = unit(flat + np.stack([0 * z, 0 * z, slope], 1))
    root = np.stack([0 * z, 0 * z, z], 1)
    up = unit(np.cross(np.cross(flat, [0.0, 0.0, 1.0]), aim))
    lit = unit(up + flat)
    side = np.cross(aim, up)
    width = species.spray[1] * detail**-0.25
    groups = [
        Sprays(root, aim * length[:, None], side * width * (0.3 + 0.5 * length[:, None] / species.crown_radius), lit)
    ]
    for share, sign in ((0.38, 1.0), (0.38, -1.0), (0.68, 1.0)):
        twig = unit(aim + 0.85 * sign * side - [0.0, 0.0, 0.45])
        reach = twig * (0.46 * length * generator.uniform(0.8, 1.2, n) + 0.15)[:, None]
        start = root + aim * (share * length)[:, None]
        groups.append(Sprays(start, reach, unit(np.cross(twig, up)) * width * 0.55, lit))
    return together(*groups)
