"""A vehicle as URDF, for RViz and robot_state_publisher. Its links are the coordinate frames of /tf."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import quoteattr

import numpy as np

from skyloop.core.frames import matrix_from_quat
from skyloop.recording.ros2.types import RosMessage
from skyloop.sim.vehicle_port import VehicleGeometry
from skyloop_client.messages import Array

BODY_SHARE, ROTOR_SHARE = 0.6, 0.45
"""Of the distance from the centre to a rotor: the width of the body's box, and the radius of a rotor's disc."""
THICK = 0.06
"""m, the height of the body's box."""


def urdf_of(name: str, geometry: VehicleGeometry, frames: Iterable[RosMessage]) -> str:
    """`frames`: the transforms of /tf_static on the vehicle."""
    body = f"{name}/base_link"
    arm = float(np.max(np.linalg.norm(geometry.rotor_positions[:, :2], axis=1), initial=0.1))
    side = BODY_SHARE * arm
    # a solid box of this size; URDF wants an inertia and the flight does not use it
    across = geometry.mass * (side**2 + THICK**2) / 12.0
    up = geometry.mass * (2.0 * side**2) / 12.0
    parts = [
        f"<link name={quoteattr(body)}>",
        f'<inertial><mass value="{geometry.mass:.6g}"/><inertia ixx="{across:.6g}" iyy="{across:.6g}" '
        f'izz="{up:.6g}" ixy="0" ixz="0" iyz="0"/></inertial>',
        f'<visual><geometry><box size="{side:.4g} {side:.4g} {THICK:g}"/></geometry></visual>',
        *(_rotor(place, ROTOR_SHARE * arm) for place in geometry.rotor_positions),
        "</link>",
    ]
    for one in frames:
        parent, child = one.header.frame_id, one.child_frame_id
        parts.append(f"<link name={quoteattr(child)}/>")
        parts.append(
            f'<joint name={quoteattr(child + "_joint")} type="fixed"><parent link={quoteattr(parent)}/>'
            f"<child link={quoteattr(child)}/><origin {_origin(one.transform)}/></joint>"
        )
    return f'<?xml version="1.0"?>\n<robot name={quoteattr(name)}>\n' + "\n".join(parts) + "\n</robot>\n"


def _rotor(place: Array, radius: float) -> str:
    x, y, z = place.tolist()
    disc = f'<cylinder radius="{radius:.4g}" length="0.01"/>'
    return f'<visual><origin xyz="{x:.6g} {y:.6g} {z:.6g}" rpy="0 0 0"/><geometry>{disc}</geometry></visual>'


def _origin(transform: RosMessage) -> str:
    """URDF's fixed-axis roll, pitch, yaw: R = Rz(yaw) · Ry(pitch) · Rx(roll)."""
    place, q = transform.translation, transform.rotation
    turn = matrix_from_quat(np.array([q.w, q.x, q.y, q.z]))
    pitch = float(np.arcsin(np.clip(-turn[2, 0], -1.0, 1.0)))
    if abs(turn[2, 0]) < 1.0 - 1e-9:
        roll, yaw = float(np.arctan2(turn[2, 1], turn[2, 2])), float(np.arctan2(turn[1, 0], turn[0, 0]))
    else:
        roll, yaw = 0.0, float(np.arctan2(-turn[0, 1], turn[1, 1]))
    return f'xyz="{place.x:.9g} {place.y:.9g} {place.z:.9g}" rpy="{roll:.9g} {pitch:.9g} {yaw:.9g}"'
