"""The visible and solid world: shapes, their positions and classes, and what moves.

Everything placed is an object (an instance) with one number and one class. It has one rigid part or several: each limb
of a person is one. A row of the arrays `part_*` is a rigid part. Those of standing objects come first and never change;
those of movers follow, and their poses are functions of simulated time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Protocol, Required, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skyloop.world.lamps import Lamp, LampState
from skyloop.world.materials import MATERIAL_ID, MATERIALS
from skyloop.world.mesh import Colour, Mesh, about_up, box, cylinder, ellipsoid, loft
from skyloop.world.semantics import CLASS_ID, CLASSES
from skyloop_client.errors import ScenarioError, nearest_name
from skyloop_client.messages import Array

BY_MATERIAL = 255
"""The class of objects whose surface material decides: terrain with grass, paths and ponds."""
PALETTE_SLOTS = 8
PICTURE_PX = 512
MOST_PICTURES = 64
MOST_SURFACES = 255
"""Materials, and objects whose surface differs from them."""
DIFFERENCE_S = 5e-4
"""s, half the step of the central difference that turns poses into velocities."""


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A mesh at one or several levels of detail."""

    name: str
    lods: tuple[Mesh, ...]
    """Full detail first."""
    ranges: tuple[float, ...] = ()
    """m; the camera uses lods[k + 1] beyond ranges[k], at quality medium. Rays always use lods[0]."""
    casts_shadow: bool = True
    lamp: Lamp | None = None
    hull: Mesh | None = None
    """What stops vehicles, where that is not what is seen; it may have no faces."""

    @property
    def solid(self) -> Mesh:
        return self.lods[0] if self.hull is None else self.hull

    def __post_init__(self) -> None:
        if len(self.ranges) != len(self.lods) - 1 or list(self.ranges) != sorted(self.ranges):
            raise ScenarioError(f"shape '{self.name}': {len(self.lods)} lods need one rising range fewer")


class Mover(Protocol):
    """Rigid parts that move together: a person, a car, a drone."""

    @property
    def n_rows(self) -> int: ...

    def poses(self, t: float) -> Array:
        """(n_rows, 3, 4) world_from_part at `t` simulated seconds; a pure function."""


@dataclass(slots=True)
class WorldObject:
    name: str
    class_id: int
    rows: list[int] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class MoverStates:
    """Poses and velocities of the movers' parts at one instant."""

    t_ns: int
    poses: Array
    """(m, 3, 4) world_from_part, rows in order from `Model.n_standing` on."""
    before: Array
    """The poses DIFFERENCE_S earlier, and later; velocities are computed from these when they are first used."""
    after: Array

    @cached_property
    def _rates(self) -> Array:
        return (self.after - self.before) / (2.0 * DIFFERENCE_S)

    @cached_property
    def velocities(self) -> Array:
        """(m, 3) m/s of the parts' origins, world."""
        return np.ascontiguousarray(self._rates[:, :, 3])

    @cached_property
    def angular_velocities(self) -> Array:
        """(m, 3) rad/s, world axes."""
        # Ω = Ṙ Rᵀ, from its three entries off the diagonal; parts are rigid, so scale drops out of R
        now = self.poses[:, :, :3]
        turn = np.einsum("nij,nkj->nik", self._rates[:, :, :3], now)
        size = np.einsum("nij,nij->n", now, now)[:, None] / 3.0
        w = np.stack([turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]], 1)
        return np.asarray(0.5 * w / np.maximum(size, 1e-12))


class Placed:
    """Rigid parts that stand where they were last put."""

    def __init__(self, places: Array) -> None:
        self.places = places
        """(n, 3, 4) world_from_part."""
        self.n_rows = len(places)

    def poses(self, t: float) -> Array:
        return self.places


class Placing(TypedDict, total=False):
    """What `Model.place` may be given beside a shape and its position."""

    yaw: float
    scale: ArrayLike
    rotation: ArrayLike | None
    is_a: Required[str]
    name: str
    palette: Sequence[Colour]
    variant: int
    solid: bool


@dataclass(frozen=True, slots=True, eq=False)
class Arrangement:
    """The data from which a model's rows are made."""

    standing: list[tuple[int, int, int, int, int, Array]]
    moving: list[tuple[int, int, int, int, int]]
    movers: list[Mover]
    n_objects: int


class Model:
    """The model of a world. A world fills it with `place` and `add_mover` and completes it with `freeze`."""

    def __init__(self) -> None:
        self.shapes: list[Shape] = []
        self.objects: list[WorldObject] = [WorldObject("sky", 0)]
        """By instance number; 0 is the sky."""
        self.palettes: list[NDArray[np.uint8]] = [np.full((PALETTE_SLOTS, 3), 255, np.uint8)]
        self.movers: list[Mover] = []
        self._shape_number: dict[int, int] = {}
        self._palette_number: dict[bytes, int] = {self.palettes[0].tobytes(): 0}
        self._standing: list[tuple[int, int, int, int, int, Array]] = []
        self._moving: list[tuple[int, int, int, int, int]] = []
        self.placed: dict[int, Placed] = {}
        self.depth_noise = np.array([material.depth_noise for material in MATERIALS])
        """1/m, by material: how fast the noise of a depth camera grows with distance."""
        self.depth_noise_of: dict[int, float] = {}
        """The same by instance number, for objects that differ from their material."""
        self.pictures: list[NDArray[np.uint8]] = []
        """(PICTURE_PX, PICTURE_PX, 3) sRGB, bottom row first: the variants of the material "picture"."""
        self.lamps: dict[int, LampState] = {}
        """By instance number, of the lamps that somebody has switched."""

    def change_surfaces(self, depth_noise: Mapping[str, float]) -> None:
        """1/m, by the name of a material or of an object, or by a pattern of names of objects."""
        for name, value in depth_noise.items():
            things = [number for number, each in enumerate(self.objects) if number and fnmatchcase(each.name, name)]
            if name in MATERIAL_ID:
                self.depth_noise[MATERIAL_ID[name]] = value
            elif things:
                self.depth_noise_of |= dict.fromkeys(things, value)
            else:
                known = [*MATERIAL_ID, *(each.name for each in self.objects[1:])]
                raise ScenarioError(f"materials: no material or object is named '{name}'; {nearest_name(name, known)}")
        if len(self.depth_noise) + len(self.depth_noise_of) > MOST_SURFACES:
            raise ScenarioError(f"materials: {len(self.depth_noise_of)} objects are changed; change materials instead")

    def place(
        self,
        shape: Shape,
        position: ArrayLike = (0.0, 0.0, 0.0),
        *,
        yaw: float = 0.0,
        scale: ArrayLike = 1.0,
        rotation: ArrayLike | None = None,
        is_a: str,
        name: str = "",
        palette: Sequence[Colour] = (),
        variant: int = 0,
        solid: bool = True,
    ) -> int:
        """Places a standing shape; returns its instance number.

        is_a: its class, or "by material"; palette: colours of the paint slots 1, 2...; variant: which of a texture's
        variants its materials show; solid: False where the height field already stops vehicles, as on terrain.
        """
        pose = np.empty((3, 4))
        pose[:, :3] = np.asarray(about_up(yaw) if rotation is None else rotation) * np.broadcast_to(
            np.asarray(scale, float), (3,)
        )
        pose[:, 3] = position
        instance = self._add_object(is_a, name)
        self.objects[instance].rows.append(len(self._standing))
        self._standing.append((self._number(shape), instance, self._palette(palette), variant, int(solid), pose))
        return instance

    def know(self, shape: Shape) -> None:
        """Registers a shape without placing it, so that it can be placed after rendering has begun."""
        self._number(shape)

    def add_mover(
        self,
        mover: Mover,
        shapes: Sequence[Shape],
        *,
        is_a: str,
        name: str = "",
        palette: Sequence[Colour] = (),
        variant: int = 0,
    ) -> int:
        """Adds an object that moves, with one shape per rigid part; returns its instance number."""
        if len(shapes) != mover.n_rows:
            raise ScenarioError(f"mover '{name or is_a}' has {mover.n_rows} parts and {len(shapes)} shapes")
        instance, colours = self._add_object(is_a, name), self._palette(palette)
        for shape in shapes:
            self._moving.append((self._number(shape), instance, colours, variant, 1))
        self.movers.append(mover)
        return instance

    def freeze(self) -> None:
        """Numbers the rows and builds the tables. Later changes need another call."""
        self.n_standing = len(self._standing)
        for instance in self.objects:
            instance.rows.clear()
        for row, entry in enumerate([*self._standing, *self._moving]):
            self.objects[entry[1]].rows.append(row)
        table = np.array([row[:5] for row in self._standing] + self._moving, np.int32).reshape(-1, 5)
        self.part_shape, self.part_object, self.part_palette, self.part_variant, self.part_solid = np.ascontiguousarray(
            table.T
        )
        self.standing_poses: Array = np.array([row[5] for row in self._standing]).reshape(-1, 3, 4)
        self.object_class = np.array([instance.class_id for instance in self.objects], np.uint8)
        self._motion: MoverStates | None = None

    def loosen(self, number: int) -> Placed | None:
        """Makes a standing object movable; None if it cannot be: terrain, people, vehicles.

        This renumbers the rows, unless the object was movable already.
        """
        if number in self.placed:
            return self.placed[number]
        mine = [entry for entry in self._standing if entry[1] == number]
        if not mine or not all(entry[4] for entry in mine):
            return None
        self._standing = [entry for entry in self._standing if entry[1] != number]
        placed = self.placed[number] = Placed(np.array([entry[5] for entry in mine]))
        self._moving += [entry[:5] for entry in mine]
        self.movers.append(placed)
        self.freeze()
        return placed

    def remove(self, number: int) -> bool:
        """Removes an object that could be loosened; its number stays empty. This renumbers the rows."""
        placed = self.loosen(number)
        if placed is None:
            return False
        del self.placed[number]
        self.lamps.pop(number, None)
        self.movers.remove(placed)
        self._moving = [entry for entry in self._moving if entry[1] != number]
        self.freeze()
        return True

    def switch(self, number: int, intensity: float | None = None, *, on: bool) -> bool:
        """Switches a lamp on or off; without an intensity it keeps its own. False if the object is no lamp."""
        if not any(self.shapes[self.part_shape[row]].lamp for row in self.objects[number].rows):
            return False
        state = self.lamps.get(number, LampState())
        self.lamps[number] = LampState(state.intensity if intensity is None else intensity, on)
        return True

    def arrangement(self) -> Arrangement:
        """The present objects and movers, for a later `rearrange`."""
        return Arrangement(list(self._standing), list(self._moving), list(self.movers), len(self.objects))

    def rearrange(self, kept: Arrangement) -> None:
        """Restores an arrangement: objects added since are gone, objects removed or moved are back. Renumbers rows."""
        self._standing, self._moving, self.movers = list(kept.standing), list(kept.moving), list(kept.movers)
        del self.objects[kept.n_objects :]
        self.placed, self.lamps = {}, {}
        self.freeze()

    def motion(self, t_ns: int) -> MoverStates:
        """The motion of all movers at one instant."""
        if self._motion is None or self._motion.t_ns != t_ns:
            t = t_ns / 1e9
            before, now, after = (self._poses(t + dt) for dt in (-DIFFERENCE_S, 0.0, DIFFERENCE_S))
            self._motion = MoverStates(t_ns, now, before, after)
        return self._motion

    def moving_poses(self, t_ns: int) -> Array:
        """(m, 3, 4) world_from_part of all movers. Unlike `motion` it is not kept, and has no velocities."""
        return self._poses(t_ns / 1e9)

    def forget(self) -> None:
        """The next motion is computed again."""
        self._motion = None

    def _poses(self, t: float) -> Array:
        if not self.movers:
            return np.empty((0, 3, 4))
        return np.concatenate([mover.poses(t) for mover in self.movers])

    def _add_object(self, is_a: str, name: str) -> int:
        if is_a != "by material" and is_a not in CLASS_ID:
            raise ScenarioError(f"'{is_a}' is no class; the classes are {', '.join(CLASSES)}")
        number = len(self.objects)
        self.objects.append(WorldObject(name or f"{is_a} {number}", CLASS_ID.get(is_a, BY_MATERIAL)))
        return number

    def _number(self, shape: Shape) -> int:
        if id(shape) not in self._shape_number:
            self._shape_number[id(shape)] = len(self.shapes)
            self.shapes.append(shape)
        return self._shape_number[id(shape)]

    def _palette(self, colours: Sequence[Colour]) -> int:
        if not colours:
            return 0
        palette = np.full((PALETTE_SLOTS, 3), 255, np.uint8)
        palette[1 : 1 + len(colours)] = colours
        number = self._palette_number.setdefault(palette.tobytes(), len(self.palettes))
        if number == len(self.palettes):
            self.palettes.append(palette)
        return number


def _bevelled_cube(bevel: float) -> Mesh:
    half, inner = 0.5, 0.5 - bevel
    corners = [(half, inner), (inner, half), (-inner, half), (-half, inner)]
    outline = corners + [(-x, -y) for x, y in corners]
    shrunk = inner / half
    rings = [
        [(share * x, share * y, z) for x, y in outline]
        for share, z in ((shrunk, -half), (1.0, -inner), (1.0, inner), (shrunk, half))
    ]
    return loft(rings).flat()


def basic_shapes() -> list[Shape]:
    """Cube, sphere, cylinder, cone and the cube with bevelled edges of Unreal's templates, each around its middle, and
    the bulb that stands for its point light."""
    bodies = {
        "Cube": box((1.0, 1.0, 1.0)),
        "Sphere": ellipsoid(0.5, rings=16, n=24),
        "Cylinder": cylinder(0.5, 1.0, 24).moved((0.0, 0.0, -0.5)),
        "Cone": cylinder(0.5, 1.0, 24, top=0.0).moved((0.0, 0.0, -0.5)),
        "1M_Cube_Chamfer": _bevelled_cube(0.05),
    }
    bulb = ellipsoid(0.06, rings=8, n=12).painted((250, 244, 220), material="plastic")
    return [
        *(Shape(name, (mesh.painted((186, 186, 190), material="plain"),)) for name, mesh in bodies.items()),
        Shape("PointLightBP", (bulb,), casts_shadow=False, lamp=Lamp((0.0, 0.0, 0.0), 0.1)),
    ]
