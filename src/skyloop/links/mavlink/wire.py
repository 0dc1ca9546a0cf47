"""Converts to and from MAVLink: NED and FRD axes, headings, 10⁻⁷ degrees, PX4's modes, setpoint masks.

This module has no sockets and no simulation. World altitudes are above the ellipsoid. MAVLink's altitude above sea
level is taken as the same, because the simulator has no geoid."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from skyloop.core.frames import (
    GeoPoint,
    LocalFrame,
    enu_from_ned,
    flu_from_frd,
    ned_from_enu,
    quat_enu_flu_from_ned_frd,
)
from skyloop.links.mavlink.dialect import MavMessage, mavlink
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Array, Attitude, Position, Rates, Setpoint, Velocity

AUTO = 4
PX4_MODES: dict[str, tuple[int, int]] = {
    "position": (3, 0),
    "takeoff": (AUTO, 2),
    "hold": (AUTO, 3),
    "mission": (AUTO, 4),
    "rtl": (AUTO, 5),
    "land": (AUTO, 6),
    "offboard": (6, 0),
    "orbit": (3, 1),
    "follow": (AUTO, 8),
}
"""(main, sub) of the supported custom modes of PX4."""
LABELS = {
    "position": "Position", "takeoff": "Takeoff", "hold": "Hold", "mission": "Mission", "rtl": "Return",
    "land": "Land", "offboard": "Offboard", "orbit": "Orbit", "follow": "Follow Me",
}  # fmt: skip
"""Display names, as in PX4."""
STANDARD_MODES = {
    "position": mavlink.MAV_STANDARD_MODE_POSITION_HOLD, "orbit": mavlink.MAV_STANDARD_MODE_ORBIT,
    "rtl": mavlink.MAV_STANDARD_MODE_SAFE_RECOVERY, "mission": mavlink.MAV_STANDARD_MODE_MISSION,
    "land": mavlink.MAV_STANDARD_MODE_LAND, "takeoff": mavlink.MAV_STANDARD_MODE_TAKEOFF,
}  # fmt: skip
"""MAV_STANDARD_MODE by mode."""

E7 = 1e7
FARTHEST = 1e6
"""m and m/s. A larger number is invalid; single floats reach 1e38."""
FARTHEST_PLACE = 1e5
"""m from the world's origin. A position beyond is refused: the script was written for another home."""
EARTH_RADIUS = 6.371e6
"""m."""
FRAMES_GLOBAL = (mavlink.MAV_FRAME_GLOBAL, mavlink.MAV_FRAME_GLOBAL_INT)
FRAMES_ABOVE_HOME = (mavlink.MAV_FRAME_GLOBAL_RELATIVE_ALT, mavlink.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT)
FRAMES_BODY = (mavlink.MAV_FRAME_BODY_NED, mavlink.MAV_FRAME_BODY_OFFSET_NED, mavlink.MAV_FRAME_BODY_FRD)

IGNORE_POSITION, IGNORE_VELOCITY, IGNORE_ACCELERATION = 0x7, 0x38, 0x1C0
IGNORE_YAW, IGNORE_YAW_RATE = 1024, 2048
FORCE = 512
IGNORE_THRUST, IGNORE_ATTITUDE = 64, 128


def custom_mode(name: str) -> int:
    """As in a heartbeat."""
    main, sub = PX4_MODES[name]
    return main << 16 | sub << 24


def mode_named(main: int, sub: int) -> str | None:
    """Our mode, or None. AUTO without a sub-mode is hold, as is PX4's "ready"."""
    if main == AUTO and sub in (0, 1):
        return "hold"
    return next((name for name, numbers in PX4_MODES.items() if numbers == (main, sub)), None)


def available_modes() -> list[MavMessage]:
    """AVAILABLE_MODES, one message per mode."""
    built = []
    for number, name in enumerate(PX4_MODES):
        # an orbit needs a command that gives its centre
        properties = mavlink.MAV_MODE_PROPERTY_NOT_USER_SELECTABLE if name == "orbit" else 0
        properties |= mavlink.MAV_MODE_PROPERTY_ADVANCED if name == "offboard" else 0
        standard = STANDARD_MODES.get(name, mavlink.MAV_STANDARD_MODE_NON_STANDARD)
        built.append(
            mavlink.MAVLink_available_modes_message(
                len(PX4_MODES), number + 1, standard, custom_mode(name), properties, LABELS[name].encode()
            )
        )
    return built


def heading_from_yaw(yaw: float) -> float:
    """rad clockwise from north, -π to π, from rad anticlockwise from east. It is its own inverse."""
    return (math.pi / 2 - yaw + math.pi) % (2 * math.pi) - math.pi


yaw_from_heading = heading_from_yaw


class Geography:
    """The world's position on Earth, and a vehicle's local NED frame, whose origin is the vehicle's start."""

    def __init__(self, home: GeoPoint, origin: ArrayLike) -> None:
        self._frame = LocalFrame(home)
        self.origin: Array = np.array(origin, np.float64)
        """(3,) m, world."""

    def local_ned(self, position: ArrayLike) -> Array:
        """(3,) m of a world position."""
        return ned_from_enu(np.asarray(position) - self.origin)

    def enu_from_local_ned(self, ned: ArrayLike) -> Array:
        return enu_from_ned(ned) + self.origin

    def global_int(self, position: ArrayLike) -> tuple[int, int, float]:
        """Latitude and longitude in 10⁻⁷ degrees, altitude in m."""
        latitude_deg, longitude_deg, altitude = self._frame.geodetic_array_from_enu(position)
        return round(latitude_deg * E7), round(longitude_deg * E7), float(altitude)

    def enu_from_global(self, latitude_deg: float, longitude_deg: float, altitude: float) -> Array:
        """World position. Raises SetpointError if the position is not near this world."""
        if not (abs(latitude_deg) <= 90.0 and abs(longitude_deg) <= 360.0 and abs(altitude) <= FARTHEST):
            raise SetpointError(f"{latitude_deg}, {longitude_deg}, {altitude} m is no place on Earth")
        position = self._frame.enu_from_geodetic(GeoPoint(latitude_deg, longitude_deg, altitude))
        straight = float(np.linalg.norm(position))
        if straight > FARTHEST_PLACE:
            away = 2.0 * EARTH_RADIUS * math.asin(min(1.0, straight / (2.0 * EARTH_RADIUS)))
            raise SetpointError(
                f"{latitude_deg:.6f}, {longitude_deg:.6f} is {away / 1000:.0f} km away; "
                "start the simulator there, with --home LAT,LON or --home px4-zurich"
            )
        return position


def _near(values: tuple[float, ...], what: str) -> Array:
    vector = np.array(values, np.float64)
    if not np.all(np.abs(vector) <= FARTHEST):
        raise SetpointError(f"{what} of {vector.tolist()} is not near this world")
    return vector


def setpoint_from_local(message: MavMessage, geography: Geography) -> Setpoint:
    """From SET_POSITION_TARGET_LOCAL_NED: a position with its feedforward terms, or a velocity."""
    frame = message.coordinate_frame
    if frame not in (mavlink.MAV_FRAME_LOCAL_NED, *FRAMES_BODY):
        raise SetpointError(f"SET_POSITION_TARGET_LOCAL_NED in frame {frame}; LOCAL_NED and BODY_NED are flown")
    position = None
    if not message.type_mask & IGNORE_POSITION:
        if frame in FRAMES_BODY:
            raise SetpointError("a position in body axes; give it in LOCAL_NED")
        position = geography.enu_from_local_ned(_near((message.x, message.y, message.z), "a position"))
    return _setpoint(message, position, body=frame in FRAMES_BODY)


def setpoint_from_global(message: MavMessage, geography: Geography, home_altitude: float) -> Setpoint:
    """From SET_POSITION_TARGET_GLOBAL_INT. `home_altitude` is the zero of the frames relative to home."""
    frame = message.coordinate_frame
    if frame not in FRAMES_GLOBAL + FRAMES_ABOVE_HOME:
        raise SetpointError(f"SET_POSITION_TARGET_GLOBAL_INT in frame {frame}; above terrain is not flown")
    position = None
    if not message.type_mask & IGNORE_POSITION:
        above = home_altitude if frame in FRAMES_ABOVE_HOME else 0.0
        position = geography.enu_from_global(message.lat_int / E7, message.lon_int / E7, message.alt + above)
    return _setpoint(message, position, body=False)


def _setpoint(message: MavMessage, position: Array | None, *, body: bool) -> Setpoint:
    mask = message.type_mask
    for part, what in ((IGNORE_POSITION, "position"), (IGNORE_VELOCITY, "velocity")):
        if mask & part not in (0, part):
            raise SetpointError(f"type mask {mask:#x} has a {what} of some axes only; give all three or none")
    yaw = None if mask & IGNORE_YAW or not math.isfinite(message.yaw) else yaw_from_heading(message.yaw)
    yaw_rate = 0.0 if mask & IGNORE_YAW_RATE or not math.isfinite(message.yaw_rate) else -message.yaw_rate
    _near((yaw_rate,), "a yaw rate")
    extra = {}
    if not mask & IGNORE_VELOCITY:
        extra["velocity"] = _near((message.vx, message.vy, message.vz), "a velocity")
    if not mask & (IGNORE_ACCELERATION | FORCE):
        extra["acceleration"] = _near((message.afx, message.afy, message.afz), "an acceleration")
    if position is not None:
        given = {name: enu_from_ned(value) for name, value in extra.items()}
        return Position(position, yaw, yaw_rate, **given)
    if "velocity" not in extra:
        raise SetpointError(f"type mask {mask:#x} leaves neither a whole position nor a whole velocity")
    if body:
        return Velocity(flu_from_frd(extra["velocity"]), "body", yaw, yaw_rate)
    return Velocity(enu_from_ned(extra["velocity"]), "world", yaw, yaw_rate)


def setpoint_from_attitude(message: MavMessage, max_thrust: float) -> Setpoint:
    """From SET_ATTITUDE_TARGET. `max_thrust` is the force in N at thrust 1."""
    if message.type_mask & IGNORE_THRUST or not math.isfinite(message.thrust):
        raise SetpointError("SET_ATTITUDE_TARGET without a thrust")
    thrust = min(max(message.thrust, 0.0), 1.0) * max_thrust
    if message.type_mask & IGNORE_ATTITUDE:
        rates = _near((message.body_roll_rate, message.body_pitch_rate, message.body_yaw_rate), "a body rate")
        return Rates(flu_from_frd(rates), thrust)
    quat = np.array(message.q, np.float64)
    if not 0.5 < float(np.linalg.norm(quat)) < 2.0:
        raise SetpointError(f"SET_ATTITUDE_TARGET with q {quat.tolist()}; give a unit quaternion")
    return Attitude(quat_enu_flu_from_ned_frd(quat / np.linalg.norm(quat)), thrust)


def velocity_from_sticks(message: MavMessage, speed: float, climb: float, yaw_rate: float) -> Velocity:
    """From MANUAL_CONTROL. Full deflections mean m/s, m/s and rad/s; z is 0 to 1000 with 500 in the middle."""
    x, y, r = (min(max(value, -1000), 1000) / 1000 for value in (message.x, message.y, message.r))
    z = (min(max(message.z, 0), 1000) - 500) / 500
    return Velocity(np.array([x * speed, -y * speed, z * climb]), "body", yaw_rate=-r * yaw_rate)


class Inlet:
    """Splits incoming bytes into messages. Invalid bytes are skipped and counted."""

    def __init__(self) -> None:
        self.bad = 0
        """Number of invalid bytes and frames."""
        self._decoder = mavlink.MAVLink(None)
        self._left = bytearray()

    def feed(self, data: bytes) -> Iterator[MavMessage]:
        """The messages that are complete now."""
        left = self._left
        left += data
        while left:
            start = next((k for k, byte in enumerate(left) if byte in (0xFD, 0xFE)), len(left))
            self.bad += start
            del left[:start]
            if len(left) < 3:
                return
            signed = left[0] == 0xFD and left[2] & 1
            size = left[1] + (8 if left[0] == 0xFE else 25 if signed else 12)
            if len(left) < size:
                return
            try:
                message = self._decoder.decode(bytearray(left[:size]))
            except Exception:  # pymavlink raises struct.error, IndexError and more besides its own
                self.bad += 1
                del left[:1]
                continue
            if message.get_msgId() not in mavlink.mavlink_map:
                # pymavlink does not check this length: it may be invalid, with a real message behind its first byte
                del left[:1]
                continue
            del left[:size]
            yield message

    def clear(self) -> None:
        """Drop an incomplete message."""
        self._left.clear()
