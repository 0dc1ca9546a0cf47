"""Turns records into frames for a page. One frame of a record serves all viewers."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import simplejpeg
from numpy.typing import NDArray

from skyloop.cockpit.wire import Fields, frame
from skyloop.core.frames import euler_from_quat, quat_multiply, rotate
from skyloop.recording.run_folder import values_of
from skyloop_client.messages import (
    Array,
    CameraImage,
    DepthImage,
    Detections,
    Event,
    Goal,
    GoalStatus,
    GridMap,
    Image,
    ImageTruth,
    LidarScan,
    Markers,
    Movers,
    Path,
    PointCloud,
    RadarDetections,
    RangeDopplerImage,
    VoxelMap,
)

QUALITY = 75
WIDEST = 640
"""px; wider pictures are sent with every second, third... column and row."""
NO_POWER = 1e-30
"""V², instead of 0, which has no value in decibels."""
SPAN_DB = 60.0


def jpeg(pixels: NDArray[np.uint8]) -> tuple[bytes, int, int]:
    """The bytes, and the width and height, of (h, w) or (h, w, 3) uint8."""
    step = -(-pixels.shape[1] // WIDEST)
    small = np.ascontiguousarray(pixels[::step, ::step])
    height, width = small.shape[:2]
    if small.ndim == 2:
        data = simplejpeg.encode_jpeg(small[..., None], QUALITY, "GRAY", fastdct=True)
    else:
        data = simplejpeg.encode_jpeg(small, QUALITY, "RGB", "420", fastdct=True)
    return data, width, height


def depth_colours(depth: NDArray[np.float32]) -> tuple[NDArray[np.uint8], float]:
    """Near is bright, far is dark, unknown is black; and the m at which the scale ends."""
    known = np.isfinite(depth) & (depth > 0.0)
    far = float(np.percentile(depth[known][::7], 98)) if known.any() else 1.0
    far = max(far, 0.5)
    share = np.where(known, 255.0 * (1.0 - np.minimum(depth, far) / far), 0.0).astype(np.uint8)
    colours = _ramp()[share]
    colours[~known] = 0
    return colours, far


def class_colours(numbers: NDArray[np.integer]) -> NDArray[np.uint8]:
    colours: NDArray[np.uint8] = _palette()[numbers.astype(np.int64) % len(_palette())]
    return colours


def power_colours(power: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Range grows upwards, columns go from approaching to receding; enlarged, for it has few cells."""
    decibels = 10.0 * np.log10(np.maximum(power[::-1], NO_POWER))
    share = np.clip((decibels - decibels.max()) / SPAN_DB + 1.0, 0.0, 1.0)
    colours = _ramp()[(share * 255).astype(np.uint8)]
    grow = max(1, 320 // max(colours.shape[:2]))
    grown: NDArray[np.uint8] = colours.repeat(grow, axis=0).repeat(grow, axis=1)
    return grown


def value_colours(values: NDArray[np.float32]) -> tuple[NDArray[np.uint8], float, float]:
    """(n, 3) of (n,) values, such as distances, and the values at the dark and the bright end; not finite is grey."""
    finite = np.isfinite(values)
    low, high = (float(values[finite].min()), float(values[finite].max())) if finite.any() else (0.0, 1.0)
    share = np.clip((np.nan_to_num(values, nan=low, posinf=high, neginf=low) - low) / max(high - low, 1e-9), 0.0, 1.0)
    colours = _ramp()[(share * 255).astype(np.uint8)]
    colours[~finite] = 128
    return colours, low, high


def grey_of(pixels: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.float32]) -> NDArray[np.uint8]:
    """An image for debugging, of any kind, as one that can be shown."""
    if pixels.dtype == np.uint8:
        return np.asarray(pixels, np.uint8)
    values = pixels.astype(np.float64)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    return np.clip((np.nan_to_num(values, nan=low) - low) / max(high - low, 1e-9) * 255.0, 0, 255).astype(np.uint8)


@cache
def _ramp() -> NDArray[np.uint8]:
    """(256, 3) viridis, from dark violet to yellow: readable for the colour-blind and in grey."""
    stops = np.array(
        [(68, 1, 84), (71, 44, 122), (59, 81, 139), (44, 113, 142), (33, 144, 141), (39, 173, 129), (92, 200, 99),
         (170, 220, 50), (253, 231, 37)], float,
    )  # fmt: skip
    at = np.linspace(0, len(stops) - 1, 256)
    return np.stack([np.interp(at, np.arange(len(stops)), stops[:, k]) for k in range(3)], axis=1).astype(np.uint8)


@cache
def _palette() -> NDArray[np.uint8]:
    """(64, 3) distinct colours: hues by the golden ratio; 0, the sky, is a dark blue."""
    hue = (np.arange(64) * 0.61803398875) % 1.0
    tone = np.where(np.arange(64) % 3 == 0, 0.95, np.where(np.arange(64) % 3 == 1, 0.75, 0.55))
    channels = [np.clip(np.abs(((hue + shift) % 1.0) * 6.0 - 3.0) - 1.0, 0.0, 1.0) for shift in (0.0, 2 / 3, 1 / 3)]
    colours = (np.stack(channels, axis=1) * 0.7 + 0.3) * tone[:, None] * 255
    colours[0] = (25, 35, 60)
    return colours.astype(np.uint8)


MOST_POINTS = 20_000
"""Of a cloud; of a larger one every second, third... point is sent."""
MOST_VOXELS = 60_000
MOST_NUMBERS = 64
"""Largest array whose values can be plotted."""
DEPTH_STEP = 6
"""px between two points of a cloud made from a depth image."""

Info = Fields
Pose = tuple[Array, Array]
FrameContent = tuple[Fields, bytes]


class FrameMaker:
    """Makes the frames of one source; it knows where the vehicles are, to put clouds into the world."""

    def __init__(self) -> None:
        self.infos: dict[str, Info] = {}
        self._poses: dict[str, Pose] = {}
        """By vehicle."""

    def frame_of(self, stream: str, t_ns: int, record: Any, wall_ns: int) -> bytes:
        info = self.infos.get(stream, {})
        if stream == f"truth/{info.get('vehicle')}":
            self._poses[info["vehicle"]] = (record.position, record.quat_wxyz)
        make = MAKERS.get(type(record))
        header, payload = make(self, info, record) if make is not None else ({"n": numbers(record)}, b"")
        head = {"k": "rec", "s": stream, "m": type(record).__name__, "t": t_ns / 1e9, "w": wall_ns / 1e6}
        return frame({**head, **header}, payload)

    def pose_of(self, info: Info, axes: str = "") -> Pose:
        """world_from_sensor now, or world_from_<axes> of a published record."""
        if axes == "world":
            return np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        body = self._poses.get(info.get("vehicle", ""), (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])))
        if axes == "body":
            return body
        if axes:
            info = self.infos.get(f"{info.get('vehicle')}/{axes}", info)
        mount = info.get("mount", {"position": [0, 0, 0], "quat_wxyz": [1, 0, 0, 0]})
        at, turn = np.array(mount["position"], float), np.array(mount["quat_wxyz"], float)
        return body[0] + rotate(body[1], at), quat_multiply(body[1], turn)


def numbers(record: Any) -> Fields:
    """All single numbers and small arrays of a record, for plots and instruments. What is not finite becomes null."""
    fields = record.items() if isinstance(record, dict) else values_of(record)
    out: Fields = {}
    for name, value in fields:
        if name == "t_ns" or value is None or isinstance(value, tuple):
            continue
        if isinstance(value, np.ndarray):
            if value.size <= MOST_NUMBERS and value.dtype.kind in "biuf":
                out[name] = [_finite(item) for item in value.ravel().tolist()]
        elif isinstance(value, bool | int | float | str | np.generic):
            out[name] = _finite(value.item() if isinstance(value, np.generic) else value)
        if name == "quat_wxyz":
            out["attitude_deg"] = [_finite(angle) for angle in np.degrees(euler_from_quat(value)).tolist()]
    return out


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _picture(pixels: NDArray[np.uint8], more: Fields | None = None) -> FrameContent:
    data, width, height = jpeg(pixels)
    full = pixels.shape[1]
    return {"v": "jpeg", "width": width, "height": height, "scale": width / full, **(more or {})}, data


def _colour(maker: FrameMaker, info: Info, image: CameraImage) -> FrameContent:
    return _picture(image.colour)


def _depth(maker: FrameMaker, info: Info, image: DepthImage) -> FrameContent:
    """The picture; behind it the points, in the world."""
    colours, far = depth_colours(image.depth)
    header, data = _picture(colours, {"far": far})
    details = info.get("details", {})
    if not {"fx", "fy", "cx", "cy"} <= set(details):
        return header, data
    depth = image.depth[::DEPTH_STEP, ::DEPTH_STEP]
    rows, columns = np.nonzero(np.isfinite(depth) & (depth > 0.0))
    ahead = depth[rows, columns].astype(float)
    left = -(columns * DEPTH_STEP - details["cx"]) / details["fx"] * ahead
    up = -(rows * DEPTH_STEP - details["cy"]) / details["fy"] * ahead
    points = _placed(np.stack([ahead, left, up], axis=1), maker.pose_of(info))
    padding = b"\0" * (-len(data) % 8)
    return {**header, "jpeg": len(data), "cloud": len(data) + len(padding)}, data + padding + points.tobytes()


def _truth(maker: FrameMaker, info: Info, truth: ImageTruth) -> FrameContent:
    boxes = [[*map(int, label.box_px), f"{label.class_name} {label.distance:.0f} m"] for label in truth.labels]
    if truth.classes is not None:
        return _picture(class_colours(truth.classes), {"boxes": boxes})
    if truth.depth is not None:
        return _picture(depth_colours(truth.depth)[0], {"boxes": boxes})
    return {"boxes": boxes}, b""


def _debug_image(maker: FrameMaker, info: Info, image: Image) -> FrameContent:
    return _picture(grey_of(image.pixels))


def _range_doppler(maker: FrameMaker, info: Info, image: RangeDopplerImage) -> FrameContent:
    span = {"range": float(image.ranges[-1]), "speeds": [float(image.speeds[0]), float(image.speeds[-1])]}
    return _picture(power_colours(image.power), span)


def _step(points: NDArray[np.floating]) -> int:
    return -(-len(points) // MOST_POINTS) or 1


def _placed(points: NDArray[np.floating], pose: Pose) -> NDArray[np.float32]:
    few = np.asarray(points[:: _step(points)], float)
    return (rotate(pose[1], few) + pose[0]).astype(np.float32) if len(few) else np.zeros((0, 3), np.float32)


def _scan(maker: FrameMaker, info: Info, scan: LidarScan) -> FrameContent:
    points = _placed(scan.points, maker.pose_of(info))
    return {"v": "cloud", "count": len(points)}, points.tobytes()


def _cloud(maker: FrameMaker, info: Info, cloud: PointCloud) -> FrameContent:
    points = _placed(cloud.points, maker.pose_of(info, cloud.frame))
    head: Fields = {"v": "cloud", "count": len(points)}
    step = _step(cloud.points)
    if cloud.colours is not None:
        tints = cloud.colours[::step]
    elif cloud.values is not None and len(points):
        tints, head["least"], head["most"] = value_colours(cloud.values[::step])
    else:
        return head, points.tobytes()
    return {**head, "tints": points.nbytes}, points.tobytes() + np.ascontiguousarray(tints).tobytes()


def _radar(maker: FrameMaker, info: Info, found: RadarDetections) -> FrameContent:
    pose = maker.pose_of(info)
    points = _placed(found.points, pose)
    tracks = [
        [int(number), *(float(value) for value in rotate(pose[1], position) + pose[0])]
        for number, position in zip(found.track_ids, found.track_positions, strict=True)
    ]
    return {"v": "cloud", "count": len(points), "tracks": tracks}, points.tobytes()


def _grid(maker: FrameMaker, info: Info, grid: GridMap) -> FrameContent:
    rows, columns = grid.cells.shape
    head = {"v": "grid", "rows": rows, "columns": columns, "side": grid.resolution, "origin": grid.origin.tolist()}
    return head, np.ascontiguousarray(grid.cells).tobytes()


def _voxels(maker: FrameMaker, info: Info, voxels: VoxelMap) -> FrameContent:
    filled = np.argwhere(voxels.voxels > 50)
    step = -(-len(filled) // MOST_VOXELS) or 1
    few = filled[::step].astype("<u2")
    head = {"v": "voxels", "count": len(few), "side": voxels.resolution, "origin": voxels.origin.tolist()}
    return head, np.ascontiguousarray(few).tobytes()


def _path(maker: FrameMaker, info: Info, path: Path) -> FrameContent:
    return {"v": "path", "count": len(path.positions)}, np.ascontiguousarray(path.positions, "<f4").tobytes()


def _goal(maker: FrameMaker, info: Info, goal: Goal) -> FrameContent:
    return {"v": "goal", "at": goal.position.tolist()}, b""


def _goal_status(maker: FrameMaker, info: Info, status: GoalStatus) -> FrameContent:
    positions = {"goal": status.goal.tolist(), "sub": status.sub_goal.tolist()}
    details = {"state": status.state, "mode": status.mode, "reason": status.reason, "number": status.number}
    return {"v": "status", **positions, **details}, b""


def _detections(maker: FrameMaker, info: Info, found: Detections) -> FrameContent:
    boxes = [
        [*map(float, box), f"{name} {score:.2f}"]
        for box, name, score in zip(found.boxes_px.tolist(), found.classes, found.scores, strict=True)
    ]
    source = f"{info.get('vehicle')}/{found.source}" if found.source else ""
    return {"v": "boxes", "boxes": boxes, "source": source}, b""


def _movers(maker: FrameMaker, info: Info, movers: Movers) -> FrameContent:
    rows = zip(movers.positions.tolist(), movers.velocities.tolist(), movers.sizes.tolist(), strict=True)
    return {"v": "movers", "things": [[*position, *speed, *size] for position, speed, size in rows]}, b""


def _markers(maker: FrameMaker, info: Info, markers: Markers) -> FrameContent:
    at, turn = maker.pose_of(info, markers.frame)
    shapes = [
        {
            "kind": each.kind,
            "at": (rotate(turn, each.position) + at).tolist(),
            "size": each.size.tolist(),
            "colour": each.colour.tolist(),
            "text": each.text,
            "points": _placed(each.points[:500] + each.position, (at, turn)).tolist() if len(each.points) else [],
        }
        for each in markers.markers[:200]
    ]
    return {"v": "markers", "shapes": shapes}, b""


def _event(maker: FrameMaker, info: Info, event: Event) -> FrameContent:
    contact = None if event.contact is None else numbers(event.contact)
    return {"v": "event", "kind": str(event.kind), "text": event.text, "contact": contact}, b""


MAKERS: dict[type, Callable[[FrameMaker, Info, Any], FrameContent]] = {
    CameraImage: _colour, DepthImage: _depth, ImageTruth: _truth, Image: _debug_image,
    RangeDopplerImage: _range_doppler, LidarScan: _scan, PointCloud: _cloud, RadarDetections: _radar,
    GridMap: _grid, VoxelMap: _voxels, Path: _path, Goal: _goal, GoalStatus: _goal_status,
    Detections: _detections, Movers: _movers, Markers: _markers, Event: _event,
}  # fmt: skip
"""By the class of the record. Of every other record the numbers are sent."""
