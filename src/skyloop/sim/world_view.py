"""What links may read of the world of a running simulation: pictures, rays, things and their poses.

`Appearance` is the world for a light viewer: shapes at a bounded number of triangles, plainly coloured. A viewer
without textures gets, at each vertex, the mean colour of the texture that the renderer would put there.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skyloop.core.clock import Clock
from skyloop.core.frames import SENSOR_FROM_CAMERA, LocalFrame, quat_from_matrix, quat_multiply
from skyloop.rendering.textures import texture_layers
from skyloop.world.atmosphere import density, pressure, temperature
from skyloop.world.materials import MATERIALS
from skyloop.world.mesh import Mesh
from skyloop.world.model import BY_MATERIAL, Model
from skyloop.world.occupancy import occupancy
from skyloop.world.rays import RayHits
from skyloop.world.scene import Beside, Meanwhile, Painting, WorldScene
from skyloop.world.semantics import CLASSES
from skyloop.world.views import Pinhole, View, ViewPose, ViewRequest
from skyloop.world.weather import WeatherConfig
from skyloop_client.messages import Array

MOST_TRIANGLES = 150_000
"""Of all placed shapes together: less than a megabyte, compressed."""
SWATCH_PX = 64
"""Side of the textures whose mean colours are taken."""
UNCLASSED = "ground"


@dataclass(frozen=True, slots=True, eq=False)
class ShapeGroup:
    """Rows of a model that have the same shape and the same colours."""

    shape: int
    """Index into `Appearance.shapes`."""
    colours: NDArray[np.uint8]
    """(n, 3) red, green, blue of each vertex of the shape."""
    rows: list[int]


@dataclass(frozen=True, slots=True, eq=False)
class Appearance:
    shapes: list[tuple[NDArray[np.float32], NDArray[np.int32]]]
    """Vertices (n, 3) m and faces (m, 3) of each shape."""
    groups: list[ShapeGroup]
    poses: NDArray[np.float32]
    """(rows, 3, 4) world_from_part: of what stands, then of what moves, as it is now."""
    n_standing: int
    classes: list[str]
    """Class of each row."""
    vehicles: dict[int, list[int]]
    """By the number of a vehicle: its rows."""


def appearance_of(model: Model, vehicle_objects: list[int], t_ns: int, most: int = MOST_TRIANGLES) -> Appearance:
    """The look of a frozen model at an instant."""
    levels = _levels(model, most)
    meshes = [shape.lods[level] for shape, level in zip(model.shapes, levels, strict=True)]
    members: dict[tuple[int, int, int], list[int]] = {}
    table = zip(model.part_shape.tolist(), model.part_palette.tolist(), model.part_variant.tolist(), strict=True)
    for row, key in enumerate(table):
        members.setdefault(key, []).append(row)
    groups = [
        ShapeGroup(shape, _colours(meshes[shape], model, palette, variant), rows)
        for (shape, palette, variant), rows in members.items()
    ]
    classes = [_class_name(model, int(thing)) for thing in model.part_object]
    return Appearance(
        shapes=[(mesh.positions, mesh.faces) for mesh in meshes],
        groups=groups,
        poses=np.concatenate([model.standing_poses, model.moving_poses(t_ns)]).astype(np.float32),
        n_standing=model.n_standing,
        classes=classes,
        vehicles={number: list(model.objects[thing].rows) for number, thing in enumerate(vehicle_objects)},
    )


def _class_name(model: Model, thing: int) -> str:
    code = model.objects[thing].class_id
    return CLASSES[code] if code < len(CLASSES) else UNCLASSED


def _levels(model: Model, most: int) -> list[int]:
    """Level of detail of each shape: the costliest is coarsened until all together fit, or none can be coarser."""
    placed = np.bincount(model.part_shape, minlength=len(model.shapes))
    levels = [0] * len(model.shapes)

    costs = [int(n) * len(shape.lods[0].faces) for n, shape in zip(placed, model.shapes, strict=True)]
    queue = [(-cost, number) for number, cost in enumerate(costs)]
    heapq.heapify(queue)
    total = sum(costs)
    while total > most and queue:
        _, number = heapq.heappop(queue)
        shape = model.shapes[number]
        if levels[number] == len(shape.lods) - 1:
            continue
        levels[number] += 1
        cost = int(placed[number]) * len(shape.lods[levels[number]].faces)
        total += cost - costs[number]
        costs[number] = cost
        heapq.heappush(queue, (-cost, number))
    return levels


def _colours(mesh: Mesh, model: Model, palette: int, variant: int) -> NDArray[np.uint8]:
    tints = np.ones((len(MATERIALS), 3))
    for material in np.unique(mesh.materials).tolist():
        if MATERIALS[material].texture != "picture":
            tints[material] = _tint(material, variant)
        elif model.pictures:
            tints[material] = model.pictures[variant % len(model.pictures)].mean(axis=(0, 1)) / 255.0
    paint = model.palettes[palette].astype(np.float64) / 255.0
    shades = mesh.colours[:, :3] / 255.0 * tints[mesh.materials]
    slots = mesh.colours[:, 3]
    shades = np.where((slots > 0)[:, None], shades * paint[np.minimum(slots, len(paint) - 1)], shades)
    return np.clip(shades * 255.0 + 0.5, 0, 255).astype(np.uint8)


@cache
def _tint(material: int, variant: int) -> tuple[float, float, float]:
    """The mean colour, 0 to 1, of a material's texture."""
    layers, places = _swatches()
    first, count = places[MATERIALS[material].texture]
    red, green, blue = (layers[first + variant % count, ..., :3].mean(axis=(0, 1)) / 255.0).tolist()
    return red, green, blue


@cache
def _swatches() -> tuple[NDArray[np.uint8], dict[str, tuple[int, int]]]:
    return texture_layers([each.texture for each in MATERIALS if each.texture != "picture"], 0, SWATCH_PX)


__all__ = ["Appearance", "Painting", "View", "ViewRequest", "WorldView"]


class WorldView:
    """The world as links and reports see it: what there is, where it is, and images of it."""

    def __init__(self, scene: WorldScene, clock: Clock) -> None:
        """To be made when the simulation is built, before its first event."""
        self._scene = scene
        self._clock = clock
        self._vehicle_objects = [int(scene.model.part_object[first]) for first, _ in scene.vehicle_parts]

    @property
    def _model(self) -> Model:
        return self._scene.model

    def refresh(self) -> None:
        """Bring the world up to date after changes. A view that cannot change it has nothing to do."""

    # ---- looking

    def request(
        self, size: tuple[int, int], horizontal_fov: float, position: Array, quat_wxyz: Array, quality: str
    ) -> ViewRequest:
        """A request for a view at this instant, along the forward axis of world_from_sensor."""
        pose = ViewPose(self._clock.now_ns, np.array(position, float), quat_multiply(quat_wxyz, SENSOR_FROM_CAMERA))
        return ViewRequest(Pinhole.from_fov(*size, horizontal_fov), pose, quality)

    def views(self, requests: list[tuple[ViewRequest, int | None]]) -> list[View]:
        """Draw views together, each without the vehicle that carries its camera. Each view is drawn once."""
        seen = self._seen(requests)
        return self._present(None).views(seen)

    def paint_beside(self, requests: list[tuple[ViewRequest, int | None]], painting: Painting) -> None:
        """Draw the world as it is now while time goes on, each view without its own vehicle. `attend` delivers them."""
        self._scene.paint_beside(self._seen(requests), painting)

    def _seen(self, requests: list[tuple[ViewRequest, int | None]]) -> list[ViewRequest]:
        return [self._present(vehicle).seen([request])[0] for request, vehicle in requests]

    @property
    def is_painting(self) -> bool:
        """Pictures asked for with `paint_beside` are not delivered yet."""
        return self._scene.is_painting

    def attend(self) -> None:
        """Deliver the finished pictures of `paint_beside`."""
        self._scene.attend()

    def settle(self) -> None:
        """Wait for all pictures of `paint_beside`, and deliver them."""
        self._scene.settle()

    def cast(self, origins: ArrayLike, directions: ArrayLike, max_range: float, vehicle: int | None = None) -> RayHits:
        """Cast rays now; one vehicle may be left out."""
        return self._present(vehicle).cast(origins, directions, max_range)

    def _present(self, vehicle: int | None) -> WorldScene:
        self.refresh()
        return self._scene.at(self._clock.now_ns, vehicle)

    def occupied(self, lower: Array, upper: Array, voxel: float, *, standing_only: bool = False) -> NDArray[np.bool_]:
        """Which voxels of a box are occupied now; standing_only: without what moves, such as vehicles."""
        motion = None if standing_only else self._model.motion(self._clock.now_ns)
        return occupancy(self._model, motion, lower, upper, voxel)

    def expect_views(self) -> None:
        """Start the renderer now, so that it gets ready while other things do."""
        self._scene.expect_views()

    def serve_meanwhile(self, serve: Meanwhile) -> None:
        """Set a function to be called repeatedly while the renderer draws."""
        self._scene.meanwhile = serve

    def measure_beside(self, beside: Beside) -> None:
        """Set a function that calls costly measurements in another thread. What it does meanwhile must leave the
        world as it is."""
        self._scene.beside = beside

    # ---- place on Earth, air, weather

    @property
    def local_frame(self) -> LocalFrame:
        return self._scene.local_frame

    @property
    def gravity(self) -> float:
        """m/s² at home."""
        return self._scene.gravity

    def air_at(self, altitude: float) -> tuple[float, float, float]:
        """Pa, K and kg/m³ of the standard atmosphere."""
        return tuple(float(of(altitude)) for of in (pressure, temperature, density))  # type: ignore[return-value]

    @property
    def weather(self) -> WeatherConfig:
        return self._scene.weather.config

    # ---- things

    def things(self) -> dict[str, int]:
        """Instance numbers by name. Of equal names, the first one counts."""
        found: dict[str, int] = {}
        for number, thing in enumerate(self._model.objects):
            if thing.rows:
                found.setdefault(thing.name, number)
        return found

    def is_vehicle(self, number: int) -> bool:
        return number in self._vehicle_objects

    def present(self) -> list[int]:
        """Instance numbers of the things that exist now, without the sky and without removed things."""
        return [number for number, thing in enumerate(self._model.objects) if thing.rows]

    def names(self) -> list[str]:
        """Names by instance number, including removed things."""
        return [thing.name for thing in self._model.objects]

    def name_of(self, number: int) -> str:
        return self._model.objects[number].name

    def mesh_of(self, number: int) -> Mesh | None:
        """The first part's triangles in its own axes; None of the ground, which the height field holds."""
        row = self._model.objects[number].rows[0]
        return self._model.shapes[self._model.part_shape[row]].lods[0] if self._model.part_solid[row] else None

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the class numbers in segmentations."""
        return CLASSES

    def class_of(self, number: int) -> str:
        code = self._model.objects[number].class_id
        return "ground" if code == BY_MATERIAL else CLASSES[code]

    def place_of(self, number: int) -> tuple[Array, Array, Array]:
        """Position, world_from_thing and scale."""
        self.refresh()
        matrix = self._poses(number)[0]
        scale = np.linalg.norm(matrix[:, :3], axis=0)
        return matrix[:, 3].copy(), quat_from_matrix(matrix[:, :3] / scale), scale

    def box_of(self, number: int) -> Array:
        """(n, 3) m, world: the corners of the boxes around its parts."""
        model, corners = self._model, []
        for row, pose in zip(model.objects[number].rows, self._poses(number), strict=True):
            points = model.shapes[model.part_shape[row]].lods[0].positions
            low, high = points.min(axis=0), points.max(axis=0)
            box = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
            corners.append(box @ pose[:, :3].T + pose[:, 3])
        return np.concatenate(corners)

    def bodies_near(self, is_a: str, t: float, place: Array, reach: float) -> dict[str, Array]:
        """(n, 3) m, world: points on the surfaces of the moving things of a class within `reach` of a place, seen from
        above, at `t` s. Vehicles are left out."""
        model, row, found = self._model, self._model.n_standing, {}
        for mover in model.movers:
            number = int(model.part_object[row])
            if self.class_of(number) == is_a and number not in self._vehicle_objects:
                poses = mover.poses(t)
                if float(np.hypot(*(poses[0, :2, 3] - place[:2]))) <= reach:
                    shapes = [model.shapes[model.part_shape[row + k]].lods[-1].positions for k in range(mover.n_rows)]
                    parts = [points @ pose[:, :3].T + pose[:, 3] for points, pose in zip(shapes, poses, strict=True)]
                    found[self.name_of(number)] = np.concatenate(parts)
            row += mover.n_rows
        return found

    def middles_near(self, is_a: str, t: float, place: Array, reach: float) -> dict[int, Array]:
        """(3,) m, world, by instance number: the middles of the things of a class, those that stand and those that
        move, within `reach` of a place, seen from above, at `t` s. Sideways it is the first part's, such as the hips'
        of a person who swings arms and legs; the height is that between the lowest point and the highest."""
        model, found = self._model, {}
        poses: dict[int, Array] = {}
        row = model.n_standing
        for mover in model.movers:
            poses[int(model.part_object[row])] = mover.poses(t)
            row += mover.n_rows
        for number, thing in enumerate(model.objects):
            if not thing.rows or self.class_of(number) != is_a or number in self._vehicle_objects:
                continue
            parts = poses.get(number)
            if parts is None:
                parts = np.array([model.standing_poses[row] for row in thing.rows])
            if float(np.hypot(*(parts[0, :2, 3] - place[:2]))) <= reach:
                shapes = [model.shapes[model.part_shape[row]].lods[-1].positions for row in thing.rows]
                heights = [points @ pose[2, :3] + pose[2, 3] for points, pose in zip(shapes, parts, strict=True)]
                middle = 0.5 * (min(map(np.min, heights)) + max(map(np.max, heights)))
                found[number] = np.array([parts[0, 0, 3], parts[0, 1, 3], middle])
        return found

    def standing_boxes(self) -> Iterator[tuple[str, Array, Array, Array]]:
        """Of each part of each thing that stands: class, (3, 4) world_from_part, lower and upper corner in its axes."""
        model, corners = self._model, {}
        for number, thing in enumerate(model.objects):
            for row in thing.rows:
                if row < model.n_standing:
                    shape = int(model.part_shape[row])
                    if shape not in corners:
                        points = model.shapes[shape].lods[0].positions
                        corners[shape] = points.min(axis=0), points.max(axis=0)
                    yield self.class_of(number), model.standing_poses[row], *corners[shape]

    def appearance(self) -> Appearance:
        """Its shapes and colours for a viewer that draws the world itself."""
        self.refresh()
        return appearance_of(self._model, self._vehicle_objects, self._clock.now_ns)

    def moving_poses(self) -> NDArray[np.float32]:
        """(m, 3, 4) world_from_part of everything that moves now, in the order of `appearance`'s last rows."""
        self.refresh()
        return self._model.moving_poses(self._clock.now_ns).astype(np.float32)

    def _poses(self, number: int) -> Array:
        model, rows = self._model, self._model.objects[number].rows
        motion = model.motion(self._clock.now_ns)
        return np.array([
            model.standing_poses[row] if row < model.n_standing else motion.poses[row - model.n_standing]
            for row in rows
        ])  # fmt: skip

    def shapes(self) -> list[str]:
        return [shape.name for shape in self._model.shapes]
