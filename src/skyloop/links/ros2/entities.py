"""Vehicles and objects of the world as simulation_interfaces's entities."""

from __future__ import annotations

import re

import numpy as np

from skyloop.core.frames import rotate, rotate_inverse
from skyloop.links.ros2.orders import quaternion, vector
from skyloop.recording.ros2.tf_frames import WORLD, header, pose_of, twist_of
from skyloop.recording.ros2.types import RosMessage, geometry_msgs, simulation_interfaces
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.messages import Array

UNSUPPORTED, OK, NOT_FOUND, INCORRECT_STATE, FAILED = range(5)
ROBOT, HUMAN, DYNAMIC, STATIC = 1, 2, 4, 5
NAME_NOT_UNIQUE, NAME_INVALID, UNSUPPORTED_FORMAT, NO_RESOURCE, BAD_SPAWN_POSE = 101, 102, 103, 104, 109
BAD_POSE = 101
EMPTY_BOUNDS, BOX, SPHERE = 0, 1, 3
LONGEST_FILTER, LONGEST_NAME = 200, 64
FARTHEST = 1e6
"""m from the origin."""
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
VEHICLE = "vehicle:"
"""Before the name of a vehicle, a resource that spawns another one like it."""
MOVING = {"car", "truck", "bus", "bicycle", "animal", "vehicle"}


AT_REST = (np.zeros(3), np.zeros(3))


class Wrong(Exception):
    """An entity cannot be found, made or changed."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.result = simulation_interfaces.Result(code, why)


class Entities:
    def __init__(self, port: SimulationPort) -> None:
        self._port = port
        self.spawned: list[str] = []
        """Objects, in the order in which they came."""
        self._starts = {name: vehicle.modes() for name, vehicle in port.vehicles.items()}

    # ---- finding

    def names(self, filters: RosMessage) -> list[str]:
        """Of vehicles and objects that pass the filters."""
        if filters.tags.tags:
            raise Wrong(UNSUPPORTED, "entities have no tags")
        kind = filters.bounds.type
        if kind not in (EMPTY_BOUNDS, BOX, SPHERE):
            raise Wrong(UNSUPPORTED, f"bounds of type {kind}; give a box or a sphere")
        pattern = _pattern(filters.filter)
        categories = {one.category for one in filters.categories}
        found = [
            *self._port.vehicles,
            *(name for name in self._port.editor.things() if name not in self._port.vehicles),
        ]
        if pattern is not None:
            found = [name for name in found if pattern.search(name)]
        if categories:
            found = [name for name in found if self.category(name) in categories]
        points = [vector(point) for point in filters.bounds.points]
        if kind != EMPTY_BOUNDS:
            if len(points) != 2:
                raise Wrong(FAILED, f"bounds have two points, not {len(points)}")
            found = [name for name in found if self._overlaps(name, kind, points)]
        return found

    def category(self, name: str) -> int:
        if name in self._port.vehicles:
            return ROBOT
        is_a = self._port.editor.class_of(self._object(name))
        return HUMAN if is_a == "person" else DYNAMIC if is_a in MOVING else STATIC

    def _overlaps(self, name: str, kind: int, points: list[Array]) -> bool:
        low, high = self.box(name)
        if kind == SPHERE:
            nearest = np.clip(points[0], low, high)
            return bool(np.linalg.norm(nearest - points[0]) <= points[1][0])
        lower, upper = np.minimum(*points), np.maximum(*points)
        return bool(np.all(low <= upper) and np.all(high >= lower))

    def box(self, name: str) -> tuple[Array, Array]:
        corners = self._port.editor.box_of(self._object(name))
        return corners.min(axis=0), corners.max(axis=0)

    def _object(self, name: str) -> int:
        things = self._port.editor.things()
        if name not in things:
            raise Wrong(NOT_FOUND, f"no entity named '{name[:LONGEST_NAME]}'")
        return things[name]

    # ---- states

    def state(self, name: str) -> RosMessage:
        """An EntityState in world axes."""
        if name in self._port.vehicles:
            state = self._port.vehicle(name).truth
            turning = rotate(state.quat_wxyz, state.angular_velocity_body)
            speeding = rotate(state.quat_wxyz, state.angular_acceleration_body)
            motion = (state.velocity_world, turning), (state.acceleration_world, speeding)
            return entity_state(self._port.now_ns, state.position, state.quat_wxyz, *motion)
        position, turn, _ = self._port.editor.place_of(self._object(name))
        return entity_state(self._port.now_ns, position, turn)

    def set_state(self, name: str, state: RosMessage, *, pose: bool, twist: bool) -> None:
        position, turn = _pose(state.header.frame_id, state.pose, BAD_POSE)
        linear, angular = vector(state.twist.linear), vector(state.twist.angular)
        if name in self._port.vehicles:
            vehicle = self._port.vehicle(name)
            now = vehicle.truth
            if not pose:
                position, turn = now.position, now.quat_wxyz
            rates = rotate_inverse(turn, angular) if twist else now.angular_velocity_body
            self._port.editor.put(vehicle.index, position, turn, linear if twist else now.velocity_world, rates)
            return
        number = self._object(name)
        if twist and (linear.any() or angular.any()):
            raise Wrong(FAILED, f"'{name}' has no motion of its own: leave its twist zero")
        if pose and not self._port.editor.put_thing(number, position, turn):
            raise Wrong(FAILED, f"'{name}' cannot be moved")

    # ---- coming and going

    def spawn(self, asked: RosMessage) -> str:
        """Returns the name that it got."""
        editor, resource = self._port.editor, asked.entity_resource
        position, turn = _pose(asked.initial_pose.header.frame_id, asked.initial_pose.pose, BAD_SPAWN_POSE)
        if not resource.uri:
            if resource.resource_string:
                raise Wrong(UNSUPPORTED_FORMAT, "resource_string is not read; give a uri of GetSpawnables")
            raise Wrong(NO_RESOURCE, "give a uri of GetSpawnables")
        name = self._free_name(asked.name, renaming=asked.allow_renaming)
        uri = resource.uri
        if uri.startswith(VEHICLE):
            raise Wrong(UNSUPPORTED_FORMAT, "vehicles are in the scenario; objects of the world can be spawned")
        if uri not in editor.shapes():
            raise Wrong(UNSUPPORTED_FORMAT, f"no resource '{uri[:LONGEST_NAME]}'; GetSpawnables lists them")
        editor.add_thing(name, uri, position, turn, np.ones(3))
        editor.refresh()
        self.spawned.append(name)
        return name

    def _free_name(self, wanted: str, *, renaming: bool) -> str:
        taken = {*self._port.vehicles, *self._port.editor.names()}
        if not wanted and not renaming:
            raise Wrong(NAME_INVALID, "give a name, or allow renaming")
        wanted = wanted or "entity"
        if len(wanted) > LONGEST_NAME or NAME.fullmatch(wanted) is None:
            raise Wrong(NAME_INVALID, f"'{wanted[:LONGEST_NAME]}' is no name; give letters, digits and _")
        if wanted not in taken:
            return wanted
        if not renaming:
            raise Wrong(NAME_NOT_UNIQUE, f"'{wanted}' exists already")
        return next(name for k in range(1, len(taken) + 2) if (name := f"{wanted}_{k}") not in taken)

    def delete(self, name: str) -> None:
        if name in self._port.vehicles:
            raise Wrong(FAILED, f"'{name}' is a vehicle of the scenario and stays")
        if not self._port.editor.remove_thing(self._object(name)):
            raise Wrong(FAILED, f"'{name}' cannot be removed")
        self._port.editor.refresh()
        if name in self.spawned:
            self.spawned.remove(name)

    def delete_spawned(self) -> None:
        for name in list(self.spawned):
            self.delete(name)

    def begin_again(self) -> None:
        """Every vehicle as it was at the start, disarmed."""
        for name, modes in self._starts.items():
            vehicle = self._port.vehicle(name)
            self._port.editor.begin_again(vehicle.index)
            vehicle.return_to_start(modes)


def entity_state(
    t_ns: int,
    position: Array,
    quat_wxyz: Array,
    velocity: tuple[Array, Array] = AT_REST,
    acceleration: tuple[Array, Array] = AT_REST,
) -> RosMessage:
    """Velocity and acceleration are linear and angular, world axes."""
    speeding = twist_of(*acceleration)
    return simulation_interfaces.EntityState(
        header(t_ns, WORLD), pose_of(position, quat_wxyz), twist_of(*velocity),
        geometry_msgs.Accel(speeding.linear, speeding.angular),
    )  # fmt: skip


def _pattern(text: str) -> re.Pattern[str] | None:
    if len(text) > LONGEST_FILTER:
        raise Wrong(FAILED, f"a filter has at most {LONGEST_FILTER} characters")
    # a few nested repetitions take a regular expression for ever
    if re.search(r"[+*}]\s*\)\s*[+*{]", text):
        raise Wrong(FAILED, "a filter may not repeat a group that repeats")
    try:
        return re.compile(text) if text else None
    except re.error as error:
        raise Wrong(FAILED, f"filter: {error}") from None


def _pose(frame: str, pose: RosMessage, code: int) -> tuple[Array, Array]:
    if frame not in ("", "world", WORLD):
        raise Wrong(code, f"frame '{frame[:LONGEST_NAME]}' is unknown; give {WORLD}")
    try:
        position, turn = vector(pose.position), quaternion(pose.orientation)
    except ValueError as error:
        raise Wrong(code, str(error)) from None
    if np.abs(position).max() > FARTHEST:
        raise Wrong(code, f"{position.tolist()} is out of the world")
    return position, turn
