"""Topics, coordinate frames and headers of the ROS 2 messages in a bag.

Coordinate frames: `map` is the world (ENU), `<vehicle>/base_link` the body (FLU), `<vehicle>/<sensor>` a sensor's axes
(x forward), `<vehicle>/<sensor>_optical` a camera's (right, down, forward)."""

from __future__ import annotations

import re
from typing import Any

from skyloop_client.messages import Array
from skyloop_client.streams import NS_PER_S, StreamInfo

WORLD = "map"
UINT16, FLOAT32 = 4, 7
NO_COVARIANCE = [0.0] * 36
Outgoing = tuple[str, str, tuple[Any, ...]]
"""Topic, type, fields."""


def topic_of(stream: str) -> str:
    return "/" + re.sub(r"[^A-Za-z0-9_/]", "_", stream)


def optical(frame_id: str) -> str:
    return f"{frame_id}_optical"


def body_frame(info: StreamInfo) -> str:
    return f"{info.vehicle}/base_link"


def pose_of(position: Array, quat_wxyz: Array) -> list[float]:
    """The values of a Pose or a Transform: x, y, z, then the quaternion with w last."""
    w, x, y, z = quat_wxyz.tolist()
    return [*position.tolist(), x, y, z, w]


def header(t_ns: int, frame_id: str) -> tuple[Any, ...]:
    return divmod(t_ns, NS_PER_S), frame_id


def transform(t_ns: int, parent: str, child: str, position: Array, quat_wxyz: Array) -> tuple[Any, ...]:
    return header(t_ns, parent), child, pose_of(position, quat_wxyz)
