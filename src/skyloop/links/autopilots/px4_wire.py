"""PX4's simulator messages: encodes our records as MAVLink and decodes PX4's messages.

World ENU and body FLU become NED and FRD here. Units become gauss, hPa, cm, mm, 1e-7 degrees."""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from skyloop.core.frames import GeoPoint, LocalFrame, frd_from_flu, ned_from_enu, rotate, rotate_inverse
from skyloop.links.autopilots.motor_handover import ned_quat, orientation_of
from skyloop.links.autopilots.odometry import LocalAxes, odometry_fields
from skyloop_client.errors import SetupError
from skyloop_client.messages import (
    Array,
    BarometerSample,
    Estimate,
    GnssFix,
    ImuSample,
    MagnetometerSample,
    OpticalFlowSample,
    RangeSample,
    VehicleState,
)
from skyloop_client.streams import Mount

if TYPE_CHECKING:
    from pymavlink.dialects.v20.common import MAVLink_message

SIMULATOR_ID = (142, 42)
"""System and component."""
FIRST_SYSTEM = 1
"""The system id of a board, unless its user gave it another one."""
VISUAL_INERTIAL = 3
"""MAV_ESTIMATOR_TYPE_VIO."""
GOOD = 100
"""Quality in percent. An estimate is valid or not; one that is not valid is not sent."""
ACCEL_GYRO = 0x3F
MAG = 0x1C0
BARO = 0x1A00
RESET = 1 << 31
HIL_STATE_QUATERNION = 115
LOCKSTEP = 1
ARMED = 128
SET_MESSAGE_INTERVAL = 511
NO_COURSE = 65535
ZERO_CELSIUS = 273.15
STANDARD_GRAVITY = 9.80665


@dataclass(frozen=True, slots=True)
class Actuators:
    """HIL_ACTUATOR_CONTROLS."""

    time_us: int
    controls: Array
    """(16,)."""
    armed: bool
    lockstep: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """A request for a message at an interval."""

    message: int
    interval_us: float
    """0: default interval. Negative: never."""


@dataclass(frozen=True, slots=True)
class Origin:
    """GPS_GLOBAL_ORIGIN: it has one."""


def dialect() -> ModuleType:
    """pymavlink's common messages, version 2."""
    try:
        return importlib.import_module("pymavlink.dialects.v20.common")
    except ImportError:
        raise SetupError("PX4 needs pymavlink; pip install 'skyloop[mavlink]'") from None


def _limited(value: float, bits: int) -> int:
    """A signed integer that saturates. NaN gives 0."""
    most = (1 << (bits - 1)) - 1
    return 0 if math.isnan(value) else round(min(max(value, -most), most))


def _unsigned(value: float, bits: int) -> int:
    most = (1 << bits) - 1
    return most if math.isnan(value) else round(min(max(value, 0.0), most))


class Wire:
    """Encodes and decodes one MAVLink connection."""

    def __init__(self) -> None:
        self._dialect = dialect()
        self._mav = self._dialect.MAVLink(None, *SIMULATOR_ID)
        self._mav.robust_parsing = True
        self.bad = 0
        """Number of invalid bytes or messages."""

    def read(self, data: bytes) -> list[Actuators | Wanted | Origin]:
        """The relevant messages. Invalid bytes are counted and skipped."""
        found: list[Actuators | Wanted | Origin] = []
        for message in self._messages(data):
            kind = message.get_type()
            if kind == "HIL_ACTUATOR_CONTROLS":
                controls = np.array(message.controls, dtype=np.float64)
                armed, lockstep = bool(message.mode & ARMED), bool(message.flags & LOCKSTEP)
                found.append(Actuators(int(message.time_usec), controls, armed, lockstep))
            elif kind == "COMMAND_LONG" and message.command == SET_MESSAGE_INTERVAL:
                if math.isfinite(message.param1) and math.isfinite(message.param2):
                    found.append(Wanted(round(message.param1), message.param2))
            elif kind == "GPS_GLOBAL_ORIGIN":
                found.append(Origin())
            elif kind == "BAD_DATA":
                self.bad += 1
        return found

    def _messages(self, data: bytes) -> list[MAVLink_message]:
        try:
            return self._mav.parse_buffer(data) or []
        except Exception:  # the parser raises several kinds of errors on broken bytes; none may end a flight
            self.bad += 1
            self._mav = self._dialect.MAVLink(None, *SIMULATOR_ID)
            self._mav.robust_parsing = True
            return []

    def _packed(self, message: MAVLink_message) -> bytes:
        data = bytes(message.pack(self._mav))
        self._mav.seq = (self._mav.seq + 1) % 256
        return data

    def heartbeat(self) -> bytes:
        return self._packed(self._dialect.MAVLink_heartbeat_message(0, 8, 0, 0, 4, 3))

    def sensor(
        self,
        t_us: int,
        number: int = 0,
        imu: tuple[ImuSample, Mount] | None = None,
        magnetometer: tuple[MagnetometerSample, Mount] | None = None,
        barometer: BarometerSample | None = None,
        *,
        reset: bool = False,
    ) -> bytes:
        """HIL_SENSOR with the given groups of fields. Number 0 advances PX4's clock."""
        gyro = accel = field = np.zeros(3)
        pressure = altitude = temperature = 0.0
        fields = RESET if reset else 0
        if imu is not None:
            sample, mount = imu
            gyro = frd_from_flu(rotate(mount.quat_wxyz, sample.angular_velocity))
            accel = frd_from_flu(rotate(mount.quat_wxyz, sample.specific_force))
            fields |= ACCEL_GYRO
        if magnetometer is not None:
            reading, mount = magnetometer
            field = 1e4 * frd_from_flu(rotate(mount.quat_wxyz, reading.field_tesla))
            fields |= MAG
        if barometer is not None:
            pressure, altitude = barometer.pressure / 100.0, barometer.altitude
            temperature = barometer.temperature - ZERO_CELSIUS
            fields |= BARO
        message = self._dialect.MAVLink_hil_sensor_message(
            t_us, *accel.tolist(), *gyro.tolist(), *field.tolist(), pressure, 0.0, altitude, temperature, fields, number
        )
        return self._packed(message)

    def gps(self, t_us: int, fix: GnssFix, number: int = 0) -> bytes:
        """HIL_GPS. The altitude above the ellipsoid is sent as the one above sea level, because there is no geoid."""
        east, north, up = fix.velocity_enu.tolist()
        speed = math.hypot(east, north)
        course = NO_COURSE if speed < 0.1 else round(math.degrees(math.atan2(east, north)) % 360.0 * 100.0) % 36000
        message = self._dialect.MAVLink_hil_gps_message(
            t_us, fix.fix_type, _limited(fix.latitude_deg * 1e7, 32), _limited(fix.longitude_deg * 1e7, 32),
            _limited(fix.altitude * 1e3, 32),
            _unsigned(fix.horizontal_sd * 1e2, 16), _unsigned(fix.vertical_sd * 1e2, 16),
            _unsigned(speed * 1e2, 16), _limited(north * 1e2, 16), _limited(east * 1e2, 16), _limited(-up * 1e2, 16),
            course, _unsigned(fix.satellites, 8), number, 0,
        )  # fmt: skip
        return self._packed(message)

    def state(self, t_us: int, truth: VehicleState, frame: LocalFrame) -> bytes:
        """HIL_STATE_QUATERNION with the truth. Acceleration is in body axes, 0 at rest."""
        position = frame.geodetic_array_from_enu(truth.position).tolist()
        velocity = (100.0 * ned_from_enu(truth.velocity_world)).tolist()
        body = frd_from_flu(rotate_inverse(truth.quat_wxyz, truth.acceleration_world)) / STANDARD_GRAVITY * 1e3
        air = float(np.linalg.norm(truth.velocity_world - truth.wind_world)) * 100.0
        message = self._dialect.MAVLink_hil_state_quaternion_message(
            t_us, ned_quat(truth.quat_wxyz),
            *frd_from_flu(truth.angular_velocity_body).tolist(),
            _limited(position[0] * 1e7, 32), _limited(position[1] * 1e7, 32), _limited(position[2] * 1e3, 32),
            *(_limited(v, 16) for v in velocity), _unsigned(air, 16), _unsigned(air, 16),
            *(_limited(a, 16) for a in body.tolist()),
        )  # fmt: skip
        return self._packed(message)

    def distance(self, t_us: int, sample: RangeSample, mount: Mount, number: int = 0) -> bytes:
        """DISTANCE_SENSOR, in whole cm. What is out of range is 1 cm beyond its end and marked invalid."""
        seen = math.isfinite(sample.distance)
        nearest, farthest = (_unsigned(limit * 1e2, 16) for limit in (sample.min_range, sample.max_range))
        beyond = min(farthest + 1, 65535) if math.isnan(sample.distance) else max(nearest - 1, 0)
        distance = _unsigned(sample.distance * 1e2, 16) if seen else beyond
        message = self._dialect.MAVLink_distance_sensor_message(
            t_us // 1000, nearest, farthest, distance, 0, number, orientation_of(mount), 255,
            signal_quality=100 if seen else 1,
        )  # fmt: skip
        return self._packed(message)

    def flow(self, t_us: int, sample: OpticalFlowSample, number: int = 0) -> bytes:
        """HIL_OPTICAL_FLOW. Our record already has its axes."""
        message = self._dialect.MAVLink_hil_optical_flow_message(
            t_us, number, sample.integration_time_us, sample.integrated_x, sample.integrated_y,
            *sample.integrated_gyro.tolist(), 0, sample.quality, 0, sample.distance,
        )  # fmt: skip
        return self._packed(message)

    def odometry(self, t_us: int, estimate: Estimate, axes: LocalAxes, resets: int = 0) -> bytes:
        """ODOMETRY. The stamp is that of the estimate."""
        fields = odometry_fields(estimate, axes)
        message = self._dialect.MAVLink_odometry_message(t_us, *fields, resets, VISUAL_INERTIAL, GOOD)
        return self._packed(message)

    def origin(self, t_us: int, home: GeoPoint) -> bytes:
        """SET_GPS_GLOBAL_ORIGIN: where the origin of the poses in ODOMETRY is on Earth."""
        message = self._dialect.MAVLink_set_gps_global_origin_message(
            FIRST_SYSTEM,
            round(home.latitude_deg * 1e7),
            round(home.longitude_deg * 1e7),
            round(home.altitude * 1e3),
            t_us,
        )
        return self._packed(message)
