"""The people of a world: people who walk along a path, and people who stand in a few natural
poses; their build, their clothes and the colours.
"""

from __future__ import annotations

import colorsys
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skyloop.world.ground import Ground
from skyloop.world.mesh import Colour, Mesh, merged
from skyloop.world.model import Model, Shape
from skyloop.world.scenery.actors import body
from skyloop.world.scenery.actors.body import Outfit
from skyloop.world.scenery.actors.body_tables import BMI, STATURE, Build
from skyloop.world.scenery.actors.gait import PARTS, Gait
from skyloop.world.scenery.actors.heads import head
from skyloop.world.scenery.actors.paths import MoverPath
from skyloop_client.messages import Array

_SKIN: Final[tuple[Colour, ...]] = (
    (202, 156, 132), (196, 148, 120), (186, 136, 106), (170, 120, 90), (142, 98, 70), (110, 74, 54), (82, 55, 41),
)  # fmt: skip
_HAIR: Final[tuple[Colour, ...]] = (
    (38, 28, 24), (58, 40, 30), (84, 58, 40), (122, 86, 54), (176, 138, 88), (140, 74, 44), (150, 148, 146),
)  # fmt: skip
_TOPS: Final[tuple[Colour, ...]] = (
    (232, 230, 224), (40, 42, 48), (110, 114, 120), (30, 48, 92), (74, 120, 180), (150, 30, 36), (196, 60, 44),
    (44, 92, 60), (112, 124, 80), (206, 166, 60), (120, 62, 110), (196, 172, 140), (96, 70, 52), (170, 196, 210),
)  # fmt: skip
_BOTTOMS: Final[tuple[Colour, ...]] = (
    (40, 52, 84), (58, 78, 118), (96, 118, 152), (36, 36, 40), (74, 76, 82), (148, 132, 104), (92, 78, 60),
    (70, 78, 56), (196, 184, 160),
)  # fmt: skip
_DARK: Final[tuple[Colour, ...]] = ((30, 30, 33), (30, 36, 54), (44, 40, 38))
_SHOES: Final[tuple[Colour, ...]] = ((30, 30, 32), (204, 202, 198), (84, 56, 38), (110, 112, 116), (50, 58, 90))
_HAIR_STYLES: Final = {
    "male": {"short": 0.45, "crop": 0.25, "bald": 0.12, "cap": 0.14, "tail": 0.04},
    "female": {"long": 0.34, "bob": 0.22, "bun": 0.18, "tail": 0.16, "short": 0.05, "cap": 0.05},
}
_TOP_KINDS: Final = {"t-shirt": 0.34, "shirt": 0.20, "jumper": 0.18, "jacket": 0.28}
_BOTTOM_KINDS: Final = {
    "male": {"jeans": 0.45, "trousers": 0.37, "shorts": 0.18},
    "female": {"jeans": 0.44, "trousers": 0.22, "shorts": 0.10, "skirt": 0.24},
}
_PLAIN, _STRIPES, _CHECKS, _DENIM = range(4)
"""Variants of the texture "cloth"."""


@dataclass(frozen=True)
class Person:
    build: Build
    scale: float
    """The person's stature over that of the build."""
    outfit: Outfit
    palette: tuple[Colour, ...]
    """Skin, hair, top, bottom, shoes, accent."""
    weave: int
    """The variant of the cloth's texture."""


def _choice(generator: np.random.Generator, shares: dict[str, float]) -> str:
    return str(generator.choice(list(shares), p=list(shares.values())))


def _colour(generator: np.random.Generator, usual: tuple[Colour, ...], any_colour: bool) -> Colour:
    """One of the usual colours, a little lighter or darker; or any colour."""
    if any_colour:
        red, green, blue = colorsys.hsv_to_rgb(
            generator.uniform(), generator.uniform(0.0, 0.9), generator.uniform(0.1, 0.95)
        )
        return int(255 * red), int(255 * green), int(255 * blue)
    base = np.array(usual[generator.integers(len(usual))]) * generator.uniform(0.88, 1.08)
    red, green, blue = (int(c) for c in np.clip(base, 0, 255))
    return red, green, blue


def draw_person(generator: np.random.Generator, randomise: frozenset[str] = frozenset()) -> Person:
    """A random person. With "people" or "colours" in `randomise`, any colour and any build are equally likely."""
    wide = "people" in randomise
    any_colour = wide or "colours" in randomise
    sex = str(generator.choice(["male", "female"]))
    mean, sd = STATURE[sex]
    stature = mean + sd * float(np.clip(generator.normal(), -2.2, 2.2))
    weights = [0.25] * 4 if wide else [0.16, 0.40, 0.30, 0.14]
    build = Build(sex, float(generator.choice(BMI, p=weights)))
    outfit = Outfit(
        _choice(generator, _TOP_KINDS), _choice(generator, _BOTTOM_KINDS[sex]), _choice(generator, _HAIR_STYLES[sex])
    )
    tone = int(generator.integers(len(_SKIN)))
    # dark skin goes with dark hair
    hair = _HAIR[: 3 if tone > 3 else len(_HAIR)]
    weave = _PLAIN if generator.uniform() < 0.6 else _DENIM
    if outfit.top in ("t-shirt", "shirt") and outfit.bottom != "skirt" and generator.uniform() < 0.35:
        weave = _STRIPES if generator.uniform() < 0.5 else _CHECKS
    # one weave for all clothes of a person: on dark trousers a pattern is not visible
    bottoms = _DARK if weave in (_STRIPES, _CHECKS) else _BOTTOMS
    palette = (
        _SKIN[tone],
        _colour(generator, hair, False),
        _colour(generator, _TOPS, any_colour),
        _colour(generator, bottoms, any_colour and bottoms is not _DARK),
        _colour(generator, _SHOES, any_colour),
        _colour(generator, _TOPS, any_colour),
    )
    return Person(build, stature / build.stature, outfit, palette, weave)


# degrees about the limb's own axes: (forwards, outwards, inwards about itself)
_HANGING = {"upper arm": (-3, 7, 15), "forearm": (14, 0, 0), "hand": (4, 0, 0)}
_POCKET = {"upper arm": (-22, 13, 30), "forearm": (44, 0, 0), "hand": (4, 0, 0)}
_PHONE = {"upper arm": (22, 8, 38), "forearm": (100, 0, 0), "hand": (8, 0, 60)}
_TALKING = {"upper arm": (14, 12, 18), "forearm": (74, 0, 0), "hand": (-8, 0, -40)}
_ON_HIP = {"upper arm": (-18, 42, 62), "forearm": (88, 0, 0), "hand": (-20, 0, 0)}
_STRAIGHT = {"thigh": (0, 2, 0), "shank": (0, 0, 0), "foot": (0, 0, -9)}
_EASY = {"thigh": (11, 5, -8), "shank": (-18, 0, 0), "foot": (0, 0, -18)}

STANCES: Final[dict[str, dict[str, Any]]] = {
    "hanging": {"left": _HANGING | _STRAIGHT, "right": _HANGING | _STRAIGHT, "head": (0, 0, 0), "chest": (0, 0, 0)},
    "easy": {"left": _HANGING | _STRAIGHT, "right": _HANGING | _EASY, "head": (4, 0, 14), "chest": (0, 2, 3)},
    "pockets": {"left": _POCKET | _STRAIGHT, "right": _POCKET | _STRAIGHT, "head": (2, 0, -8), "chest": (-1, 0, 0)},
    "phone": {"left": _HANGING | _EASY, "right": _PHONE | _STRAIGHT, "head": (24, 0, -8), "chest": (4, 0, 0)},
    "talking": {"left": _TALKING | _STRAIGHT, "right": _HANGING | _EASY, "head": (-2, 0, 10), "chest": (2, 0, 6)},
    "hip": {"left": _ON_HIP | _STRAIGHT, "right": _HANGING | _EASY, "head": (0, 3, 22), "chest": (0, -2, 0)},
}
"""Head and chest lean forwards, to the left, and turn to the left."""


def _rotation(forwards: float, outwards: float, turned: float) -> NDArray[np.float64]:
    a, b, c = np.radians([-forwards, outwards, turned])
    rx = np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
    ry = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
    rz = np.array([[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]])
    return np.asarray(rx @ ry @ rz)


def standing_poses(build: Build, stance: str) -> NDArray[np.float64]:
    """(15, 3, 4) of PARTS from the ground between the feet, x forward."""
    angles = STANCES[stance]
    joints = build.joints()
    hip = joints["hip"] * [1.0, 0.0, 1.0]
    poses = dict.fromkeys(PARTS, (np.eye(3), hip))
    trunk = _rotation(*(angles["chest"] * np.array([-1, 1, 1])))
    poses["chest"] = trunk, joints["lumbar"]
    neck = joints["lumbar"] + trunk @ (joints["neck"] - joints["lumbar"])
    poses["head"] = _rotation(*(angles["head"] * np.array([-1, 1, 1]))), neck
    for side, mirror in (("left", 1.0), ("right", -1.0)):
        limb, out = angles[side], np.array([1.0, mirror, 1.0])
        start = {
            "upper arm": (trunk, joints["lumbar"] + trunk @ (joints["shoulder"] * out - joints["lumbar"])),
            "thigh": (np.eye(3), joints["hip"] * out),
        }
        for chain in (("upper arm", "forearm", "hand"), ("thigh", "shank", "foot")):
            rotation, origin = start[chain[0]]
            for part in chain:
                forwards, outwards, turned = limb[part]
                step = _rotation(forwards, mirror * outwards, -mirror * turned)
                rotation = step if part == "foot" else rotation @ step  # shoes stay flat
                poses[f"{side} {part}"] = rotation, origin
                if part not in ("hand", "foot"):
                    origin = origin + rotation @ [0.0, 0.0, -build.length(part)]
    lowest = min(poses[f"{side} foot"][1][2] for side in ("left", "right")) - build.ankle
    table = np.array([np.column_stack([rotation, origin]) for rotation, origin in (poses[part] for part in PARTS)])
    table[:, 2, 3] -= lowest
    return table


RANGES = (12.0, 35.0)
"""m beyond which a person is drawn with a quarter of the triangles, and with about 150."""
N_LODS = 3
USUAL_SPEEDS = (0.9, 1.6)
"""m/s; a speed is drawn from these when none is given."""


def _part_mesh(part: str, build: Build, outfit: Outfit, lod: int) -> Mesh:
    side = -1 if part.startswith("right") else 1
    kind = part.split(" ", 1)[1] if " " in part else part
    match kind:
        case "pelvis":
            return body.pelvis(build, outfit.bottom, lod)
        case "chest":
            return body.chest(build, outfit.top, lod)
        case "head":
            return head(build, outfit.hair, lod)
        case "upper arm":
            return body.upper_arm(build, outfit.top, side, lod)
        case "forearm":
            return body.forearm(build, outfit.top, lod)
        case "hand":
            return body.hand(build, side, lod)
        case "thigh":
            return body.thigh(build, outfit.bottom, side, lod)
        case "shank":
            return body.shank(build, outfit.bottom, lod)
        case _:
            return body.foot(build, side, lod)


@cache
def _part_shape(part: str, build: Build, outfit: Outfit) -> Shape:
    lods = tuple(_part_mesh(part, build, outfit, lod) for lod in range(N_LODS))
    return Shape(f"{part} of {build.sex} {build.bmi:g}", lods, RANGES)


def part_shapes(build: Build, outfit: Outfit) -> list[Shape]:
    """One shape per part, shared by all people who have that part in common."""
    shapes = []
    for part in PARTS:
        # only the clothes that are visible on a part distinguish its shapes
        top = outfit.top if part == "chest" or part.endswith("arm") else ""
        bottom = outfit.bottom if part.split()[-1] in ("pelvis", "thigh", "shank") else ""
        name = part.replace("right", "left") if part.endswith(("forearm", "shank")) else part
        shapes.append(_part_shape(name, build, Outfit(top, bottom, outfit.hair if part == "head" else "")))
    return shapes


@cache
def _stander_shape(build: Build, outfit: Outfit, stance: str) -> Shape:
    poses = standing_poses(build, stance)
    shapes = part_shapes(build, outfit)
    lods = tuple(
        merged(
            shape.lods[lod].moved(pose[:, 3], rotation=pose[:, :3]) for shape, pose in zip(shapes, poses, strict=True)
        )
        for lod in range(N_LODS)
    )
    return Shape(f"{build.sex} {build.bmi:g} {outfit.top} {outfit.bottom} {stance}", lods, RANGES)


class Walker:
    """A person who walks along a path for ever, before t = 0 too."""

    n_rows = len(PARTS)

    def __init__(self, gait: Gait, path: MoverPath, ground: Ground) -> None:
        self.gait = gait
        self.path = path
        self.ground = ground

    def poses(self, t: float) -> Array:
        """(15, 3, 4) world_from_part in the order of PARTS, scaled by the person's size."""
        return self.gait.poses(t, self.path, self.ground)


def add_walker(
    model: Model,
    generator: np.random.Generator,
    ground: Ground,
    path: MoverPath,
    *,
    speed: float | None = None,
    start: float = 0.0,
    randomise: frozenset[str] = frozenset(),
    kind: type[Walker] = Walker,
) -> int:
    """Adds a person who walks along the path at `speed` (m/s; None draws one) and is `start` m along it at t = 0."""
    person = draw_person(generator, randomise)
    usual = float(generator.uniform(*USUAL_SPEEDS))
    walker = kind(Gait.of(person.build, person.scale, usual if speed is None else speed, start), path, ground)
    shapes = part_shapes(person.build, person.outfit)
    return model.add_mover(walker, shapes, is_a="person", palette=person.palette, variant=person.weave)


def add_stander(
    model: Model,
    generator: np.random.Generator,
    ground: Ground,
    xy: ArrayLike,
    yaw: float,
    *,
    randomise: frozenset[str] = frozenset(),
) -> int:
    """Adds a person who stands at (x, y) and faces `yaw`."""
    person = draw_person(generator, randomise)
    shape = _stander_shape(person.build, person.outfit, str(generator.choice(list(STANCES))))
    x, y = np.asarray(xy, float)
    return model.place(
        shape,
        (x, y, ground.at(x, y)[0]),
        yaw=yaw,
        scale=person.scale,
        is_a="person",
        palette=person.palette,
        variant=person.weave,
    )
