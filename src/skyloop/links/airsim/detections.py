"""AirSim's object detection: boxes around the chosen objects that a camera sees."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skyloop.core.frames import SENSOR_FROM_CAMERA, frd_from_flu, quat_conjugate, quat_multiply, rotate_inverse
from skyloop.links.airsim.cameras import Camera, CameraSet
from skyloop.links.airsim.images import type_of
from skyloop.links.airsim.listener import Reply
from skyloop.links.airsim.methods import later
from skyloop.links.airsim.scene_names import names_of, shown_name
from skyloop.links.airsim.server_state import ServerState
from skyloop.links.airsim.structures import (
    MOST_REPEATS,
    Map,
    body_pose,
    geo_point,
    number_of,
    vector,
    vector2,
)
from skyloop.sim.world_view import View
from skyloop_client.errors import LinkError

DEFAULT_RADIUS_CM = 20_000.0
MOST_NAMES = 1000
LEAST_PX = 4
"""An object is reported from this number of visible pixels."""


@dataclass(slots=True)
class Filter:
    names: list[str] = field(default_factory=list)
    """May contain the wildcards * and ?."""
    radius_cm: float = DEFAULT_RADIUS_CM


class Detections:
    def __init__(self, server: ServerState, cameras: CameraSet) -> None:
        self._server, self._cameras = server, cameras
        self._filters: dict[tuple[int, int], Filter] = {}
        """By camera and image type."""

    def _filter(
        self, camera_name: str, image_type: int, vehicle_name: str, external: Any
    ) -> tuple[Camera, int, Filter]:
        camera, kind = self._cameras.find(camera_name, vehicle_name, external), type_of(image_type)
        return camera, kind, self._filters.setdefault((id(camera), kind), Filter())

    def simAddDetectionFilterMeshName(
        self, camera_name: str, image_type: int, mesh_name: str, vehicle_name: str = "", external: Any = False
    ) -> None:
        names = self._filter(camera_name, image_type, vehicle_name, external)[2].names
        if len(names) >= MOST_NAMES or str(mesh_name).count("*") > MOST_REPEATS or len(str(mesh_name)) > 200:
            raise LinkError(f"give at most {MOST_NAMES} names, each with at most {MOST_REPEATS} asterisks")
        if str(mesh_name) not in names:
            names.append(str(mesh_name))

    def simSetDetectionFilterRadius(
        self, camera_name: str, image_type: int, radius_cm: float, vehicle_name: str = "", external: Any = False
    ) -> None:
        self._filter(camera_name, image_type, vehicle_name, external)[2].radius_cm = number_of(radius_cm, "radius_cm")

    def simClearDetectionMeshNames(
        self, camera_name: str, image_type: int, vehicle_name: str = "", external: Any = False
    ) -> None:
        self._filter(camera_name, image_type, vehicle_name, external)[2].names.clear()

    @later
    def simGetDetections(
        self, reply: Reply, camera_name: str, image_type: int, vehicle_name: str = "", external: Any = False
    ) -> None:
        camera, kind, chosen = self._filter(camera_name, image_type, vehicle_name, external)
        if not chosen.names:
            reply.give([])
            return
        self._cameras.take(
            [(camera, kind)], lambda views: reply.give_what(lambda: self._found(views[0], chosen)), reply.fail
        )

    def _found(self, view: View, chosen: Filter) -> list[Map]:
        found = []
        for number in np.flatnonzero(np.bincount(view.instances.ravel()) >= LEAST_PX).tolist():
            known = names_of(self._server.editor.name_of(number))
            if number and any(fnmatch.fnmatchcase(own, name) for name in chosen.names for own in known):
                info = self._info(number, view, chosen.radius_cm)
                found += [] if info is None else [info]
        return found

    def _info(self, number: int, view: View, radius_cm: float) -> Map | None:
        """None beyond the radius. 3-D boxes and poses are in the camera's axes, FRD."""
        editor = self._server.editor
        position, quat, _ = editor.place_of(number)
        corners = editor.box_of(number)
        middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
        if np.linalg.norm(middle - view.pose.position) > 0.01 * radius_cm:
            return None
        world_from_sensor = quat_multiply(view.pose.quat_wxyz, quat_conjugate(SENSOR_FROM_CAMERA))
        box = frd_from_flu(rotate_inverse(world_from_sensor, corners - view.pose.position))
        rows, columns = np.nonzero(view.instances == number)
        place = rotate_inverse(world_from_sensor, position - view.pose.position)
        turn = quat_multiply(quat_conjugate(world_from_sensor), quat)
        return {
            "name": shown_name(editor.name_of(number)),
            "geo_point": geo_point(self._server.local_frame.geodetic_from_enu(middle)),
            "box2D": {"min": vector2(columns.min(), rows.min()), "max": vector2(columns.max(), rows.max())},
            "box3D": {"min": vector(box.min(axis=0)), "max": vector(box.max(axis=0))},
            "relative_pose": body_pose(place, turn),
        }
