"""Converts what user software publishes to ROS 2 messages."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyloop.core.frames import quat_from_yaw
from skyloop.recording.ros2 import tf_frames
from skyloop.recording.ros2.samples import box_2d, detection
from skyloop.recording.ros2.tf_frames import FLOAT32, UINT32, WORLD, body_frame, header, optical, pose_of
from skyloop.recording.ros2.types import (
    RosMessage,
    builtin_interfaces,
    geometry_msgs,
    nav_msgs,
    sensor_msgs,
    std_msgs,
    vision_msgs,
    visualization_msgs,
)
from skyloop_client.messages import (
    Array,
    Detections,
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
from skyloop_client.streams import StreamInfo

LEVEL = np.array([1.0, 0.0, 0.0, 0.0])
NOWHERE = pose_of(np.zeros(3), LEVEL)
OCCUPIED = 50
"""A voxel with at least this occupancy becomes a point of the cloud."""
ENCODINGS = {("u1", 3): "rgb8", ("u1", 2): "mono8", ("u2", 2): "mono16", ("f4", 2): "32FC1"}
"""By dtype and number of dimensions."""
ADD, DELETE_ALL = 0, 3
MARKER_TYPES = {"arrow": 0, "box": 1, "sphere": 2, "line": 4, "points": 8, "text": 9}
FOR_EVER = builtin_interfaces.Duration(0, 0)
NO_BYTES = np.zeros(0, np.uint8)
NO_TEXTURE = sensor_msgs.CompressedImage(header(0, ""), "", NO_BYTES)
NO_MESH = visualization_msgs.MeshFile("", NO_BYTES)


def _axes(info: StreamInfo, name: str) -> str:
    """The coordinate frame for a record's "world", "body" or sensor name."""
    if name == "world":
        return WORLD
    return body_frame(info) if name == "body" else f"{info.vehicle}/{name}"


def _lens(info: StreamInfo, source: str) -> str:
    """The frame of the camera that a record refers to, or the body frame if none is named."""
    return optical(f"{info.vehicle}/{source}") if source else body_frame(info)


def _pose_stamped(t_ns: int, position: Array, quat_wxyz: Array) -> RosMessage:
    return geometry_msgs.PoseStamped(header(t_ns, WORLD), pose_of(position, quat_wxyz))


def detections(info: StreamInfo, found: Detections) -> RosMessage:
    head = header(found.t_ns, _lens(info, found.source))
    each = []
    for k, (left, top, right, bottom) in enumerate(found.boxes_px.tolist()):
        box = box_2d(0.5 * (left + right) - 0.5, 0.5 * (top + bottom) - 0.5, right - left, bottom - top)
        track = "" if found.tracks is None or found.tracks[k] < 0 else str(found.tracks[k])
        each.append(detection(head, (found.classes[k], float(found.scores[k])), NOWHERE, box, track))
    return vision_msgs.Detection2DArray(head, each)


def grid(info: StreamInfo, record: GridMap) -> RosMessage:
    height, width = record.cells.shape
    origin, loaded = pose_of(record.origin, LEVEL), tf_frames.stamp(record.t_ns)
    about = nav_msgs.MapMetaData(loaded, record.resolution, width, height, origin)
    return nav_msgs.OccupancyGrid(header(record.t_ns, WORLD), about, np.ascontiguousarray(record.cells).reshape(-1))


def voxels(info: StreamInfo, record: VoxelMap) -> RosMessage:
    """The centres of the occupied voxels with their occupancy."""
    where = np.argwhere(record.voxels >= OCCUPIED)
    points = record.origin + (where + 0.5) * record.resolution
    values = record.voxels[tuple(where.T)].astype(np.float32)
    return cloud(info, PointCloud(record.t_ns, points.astype(np.float32), values))


def path(info: StreamInfo, record: Path) -> RosMessage:
    poses = []
    for k, position in enumerate(record.positions):
        turn = LEVEL if record.yaws is None else quat_from_yaw(float(record.yaws[k]))
        t_ns = record.t_ns if record.times_ns is None else int(record.times_ns[k])
        poses.append(_pose_stamped(t_ns, position, turn))
    return nav_msgs.Path(header(record.t_ns, WORLD), poses)


def cloud(info: StreamInfo, record: PointCloud) -> RosMessage:
    columns: list[tuple[str, int, Any]] = [(axis, FLOAT32, record.points[:, k]) for k, axis in enumerate("xyz")]
    if record.values is not None:
        columns.append(("value", FLOAT32, record.values))
    if record.colours is not None:
        parts = record.colours.astype(np.uint32)
        columns.append(("rgb", UINT32, parts[:, 0] << 16 | parts[:, 1] << 8 | parts[:, 2]))
    if record.ids is not None:
        columns.append(("id", UINT32, record.ids))
    return tf_frames.cloud(record.t_ns, _axes(info, record.frame), columns)


def key_pose(info: StreamInfo, pose: KeyPose) -> RosMessage:
    """Without its corners: ROS has no message for them."""
    return _pose_stamped(pose.t_ns, pose.position, pose.quat_wxyz)


def goal(info: StreamInfo, record: Goal) -> RosMessage:
    """Its stamp is 0: a goal counts from when it is sent."""
    return _pose_stamped(0, record.position, LEVEL if record.yaw is None else quat_from_yaw(record.yaw))


def goal_status(info: StreamInfo, status: GoalStatus) -> RosMessage:
    """The goal and the sub-goal as a path of two points: ROS has no message for the rest."""
    poses = [_pose_stamped(status.t_ns, position, LEVEL) for position in (status.sub_goal, status.goal)]
    return nav_msgs.Path(header(status.t_ns, WORLD), poses)


def landing_status(info: StreamInfo, status: LandingStatus) -> RosMessage:
    """The command, in ROS's body axes: forward, left, up. ROS has no message for the rest."""
    flipped = np.array([1.0, -1.0, -1.0])
    twist = tf_frames.twist_of(flipped * status.velocity, np.array([0.0, 0.0, -status.yaw_rate]))
    told = geometry_msgs.TwistWithCovariance(twist, tf_frames.NO_COVARIANCE)
    return geometry_msgs.TwistWithCovarianceStamped(header(status.t_ns, body_frame(info)), told)


def movers(info: StreamInfo, record: Movers) -> RosMessage:
    """A box around each thing, and an arrow that is as long as the way of one second."""
    shapes = []
    for k, (position, velocity, (radius, height)) in enumerate(
        zip(record.positions, record.velocities, record.sizes.tolist(), strict=True)
    ):
        number, heading = int(record.ids[k]), float(np.arctan2(velocity[1], velocity[0]))
        size, speed = np.array([2.0 * radius, 2.0 * radius, height]), float(np.linalg.norm(velocity))
        shapes.append(Marker(f"thing {number}", "box", position, size=size, colour=np.array([0.9, 0.5, 0.1, 0.5])))
        arrow = np.array([max(speed, 0.01), 0.1, 0.1])
        shapes.append(Marker(f"velocity {number}", "arrow", position, quat_from_yaw(heading), arrow))
    return markers(info, Markers(record.t_ns, tuple(shapes)))


def image(info: StreamInfo, record: Image) -> RosMessage:
    encoding = ENCODINGS[record.pixels.dtype.str[1:], record.pixels.ndim]
    return tf_frames.image(record.t_ns, _lens(info, record.source), encoding, record.pixels)


def markers(info: StreamInfo, record: Markers) -> RosMessage:
    return marker_array(header(record.t_ns, _axes(info, record.frame)), record.markers)


def marker_array(head: RosMessage, shapes: tuple[Marker, ...]) -> RosMessage:
    """In place of all that were on the topic before."""
    added = [ros_marker(head, number, shape) for number, shape in enumerate(shapes)]
    return visualization_msgs.MarkerArray([ros_marker(head, 0, Marker("", "box"), DELETE_ALL), *added])


def ros_marker(head: RosMessage, number: int, marker: Marker, action: int = ADD, *, locked: bool = False) -> RosMessage:
    """`locked`: it moves with its frame."""
    return visualization_msgs.Marker(
        head, marker.name, number, MARKER_TYPES[marker.kind], action, pose_of(marker.position, marker.quat_wxyz),
        scale=tf_frames.vector(marker.size), color=std_msgs.ColorRGBA(*marker.colour.tolist()), lifetime=FOR_EVER,
        frame_locked=locked, points=[tf_frames.point(one) for one in marker.points], colors=[], texture_resource="",
        texture=NO_TEXTURE, uv_coordinates=[], text=marker.text, mesh_resource="", mesh_file=NO_MESH,
        mesh_use_embedded_materials=False,
    )  # fmt: skip


def number(info: StreamInfo, record: Number) -> RosMessage:
    return std_msgs.Float64(record.value)
