"""Scene for Foxglove's 3D panel: each vehicle with its track, and a box around every static object."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from skyloop.core.frames import quat_from_matrix
from skyloop.links.foxglove.messages import pose, stamp
from skyloop.recording.formats.ros2_names import WORLD, body_frame
from skyloop.sim.world_editor import WorldEditor
from skyloop_client.messages import Array, VehicleState
from skyloop_client.streams import StreamInfo

from foxglove import messages as fox  # isort: skip: the line above says what is missing without it

TRACK_STEP = 0.2
"""m between two points of a track."""
TRACK_POINTS = 2000
BODY_SIZE = (0.4, 0.4, 0.1)
"""m: the size of a vehicle's marker, for all airframes."""
UNBOXED = {"ground", "grass", "path", "road", "pavement", "water", "floor", "ceiling", "roof"}
"""Classes of ground and sky surfaces. A box around one would hide the rest."""
COLOURS = ((0.12, 0.47, 0.71), (0.88, 0.56, 0.11), (0.16, 0.62, 0.36), (0.82, 0.29, 0.36))
"""Colours of the vehicles in turn."""
THING = fox.Color(r=0.6, g=0.6, b=0.6, a=0.35)


class Tracks:
    """The path of every vehicle, kept from the start for clients that connect late."""

    def __init__(self) -> None:
        self._points: dict[str, deque[Array]] = {}
        self._infos: dict[str, StreamInfo] = {}

    def add(self, info: StreamInfo, state: VehicleState) -> None:
        self._infos[info.vehicle] = info
        points = self._points.setdefault(info.vehicle, deque(maxlen=TRACK_POINTS))
        if not points or np.linalg.norm(state.position - points[-1]) >= TRACK_STEP:
            points.append(state.position.copy())

    def update(self, t_ns: int) -> Any:
        """A SceneUpdate."""
        entities = []
        for number, (vehicle, points) in enumerate(self._points.items()):
            r, g, b = COLOURS[number % len(COLOURS)]
            colour = fox.Color(r=r, g=g, b=b, a=1.0)
            line = fox.LinePrimitive(
                pose=AT_ORIGIN, thickness=2.0, scale_invariant=True, color=colour,
                points=[fox.Point3(x=x, y=y, z=z) for x, y, z in (point.tolist() for point in points)],
            )  # fmt: skip
            x, y, z = BODY_SIZE
            mark = fox.CubePrimitive(pose=AT_ORIGIN, size=fox.Vector3(x=x, y=y, z=z), color=colour)
            body = body_frame(self._infos[vehicle])
            at = stamp(t_ns)
            entities += [
                fox.SceneEntity(timestamp=at, frame_id=WORLD, id=f"{vehicle} track", lines=[line]),
                fox.SceneEntity(timestamp=at, frame_id=body, id=vehicle, frame_locked=True, cubes=[mark]),
            ]
        return fox.SceneUpdate(entities=entities)


AT_ORIGIN = pose(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))


def boxes(editor: WorldEditor, t_ns: int) -> Any:
    """A SceneUpdate with a box around each part of each static object. People, cars and vehicles have none."""
    cubes = [_cube(*box) for class_name, *box in editor.standing_boxes() if class_name not in UNBOXED]
    entity = fox.SceneEntity(timestamp=stamp(t_ns), frame_id=WORLD, id="world", cubes=cubes)
    return fox.SceneUpdate(entities=[entity])


def _cube(matrix: Array, low: Array, high: Array) -> Any:
    scale = np.linalg.norm(matrix[:, :3], axis=0)
    middle = matrix[:, :3] @ (0.5 * (low + high)) + matrix[:, 3]
    x, y, z = ((high - low) * scale).tolist()
    turned = pose(middle, quat_from_matrix(matrix[:, :3] / scale))
    return fox.CubePrimitive(pose=turned, size=fox.Vector3(x=x, y=y, z=z), color=THING)
