"""Converts records to Foxglove's messages. Coordinate frames and topics are those of a dataset's ROS 2 bag."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import SENSOR_FROM_CAMERA
from skyloop.recording.formats.label_images import jpeg
from skyloop.recording.formats.ros2_messages import DISTORTION, POINT, POINT_FIELDS
from skyloop.recording.formats.ros2_names import FLOAT32, UINT16, WORLD, body_frame, optical
from skyloop_client.errors import SetupError
from skyloop_client.messages import (
    Array,
    CameraImage,
    DepthImage,
    Estimate,
    Event,
    GnssFix,
    ImageTruth,
    LidarScan,
    RadarDetections,
    RangeDopplerImage,
    VehicleState,
)
from skyloop_client.streams import NS_PER_S, StreamInfo

try:
    from foxglove import messages as fox
except ImportError:
    raise SetupError("--foxglove needs the Foxglove SDK: pip install 'skyloop[foxglove]'") from None

NUMERIC = {
    UINT16: fox.PackedElementFieldNumericType.Uint16,
    FLOAT32: fox.PackedElementFieldNumericType.Float32,
}
DETECTION = np.dtype([(name, "<f4") for name in ("x", "y", "z", "speed", "snr_db")])
BOX_COLOUR = fox.Color(r=1.0, g=0.8, b=0.1, a=1.0)
SHADE = fox.Color(r=0.0, g=0.0, b=0.0, a=0.6)
NO_POWER = 1e-30
"""V², in place of 0, which has no value in decibels."""
UNMOUNTED = {"BatteryState", "ActuatorState", "VehicleStatus", "SetpointState"}
"""Records with a rate that do not come from a sensor."""

Make = Callable[[StreamInfo, Any], Any]


@dataclass(frozen=True, slots=True)
class View:
    """One of the topics that a stream becomes."""

    suffix: str
    """Suffix of the topic after the stream's name."""
    kind: str
    """Name of the message in Foxglove's schemas, or JSON for plots."""
    make: Make
    """Returns the message, or None if this record has no such content."""
    has: Callable[[Any], bool] | None = None
    """Whether a record has this content, if not every stream has it. The topic opens with the first such record."""


def stamp(t_ns: int) -> Any:
    sec, nsec = divmod(int(t_ns), NS_PER_S)
    return fox.Timestamp(sec, nsec)


def frame_of(info: StreamInfo) -> str:
    """The frame of a sensor's axes with x forward, or the body frame for the vehicle's own streams."""
    if info.message in ("VehicleState", "Estimate"):
        return body_frame(info)
    sensor = info.name.removeprefix("truth/").removeprefix(f"{info.vehicle}/").split("/")[0]
    return f"{info.vehicle}/{sensor}" if info.vehicle else info.name


def pose(position: Array, quat_wxyz: Array) -> Any:
    return fox.Pose(position=_vector(position), orientation=_quaternion(quat_wxyz))


def transform(t_ns: int, parent: str, child: str, position: Array, quat_wxyz: Array) -> Any:
    return fox.FrameTransform(
        timestamp=stamp(t_ns), parent_frame_id=parent, child_frame_id=child,
        translation=_vector(position), rotation=_quaternion(quat_wxyz),
    )  # fmt: skip


def on_gimbal(info: StreamInfo) -> bool:
    return bool(info.details.get("gimbal", "none") != "none")


def is_moving(info: StreamInfo) -> bool:
    """Whether its records give the pose of a frame: a body, or a camera on a gimbal."""
    return info.message == "VehicleState" or (info.message == "ImageTruth" and on_gimbal(info))


def moved(info: StreamInfo, record: VehicleState | ImageTruth) -> Any:
    child = body_frame(info) if isinstance(record, VehicleState) else optical(frame_of(info))
    return fox.FrameTransforms(transforms=[transform(record.t_ns, WORLD, child, record.position, record.quat_wxyz)])


def mounts(infos: Iterable[StreamInfo], t_ns: int) -> Any:
    """Transforms from each body to its sensors, and from camera mounts to optical axes."""
    found: dict[str, Any] = {}
    for info in infos:
        place = frame_of(info)
        if not info.vehicle or info.rate is None or info.message in UNMOUNTED:
            continue
        if place == body_frame(info) or on_gimbal(info) or info.name.startswith("truth/"):
            continue
        found[place] = transform(t_ns, body_frame(info), place, info.mount.position, info.mount.quat_wxyz)
        if info.message in ("CameraImage", "DepthImage"):
            found[optical(place)] = transform(t_ns, place, optical(place), np.zeros(3), SENSOR_FROM_CAMERA)
    return fox.FrameTransforms(transforms=list(found.values()))


def _vector(xyz: Array) -> Any:
    x, y, z = (float(value) for value in xyz)
    return fox.Vector3(x=x, y=y, z=z)


def _quaternion(quat_wxyz: Array) -> Any:
    w, x, y, z = (float(value) for value in quat_wxyz)
    return fox.Quaternion(x=x, y=y, z=z, w=w)


def _colour(info: StreamInfo, image: CameraImage) -> Any:
    head = {"timestamp": stamp(image.t_ns), "frame_id": optical(frame_of(info))}
    return fox.CompressedImage(**head, data=jpeg(image.colour), format="jpeg")


def _raw(info: StreamInfo, t_ns: int, encoding: str, pixels: NDArray[Any]) -> Any:
    height, width = pixels.shape
    return fox.RawImage(
        timestamp=stamp(t_ns), frame_id=optical(frame_of(info)), width=width, height=height, encoding=encoding,
        step=width * pixels.itemsize, data=pixels.tobytes(),
    )  # fmt: skip


def _depth(info: StreamInfo, image: DepthImage) -> Any:
    return _raw(info, image.t_ns, "32FC1", np.where(image.depth > 0.0, image.depth, np.float32(np.nan)))


def _truth_image(name: str, encoding: str, dtype: str) -> View:
    def made(info: StreamInfo, truth: ImageTruth) -> Any:
        return _raw(info, truth.t_ns, encoding, getattr(truth, name).astype(dtype, copy=False))

    return View(f"/{name}", "RawImage", made, lambda truth: getattr(truth, name) is not None)


def _labels(info: StreamInfo, truth: ImageTruth) -> Any:
    at = stamp(truth.t_ns)
    outlines, captions = [], []
    for label in truth.labels:
        # a box names its outermost pixels; it is drawn along their outer edges
        left, top, right, bottom = label.box_px
        outlines.append(outline(at, left, top, right + 1, bottom + 1))
        captions.append(caption(at, left, top, f"{label.class_name} {label.distance:.0f} m"))
    return fox.ImageAnnotations(points=outlines, texts=captions)


def outline(at: Any, left: float, top: float, right: float, bottom: float) -> Any:
    """A box on an image. Edges are in px."""
    corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
    return fox.PointsAnnotation(
        timestamp=at, type=fox.PointsAnnotationType.LineLoop, points=[fox.Point2(x=x, y=y) for x, y in corners],
        outline_color=BOX_COLOUR, thickness=1.0,
    )  # fmt: skip


def caption(at: Any, left: float, top: float, text: str) -> Any:
    return fox.TextAnnotation(
        timestamp=at, position=fox.Point2(x=left, y=top), text=text, font_size=10.0, text_color=BOX_COLOUR,
        background_color=SHADE,
    )  # fmt: skip


def _calibration(info: StreamInfo, image: CameraImage | DepthImage) -> Any:
    d = info.details
    fx, fy, cx, cy = (float(d[name]) for name in ("fx", "fy", "cx", "cy"))
    model, count = DISTORTION[d.get("model", "pinhole")]
    distortion = [float(value) for value in d.get("distortion", ())]
    return fox.CameraCalibration(
        timestamp=stamp(image.t_ns), frame_id=optical(frame_of(info)), width=d["width"], height=d["height"],
        # Foxglove's name for the four-coefficient fisheye
        distortion_model={"equidistant": "kannala_brandt"}.get(model, model),
        D=distortion + [0.0] * (count - len(distortion)), K=[fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0],
        R=np.eye(3).ravel().tolist(), P=[fx, 0.0, cx, 0.0, 0.0, fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0],
    )  # fmt: skip


def _cloud(info: StreamInfo, t_ns: int, fields: list[Any], cloud: NDArray[Any]) -> Any:
    origin = pose(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
    head = {"timestamp": stamp(t_ns), "frame_id": frame_of(info), "pose": origin}
    return fox.PointCloud(**head, point_stride=cloud.dtype.itemsize, fields=fields, data=cloud.tobytes())


def _scan(info: StreamInfo, scan: LidarScan) -> Any:
    cloud = np.empty(len(scan.points), POINT)
    for axis, name in enumerate("xyz"):
        cloud[name] = scan.points[:, axis]
    cloud["intensity"], cloud["ring"], cloud["time"] = scan.intensities, scan.rings, scan.offsets_ns / NS_PER_S
    fields = [
        fox.PackedElementField(name=name, offset=offset, type=NUMERIC[code]) for name, offset, code, _ in POINT_FIELDS
    ]
    return _cloud(info, scan.t_ns, fields, cloud)


def _detections(info: StreamInfo, found: RadarDetections) -> Any:
    cloud = np.empty(len(found.points), DETECTION)
    for axis, name in enumerate("xyz"):
        cloud[name] = found.points[:, axis]
    cloud["speed"], cloud["snr_db"] = found.speeds, found.snr_db
    fields = [
        fox.PackedElementField(name=name, offset=4 * place, type=NUMERIC[FLOAT32])
        for place, name in enumerate(DETECTION.names or ())
    ]
    return _cloud(info, found.t_ns, fields, cloud)


def _range_doppler(info: StreamInfo, image: RangeDopplerImage) -> Any:
    """Range grows upwards. Columns go from approaching to receding."""
    decibels = 10.0 * np.log10(np.maximum(image.power[::-1], NO_POWER))
    return _raw(info, image.t_ns, "32FC1", decibels.astype("<f4"))


def _pose(info: StreamInfo, state: VehicleState | Estimate) -> Any:
    place = pose(state.position, state.quat_wxyz)
    return fox.PoseInFrame(timestamp=stamp(state.t_ns), frame_id=WORLD, pose=place)


def _fix(info: StreamInfo, fix: GnssFix) -> Any:
    if fix.fix_type < 2:
        return None
    across, up = fix.horizontal_sd**2, fix.vertical_sd**2
    return fox.LocationFix(
        timestamp=stamp(fix.t_ns), frame_id=frame_of(info), latitude=fix.latitude_deg, longitude=fix.longitude_deg,
        altitude=fix.altitude, position_covariance=[across, 0.0, 0.0, 0.0, across, 0.0, 0.0, 0.0, up],
        position_covariance_type=fox.LocationFixPositionCovarianceType.DiagonalKnown,
    )  # fmt: skip


def _event(info: StreamInfo, event: Event) -> Any:
    text = f"{event.kind}: {event.text}" if event.text else event.kind
    return fox.Log(timestamp=stamp(event.t_ns), level=fox.LogLevel.Info, message=text, name=info.vehicle)


CALIBRATION = View("/calibration", "CameraCalibration", _calibration)
POSE = View("/pose", "PoseInFrame", _pose)
VIEWS: dict[str, tuple[View, ...]] = {
    "CameraImage": (View("/image", "CompressedImage", _colour), CALIBRATION),
    "DepthImage": (View("/image", "RawImage", _depth), CALIBRATION),
    "ImageTruth": (
        _truth_image("depth", "32FC1", "<f4"),
        _truth_image("classes", "8UC1", "u1"),
        _truth_image("instances", "16UC1", "<u2"),
        View("/labels", "ImageAnnotations", _labels, lambda truth: bool(truth.labels)),
    ),
    "LidarScan": (View("/points", "PointCloud", _scan),),
    "RadarDetections": (View("/points", "PointCloud", _detections),),
    "RangeDopplerImage": (View("/image", "RawImage", _range_doppler),),
    "VehicleState": (POSE,),
    "Estimate": (POSE,),
    "GnssFix": (View("/fix", "LocationFix", _fix),),
    "Event": (View("", "Log", _event),),
}
"""By the name of the record."""
