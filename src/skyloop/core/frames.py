"""Rotations, rigid transforms, axis conventions and geodesy; every function takes leading batch axes.

Quaternions are Hamilton, unit, ``(w, x, y, z)``; world_from_body turns body vectors into world ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skyloop_client.errors import SetpointError
from skyloop_client.messages import Array

SENSOR_FROM_CAMERA = np.array([0.5, -0.5, 0.5, -0.5])
"""Quaternion: camera right, down, forward are sensor -y, -z, +x."""


def _parts(array: ArrayLike) -> tuple[Any, ...]:
    """The components along the last axis; plain floats, ten times faster, for a single vector."""
    values = np.asarray(array, dtype=np.float64)
    if values.ndim == 1:
        return tuple(values.tolist())
    return tuple(values[..., i] for i in range(values.shape[-1]))


def _joined(*components: Any) -> Array:
    joined = np.empty((*np.broadcast(*components).shape, len(components)))
    for i, component in enumerate(components):
        joined[..., i] = component
    return joined


def quat_multiply(left: ArrayLike, right: ArrayLike) -> Array:
    """a_from_c = quat_multiply(a_from_b, b_from_c)."""
    aw, ax, ay, az = _parts(left)
    bw, bx, by, bz = _parts(right)
    return _joined(
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def quat_conjugate(quat: ArrayLike) -> Array:
    """The inverse rotation of a unit quaternion."""
    return np.multiply(quat, [1.0, -1.0, -1.0, -1.0], dtype=np.float64)


def quat_normalised(quat: ArrayLike) -> Array:
    values = np.asarray(quat, dtype=np.float64)
    norm = np.linalg.norm(values, axis=-1, keepdims=True)
    if not np.all(norm > 0.0):
        raise SetpointError(f"quaternion {values} is zero or NaN and has no direction; give (w, x, y, z) of length 1")
    return np.asarray(values / norm)


def rotate(quat: ArrayLike, vector: ArrayLike) -> Array:
    """world = rotate(world_from_body, body)."""
    w, x, y, z = _parts(quat)
    vx, vy, vz = _parts(vector)
    # v' = v + w·t + u × t with t = 2 u × v
    tx = 2.0 * (y * vz - z * vy)
    ty = 2.0 * (z * vx - x * vz)
    tz = 2.0 * (x * vy - y * vx)
    return _joined(vx + w * tx + y * tz - z * ty, vy + w * ty + z * tx - x * tz, vz + w * tz + x * ty - y * tx)


def rotate_inverse(quat: ArrayLike, vector: ArrayLike) -> Array:
    """body = rotate_inverse(world_from_body, world)."""
    return rotate(quat_conjugate(quat), vector)


def matrix_from_quat(quat: ArrayLike) -> Array:
    """(..., 3, 3)."""
    return np.stack([rotate(quat, axis) for axis in np.eye(3)], axis=-1)


def quat_from_matrix(matrix: ArrayLike) -> Array:
    """The unit quaternion, w ≥ 0, of a rotation matrix, accurate for every rotation including half turns."""
    m = np.asarray(matrix, dtype=np.float64)
    m00, m11, m22 = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    a, b, c = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    d, e, f = m[..., 1, 0] + m[..., 0, 1], m[..., 0, 2] + m[..., 2, 0], m[..., 2, 1] + m[..., 1, 2]
    # Each row is 4·q_i·(w, x, y, z); the row of the largest q_i loses no digits.
    rows = np.stack(
        [
            _joined(1.0 + m00 + m11 + m22, a, b, c),
            _joined(a, 1.0 + m00 - m11 - m22, d, e),
            _joined(b, d, 1.0 - m00 + m11 - m22, f),
            _joined(c, e, f, 1.0 - m00 - m11 + m22),
        ],
        axis=-2,
    )
    largest = np.argmax(np.diagonal(rows, axis1=-2, axis2=-1), axis=-1)
    quat = quat_normalised(np.take_along_axis(rows, largest[..., None, None], axis=-2)[..., 0, :])
    return np.where(quat[..., :1] < 0.0, -quat, quat)


def quat_from_euler(roll: ArrayLike, pitch: ArrayLike, yaw: ArrayLike) -> Array:
    """Yaw about up, then pitch about left (nose down is positive), then roll about forward."""
    half = [0.5 * np.asarray(angle, dtype=np.float64) for angle in (roll, pitch, yaw)]
    (sr, sp, sy), (cr, cp, cy) = [np.sin(angle) for angle in half], [np.cos(angle) for angle in half]
    return _joined(
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    )


def euler_from_quat(quat: ArrayLike) -> Array:
    """(..., 3) roll, pitch, yaw; looking straight up or down, roll is 0 and yaw holds the whole turn."""
    m = matrix_from_quat(quat)
    cos_pitch = np.hypot(m[..., 0, 0], m[..., 1, 0])
    locked = cos_pitch < 1e-9
    roll = np.where(locked, 0.0, np.arctan2(m[..., 2, 1], m[..., 2, 2]))
    pitch = np.arctan2(-m[..., 2, 0], cos_pitch)
    yaw = np.where(locked, np.arctan2(-m[..., 0, 1], m[..., 1, 1]), yaw_from_quat(quat))
    return _joined(roll, pitch, yaw)


def yaw_from_quat(quat: ArrayLike) -> Array:
    """Heading of the body's forward axis, anticlockwise from east."""
    w, x, y, z = _parts(quat)
    return np.asarray(np.arctan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z))


def quat_from_yaw(yaw: ArrayLike) -> Array:
    """The quaternion of a heading, rad, of a level body."""
    half = 0.5 * np.asarray(yaw, dtype=np.float64)
    return _joined(np.cos(half), 0.0, 0.0, np.sin(half))


def quat_from_rotvec(rotvec: ArrayLike) -> Array:
    """From axis times angle."""
    vector = np.asarray(rotvec, dtype=np.float64)
    angle = np.linalg.norm(vector, axis=-1, keepdims=True)
    # sin(angle/2)/angle without the division by zero; numpy's sinc(x) is sin(πx)/(πx).
    return np.concatenate([np.cos(0.5 * angle), 0.5 * np.sinc(angle / (2.0 * np.pi)) * vector], axis=-1)


def rotvec_from_quat(quat: ArrayLike) -> Array:
    """Axis times angle, the angle in [0, π]."""
    values = np.asarray(quat, dtype=np.float64)
    values = np.where(values[..., :1] < 0.0, -values, values)
    sine = np.linalg.norm(values[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, values[..., :1])
    return np.asarray(values[..., 1:] * np.where(sine > 0.0, angle / np.where(sine > 0.0, sine, 1.0), 2.0))


def slerp(start: ArrayLike, end: ArrayLike, fraction: ArrayLike) -> Array:
    """Constant turn rate the short way from `start` (fraction 0) to `end` (fraction 1)."""
    turn = rotvec_from_quat(quat_multiply(quat_conjugate(start), end))
    return quat_multiply(start, quat_from_rotvec(np.asarray(fraction, dtype=np.float64)[..., None] * turn))


@dataclass(frozen=True, slots=True, eq=False)
class Transform:
    """A pose named a_from_b: where frame b sits in frame a, and how b's axes are turned in a."""

    position: Array
    """(..., 3) m, of b's origin, in a."""
    quat_wxyz: Array
    """(..., 4) a_from_b."""

    @staticmethod
    def identity() -> Transform:
        return Transform(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))

    def __matmul__(self, other: Transform) -> Transform:
        """a_from_c = a_from_b @ b_from_c."""
        return Transform(self.apply(other.position), quat_multiply(self.quat_wxyz, other.quat_wxyz))

    def inverse(self) -> Transform:
        """b_from_a."""
        return Transform(-rotate_inverse(self.quat_wxyz, self.position), quat_conjugate(self.quat_wxyz))

    def apply(self, points: ArrayLike) -> Array:
        """(..., 3) points given in b, expressed in a."""
        return np.asarray(rotate(self.quat_wxyz, points) + self.position)

    def matrix(self) -> Array:
        """(..., 4, 4) homogeneous."""
        rotation = matrix_from_quat(self.quat_wxyz)
        matrix = np.zeros((*rotation.shape[:-2], 4, 4))
        matrix[..., :3, :3] = rotation
        matrix[..., :3, 3] = self.position
        matrix[..., 3, 3] = 1.0
        return matrix


# Other people's axes: NED world, FRD body.
_NED_FROM_ENU = np.array([0.0, np.sqrt(0.5), np.sqrt(0.5), 0.0])
_FRD_FROM_FLU = np.array([0.0, 1.0, 0.0, 0.0])


def ned_from_enu(vector: ArrayLike) -> Array:
    east, north, up = _parts(vector)
    return _joined(north, east, -up)


def frd_from_flu(vector: ArrayLike) -> Array:
    forward, left, up = _parts(vector)
    return _joined(forward, -left, -up)


def quat_ned_frd_from_enu_flu(quat: ArrayLike) -> Array:
    """ned_from_frd from enu_from_flu."""
    return quat_multiply(quat_multiply(_NED_FROM_ENU, quat), _FRD_FROM_FLU)


# Both axis changes are half turns, so each undoes itself.
enu_from_ned = ned_from_enu
flu_from_frd = frd_from_flu
quat_enu_flu_from_ned_frd = quat_ned_frd_from_enu_flu


# WGS84.
EQUATORIAL_RADIUS = 6378137.0
FLATTENING = 1.0 / 298.257223563
_POLAR_RADIUS = EQUATORIAL_RADIUS * (1.0 - FLATTENING)
_ECCENTRICITY_SQUARED = FLATTENING * (2.0 - FLATTENING)
_SECOND_ECCENTRICITY_SQUARED = _ECCENTRICITY_SQUARED / (1.0 - _ECCENTRICITY_SQUARED)


@dataclass(frozen=True, slots=True)
class GeoPoint:
    """A place on WGS84."""

    latitude_deg: float
    longitude_deg: float
    altitude: float
    """m above the WGS84 ellipsoid."""

    def array(self) -> Array:
        """(3,) latitude_deg, longitude_deg, altitude."""
        return np.array([self.latitude_deg, self.longitude_deg, self.altitude])


def ecef_from_geodetic(geodetic: ArrayLike) -> Array:
    """(..., 3) m earth-centred, earth-fixed, from (..., 3) latitude_deg, longitude_deg, altitude."""
    latitude_deg, longitude_deg, altitude = _parts(geodetic)
    latitude, longitude = np.radians(latitude_deg), np.radians(longitude_deg)
    sine, cosine = np.sin(latitude), np.cos(latitude)
    normal = EQUATORIAL_RADIUS / np.sqrt(1.0 - _ECCENTRICITY_SQUARED * sine**2)
    from_axis = (normal + altitude) * cosine
    return _joined(
        from_axis * np.cos(longitude),
        from_axis * np.sin(longitude),
        (normal * (1.0 - _ECCENTRICITY_SQUARED) + altitude) * sine,
    )


def geodetic_from_ecef(ecef: ArrayLike) -> Array:
    """(..., 3) latitude_deg, longitude_deg, altitude from (..., 3) m earth-centred, earth-fixed."""
    x, y, z = _parts(ecef)
    from_axis = np.hypot(x, y)
    reduced = np.arctan2(z * EQUATORIAL_RADIUS, from_axis * _POLAR_RADIUS)
    for _ in range(3):  # Bowring's step; two leave less than 1e-8 m from -10 km to 1000 km
        latitude = np.arctan2(
            z + _SECOND_ECCENTRICITY_SQUARED * _POLAR_RADIUS * np.sin(reduced) ** 3,
            from_axis - _ECCENTRICITY_SQUARED * EQUATORIAL_RADIUS * np.cos(reduced) ** 3,
        )
        reduced = np.arctan2((1.0 - FLATTENING) * np.sin(latitude), np.cos(latitude))
    sine, cosine = np.sin(latitude), np.cos(latitude)
    # The foot point's distance along the normal: well conditioned at the equator and the poles alike.
    altitude = from_axis * cosine + z * sine - EQUATORIAL_RADIUS * np.sqrt(1.0 - _ECCENTRICITY_SQUARED * sine**2)
    return _joined(np.degrees(latitude), np.degrees(np.arctan2(y, x)), altitude)


class LocalFrame:
    """The world's ENU axes, tangent to the ellipsoid at home."""

    __slots__ = ("_home_ecef", "ecef_from_enu", "home")

    def __init__(self, home: GeoPoint) -> None:
        self.home = home
        self._home_ecef = ecef_from_geodetic(home.array())
        latitude, longitude = np.radians(home.latitude_deg), np.radians(home.longitude_deg)
        east = [-np.sin(longitude), np.cos(longitude), 0.0]
        up = [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)]
        self.ecef_from_enu: Array = np.stack([east, np.cross(up, east), up], axis=-1)
        """(3, 3) rotation."""

    def geodetic_array_from_enu(self, enu: ArrayLike) -> Array:
        """(..., 3) latitude_deg, longitude_deg, altitude of (..., 3) m world positions."""
        return geodetic_from_ecef(np.asarray(enu, dtype=np.float64) @ self.ecef_from_enu.T + self._home_ecef)

    def enu_from_geodetic_array(self, geodetic: ArrayLike) -> Array:
        """(..., 3) m world positions of (..., 3) latitude_deg, longitude_deg, altitude."""
        return np.asarray((ecef_from_geodetic(geodetic) - self._home_ecef) @ self.ecef_from_enu)

    def geodetic_from_enu(self, enu: ArrayLike) -> GeoPoint:
        return GeoPoint(*(float(value) for value in self.geodetic_array_from_enu(enu)))

    def enu_from_geodetic(self, point: GeoPoint) -> Array:
        return self.enu_from_geodetic_array(point.array())
