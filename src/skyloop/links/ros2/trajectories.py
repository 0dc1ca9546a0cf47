"""Reads a trajectory_msgs/MultiDOFJointTrajectory: cubics between its points, in simulated time."""

from __future__ import annotations

import numpy as np

from skyloop.core.frames import yaw_from_quat
from skyloop.recording.ros2.types import RosMessage
from skyloop.vehicle.behaviours import Cubics
from skyloop_client.messages import Array
from skyloop_client.streams import NS_PER_S

MOST_POINTS = 10_000


def trajectory_from(message: RosMessage) -> Cubics:
    """Raises ValueError with one line if it cannot be flown."""
    points = message.points
    if not 0 < len(points) <= MOST_POINTS:
        raise ValueError(f"a trajectory has 1 to {MOST_POINTS} points, not {len(points)}")
    if any(not point.transforms for point in points):
        raise ValueError("every point of a trajectory needs a transform")
    places = [point.transforms[0] for point in points]
    times = np.array([p.time_from_start.sec + p.time_from_start.nanosec / NS_PER_S for p in points])
    positions = np.array([[place.translation.x, place.translation.y, place.translation.z] for place in places])
    turns = np.array([[turn.w, turn.x, turn.y, turn.z] for turn in (place.rotation for place in places)])
    if np.any(np.diff(times) <= 0.0) or times[0] < 0.0:
        raise ValueError("time_from_start must rise from point to point")
    velocities = _velocities(points, times, positions)
    if not (np.isfinite(positions).all() and np.isfinite(velocities).all() and np.isfinite(turns).all()):
        raise ValueError("a trajectory holds a number that is not finite")
    if np.any(np.abs(np.linalg.norm(turns, axis=1) - 1.0) > 1e-2):
        raise ValueError("a rotation of a trajectory is no unit quaternion")
    yaws = np.unwrap([float(yaw_from_quat(turn)) for turn in turns])
    return Cubics(times, positions, velocities, np.asarray(yaws))


def _velocities(points: list[RosMessage], times: Array, positions: Array) -> Array:
    """As given, or from the neighbouring points."""
    if all(point.velocities for point in points):
        linear = [point.velocities[0].linear for point in points]
        return np.array([[velocity.x, velocity.y, velocity.z] for velocity in linear])
    if len(points) == 1:
        return np.zeros((1, 3))
    found = np.gradient(positions, times, axis=0)
    found[0] = found[-1] = 0.0
    return np.asarray(found)
