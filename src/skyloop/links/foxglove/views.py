"""What Foxglove is shown of a stream: ROS 2 messages, others where its panels cannot draw those, and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyloop.links.foxglove.plot_numbers import is_plotted, plotted
from skyloop.recording.ros2 import frames
from skyloop.recording.ros2.frames import FLOAT32, frame_of, optical
from skyloop.recording.ros2.products import markers
from skyloop.recording.ros2.types import RosMessage, encode, rcl_interfaces
from skyloop.recording.ros2.views import CLOUD, IMAGE, MARKERS, VIEWS, View
from skyloop_client.errors import SetupError
from skyloop_client.messages import (
    Detections,
    Event,
    GoalStatus,
    ImageTruth,
    Marker,
    Markers,
    RadarDetections,
    RangeDopplerImage,
)
from skyloop_client.streams import NS_PER_S, StreamInfo

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
    return frames.image(truth.t_ns, optical(frame_of(info)), "16UC1", truth.instances.astype("<u2"))


def _labels(info: StreamInfo, truth: ImageTruth) -> Any:
    # a box names its outermost pixels; it is drawn along their outer edges
    boxes = [(left, top, right + 1, bottom + 1) for left, top, right, bottom in (one.box_px for one in truth.labels)]
    return _annotations(truth.t_ns, boxes, [f"{one.class_name} {one.distance:.0f} m" for one in truth.labels])


def _detections(info: StreamInfo, found: Detections) -> Any:
    tracks = [-1] * len(found.classes) if found.tracks is None else found.tracks.tolist()
    texts = [
        f"{name} {score:.2f}{'' if track < 0 else f' #{track}'}"
        for name, score, track in zip(found.classes, found.scores.tolist(), tracks, strict=True)
    ]
    return _annotations(found.t_ns, found.boxes_px.tolist(), texts)


def _annotations(t_ns: int, boxes: list[Any], texts: list[str]) -> Any:
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
    return frames.cloud(found.t_ns, frame_of(info), columns)


def _range_doppler(info: StreamInfo, image: RangeDopplerImage) -> RosMessage:
    """Range grows upwards. Columns go from approaching to receding."""
    decibels = 10.0 * np.log10(np.maximum(image.power[::-1], NO_POWER))
    return frames.image(image.t_ns, frame_of(info), "32FC1", decibels.astype("<f4"))


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
    return rcl_interfaces.Log(frames.stamp(event.t_ns), INFO, info.vehicle, text, file="", function="", line=0)


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
    shown = {view.topic: view for view in (*VIEWS.get(info.message, ()), *OWN.get(info.message, ()))}
    if "fx" not in info.details:
        shown.pop("/{}/camera_info", None)
    if is_plotted(info.message):
        topic = "/{}/numbers" if "/{}" in shown else "/{}"
        shown[topic] = View(topic, JSON, lambda info, record: plotted(record))
    return list(shown.values())


def payload(view: View, info: StreamInfo, record: Any) -> Any:
    """What a channel of the view's kind takes, or None."""
    made = view.make(info, record)
    return made if made is None or view.kind in (ANNOTATIONS, JSON) else bytes(encode(made))
