"""What links may change in the world of a running simulation. `world_view.py` has what they may read.

Every change happens at the present instant, between two events. A snapshot of the simulation holds every change.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from skyloop.core.clock import Clock
from skyloop.core.frames import matrix_from_quat, rotate
from skyloop.sim.part import Memory
from skyloop.sim.world_view import WorldView
from skyloop.vehicle.fleet import Fleet
from skyloop.vehicle.kernel_packing import FOREVER
from skyloop.vehicle.kernel_records import DRAG_NONE, MAX_SCHEDULED
from skyloop.world.rays import RayHits
from skyloop.world.scene import WorldScene
from skyloop.world.solids import Solids
from skyloop.world.weather import WeatherConfig, weather_at
from skyloop_client.errors import ScenarioError, unknown_name
from skyloop_client.messages import Array

Cast = Callable[[Array, Array, float], RayHits]
CLEARANCE = 0.5
"""m between a vehicle that was moved aside and the others, so that both can take off."""
STEPS = 12
"""The number of distances at which a place is searched, each one width of the vehicle further away."""
ABOVE_GROUND = 0.05
"""m over its lowest point in which a vehicle may be in touch with the ground it stands on."""
SIDES = ((0.0, -1.0), (0.0, 1.0), (-1.0, 0.0), (1.0, 0.0), (-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0))
"""Right, left, behind, ahead, and between these; x forward and y left."""
UP = np.array([0.0, 0.0, 1.0])
CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
LINES = np.array(list(combinations(range(8), 2)))
"""Every line between two corners of a box."""


def free_place(box: Array, taken: list[Array], cast: Cast, position: Array, quat_wxyz: Array) -> Array:
    """The position itself if it is free, else the nearest free one: first beside it at its height, then above it.

    If there is none, the position itself. `box`: (2, 3) lowest and highest corner of the vehicle, body axes. `taken`:
    boxes of other vehicles, (2, 3), world axes.
    """
    low, high = world_box(box, np.zeros(3), quat_wxyz)

    def is_free(at: Array, clearance: float) -> bool:
        a, b = at + low, at + high
        for other_low, other_high in taken:
            if ((a < other_high + clearance) & (b > other_low - clearance)).all():
                return False
        own = _corners(a + ABOVE_GROUND * UP, b)
        starts, ways = own[LINES[:, 0]], own[LINES[:, 1]] - own[LINES[:, 0]]
        lengths = np.linalg.norm(ways, axis=1)
        hits = cast(starts, ways / lengths[:, None], float(lengths.max()))
        return not bool((hits.distance < lengths).any())

    if is_free(position, 0.0):
        return position
    width, height = float((high - low)[:2].max()) + CLEARANCE, float((high - low)[2]) + CLEARANCE
    sides = [rotate(quat_wxyz, [*side, 0.0]) * [1.0, 1.0, 0.0] for side in SIDES]
    beside = [position + step * width * side for step in range(1, STEPS + 1) for side in sides]
    above = [position + step * height * UP for step in range(1, STEPS + 1)]
    return next((at for at in beside + above if is_free(at, 0.9 * CLEARANCE)), position)


def world_box(box: Array, position: Array, quat_wxyz: Array) -> Array:
    """(2, 3) lowest and highest corner in world axes of a body's box at a pose."""
    corners = position + rotate(quat_wxyz, _corners(*box))
    return np.array([corners.min(axis=0), corners.max(axis=0)])


def _corners(low: Array, high: Array) -> Array:
    return np.asarray(low + CORNERS * (high - low))


Edit = tuple[Any, ...]
"""A change of what there is in the world: ("loosen", number), ("remove", number), ("add", name, shape, pose...) or
("join", name)."""


class WorldEditor(WorldView):
    def __init__(self, scene: WorldScene, fleet: Fleet, clock: Clock) -> None:
        """To be made when the simulation is built, before its first event."""
        super().__init__(scene, clock)
        self._fleet = fleet
        self._starts = fleet.states.copy()
        self._force_slots: dict[int, int] = {}
        self._is_stale = False
        self._edits: list[Edit] = []
        self._given = scene.model.arrangement()
        self.join: Callable[[str, str, Array, Array], None]
        """Adds a vehicle (name, name of the vehicle to copy, position, attitude). Set by assembly."""

    # ---- weather, wind, forces

    def set_weather(self, **changes: float | int) -> None:
        self._take_weather(WeatherConfig.model_validate({**self.weather.model_dump(), **changes}))

    def _take_weather(self, config: WeatherConfig) -> None:
        self._scene.weather = weather_at(config, self._scene.local_frame.home.latitude_deg)
        self._scene.forget()

    @property
    def wind(self) -> Array:
        """The mean wind (m/s, world)."""
        mean: Array = self._fleet.inputs["wind_mean"][0].copy()
        return mean

    def set_wind(self, velocity: Array) -> None:
        """Set the mean wind (m/s, world) everywhere. The scenario's gusts stay."""
        self._fleet.inputs["wind_mean"] = velocity

    def push(self, vehicle: int, force: Array) -> None:
        """Apply a force (N, world) at the centre of mass until another one is set."""
        params = self._fleet.params[vehicle]
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
        params = self._fleet.params[vehicle]
        params["drag_model"], params["has_frame_drag"], params["parasitic"] = DRAG_NONE, 0, 0.0
        self.push(vehicle, np.array([0.0, 0.0, float(params["mass"] * params["gravity"])]))

    def make_ghost(self, vehicle: int) -> None:
        """Make a vehicle collide with nothing but the ground."""
        params = self._fleet.params[vehicle]
        params["n_points"] = params["n_edges"] = 0

    # ---- vehicles

    def put(
        self, vehicle: int, position: Array, quat_wxyz: Array, velocity: Array | None = None, rates: Array | None = None
    ) -> None:
        """Move a vehicle; it is at rest there unless a velocity (world axes) or rates (body axes) are given."""
        zero = np.zeros(3)
        self._fleet.put(
            vehicle, position, quat_wxyz, zero if velocity is None else velocity, zero if rates is None else rates
        )
        self._scene.forget()

    def start_of(self, vehicle: int) -> np.void:
        """The vehicle's state at the start of the simulation."""
        start: np.void = self._starts[vehicle]
        return start

    def free_place(self, like: int, position: Array, quat_wxyz: Array) -> Array:
        """A position near the given one where a vehicle built as `like` overlaps nothing, the given one if it can be.

        Vehicles count both where they are and where they started, because a reset puts them back there."""
        if not self._fleet.params[like]["n_points"]:
            return position
        taken = []
        for vehicle, thing in enumerate(self._vehicle_objects):
            start = self.start_of(vehicle)["motion"]
            home = start[:3] - rotate(start[6:10], self._fleet.params[vehicle]["centre_of_mass"])
            box = self._body_box(vehicle)
            taken += [world_box(box, *self.place_of(thing)[:2]), world_box(box, home, start[6:10])]
        return free_place(self._body_box(like), taken, self.cast, position, quat_wxyz)

    def _body_box(self, vehicle: int) -> Array:
        """(2, 3) lowest and highest corner of a vehicle, body axes."""
        row = self._model.objects[self._vehicle_objects[vehicle]].rows[0]
        points = self._model.shapes[self._model.part_shape[row]].lods[0].positions
        return np.array([points.min(axis=0), points.max(axis=0)], float)

    def take_vehicle(self, thing: int, vehicle: int, position: Array, quat_wxyz: Array) -> None:
        """Register a vehicle that has joined; it starts at rest at this position."""
        self._scene.settle()
        self._edits.append(("join", self._model.objects[thing].name))
        self._model.freeze()
        self._vehicle_objects.append(thing)
        self._is_stale = True
        self.put(vehicle, position, quat_wxyz)
        self._starts = np.concatenate([self._starts, self._fleet.states[vehicle : vehicle + 1]])
        self.refresh()

    def begin_again(self, vehicle: int) -> None:
        """Put a vehicle back into its state at the start."""
        self._fleet.begin_again(vehicle, self._starts[vehicle])
        self._scene.forget()

    # ---- things

    def put_thing(
        self, number: int, position: Array | None, quat_wxyz: Array | None, scale: Array | None = None
    ) -> bool:
        """Move a thing; what is None stays as it is. Returns False if the thing cannot be moved."""
        old = self.place_of(number)
        was_loose = number in self._model.placed
        if not was_loose:
            self._scene.settle()
        placed = self._model.loosen(number)
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
        self._scene.settle()
        model = self._model
        shapes = {known.name: number for number, known in enumerate(model.shapes)}
        if shape not in shapes:
            raise unknown_name("shape", shape, shapes)
        is_lamp = model.shapes[shapes[shape]].lamp is not None
        look: dict[str, Any] = {"is_a": "lamp" if is_lamp else "block"}
        # with the look of the first thing of that shape
        for like in np.flatnonzero(model.part_shape == shapes[shape])[:1].tolist():
            palette = model.palettes[model.part_palette[like]][1:].tolist()
            look = {
                "is_a": self.class_of(int(model.part_object[like])), "variant": int(model.part_variant[like]),
                "palette": [tuple(colour) for colour in palette],
            }  # fmt: skip
        number = model.place(
            model.shapes[shapes[shape]], position, rotation=matrix_from_quat(quat_wxyz), scale=scale, name=name, **look
        )
        model.freeze()
        model.loosen(number)
        # as Unreal's, a new lamp shines
        model.switch(number, on=is_lamp)
        self._edits.append(("add", name, shape, np.array(position), np.array(quat_wxyz), np.array(scale)))
        self._is_stale = True
        return number

    def remove_thing(self, number: int) -> bool:
        """Remove a thing; returns False if it cannot be removed."""
        self._scene.settle()
        gone = not self.is_vehicle(number) and self._model.remove(number)
        if gone:
            self._edits.append(("remove", number))
            self._is_stale = True
        return gone

    def switch_lamp(self, number: int, intensity: float | None, *, on: bool) -> bool:
        """Switch a lamp on or off. Without an intensity it keeps its own. Returns False if the thing is no lamp."""
        switched = self._model.switch(number, intensity, on=on)
        self._scene.forget()
        return switched

    # ---- snapshots

    def memory(self) -> object:
        """All changes as plain data. Changes in the fleet's arrays are in the fleet's own snapshot."""
        self.refresh()
        places = {number: placed.places.copy() for number, placed in self._model.placed.items()}
        return self.weather, dict(self._force_slots), list(self._edits), places, dict(self._model.lamps)

    def remember(self, memory: Memory) -> None:
        """Restore `memory()`, also in another build of the same scenario. A vehicle that joined stays."""
        weather, force_slots, edits, places, lamps = memory
        joined = [[edit for edit in log if edit[0] == "join"] for log in (edits, self._edits)]
        if len(joined[0]) != len(joined[1]):
            raise ScenarioError("a vehicle joined between this snapshot and now; restore one taken since it joined")
        if weather != self.weather:
            self._take_weather(weather)
        self._force_slots = dict(force_slots)
        if not _same(edits, self._edits):
            self._edit_again(edits)
        for number, placed in self._model.placed.items():
            placed.places[:] = places[number]
        self._model.lamps = dict(lamps)
        self._forget_seen()

    def _edit_again(self, edits: list[Edit]) -> None:
        """Rebuild the scenario's world, then repeat these changes."""
        if any(edit[0] == "join" for edit in edits):
            raise ScenarioError("things were added or removed and a vehicle joined since this snapshot; it cannot fit")
        self._scene.settle()
        self._model.rearrange(self._given)
        self._edits = []
        for what, *arguments in edits:
            if what == "add":
                self.add_thing(*arguments)
            elif what == "remove":
                self.remove_thing(*arguments)
            else:
                self._model.loosen(*arguments)
                self._edits.append((what, *arguments))
        self._is_stale = True
        self.refresh()

    def _forget_seen(self) -> None:
        self._scene.forget()
        if self._fleet.solids is not None:
            self._fleet.solids.forget()

    def refresh(self) -> None:
        """Tell everybody the new row numbers after things were added, removed or loosened."""
        if not self._is_stale:
            return
        self._is_stale = False
        model = self._model
        rows = [model.objects[number].rows for number in self._vehicle_objects]
        self._scene.vehicle_parts = [(own[0], own[-1] + 1) for own in rows]
        self._scene.rebuild()
        self._fleet.attach(Solids(model, self._vehicle_objects))
        self._fleet.states["n_touches"] = 0


def _same(edits: list[Edit], others: list[Edit]) -> bool:
    return len(edits) == len(others) and all(
        np.array_equal(a, b)
        for edit, other in zip(edits, others, strict=True)
        for a, b in zip(edit, other, strict=True)
    )
