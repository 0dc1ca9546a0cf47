"""What links may read and change in the world of a running simulation.

Every change happens at the present instant, between two events. A snapshot of the simulation holds every change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.clock import Clock
from skyloop.core.frames import SENSOR_FROM_CAMERA, LocalFrame, matrix_from_quat, quat_from_matrix, quat_multiply
from skyloop.vehicle.fleet import Fleet
from skyloop.vehicle.layout import DRAG_NONE, MAX_SCHEDULED
from skyloop.vehicle.packing import FOREVER
from skyloop.world.atmosphere import density, pressure, temperature
from skyloop.world.mesh import Mesh
from skyloop.world.model import BY_MATERIAL, Model
from skyloop.world.occupancy import occupancy
from skyloop.world.rays import RayHits
from skyloop.world.scene import Meanwhile, Scene
from skyloop.world.semantics import CLASSES
from skyloop.world.solids import Solids
from skyloop.world.views import Pinhole, View, ViewPose, ViewRequest
from skyloop.world.weather import WeatherConfig, weather_at
from skyloop_client.errors import ScenarioError, unknown_name
from skyloop_client.messages import Array

Edit = tuple[Any, ...]
"""A change of what there is in the world: ("loosen", number), ("remove", number), ("add", name, shape, pose...) or
("join", name)."""


class WorldEditor:
    def __init__(self, scene: Scene, fleet: Fleet, clock: Clock) -> None:
        """To be made when the simulation is built, before its first event."""
        self.scene = scene
        self.fleet = fleet
        self._clock = clock
        self._starts = fleet.states.copy()
        self._vehicle_things = [int(scene.model.row_thing[first]) for first, _ in scene.vehicle_rows]
        self._force_slots: dict[int, int] = {}
        self._is_stale = False
        self._edits: list[Edit] = []
        self._given = scene.model.arrangement()
        self.join: Callable[[str, str, Array, Array], None]
        """Adds a vehicle (name, name of the vehicle to copy, position, attitude). Set by assembly."""

    @property
    def model(self) -> Model:
        return self.scene.model

    # ---- looking

    def request(
        self, size: tuple[int, int], horizontal_fov: float, position: Array, quat_wxyz: Array, quality: str
    ) -> ViewRequest:
        """A request for a view at this instant, along the forward axis of world_from_sensor."""
        pose = ViewPose(self._clock.now_ns, np.array(position, float), quat_multiply(quat_wxyz, SENSOR_FROM_CAMERA))
        return ViewRequest(Pinhole.from_fov(*size, horizontal_fov), pose, quality)

    def views(self, requests: list[ViewRequest], vehicle: int | None) -> list[View]:
        """Draw views together, without the vehicle that carries the camera. Each view is drawn once."""
        return self._present(vehicle).views(requests)

    def cast(self, origins: Any, directions: Any, max_range: float, vehicle: int | None = None) -> RayHits:
        """Cast rays now; one vehicle may be left out."""
        return self._present(vehicle).cast(origins, directions, max_range)

    def _present(self, vehicle: int | None) -> Scene:
        self.refresh()
        return self.scene.at(self._clock.now_ns, vehicle)

    def occupied(self, lower: Array, upper: Array, voxel: float) -> NDArray[np.bool_]:
        """Which voxels of a box are occupied now."""
        return occupancy(self.model, self.model.motion(self._clock.now_ns), lower, upper, voxel)

    def expect_views(self) -> None:
        """Start the renderer now, so that it gets ready while other things do."""
        self.scene.expect_views()

    def serve_meanwhile(self, serve: Meanwhile) -> None:
        """Set a function to be called repeatedly while the renderer draws."""
        self.scene.meanwhile = serve

    # ---- place on Earth, air

    @property
    def local_frame(self) -> LocalFrame:
        return self.scene.local_frame

    @property
    def gravity(self) -> float:
        """m/s² at home."""
        return self.scene.gravity

    # ---- weather, wind, forces

    def air_at(self, altitude: float) -> tuple[float, float, float]:
        """Pa, K and kg/m³ of the standard atmosphere."""
        return tuple(float(of(altitude)) for of in (pressure, temperature, density))  # type: ignore[return-value]

    @property
    def weather(self) -> WeatherConfig:
        return self.scene.weather.config

    def set_weather(self, **changes: float | int) -> None:
        self._take_weather(WeatherConfig.model_validate({**self.weather.model_dump(), **changes}))

    def _take_weather(self, config: WeatherConfig) -> None:
        self.scene.weather = weather_at(config, self.scene.local_frame.home.latitude_deg)
        self.scene.forget()

    def set_wind(self, velocity: Array) -> None:
        """Set the mean wind (m/s, world) everywhere. The scenario's gusts stay."""
        self.fleet.inputs["wind_mean"] = velocity

    def push(self, vehicle: int, force: Array) -> None:
        """Apply a force (N, world) at the centre of mass until another one is set."""
        params = self.fleet.params[vehicle]
        if vehicle not in self._force_slots:
            if params["n_wrenches"] == MAX_SCHEDULED:
                raise ScenarioError(f"the scenario's {MAX_SCHEDULED} wrenches leave no room for another force")
            self._force_slots[vehicle] = int(params["n_wrenches"])
            params["n_wrenches"] += 1
        slot = self._force_slots[vehicle]
        params["wrench_start"][slot], params["wrench_end"][slot] = 0.0, FOREVER
        params["wrench_force"][slot], params["wrench_torque"][slot] = force, 0.0

    def make_weightless(self, vehicle: int) -> None:
        """Make a vehicle stay where it is put: no drag, and a force against gravity."""
        params = self.fleet.params[vehicle]
        params["drag_model"], params["has_frame_drag"], params["parasitic"] = DRAG_NONE, 0, 0.0
        self.push(vehicle, np.array([0.0, 0.0, float(params["mass"] * params["gravity"])]))

    def make_ghost(self, vehicle: int) -> None:
        """Make a vehicle collide with nothing but the ground."""
        params = self.fleet.params[vehicle]
        params["n_points"] = params["n_edges"] = 0

    # ---- vehicles

    def put(
        self, vehicle: int, position: Array, quat_wxyz: Array, velocity: Array | None = None, rates: Array | None = None
    ) -> None:
        """Move a vehicle; it is at rest there unless a velocity (world axes) or rates (body axes) are given."""
        zero = np.zeros(3)
        self.fleet.put(
            vehicle, position, quat_wxyz, zero if velocity is None else velocity, zero if rates is None else rates
        )
        self.scene.forget()

    def start_of(self, vehicle: int) -> np.void:
        """The vehicle's state at the start of the simulation."""
        start: np.void = self._starts[vehicle]
        return start

    def take_vehicle(self, thing: int, vehicle: int, position: Array, quat_wxyz: Array) -> None:
        """Register a vehicle that has joined; it starts at rest at this position."""
        self._edits.append(("join", self.model.things[thing].name))
        self.model.freeze()
        self._vehicle_things.append(thing)
        self._is_stale = True
        self.put(vehicle, position, quat_wxyz)
        self._starts = np.concatenate([self._starts, self.fleet.states[vehicle : vehicle + 1]])
        self.refresh()

    def begin_again(self, vehicle: int) -> None:
        """Put a vehicle back into its state at the start."""
        self.fleet.begin_again(vehicle, self._starts[vehicle])
        self.scene.forget()

    # ---- things

    def things(self) -> dict[str, int]:
        """Instance numbers by name. Of equal names, the first one counts."""
        found: dict[str, int] = {}
        for number, thing in enumerate(self.model.things):
            if thing.rows:
                found.setdefault(thing.name, number)
        return found

    def is_vehicle(self, number: int) -> bool:
        return number in self._vehicle_things

    def present(self) -> list[int]:
        """Instance numbers of the things that exist now, without the sky and without removed things."""
        return [number for number, thing in enumerate(self.model.things) if thing.rows]

    def names(self) -> list[str]:
        """Names by instance number, including removed things."""
        return [thing.name for thing in self.model.things]

    def name_of(self, number: int) -> str:
        return self.model.things[number].name

    def mesh_of(self, number: int) -> Mesh | None:
        """The first part's triangles in its own axes; None of the ground, which the height field holds."""
        row = self.model.things[number].rows[0]
        return self.model.shapes[self.model.row_shape[row]].lods[0] if self.model.row_solid[row] else None

    def class_of(self, number: int) -> str:
        code = self.model.things[number].class_id
        return "ground" if code == BY_MATERIAL else CLASSES[code]

    def place_of(self, number: int) -> tuple[Array, Array, Array]:
        """Position, world_from_thing and scale."""
        self.refresh()
        matrix = self._poses(number)[0]
        scale = np.linalg.norm(matrix[:, :3], axis=0)
        return matrix[:, 3].copy(), quat_from_matrix(matrix[:, :3] / scale), scale

    def box_of(self, number: int) -> Array:
        """(n, 3) m, world: the corners of the boxes around its parts."""
        model, corners = self.model, []
        for row, pose in zip(model.things[number].rows, self._poses(number), strict=True):
            points = model.shapes[model.row_shape[row]].lods[0].positions
            low, high = points.min(axis=0), points.max(axis=0)
            box = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
            corners.append(box @ pose[:, :3].T + pose[:, 3])
        return np.concatenate(corners)

    def standing_boxes(self) -> Iterator[tuple[str, Array, Array, Array]]:
        """Of each part of each thing that stands: class, (3, 4) world_from_part, lower and upper corner in its axes."""
        model, corners = self.model, {}
        for number, thing in enumerate(model.things):
            for row in thing.rows:
                if row < model.n_standing:
                    shape = int(model.row_shape[row])
                    if shape not in corners:
                        points = model.shapes[shape].lods[0].positions
                        corners[shape] = points.min(axis=0), points.max(axis=0)
                    yield self.class_of(number), model.standing_poses[row], *corners[shape]

    def _poses(self, number: int) -> Array:
        model, rows = self.model, self.model.things[number].rows
        motion = model.motion(self._clock.now_ns)
        return np.array([
            model.standing_poses[row] if row < model.n_standing else motion.poses[row - model.n_standing]
            for row in rows
        ])  # fmt: skip

    def put_thing(
        self, number: int, position: Array | None, quat_wxyz: Array | None, scale: Array | None = None
    ) -> bool:
        """Move a thing; what is None stays as it is. Returns False if the thing cannot be moved."""
        old = self.place_of(number)
        was_loose = number in self.model.placed
        placed = self.model.loosen(number)
        if placed is None:
            return False
        at, quat, size = (
            value if new is None else new for value, new in zip(old, (position, quat_wxyz, scale), strict=True)
        )
        pose = np.empty((3, 4))
        pose[:, :3], pose[:, 3] = matrix_from_quat(quat) * size, at
        placed.places[:] = pose
        if not was_loose:
            self._edits.append(("loosen", number))
            self._is_stale = True
        self._forget_seen()
        return True

    def add_thing(self, name: str, shape: str, position: Array, quat_wxyz: Array, scale: Array) -> int:
        """Add a thing of a known shape; returns its instance number."""
        model = self.model
        shapes = {known.name: number for number, known in enumerate(model.shapes)}
        if shape not in shapes:
            raise unknown_name("shape", shape, shapes)
        look: dict[str, Any] = {"is_a": "block"}
        # with the look of the first thing of that shape
        for like in np.flatnonzero(model.row_shape == shapes[shape])[:1].tolist():
            palette = model.palettes[model.row_palette[like]][1:].tolist()
            look = {
                "is_a": self.class_of(int(model.row_thing[like])), "variant": int(model.row_variant[like]),
                "palette": [tuple(colour) for colour in palette],
            }  # fmt: skip
        number = model.place(
            model.shapes[shapes[shape]], position, rotation=matrix_from_quat(quat_wxyz), scale=scale, name=name, **look
        )
        model.freeze()
        model.loosen(number)
        self._edits.append(("add", name, shape, np.array(position), np.array(quat_wxyz), np.array(scale)))
        self._is_stale = True
        return number

    def remove_thing(self, number: int) -> bool:
        """Remove a thing; returns False if it cannot be removed."""
        gone = not self.is_vehicle(number) and self.model.remove(number)
        if gone:
            self._edits.append(("remove", number))
            self._is_stale = True
        return gone

    def shapes(self) -> list[str]:
        return [shape.name for shape in self.model.shapes]

    # ---- snapshots

    def memory(self) -> Any:
        """All changes as plain data. Changes in the fleet's arrays are in the fleet's own snapshot."""
        self.refresh()
        places = {number: placed.places.copy() for number, placed in self.model.placed.items()}
        return self.weather, dict(self._force_slots), list(self._edits), places

    def remember(self, memory: Any) -> None:
        """Restore `memory()`, also in another build of the same scenario. A vehicle that joined stays."""
        weather, force_slots, edits, places = memory
        joined = [[edit for edit in log if edit[0] == "join"] for log in (edits, self._edits)]
        if len(joined[0]) != len(joined[1]):
            raise ScenarioError("a vehicle joined between this snapshot and now; restore one taken since it joined")
        if weather != self.weather:
            self._take_weather(weather)
        self._force_slots = dict(force_slots)
        if not _same(edits, self._edits):
            self._edit_again(edits)
        for number, placed in self.model.placed.items():
            placed.places[:] = places[number]
        self._forget_seen()

    def _edit_again(self, edits: list[Edit]) -> None:
        """Rebuild the scenario's world, then repeat these changes."""
        if any(edit[0] == "join" for edit in edits):
            raise ScenarioError("things were added or removed and a vehicle joined since this snapshot; it cannot fit")
        self.model.rearrange(self._given)
        self._edits = []
        for what, *told in edits:
            if what == "add":
                self.add_thing(*told)
            elif what == "remove":
                self.remove_thing(*told)
            else:
                self.model.loosen(*told)
                self._edits.append((what, *told))
        self._is_stale = True
        self.refresh()

    def _forget_seen(self) -> None:
        self.scene.forget()
        if self.fleet.solids is not None:
            self.fleet.solids.forget()

    def refresh(self) -> None:
        """Tell everybody the new row numbers after things were added, removed or loosened."""
        if not self._is_stale:
            return
        self._is_stale = False
        model = self.model
        rows = [model.things[number].rows for number in self._vehicle_things]
        self.scene.vehicle_rows = [(own[0], own[-1] + 1) for own in rows]
        self.scene.rebuild()
        self.fleet.attach(Solids(model, self._vehicle_things))
        self.fleet.states["n_touches"] = 0


def _same(edits: list[Edit], others: list[Edit]) -> bool:
    return len(edits) == len(others) and all(
        np.array_equal(a, b)
        for edit, other in zip(edits, others, strict=True)
        for a, b in zip(edit, other, strict=True)
    )
