"""Converts estimates and streams of user software to ROS 2 messages. Each stream is a topic of its own name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from skyloop.core.frames import matrix_from_quat, quat_from_yaw, rotate_inverse
from skyloop.recording.formats.ros2_names import (
    FLOAT32,
    NO_COVARIANCE,
    WORLD,
    Outgoing,
    body_frame,
    header,
    optical,
    pose_of,
    topic_of,
)
from skyloop_client.messages import (
    Array,
    Detections,
    Estimate,
    Goal,
    GoalStatus,
    GridMap,
    Image,
    KeyPose,
    LandingStatus,
    Marker,
    Markers,
    Movers,
    Number,
    Path,
    PointCloud,
    VoxelMap,
)
from skyloop_client.streams import NS_PER_S, StreamInfo

LEVEL = np.array([1.0, 0.0, 0.0, 0.0])
UINT32 = 6
OCCUPIED = 50
"""A voxel with at least this occupancy becomes a point of the cloud."""
ENCODINGS = {("u1", 3): "rgb8", ("u1", 2): "mono8", ("u2", 2): "mono16", ("f4", 2): "32FC1"}
"""By dtype and number of dimensions."""
ADD, DELETE_ALL = 0, 3
MARKER_TYPES = {"arrow": 0, "box": 1, "sphere": 2, "line": 4, "points": 8, "text": 9}


def axes_of(info: StreamInfo, name: str) -> str:
    """The coordinate frame for a record's "world", "body" or sensor name."""
    if name == "world":
        return WORLD
    return body_frame(info) if name == "body" else f"{info.vehicle}/{name}"


def lens_of(info: StreamInfo, source: str) -> str:
    """The frame of the camera that a record refers to, or the body frame if none is named."""
    return optical(f"{info.vehicle}/{source}") if source else body_frame(info)


def pose_covariance(estimate: Estimate) -> Array:
    """(6, 6) of position and attitude, world axes."""
    if estimate.covariance is not None:
        kept = [0, 1, 2, 6, 7, 8]
        return estimate.covariance[np.ix_(kept, kept)]
    return np.diag(np.square(np.concatenate([estimate.position_sd, estimate.attitude_sd])))


def velocity_covariance(estimate: Estimate) -> Array:
    """(3, 3), world axes."""
    if estimate.covariance is not None:
        return estimate.covariance[3:6, 3:6]
    return np.diag(np.square(estimate.velocity_sd))


def coloured_points(cloud: PointCloud) -> tuple[Any, list[tuple[str, int, int, int]]]:
    """A cloud as rows of bytes, and the fields of a row: name, offset, ROS's type, count."""
    extra: list[tuple[str, str, int, Any]] = []
    if cloud.values is not None:
        extra.append(("value", "<f4", FLOAT32, cloud.values))
    if cloud.colours is not None:
        parts = cloud.colours.astype(np.uint32)
        extra.append(("rgb", "<u4", UINT32, parts[:, 0] << 16 | parts[:, 1] << 8 | parts[:, 2]))
    if cloud.ids is not None:
        extra.append(("id", "<u4", UINT32, cloud.ids))
    kind = np.dtype([(axis, "<f4") for axis in "xyz"] + [(name, dtype) for name, dtype, _, _ in extra])
    rows = np.empty(len(cloud.points), kind)
    for axis, name in enumerate("xyz"):
        rows[name] = cloud.points[:, axis]
    for name, _, _, values in extra:
        rows[name] = values
    codes = [("x", FLOAT32), ("y", FLOAT32), ("z", FLOAT32), *((name, code) for name, _, code, _ in extra)]
    return rows, [(name, 4 * place, code, 1) for place, (name, code) in enumerate(codes)]


def occupied_points(voxels: VoxelMap) -> PointCloud:
    """The centres of the occupied voxels with their occupancy."""
    where = np.argwhere(voxels.voxels >= OCCUPIED)
    points = voxels.origin + (where + 0.5) * voxels.resolution
    return PointCloud(voxels.t_ns, points.astype(np.float32), voxels.voxels[tuple(where.T)].astype(np.float32))


def _estimate(info: StreamInfo, estimate: Estimate) -> Iterator[Outgoing]:
    """Empty while it is not valid, because an odometry message cannot say so."""
    if not estimate.valid:
        return
    body_from_world = matrix_from_quat(estimate.quat_wxyz).T
    twist_covariance = np.zeros((6, 6))
    twist_covariance[:3, :3] = body_from_world @ velocity_covariance(estimate) @ body_from_world.T
    velocity = rotate_inverse(estimate.quat_wxyz, estimate.velocity_world).tolist()
    pose = [*pose_of(estimate.position, estimate.quat_wxyz), *pose_covariance(estimate).ravel().tolist()]
    twist = [*velocity, *estimate.angular_velocity_body.tolist(), *twist_covariance.ravel().tolist()]
    fields = (header(estimate.t_ns, WORLD), body_frame(info), pose, twist)
    yield topic_of(info.name), "nav_msgs/Odometry", fields


def _detections(info: StreamInfo, found: Detections) -> Iterator[Outgoing]:
    head = header(found.t_ns, lens_of(info, found.source))
    nowhere = [*pose_of(np.zeros(3), LEVEL), *NO_COVARIANCE]
    detections = []
    for k, (left, top, right, bottom) in enumerate(found.boxes_px.tolist()):
        # in ROS the origin is the centre of the first pixel
        box = (0.5 * (left + right) - 0.5, 0.5 * (top + bottom) - 0.5, 0.0, right - left, bottom - top)
        results = [((found.classes[k], float(found.scores[k])), nowhere)]
        track = "" if found.tracks is None or found.tracks[k] < 0 else str(found.tracks[k])
        detections.append((head, results, box, track))
    yield topic_of(info.name), "vision_msgs/Detection2DArray", (head, detections)


def _grid(info: StreamInfo, grid: GridMap) -> Iterator[Outgoing]:
    height, width = grid.cells.shape
    about = (divmod(grid.t_ns, NS_PER_S), grid.resolution, width, height, pose_of(grid.origin, LEVEL))
    yield topic_of(info.name), "nav_msgs/OccupancyGrid", (header(grid.t_ns, WORLD), about, grid.cells)


def _voxels(info: StreamInfo, voxels: VoxelMap) -> Iterator[Outgoing]:
    yield from _cloud(info, occupied_points(voxels))


def _path(info: StreamInfo, path: Path) -> Iterator[Outgoing]:
    poses = []
    for k, position in enumerate(path.positions):
        turn = LEVEL if path.yaws is None else quat_from_yaw(float(path.yaws[k]))
        t_ns = path.t_ns if path.times_ns is None else int(path.times_ns[k])
        poses.append((header(t_ns, WORLD), pose_of(position, turn)))
    yield topic_of(info.name), "nav_msgs/Path", (header(path.t_ns, WORLD), poses)


def _cloud(info: StreamInfo, cloud: PointCloud) -> Iterator[Outgoing]:
    rows, fields = coloured_points(cloud)
    head, step = header(cloud.t_ns, axes_of(info, cloud.frame)), rows.dtype.itemsize
    values = (head, 1, len(rows), fields, False, step, rows.nbytes, rows.view(np.uint8), True)
    yield topic_of(info.name), "sensor_msgs/PointCloud2", values


def _key_pose(info: StreamInfo, pose: KeyPose) -> Iterator[Outgoing]:
    """Without its corners: ROS has no message for them."""
    fields = (header(pose.t_ns, WORLD), pose_of(pose.position, pose.quat_wxyz))
    yield topic_of(info.name), "geometry_msgs/PoseStamped", fields


def _goal(info: StreamInfo, goal: Goal) -> Iterator[Outgoing]:
    """Its stamp is 0: a goal counts from when it is sent."""
    turn = LEVEL if goal.yaw is None else quat_from_yaw(goal.yaw)
    yield topic_of(info.name), "geometry_msgs/PoseStamped", (header(0, WORLD), pose_of(goal.position, turn))


def _goal_status(info: StreamInfo, status: GoalStatus) -> Iterator[Outgoing]:
    """The goal and the sub-goal as a path of two points: ROS has no message for the rest."""
    head = header(status.t_ns, WORLD)
    poses = [(head, pose_of(place, LEVEL)) for place in (status.sub_goal, status.goal)]
    yield topic_of(info.name), "nav_msgs/Path", (head, poses)


def _landing_status(info: StreamInfo, status: LandingStatus) -> Iterator[Outgoing]:
    """The command, in ROS's body axes: forward, left, up. ROS has no message for the rest."""
    forward, right, down = status.velocity.tolist()
    twist = [forward, -right, -down, 0.0, 0.0, -status.yaw_rate, *[0.0] * 36]
    head = header(status.t_ns, axes_of(info, "body"))
    yield topic_of(info.name), "geometry_msgs/TwistWithCovarianceStamped", (head, twist)


def mover_markers(movers: Movers) -> Markers:
    """A box around each thing, and an arrow that is as long as the way of one second."""
    shapes = []
    for k, (place, velocity, (radius, height)) in enumerate(
        zip(movers.positions, movers.velocities, movers.sizes.tolist(), strict=True)
    ):
        number, heading = int(movers.ids[k]), float(np.arctan2(velocity[1], velocity[0]))
        size, speed = np.array([2.0 * radius, 2.0 * radius, height]), float(np.linalg.norm(velocity))
        shapes.append(Marker(f"thing {number}", "box", place, size=size, colour=np.array([0.9, 0.5, 0.1, 0.5])))
        arrow = np.array([max(speed, 0.01), 0.1, 0.1])
        shapes.append(Marker(f"velocity {number}", "arrow", place, quat_from_yaw(heading), arrow))
    return Markers(movers.t_ns, tuple(shapes))


def _movers(info: StreamInfo, movers: Movers) -> Iterator[Outgoing]:
    yield from _markers(info, mover_markers(movers))


def _image(info: StreamInfo, image: Image) -> Iterator[Outgoing]:
    pixels = image.pixels
    height, width = pixels.shape[:2]
    encoding = ENCODINGS[pixels.dtype.str[1:], pixels.ndim]
    head = header(image.t_ns, lens_of(info, image.source))
    fields = (head, height, width, encoding, False, pixels.nbytes // height, pixels.reshape(-1).view(np.uint8))
    yield topic_of(info.name), "sensor_msgs/Image", fields


def _markers(info: StreamInfo, markers: Markers) -> Iterator[Outgoing]:
    head = header(markers.t_ns, axes_of(info, markers.frame))
    # remove the markers of the previous record
    cleared = _marker(head, 0, Marker("", "box"), DELETE_ALL)
    added = [_marker(head, number, marker, ADD) for number, marker in enumerate(markers.markers)]
    yield topic_of(info.name), "visualization_msgs/MarkerArray", ([cleared, *added],)


def _marker(head: tuple[Any, ...], number: int, marker: Marker, action: int) -> tuple[Any, ...]:
    no_texture: tuple[Any, ...] = (((0, 0), ""), "", [])
    return (
        head, marker.name, number, MARKER_TYPES[marker.kind], action, pose_of(marker.position, marker.quat_wxyz),
        marker.size.tolist(), marker.colour.tolist(), (0, 0), False, marker.points.tolist(), [], "", no_texture, [],
        marker.text, "", ("", []), False,
    )  # fmt: skip


def _number(info: StreamInfo, number: Number) -> Iterator[Outgoing]:
    yield topic_of(info.name), "std_msgs/Float64", (number.value,)


PRODUCTS: dict[str, Callable[[StreamInfo, Any], Iterator[Outgoing]]] = {
    "Estimate": _estimate,
    "Detections": _detections,
    "GridMap": _grid,
    "VoxelMap": _voxels,
    "Path": _path,
    "PointCloud": _cloud,
    "KeyPose": _key_pose,
    "Goal": _goal,
    "GoalStatus": _goal_status,
    "LandingStatus": _landing_status,
    "Movers": _movers,
    "Image": _image,
    "Markers": _markers,
    "Number": _number,
}
"""By the name of the record."""
