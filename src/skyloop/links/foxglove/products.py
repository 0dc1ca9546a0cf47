"""Converts streams published by user software to Foxglove's messages; axes and topics as in a dataset's ROS 2 bag."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import quat_from_yaw
from skyloop.links.foxglove.messages import View, caption, outline, pose, stamp
from skyloop.recording.formats.ros2_names import WORLD
from skyloop.recording.formats.ros2_products import ENCODINGS, axes_of, lens_of, mover_markers
from skyloop_client.messages import (
    Detections,
    Goal,
    GoalStatus,
    GridMap,
    Image,
    KeyPose,
    Marker,
    Markers,
    Movers,
    Path,
    PointCloud,
    VoxelMap,
)
from skyloop_client.streams import StreamInfo

from foxglove import messages as fox  # isort: skip: the lines above say what is missing without it

LEVEL = np.array([1.0, 0.0, 0.0, 0.0])
NUMBERS = fox.PackedElementFieldNumericType
CELL = np.dtype([("occupancy", "i1"), ("red", "u1"), ("green", "u1"), ("blue", "u1"), ("alpha", "u1")])
CELL_FIELDS = [
    fox.PackedElementField(name=name, offset=place, type=NUMBERS.Int8 if name == "occupancy" else NUMBERS.Uint8)
    for place, name in enumerate(CELL.names or ())
]
SHAFT = 0.8
"""Share of an arrow's length. The rest is its head."""


def _cells(occupancy: NDArray[np.int8], *, see_through: bool) -> NDArray[Any]:
    """Free is white, occupied is black, unknown is grey. With see_through only occupied cells are visible."""
    cells = np.empty(occupancy.shape, CELL)
    cells["occupancy"] = occupancy
    grey = np.where(occupancy < 0, 150, 255 - occupancy.astype(np.int16) * 255 // 100).astype(np.uint8)
    for name in ("red", "green", "blue"):
        cells[name] = grey
    cells["alpha"] = np.where(occupancy > 0, 255 * occupancy.astype(np.int16) // 100, 0) if see_through else 255
    return cells


def _grid(info: StreamInfo, grid: GridMap) -> Any:
    side, columns = grid.resolution, grid.cells.shape[1]
    return fox.Grid(
        timestamp=stamp(grid.t_ns), frame_id=WORLD, pose=pose(grid.origin, LEVEL), column_count=columns,
        cell_size=fox.Vector2(x=side, y=side), row_stride=columns * CELL.itemsize, cell_stride=CELL.itemsize,
        fields=CELL_FIELDS, data=_cells(grid.cells, see_through=False).tobytes(),
    )  # fmt: skip


def _voxels(info: StreamInfo, voxels: VoxelMap) -> Any:
    side, (nx, ny, _) = voxels.resolution, voxels.voxels.shape
    cells = _cells(np.ascontiguousarray(voxels.voxels.transpose(2, 1, 0)), see_through=True)
    return fox.VoxelGrid(
        timestamp=stamp(voxels.t_ns), frame_id=WORLD, pose=pose(voxels.origin, LEVEL), row_count=ny, column_count=nx,
        cell_size=fox.Vector3(x=side, y=side, z=side), slice_stride=ny * nx * CELL.itemsize,
        row_stride=nx * CELL.itemsize, cell_stride=CELL.itemsize, fields=CELL_FIELDS, data=cells.tobytes(),
    )  # fmt: skip


def _path(info: StreamInfo, path: Path) -> Any:
    turns = [LEVEL] * len(path.positions) if path.yaws is None else map(quat_from_yaw, path.yaws.tolist())
    poses = [pose(position, turn) for position, turn in zip(path.positions, turns, strict=True)]
    return fox.PosesInFrame(timestamp=stamp(path.t_ns), frame_id=WORLD, poses=poses)


def _cloud(info: StreamInfo, cloud: PointCloud) -> Any:
    columns: list[tuple[str, str, Any, Any]] = [
        (axis, "<f4", NUMBERS.Float32, cloud.points[:, k]) for k, axis in enumerate("xyz")
    ]
    if cloud.values is not None:
        columns.append(("value", "<f4", NUMBERS.Float32, cloud.values))
    if cloud.colours is not None:
        names = ("red", "green", "blue")
        columns += [(name, "u1", NUMBERS.Uint8, cloud.colours[:, k]) for k, name in enumerate(names)]
        columns.append(("alpha", "u1", NUMBERS.Uint8, 255))
    if cloud.ids is not None:
        columns.append(("id", "<u4", NUMBERS.Uint32, cloud.ids))
    kind = np.dtype([(name, dtype) for name, dtype, _, _ in columns])
    rows = np.empty(len(cloud.points), kind)
    fields = []
    for name, _, number, values in columns:
        rows[name] = values
        assert kind.fields is not None
        fields.append(fox.PackedElementField(name=name, offset=kind.fields[name][1], type=number))
    head = {"timestamp": stamp(cloud.t_ns), "frame_id": axes_of(info, cloud.frame), "pose": pose(np.zeros(3), LEVEL)}
    return fox.PointCloud(**head, point_stride=kind.itemsize, fields=fields, data=rows.tobytes())


def _key_pose(info: StreamInfo, kept: KeyPose) -> Any:
    return fox.PoseInFrame(timestamp=stamp(kept.t_ns), frame_id=WORLD, pose=pose(kept.position, kept.quat_wxyz))


def _goal(info: StreamInfo, goal: Goal) -> Any:
    """Its stamp is 0: a goal counts from when it is sent."""
    turn = LEVEL if goal.yaw is None else quat_from_yaw(goal.yaw)
    return fox.PoseInFrame(timestamp=stamp(0), frame_id=WORLD, pose=pose(goal.position, turn))


def _goal_status(info: StreamInfo, status: GoalStatus) -> Any:
    """The goal, the sub-goal, and above the goal what is done about it."""
    what = f"{status.state} {status.mode}: {status.reason}" if status.reason else f"{status.state} {status.mode}"
    red, blue = np.array([0.85, 0.2, 0.2, 0.9]), np.array([0.1, 0.5, 0.9, 0.9])
    above = np.array([0.0, 0.0, 0.4])
    shapes = (
        Marker("goal", "sphere", status.goal, size=np.full(3, 0.4), colour=red),
        Marker("sub-goal", "sphere", status.sub_goal, size=np.full(3, 0.25), colour=blue),
        Marker("state", "text", status.goal + above, size=np.full(3, 0.25), colour=red, text=what),
    )
    return _markers(info, Markers(status.t_ns, shapes))


def _movers(info: StreamInfo, movers: Movers) -> Any:
    return _markers(info, mover_markers(movers))


def _image(info: StreamInfo, image: Image) -> Any:
    pixels = image.pixels
    height, width = pixels.shape[:2]
    return fox.RawImage(
        timestamp=stamp(image.t_ns), frame_id=lens_of(info, image.source), width=width, height=height,
        encoding=ENCODINGS[pixels.dtype.str[1:], pixels.ndim], step=pixels.nbytes // height, data=pixels.tobytes(),
    )  # fmt: skip


def _detections(info: StreamInfo, found: Detections) -> Any:
    at = stamp(found.t_ns)
    outlines, captions = [], []
    for k, box in enumerate(found.boxes_px.tolist()):
        track = "" if found.tracks is None or found.tracks[k] < 0 else f" #{found.tracks[k]}"
        outlines.append(outline(at, *box))
        captions.append(caption(at, box[0], box[1], f"{found.classes[k]} {found.scores[k]:.2f}{track}"))
    return fox.ImageAnnotations(points=outlines, texts=captions)


def _markers(info: StreamInfo, markers: Markers) -> Any:
    at, frame = stamp(markers.t_ns), axes_of(info, markers.frame)
    entities = []
    for marker in markers.markers:
        kind, primitive = _primitive(marker)
        drawn: dict[str, Any] = {kind: [primitive]}
        entities.append(fox.SceneEntity(timestamp=at, frame_id=frame, id=marker.name, **drawn))
    gone = fox.SceneEntityDeletion(timestamp=at, type=fox.SceneEntityDeletionType.All)
    return fox.SceneUpdate(deletions=[gone], entities=entities)


def _primitive(marker: Marker) -> tuple[str, Any]:
    """The primitive that draws a marker, and the field of the entity that lists it."""
    place = pose(marker.position, marker.quat_wxyz)
    r, g, b, a = marker.colour.tolist()
    colour, (x, y, z) = fox.Color(r=r, g=g, b=b, a=a), marker.size.tolist()
    size = fox.Vector3(x=x, y=y, z=z)
    if marker.kind == "box":
        return "cubes", fox.CubePrimitive(pose=place, size=size, color=colour)
    if marker.kind == "sphere":
        return "spheres", fox.SpherePrimitive(pose=place, size=size, color=colour)
    if marker.kind == "text":
        return "texts", fox.TextPrimitive(pose=place, billboard=True, font_size=z, color=colour, text=marker.text)
    if marker.kind == "arrow":
        shaft = {"shaft_length": SHAFT * x, "shaft_diameter": 0.5 * y}
        head = {"head_length": (1.0 - SHAFT) * x, "head_diameter": y}
        return "arrows", fox.ArrowPrimitive(pose=place, color=colour, **shaft, **head)
    # Foxglove has no primitive for points, but lines of zero length look like dots
    dots = marker.kind == "points"
    kind = fox.LinePrimitiveLineType.LineList if dots else fox.LinePrimitiveLineType.LineStrip
    points = [fox.Point3(x=px, y=py, z=pz) for px, py, pz in marker.points.repeat(2 if dots else 1, axis=0).tolist()]
    return "lines", fox.LinePrimitive(type=kind, pose=place, thickness=x, color=colour, points=points)


PRODUCT_VIEWS: dict[str, tuple[View, ...]] = {
    "Detections": (View("", "ImageAnnotations", _detections),),
    "GridMap": (View("", "Grid", _grid),),
    "VoxelMap": (View("", "VoxelGrid", _voxels),),
    "Path": (View("", "PosesInFrame", _path),),
    "PointCloud": (View("", "PointCloud", _cloud),),
    "KeyPose": (View("", "PoseInFrame", _key_pose),),
    "Goal": (View("", "PoseInFrame", _goal),),
    "GoalStatus": (View("", "SceneUpdate", _goal_status),),
    "Movers": (View("", "SceneUpdate", _movers),),
    "Image": (View("", "RawImage", _image),),
    "Markers": (View("", "SceneUpdate", _markers),),
}
"""By the name of the record. Estimates are shown like a vehicle's truth, numbers are plotted."""
