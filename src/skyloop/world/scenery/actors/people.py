"""The people of a world: people who walk along a path, and people who stand."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from skyloop.world.ground import Ground
from skyloop.world.mesh import Mesh, merged
from skyloop.world.model import Model, Shape
from skyloop.world.scenery.actors import body
from skyloop.world.scenery.actors.body import Outfit
from skyloop.world.scenery.actors.body_tables import Build
from skyloop.world.scenery.actors.clothes import draw_person
from skyloop.world.scenery.actors.gait import PARTS, Gait
from skyloop.world.scenery.actors.heads import head
from skyloop.world.scenery.actors.paths import Path
from skyloop.world.scenery.actors.stances import STANCES, standing_poses
from skyloop_client.messages import Array

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

    def __init__(self, gait: Gait, path: Path, ground: Ground) -> None:
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
    path: Path,
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
