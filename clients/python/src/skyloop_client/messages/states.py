"""The message, and the records of a vehicle: truth, estimate, battery, status."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
"""A float64 array; the field's docstring gives its shape."""


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """What `subscribe` yields and the bus carries: a record (`data`) with its stream, number and times."""

    stream: str
    """The name of the stream, such as `drone/imu`."""
    index: int
    """Number of this sample on its stream, from 0; dropped samples leave a gap."""
    t_ns: int
    """The instant the data describes."""
    arrival_ns: int
    """The instant a consumer may see it: `t_ns` plus the stream's latency."""
    data: Any
    """The record, such as an `ImuSample`."""


@dataclass(frozen=True, slots=True, eq=False)
class VehicleState:
    """The exact state of a vehicle at one instant."""

    t_ns: int
    position: Array
    """(3,) m, world, of the body origin."""
    velocity_world: Array
    """(3,) m/s, of the body origin."""
    quat_wxyz: Array
    """(4,) world_from_body."""
    angular_velocity_body: Array
    """(3,) rad/s, of the body over the world, body axes."""
    acceleration_world: Array
    """(3,) m/s², of the body origin; zero at rest, -g in free fall."""
    angular_acceleration_body: Array
    """(3,) rad/s², body axes."""
    rotor_speeds: Array
    """(n_rotors,) rad/s, in the order of the airframe's rotors."""
    rotor_thrusts: Array
    """(n_rotors,) N, in the order of the airframe's rotors."""
    wind_world: Array
    """(3,) m/s, air relative to ground at the vehicle."""


@dataclass(frozen=True, slots=True, eq=False)
class Kinematics:
    """The exact motion of one frame (a sensor's) at one instant: the input of `Sensor.measure`."""

    t_ns: int
    position: Array
    """(3,) m, world."""
    velocity_world: Array
    """(3,) m/s, world."""
    quat_wxyz: Array
    """(4,) world_from_sensor."""
    angular_velocity: Array
    """(3,) rad/s, sensor axes."""
    acceleration_world: Array
    """(3,) m/s², lever arm included."""
    wind_world: Array
    """(3,) m/s, air relative to ground, world."""


@dataclass(frozen=True, slots=True, eq=False)
class BatteryState:
    """The battery of a vehicle."""

    t_ns: int
    voltage: float
    """V at the terminals, sag included; 0 on an airframe without a battery."""
    current: float
    """A, positive while draining."""
    state_of_charge: float
    """1 full, 0 empty."""
    energy_used: float
    """J since the start."""


@dataclass(frozen=True, slots=True, eq=False)
class ActuatorState:
    """The rotors of a vehicle."""

    t_ns: int
    commands: Array
    """(n_rotors,) rad/s, the speeds the controller asks for."""
    speeds: Array
    """(n_rotors,) rad/s, the speeds the rotors have."""


@dataclass(frozen=True, slots=True, eq=False)
class SetpointState:
    """What the controller of a vehicle tracks at an instant. Quantities that it does not track are NaN."""

    t_ns: int
    mode: str
    """Mode of the autopilot, as in VehicleStatus. In mode setpoint the pilot sent this, otherwise the autopilot did."""
    kind: str
    """idle (nothing is tracked), position, velocity, attitude, rates or motors."""
    position: Array
    """(3,) m, world, of the body origin, extrapolated along its derivatives as in the controller."""
    velocity: Array
    """(3,) m/s, world. For a position, the feed-forward velocity."""
    yaw: float
    """rad, counter-clockwise from east; NaN if the heading is free or turned at a rate."""
    yaw_rate: float
    """rad/s about world up."""
    quat_wxyz: Array
    """(4,) world_from_body."""
    angular_velocity_body: Array
    """(3,) rad/s, body axes."""
    thrust: float
    """N, collective, along body up."""


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A vehicle's state according to an estimator. The controller may fly on it."""

    t_ns: int
    """The instant it describes: the stamp of the newest sample that it uses."""
    position: Array
    """(3,) m, world, of the body origin."""
    velocity_world: Array
    """(3,) m/s, of the body origin."""
    quat_wxyz: Array
    """(4,) world_from_body."""
    angular_velocity_body: Array
    """(3,) rad/s, of the body over the world, body axes."""
    position_sd: Array
    """(3,) m, one sigma, world axes."""
    velocity_sd: Array
    """(3,) m/s, one sigma, world axes."""
    attitude_sd: Array
    """(3,) rad, one sigma, of a rotation vector in world axes."""
    valid: bool
    """False while the estimator has not converged or has lost track. `reason` then says why."""
    gyro_bias: Array | None = None
    """(3,) rad/s, axes of the IMU; None: not estimated."""
    accel_bias: Array | None = None
    """(3,) m/s², axes of the IMU; None: not estimated."""
    covariance: Array | None = None
    """(9, 9) of position, velocity and attitude, or (15, 15) with gyro bias and accelerometer bias behind them; units
    and axes as above, squared. None: only the sigmas are known."""
    reason: str = ""
    """A few words for people on why it is not valid."""

    @staticmethod
    def unknown(t_ns: int, reason: str = "no estimate yet") -> Estimate:
        """The value before an estimator has given anything: not valid."""
        far, level = np.full(3, 1e3), np.array([1.0, 0.0, 0.0, 0.0])
        zero = np.zeros(3)
        return Estimate(t_ns, zero, zero, level, zero, far, far, far, valid=False, reason=reason)

    @staticmethod
    def from_covariance(
        t_ns: int,
        position: Array,
        velocity_world: Array,
        quat_wxyz: Array,
        angular_velocity_body: Array,
        covariance: Array,
        **more: Any,
    ) -> Estimate:
        """An estimate with sigmas from its covariance. `more` are further fields: valid, gyro_bias, reason..."""
        sigmas = np.sqrt(np.maximum(np.diagonal(covariance)[:9], 0.0))
        motion = (position, velocity_world, quat_wxyz, angular_velocity_body)
        more = {"valid": True, **more}
        return Estimate(t_ns, *motion, sigmas[0:3], sigmas[3:6], sigmas[6:9], covariance=covariance, **more)


@dataclass(frozen=True, slots=True, eq=False)
class StartConditions:
    """Known before take-off: the position of home, and the initial pose of the vehicle."""

    latitude_deg: float
    """Degrees north, WGS84, of home: the origin of the world axes."""
    longitude_deg: float
    """Degrees east, WGS84, of home."""
    altitude: float
    """m above the WGS84 ellipsoid, of home."""
    gravity: float
    """m/s², the acceleration of gravity."""
    magnetic_field_world: Array
    """(3,) T, at home."""
    position: Array
    """(3,) m, world, of the body origin at t = 0."""
    yaw: float
    """rad, counter-clockwise from east, at t = 0."""


@dataclass(frozen=True, slots=True, eq=False)
class VehicleStatus:
    """The state of a vehicle's autopilot."""

    t_ns: int
    mode: str
    """disarmed, idle (armed, rotors idling), takeoff, hover, setpoint (following the pilot), goal, home, land."""
    armed: bool
    """True while the rotors may turn."""
    landed: bool
    """True on the ground: before take-off and from touch-down on."""
    failsafe: str
    """Empty, or the active one: "battery low", "setpoint lost", "estimate lost"."""
