"""Scene for Foxglove's 3D panel: each vehicle with its track, and a box around every static object."""

from __future__ import annotations

from collections import deque

import numpy as np

from skyloop.core.frames import quat_from_matrix
from skyloop.recording.ros2.frames import WORLD, body_frame, header
from skyloop.recording.ros2.products import ros_marker
from skyloop.recording.ros2.types import RosMessage, visualization_msgs
from skyloop.sim.world_editor import WorldEditor
from skyloop_client.messages import Array, Marker, VehicleState
from skyloop_client.streams import StreamInfo

TRACK_STEP = 0.2
"""m between two points of a track."""
TRACK_POINTS = 2000
TRACK_WIDTH = np.array([0.05, 0.0, 0.0])
"""m, as a line's size."""
BODY_SIZE = np.array([0.4, 0.4, 0.1])
"""m: the size of a vehicle's marker, for all airframes."""
UNBOXED = {"ground", "grass", "path", "road", "pavement", "water", "floor", "ceiling", "roof"}
"""Classes of ground and sky surfaces. A box around one would hide the rest."""
COLOURS = ((0.12, 0.47, 0.71), (0.88, 0.56, 0.11), (0.16, 0.62, 0.36), (0.82, 0.29, 0.36))
"""Colours of the vehicles in turn."""
THING = np.array([0.6, 0.6, 0.6, 0.35])


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

    def update(self, t_ns: int) -> RosMessage:
        made = []
        for number, (vehicle, points) in enumerate(self._points.items()):
            colour, body = np.array([*COLOURS[number % len(COLOURS)], 1.0]), body_frame(self._infos[vehicle])
            line = Marker(f"{vehicle} track", "line", size=TRACK_WIDTH, colour=colour, points=np.array(points))
            box = Marker(vehicle, "box", size=BODY_SIZE, colour=colour)
            made.append(ros_marker(header(t_ns, WORLD), number, line))
            made.append(ros_marker(header(t_ns, body), number, box, locked=True))
        return visualization_msgs.MarkerArray(made)


def boxes(editor: WorldEditor, t_ns: int) -> RosMessage:
    """A box around each part of each static object. People, cars and vehicles have none."""
    head = header(t_ns, WORLD)
    shapes = [_box(*box) for class_name, *box in editor.standing_boxes() if class_name not in UNBOXED]
    return visualization_msgs.MarkerArray([ros_marker(head, number, shape) for number, shape in enumerate(shapes)])


def _box(matrix: Array, low: Array, high: Array) -> Marker:
    scale = np.linalg.norm(matrix[:, :3], axis=0)
    middle = matrix[:, :3] @ (0.5 * (low + high)) + matrix[:, 3]
    turn = quat_from_matrix(matrix[:, :3] / scale)
    return Marker("world", "box", middle, turn, size=(high - low) * scale, colour=THING)
