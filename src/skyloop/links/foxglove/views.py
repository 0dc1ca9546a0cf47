"""What Foxglove is shown of a stream: ROS 2 messages, others where its panels cannot draw those, and numbers."""

from __future__ import annotations

import dataclasses
import math
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

import skyloop_client.messages
from skyloop.core.frames import euler_from_quat, quat_from_matrix
from skyloop.recording.ros2 import tf_frames
from skyloop.recording.ros2.products import markers, ros_marker
from skyloop.recording.ros2.tf_frames import FLOAT32, WORLD, body_frame, frame_of, header, optical
from skyloop.recording.ros2.types import RosMessage, encode, rcl_interfaces, visualization_msgs
from skyloop.recording.ros2.views import CLOUD, IMAGE, MARKERS, VIEWS, View
from skyloop.sim.world_editor import WorldEditor
from skyloop_client.errors import SetupError
from skyloop_client.messages import (
    Array,
    Detections,
    Event,
    GoalStatus,
    ImageTruth,
    Marker,
    Markers,
    RadarDetections,
    RangeDopplerImage,
    VehicleState,
)
from skyloop_client.schema import SUFFIXES, RecordField, record_fields
from skyloop_client.streams import NS_PER_S, StreamInfo

UNSHOWN = ("covariance",)
"""Covariances have too many numbers for a plot. Their sigmas are plotted."""
ATTITUDE = ("quat_wxyz", "attitude_deg")
"""Shown as Euler angles, because a plotted quaternion is hard to read."""
MOST_NUMBERS = 64
"""Largest array that is plotted."""
UNPLOTTED = {
    "CameraImage", "DepthImage", "ImageTruth", "LidarScan", "RadarScan", "RadarDetections", "RangeDopplerImage",
    "Event", "Detections", "GridMap", "VoxelMap", "Path", "PointCloud", "KeyPose", "Goal",
    "GoalStatus", "Image", "Markers", "Movers",
}  # fmt: skip
Json = dict[str, object]
Box = Sequence[float]
"""Left, top, right and bottom, px."""
NUMBER = {"type": "number"}
STAMP = {"type": "object", "title": "time", "properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}}}


def is_plotted(record_name: str) -> bool:
    return record_name not in UNPLOTTED


def _is_bulk(value: object) -> bool:
    """Images, clouds and lists, and what is not there."""
    if isinstance(value, np.ndarray):
        return value.dtype != np.float64 or value.size > MOST_NUMBERS
    return value is None or isinstance(value, tuple)


def plotted(record: Any) -> Json:
    """The plottable fields of a record, with its stamp. Images, point clouds and lists are left out."""
    known = _fields(type(record).__name__)
    sec, nsec = divmod(int(record.t_ns), NS_PER_S)
    out: Json = {"timestamp": {"sec": sec, "nsec": nsec}}
    for field in dataclasses.fields(record):
        value, about = getattr(record, field.name), known.get(field.name)
        if field.name in ("t_ns", *UNSHOWN) or _is_bulk(value):
            continue
        if about is not None and field.name == ATTITUDE[0]:
            angles = np.degrees(euler_from_quat(value)).tolist()
            out[ATTITUDE[1]] = dict(zip(("roll", "pitch", "yaw"), angles, strict=True))
            continue
        name = field.name if about is None else plot_name(about)
        out[name] = _numbers(value, about) if isinstance(value, np.ndarray) else _plain(value)
    return out


def schema_of(record_name: str) -> Json | None:
    """A JSON Schema. None for user-defined records, whose fields are unknown until the first record."""
    known = _fields(record_name)
    if not known:
        return None
    properties: Json = {"timestamp": STAMP}
    for name, field in known.items():
        if name == ATTITUDE[0]:
            properties[ATTITUDE[1]] = _axes("roll", "pitch", "yaw")
        elif field.dtype and name not in UNSHOWN:
            properties[plot_name(field)] = _axes(*"xyz") if _is_vector(field) else {"type": "array", "items": NUMBER}
        elif name not in ("t_ns", *UNSHOWN):
            kind = {bool: "boolean", int: "integer", float: "number", str: "string"}.get(field.type, "object")
            properties[plot_name(field)] = {"type": kind}
    return (
        {"title": f"skyloop.{record_name}", "type": "object", "properties": properties} if len(properties) > 1 else None
    )


def plot_name(field: RecordField) -> str:
    """With the unit, unless the name has it: position_m, latitude_deg, field_tesla."""
    if not field.note.unit or field.name.endswith((*SUFFIXES, "_tesla")):
        return field.name
    return f"{field.name}_{field.note.unit.lower().replace('/', '_').replace('²', '2')}"


def _fields(record_name: str) -> dict[str, RecordField]:
    """Of our own records. Fields of user-defined ones keep their names."""
    record = vars(skyloop_client.messages).get(record_name)
    return record_fields(record) if isinstance(record, type) and dataclasses.is_dataclass(record) else {}


def _is_vector(field: RecordField | None) -> bool:
    """Not one number per rotor, even if there are three."""
    return field is None or field.note.shape == (3,)


def _axes(*names: str) -> Json:
    return {"type": "object", "properties": dict.fromkeys(names, NUMBER)}


def _numbers(array: Array, field: RecordField | None) -> object:
    values = [value if math.isfinite(value) else None for value in array.ravel().tolist()]
    return dict(zip("xyz", values, strict=True)) if array.shape == (3,) and _is_vector(field) else values


def _plain(value: object) -> object:
    """JSON has no NaN and no infinity. A plot gets a gap there."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value if isinstance(value, int | float | str | bool | None) else str(value)


# ---- views


try:
    from foxglove import messages as fox
except ImportError:
    raise SetupError("--foxglove needs the Foxglove SDK: pip install 'skyloop[foxglove]'") from None

ANNOTATIONS, JSON = "foxglove.ImageAnnotations", "JSON"
"""Kinds of views that are no ROS messages."""
BOX_COLOUR = fox.Color(r=1.0, g=0.8, b=0.1, a=1.0)
SHADE = fox.Color(r=0.0, g=0.0, b=0.0, a=0.6)
NO_POWER = 1e-30
"""V², in place of 0, which has no value in decibels."""
INFO = 20


def _instances(info: StreamInfo, truth: ImageTruth) -> RosMessage:
    """Its low 16 bits: the app draws no images of 32-bit integers."""
    if truth.instances is None:
        return None
    return tf_frames.image(truth.t_ns, optical(frame_of(info)), "16UC1", truth.instances.astype("<u2"))


def _labels(info: StreamInfo, truth: ImageTruth) -> fox.ImageAnnotations:
    # a box names its outermost pixels; it is drawn along their outer edges
    boxes = [(left, top, right + 1, bottom + 1) for left, top, right, bottom in (one.box_px for one in truth.labels)]
    return _annotations(truth.t_ns, boxes, [f"{one.class_name} {one.distance:.0f} m" for one in truth.labels])


def _detections(info: StreamInfo, found: Detections) -> fox.ImageAnnotations:
    tracks = [-1] * len(found.classes) if found.tracks is None else found.tracks.tolist()
    texts = [
        f"{name} {score:.2f}{'' if track < 0 else f' #{track}'}"
        for name, score, track in zip(found.classes, found.scores.tolist(), tracks, strict=True)
    ]
    return _annotations(found.t_ns, found.boxes_px.tolist(), texts)


def _annotations(t_ns: int, boxes: Sequence[Box], texts: list[str]) -> fox.ImageAnnotations:
    """To draw over an image: edges of boxes in px, and a text for each."""
    at, outlines, captions = fox.Timestamp(*divmod(t_ns, NS_PER_S)), [], []
    for (left, top, right, bottom), text in zip(boxes, texts, strict=True):
        corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
        outlines.append(
            fox.PointsAnnotation(
                timestamp=at, type=fox.PointsAnnotationType.LineLoop, outline_color=BOX_COLOUR, thickness=1.0,
                points=[fox.Point2(x=x, y=y) for x, y in corners],
            )
        )  # fmt: skip
        captions.append(
            fox.TextAnnotation(
                timestamp=at, position=fox.Point2(x=left, y=top), text=text, font_size=10.0, text_color=BOX_COLOUR,
                background_color=SHADE,
            )
        )  # fmt: skip
    return fox.ImageAnnotations(points=outlines, texts=captions)


def _radar_cloud(info: StreamInfo, found: RadarDetections) -> RosMessage:
    columns = [
        *((axis, FLOAT32, found.points[:, k]) for k, axis in enumerate("xyz")),
        ("speed", FLOAT32, found.speeds),
        ("snr_db", FLOAT32, found.snr_db),
    ]
    return tf_frames.cloud(found.t_ns, frame_of(info), columns)


def _range_doppler(info: StreamInfo, image: RangeDopplerImage) -> RosMessage:
    """Range grows upwards. Columns go from approaching to receding."""
    decibels = 10.0 * np.log10(np.maximum(image.power[::-1], NO_POWER))
    return tf_frames.image(image.t_ns, frame_of(info), "32FC1", decibels.astype("<f4"))


def _goal_status(info: StreamInfo, status: GoalStatus) -> RosMessage:
    """The goal, the sub-goal, and above the goal what is done about it."""
    what = f"{status.state} {status.mode}: {status.reason}" if status.reason else f"{status.state} {status.mode}"
    red, blue = np.array([0.85, 0.2, 0.2, 0.9]), np.array([0.1, 0.5, 0.9, 0.9])
    above = np.array([0.0, 0.0, 0.4])
    shapes = (
        Marker("goal", "sphere", status.goal, size=np.full(3, 0.4), colour=red),
        Marker("sub-goal", "sphere", status.sub_goal, size=np.full(3, 0.25), colour=blue),
        Marker("state", "text", status.goal + above, size=np.full(3, 0.25), colour=red, text=what),
    )
    return markers(info, Markers(status.t_ns, shapes))


def _event(info: StreamInfo, event: Event) -> RosMessage:
    text = f"{event.kind}: {event.text}" if event.text else event.kind
    return rcl_interfaces.Log(tf_frames.stamp(event.t_ns), INFO, info.vehicle, text, file="", function="", line=0)


OWN: dict[str, tuple[View, ...]] = {
    "ImageTruth": (
        View("/{}/instances", IMAGE, _instances, needs="instances"),
        View("/{}/labels", ANNOTATIONS, _labels, needs="labels"),
    ),
    "Detections": (View("/{}", ANNOTATIONS, _detections),),
    "RadarDetections": (View("/{}/points", CLOUD, _radar_cloud),),
    "RangeDopplerImage": (View("/{}/image", IMAGE, _range_doppler),),
    "GoalStatus": (View("/{}", MARKERS, _goal_status),),
    "Event": (View("/{}", "rcl_interfaces/msg/Log", _event),),
}
"""By record: instead of the ROS 2 messages on the same topics, or beside them."""


def views_of(info: StreamInfo) -> list[View]:
    known = (*VIEWS.get(info.message, ()), *OWN.get(info.message, ()))
    shown = {view.topic: view for view in known if view.is_in(info)}
    if "fx" not in info.details:
        shown.pop("/{}/camera_info", None)
    if is_plotted(info.message):
        topic = "/{}/numbers" if "/{}" in shown else "/{}"
        shown[topic] = View(topic, JSON, lambda info, record: plotted(record))
    return list(shown.values())


def payload(view: View, info: StreamInfo, record: object) -> Any:
    """What a channel of the view's kind takes, or None."""
    built = view.make(info, record)
    return built if built is None or view.kind in (ANNOTATIONS, JSON) else bytes(encode(built))


# ---- the 3D panel's scene


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
OBJECT_COLOUR = np.array([0.6, 0.6, 0.6, 0.35])


class VehicleTracks:
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
        built = []
        for number, (vehicle, points) in enumerate(self._points.items()):
            colour, body = np.array([*COLOURS[number % len(COLOURS)], 1.0]), body_frame(self._infos[vehicle])
            line = Marker(f"{vehicle} track", "line", size=TRACK_WIDTH, colour=colour, points=np.array(points))
            box = Marker(vehicle, "box", size=BODY_SIZE, colour=colour)
            built.append(ros_marker(header(t_ns, WORLD), number, line))
            built.append(ros_marker(header(t_ns, body), number, box, locked=True))
        return visualization_msgs.MarkerArray(built)


def boxes(editor: WorldEditor, t_ns: int) -> RosMessage:
    """A box around each part of each static object. People, cars and vehicles have none."""
    head = header(t_ns, WORLD)
    shapes = [_box(*box) for class_name, *box in editor.standing_boxes() if class_name not in UNBOXED]
    return visualization_msgs.MarkerArray([ros_marker(head, number, shape) for number, shape in enumerate(shapes)])


def _box(matrix: Array, low: Array, high: Array) -> Marker:
    scale = np.linalg.norm(matrix[:, :3], axis=0)
    middle = matrix[:, :3] @ (0.5 * (low + high)) + matrix[:, 3]
    turn = quat_from_matrix(matrix[:, :3] / scale)
    return Marker("world", "box", middle, turn, size=(high - low) * scale, colour=OBJECT_COLOUR)
