"""Converts AirSim's structures, which travel as maps, to and from our arrays: NED and FRD there, ENU and FLU here.

In AirSim each vehicle has its own axes: NED with the origin at its start. Objects are in the world's axes: NED at the
world's origin, and named as in Unreal's Blocks."""

from __future__ import annotations

import math
import re
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skyloop.core.frames import (
    GeoPoint,
    enu_from_ned,
    flu_from_frd,
    frd_from_flu,
    ned_from_enu,
    quat_enu_flu_from_ned_frd,
    quat_from_euler,
    quat_ned_frd_from_enu_flu,
    quat_normalised,
)
from skyloop_client.errors import LinkError
from skyloop_client.messages import Array, Estimate, VehicleState

Map = dict[str, Any]
"""A structure of AirSim as it travels. Its fields are checked where they are read."""
FARTHEST = 1e6
"""m from the origin. Beyond this, floats lose millimetres."""
FASTEST = 1e3
"""m/s and rad/s, the most that a client may set."""
MOST_REPEATS = 6
FLIP = np.array([1.0, 1.0, -1.0, -1.0])
"""Converts a rotation between two FLU frames to one between two FRD frames: y and z change sign."""


# ---- plain maps


def vector(xyz: ArrayLike) -> Map:
    x, y, z = np.asarray(xyz, float).tolist()
    return {"x_val": x, "y_val": y, "z_val": z}


def vector2(x: float, y: float) -> Map:
    return {"x_val": float(x), "y_val": float(y)}


def quaternion(wxyz: ArrayLike) -> Map:
    """Of the two equal quaternions, the one with w ≥ 0."""
    w, x, y, z = (np.asarray(wxyz, float) * (-1.0 if np.asarray(wxyz)[0] < 0.0 else 1.0)).tolist()
    return {"w_val": w, "x_val": x, "y_val": y, "z_val": z}


def pose(position: ArrayLike, wxyz: ArrayLike) -> Map:
    return {"position": vector(position), "orientation": quaternion(wxyz)}


def geo_point(point: GeoPoint) -> Map:
    return {"latitude": point.latitude_deg, "longitude": point.longitude_deg, "altitude": point.altitude}


# ---- incoming values


def number_of(value: object, what: str = "a number", most: float = 1e9) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= most:
        raise LinkError(f"{what} is {value!r}; give a number of at most {most:g}")
    return float(value)


def _fields(value: object, names: tuple[str, ...], what: str) -> Array:
    if not isinstance(value, dict):
        raise LinkError(f"{what} is {value!r}; give a map with {', '.join(names)}")
    return np.array([number_of(value.get(name), f"{what}.{name}") for name in names])


def vector_of(value: object, what: str = "vector", most: float = FARTHEST) -> Array:
    xyz = _fields(value, ("x_val", "y_val", "z_val"), what)
    if not np.abs(xyz).max() <= most:
        raise LinkError(f"{what} is {xyz.tolist()}; give numbers of at most {most:g}")
    return xyz


def _has_nan(value: object) -> bool:
    return isinstance(value, dict) and any(isinstance(part, float) and math.isnan(part) for part in value.values())


def quaternion_of(value: object, what: str = "quaternion") -> Array:
    wxyz = _fields(value, ("w_val", "x_val", "y_val", "z_val"), what)
    if not np.linalg.norm(wxyz) > 1e-6:
        raise LinkError(f"{what} is zero; give a unit quaternion")
    return quat_normalised(wxyz)


def pose_of(value: object, what: str = "pose") -> tuple[Array, Array]:
    """Position and quaternion as sent."""
    if not isinstance(value, dict):
        raise LinkError(f"{what} is {value!r}; give a map with position and orientation")
    return vector_of(value.get("position"), f"{what}.position"), quaternion_of(
        value.get("orientation"), f"{what}.orientation"
    )


def pattern_of(expression: object, *, is_regex: bool = True) -> re.Pattern[str]:
    """A regular expression for names. One that could take very long on a short name is refused."""
    text = str(expression)
    if not is_regex:
        return re.compile(re.escape(text), re.IGNORECASE)
    if len(text) > 200 or re.search(r"\)[*+{]", text) or len(re.findall(r"[*+{]", text)) > MOST_REPEATS:
        raise LinkError(f"'{text[:40]}': give at most {MOST_REPEATS} repeats, none of them of a group")
    try:
        return re.compile(text, re.IGNORECASE)
    except re.error as error:
        raise LinkError(f"'{text}' is not a regular expression: {error}") from None


def must_be_ned(ned: object) -> None:
    """Cosys-AirSim's clients may also ask for Unreal's axes, which skyloop does not have."""
    if not ned:
        raise LinkError("ned is False; Unreal's own axes and centimetres are not here, leave it True")


def geo_point_of(value: object, what: str = "point") -> GeoPoint:
    latitude, longitude, altitude = _fields(value, ("latitude", "longitude", "altitude"), what).tolist()
    return GeoPoint(latitude, longitude, altitude)


# ---- frames


class Axes:
    """NED with its origin at a point of the world."""

    def __init__(self, origin: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        self.origin = np.array(origin, float)
        """(3,) m, world (ENU)."""

    def ned(self, position: ArrayLike) -> Array:
        return ned_from_enu(np.asarray(position, float) - self.origin)

    def world(self, ned: ArrayLike) -> Array:
        return np.asarray(enu_from_ned(ned) + self.origin)

    def pose(self, position: ArrayLike, quat_wxyz: ArrayLike) -> Map:
        """From world position and world_from_body, FLU."""
        return pose(self.ned(position), quat_ned_frd_from_enu_flu(quat_wxyz))

    def world_pose(self, value: object) -> tuple[Array, Array]:
        """Position and world_from_body, FLU, from a pose as sent."""
        position, quat = pose_of(value)
        return self.world(position), quat_enu_flu_from_ned_frd(quat)

    def world_pose_from(self, value: object, position: ArrayLike, quat_wxyz: ArrayLike) -> tuple[Array, Array]:
        """The same, but NaN keeps the current position or attitude."""
        if not isinstance(value, dict):
            raise LinkError(f"pose is {value!r}; give a map with position and orientation")
        now = self.pose(position, quat_wxyz)
        return self.world_pose({
            part: now[part] if _has_nan(value.get(part)) else value.get(part) for part in ("position", "orientation")
        })  # fmt: skip

    def world_motion(self, value: Map, position: ArrayLike, quat_wxyz: ArrayLike) -> tuple[Array, Array, Array, Array]:
        """Position, world_from_body, velocity, body rates, FLU, from a state as sent. NaN keeps the current value."""
        position, quat = self.world_pose_from(value, position, quat_wxyz)
        velocity = vector_of(value.get("linear_velocity"), "linear_velocity", FASTEST)
        rates = vector_of(value.get("angular_velocity"), "angular_velocity", FASTEST)
        return position, quat, enu_from_ned(velocity), flu_from_frd(rates)

    def kinematics(self, state: VehicleState | Estimate) -> Map:
        """From a VehicleState, or from an Estimate, which has no accelerations."""
        linear = angular = np.zeros(3)
        if isinstance(state, VehicleState):
            linear, angular = ned_from_enu(state.acceleration_world), frd_from_flu(state.angular_acceleration_body)
        return {
            **self.pose(state.position, state.quat_wxyz),
            "linear_velocity": vector(ned_from_enu(state.velocity_world)),
            "angular_velocity": vector(frd_from_flu(state.angular_velocity_body)),
            "linear_acceleration": vector(linear),
            "angular_acceleration": vector(angular),
        }


def body_pose(position: ArrayLike, quat_wxyz: ArrayLike) -> Map:
    """Converts a mount from FLU in FLU to FRD in FRD."""
    return pose(frd_from_flu(position), FLIP * np.asarray(quat_wxyz))


def mount_of(value: object) -> tuple[Array, Array]:
    """Position and body_from_sensor, FLU, from a pose relative to the body as sent."""
    position, quat = pose_of(value)
    return frd_from_flu(position), FLIP * quat


def yaw_of_ned(yaw: float) -> float:
    """rad anticlockwise from east, from rad clockwise from north."""
    return 0.5 * math.pi - yaw


def quat_of_ned_euler(roll: float, pitch: float, yaw: float) -> Array:
    """world_from_body, FLU, from AirSim's roll right, pitch up, yaw clockwise from north."""
    return quat_from_euler(roll, -pitch, yaw_of_ned(yaw))


# ---- names of objects


BLOCK = re.compile(r"block (\d+)")
GROUNDS = {"terrain": "Ground", "far terrain": "Ground_2"}
SKY = "SkySphere"


@cache
def shown_name(name: str) -> str:
    """The name that clients see. Unreal's names have no spaces, and the regular expressions of scripts rely on that."""
    if (block := BLOCK.fullmatch(name)) is not None:
        return f"TemplateCube_Rounded_{block[1]}"
    return GROUNDS.get(name, name.replace(" ", "_"))


@cache
def names_of(name: str) -> tuple[str, ...]:
    """All names that an object answers to: the shown one, and the world's own with or without spaces."""
    return tuple(dict.fromkeys((shown_name(name), name, name.replace(" ", "_"))))


def matches(pattern: re.Pattern[str], name: str) -> bool:
    """Whether an expression matches one of the names completely."""
    return any(pattern.fullmatch(known) for known in names_of(name))
