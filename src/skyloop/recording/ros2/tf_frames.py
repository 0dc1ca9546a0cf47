"""Topics, coordinate frames, headers and poses of ROS 2 messages.

Coordinate frames: `map` is the world (ENU), `<vehicle>/odom` the same (REP 105 wants it between map and body; the true
pose does not drift), `<vehicle>/base_link` the body (FLU), `<vehicle>/<sensor>` a sensor's axes (x forward),
`<vehicle>/<sensor>_optical` a camera's (right, down, forward). A camera on a gimbal has no fixed mount. Its optical
frame is given from `map` if its truth was recorded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.recording.recording import sensor_of
from skyloop.recording.ros2.types import RosMessage, builtin_interfaces, geometry_msgs, sensor_msgs, std_msgs
from skyloop_client.messages import Array
from skyloop_client.streams import NS_PER_S, StreamInfo

WORLD = "map"
UINT16, UINT32, FLOAT32 = 4, 6, 7
"""ROS's numbers of the types of a point's fields."""
NO_COVARIANCE = np.zeros(36)


@lru_cache(maxsize=4096)
def topic_of(stream: str) -> str:
    return "/" + re.sub(r"[^A-Za-z0-9_/]", "_", stream)


def optical(frame_id: str) -> str:
    return f"{frame_id}_optical"


def body_frame(info: StreamInfo) -> str:
    return f"{info.vehicle}/base_link"


def odom_frame(info: StreamInfo) -> str:
    return f"{info.vehicle}/odom"


def frame_of(info: StreamInfo) -> str:
    """The frame of a sensor's axes, or the body frame for the vehicle's own streams."""
    if info.message in ("VehicleState", "Estimate"):
        return body_frame(info)
    return f"{info.vehicle}/{sensor_of(info)}" if info.vehicle else info.name


def on_gimbal(info: StreamInfo) -> bool:
    return bool(info.details.get("gimbal", "none") != "none")


def stamp(t_ns: int) -> RosMessage:
    return builtin_interfaces.Time(*divmod(t_ns, NS_PER_S))


def header(t_ns: int, frame_id: str) -> RosMessage:
    return std_msgs.Header(stamp(t_ns), frame_id)


def vector(xyz: Array) -> RosMessage:
    return geometry_msgs.Vector3(*xyz.tolist())


def point(xyz: Array) -> RosMessage:
    return geometry_msgs.Point(*xyz.tolist())


def quaternion(quat_wxyz: Array) -> RosMessage:
    w, x, y, z = quat_wxyz.tolist()
    return geometry_msgs.Quaternion(x, y, z, w)


def pose_of(position: Array, quat_wxyz: Array) -> RosMessage:
    return geometry_msgs.Pose(point(position), quaternion(quat_wxyz))


def twist_of(linear: Array, angular: Array) -> RosMessage:
    return geometry_msgs.Twist(vector(linear), vector(angular))


def transform(t_ns: int, parent: str, child: str, position: Array, quat_wxyz: Array) -> RosMessage:
    moved = geometry_msgs.Transform(vector(position), quaternion(quat_wxyz))
    return geometry_msgs.TransformStamped(header(t_ns, parent), child, moved)


def image(t_ns: int, frame_id: str, encoding: str, pixels: NDArray[np.generic]) -> RosMessage:
    height, width = pixels.shape[:2]
    data = np.ascontiguousarray(pixels).reshape(-1).view(np.uint8)
    return sensor_msgs.Image(header(t_ns, frame_id), height, width, encoding, 0, pixels.nbytes // height, data)


def cloud(t_ns: int, frame_id: str, columns: Sequence[tuple[str, int, Any]]) -> RosMessage:
    """`columns`: name, ROS's type and values of each field of a point, in their order, without gaps."""
    dtypes = {UINT16: "<u2", UINT32: "<u4", FLOAT32: "<f4"}
    kind = np.dtype([(name, dtypes[code]) for name, code, _ in columns])
    rows, fields = np.empty(len(columns[0][2]), kind), []
    assert kind.fields is not None
    for name, code, values in columns:
        rows[name] = values
        fields.append(sensor_msgs.PointField(name, kind.fields[name][1], code, 1))
    step, data = kind.itemsize, rows.view(np.uint8)
    return sensor_msgs.PointCloud2(header(t_ns, frame_id), 1, len(rows), fields, False, step, rows.nbytes, data, True)
