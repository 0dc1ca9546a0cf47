"""An error-state Kalman filter on IMU, GNSS, barometer and magnetometer. It works on numbers, not on messages."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from skyloop.core.frames import quat_from_rotvec, quat_multiply, rotate
from skyloop.core.quantities import NonNegative, Positive
from skyloop.vehicle.estimation.ekf_kernels import (
    GRAVITY,
    N_ERROR,
    N_NOMINAL,
    N_OUTPUT,
    Fitted,
    Remembered,
    advance,
    world_from_body,
)
from skyloop.vehicle.estimation.ekf_updates import recall, update
from skyloop_client.messages import Array

Measurement: TypeAlias = tuple[Array, Array, Array]
"""(m,) innovation, (m, 16) Jacobian, (m,) variance."""

POSITION, VELOCITY, ALTITUDE, HEADING = range(4)
"""The kinds of correction, each with its own gate and recovery."""

_ALL_STATES = np.ones(N_ERROR)
# A disturbed magnetic field may change the heading and the gyro bias, but never the tilt or the position.
_HEADING_STATES = np.array([0.0] * 8 + [1.0] * 4 + [0.0] * 4)
# The states that are reset when a sensor was rejected for too long: error indices and the sd they restart with.
# A new height also makes the barometer's bias unknown.
_FORGET: tuple[dict[int, float], ...] = (
    {0: 1e3, 1: 1e3, 2: 1e3, 15: 1e4}, {3: 30.0, 4: 30.0, 5: 30.0}, {15: 1e4}, {8: 2.0},
)  # fmt: skip
_UP = np.array([0.0, 0.0, 1.0])
_IDENTITY = np.eye(3)


class EkfConfig(BaseModel):
    """How far the EKF trusts its sensors. The IMU's noise comes with its stream; the numbers here scale it and set
    floors."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    noise_multiplier: Positive = 1.5
    """A factor on the IMU's noise densities, for integration error and vibration that the data sheet leaves out."""
    gyro_noise_floor: Positive = 5e-5
    """rad/s/√Hz, the least noise density of the gyroscope."""
    accel_noise_floor: Positive = 1.5e-3
    """m/s²/√Hz, the least noise density of the accelerometer."""
    gyro_random_walk_floor: Positive = 2e-6
    """rad/s²/√Hz, the least random walk of the gyroscope's bias."""
    accel_random_walk_floor: Positive = 1e-3
    """m/s³/√Hz, the least random walk of the accelerometer's bias. It is above most data sheets, because lower floors
    gave overconfident estimates in hover."""
    gyro_bias_sd_floor: Positive = 2e-3
    """rad/s, the least sigma of the gyroscope's bias at turn-on."""
    accel_bias_sd_floor: Positive = 0.02
    """m/s², the least sigma of the accelerometer's bias at turn-on."""
    gnss_horizontal_floor: Positive = 0.3
    """m, the least sigma of a horizontal position."""
    gnss_vertical_floor: Positive = 0.5
    """m, the least sigma of a vertical position."""
    gnss_speed_floor: Positive = 0.2
    """m/s, the least sigma of a velocity."""
    gnss_correlated_share: float = Field(default=0.8, ge=0.0, le=1.0)
    """The share of a fix's variance that changes too slowly to average away; it is part of the reported position sd."""
    barometer_sd: Positive = 0.4
    """m, one sigma of a barometer's height."""
    barometer_random_walk: NonNegative = 0.1
    """m/√s, the random walk of the barometer's bias."""
    heading_sd: Positive = 0.05
    """rad, one sigma of a magnetic heading."""
    heading_period: NonNegative = 0.1
    """s, the least time between two headings that are used; closer ones have nearly the same error."""
    unknown_heading_sd: Positive = 1.0
    """rad, one sigma of the heading at alignment when the vehicle has no magnetometer."""
    gate: Positive = 5.0
    """The sigmas beyond which a measurement is rejected."""
    recovery_after: Positive = 5.0
    """s, the time of nothing but rejections after which the filter trusts the sensor instead of itself."""
    alignment_time: Positive = 0.5
    """s, the time of standing still over which the alignment averages."""
    alignment_patience: Positive = 5.0
    """s, the time after which a vehicle that never stands still is aligned as well as possible."""
    still_rate_sd: Positive = 0.05
    """rad/s, the scatter of the gyroscope above which the vehicle moves."""
    still_force_sd: Positive = 0.5
    """m/s², the scatter of the accelerometer above which the vehicle moves."""
    valid_position_sd: Positive = 5.0
    """m, the sigma below which the estimate becomes valid."""
    lost_position_sd: Positive = 15.0
    """m, the horizontal sigma above which the estimate stops being valid."""
    lost_attitude_sd: Positive = 0.5
    """rad, the sigma about any axis above which the estimate is not valid."""
    imu_gap: Positive = 0.1
    """s, the longest gap in the IMU's samples that is bridged silently; longer gaps also raise the uncertainty."""
    imu_gap_rate_sd: NonNegative = 0.3
    """rad/s, the angular velocity that may have gone unseen in a longer gap."""
    imu_gap_accel_sd: NonNegative = 2.0
    """m/s², the acceleration that may have gone unseen in a longer gap."""


@dataclass
class FilterState:
    """The whole state of the filter, as plain numbers and arrays, so that a deep copy is a snapshot."""

    ring_size: int
    nominal: Array = field(init=False)
    covariance: Array = field(init=False)
    last_imu: Array = field(default_factory=lambda: np.zeros(6))
    """Gyro and accelerometer, body axes, bias not removed."""
    ring: Array = field(init=False)
    """(ring_size, 6) position and velocity of the GNSS antenna at past IMU samples."""
    ring_t_ns: np.ndarray = field(init=False)
    ring_count: int = 0
    t_ns: int = 0
    refused_since: list[int | None] = field(default_factory=lambda: [None] * 4)
    position_offset_variance: Array = field(default_factory=lambda: np.zeros(3))
    """m², the variance of the slow part of the GNSS error, which the filter follows instead of averaging it."""

    def __post_init__(self) -> None:
        self.nominal = np.zeros(N_NOMINAL)
        self.nominal[6] = 1.0
        self.covariance = np.zeros((N_ERROR, N_ERROR))
        self.ring = np.zeros((self.ring_size, 6))
        self.ring_t_ns = np.zeros(self.ring_size, dtype=np.int64)


def cross_matrix(v: Array) -> Array:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


class ErrorStateFilter:
    """Predicts with the IMU and corrects with the other sensors. The state is that of the IMU, not the body origin."""

    def __init__(self, config: EkfConfig, noise: Array, body_from_imu: Array, levers: Array, ring_size: int) -> None:
        """`noise` as in `ekf_kernels`; `levers` (2, 3) m, body axes: from the IMU to body origin and antenna."""
        self.config = config
        self.noise = noise
        self.body_from_imu = body_from_imu
        self.levers = levers
        self._fitted = tuple(Fitted(body_from_imu, levers, noise))
        self.state = FilterState(ring_size)
        self._sample = np.zeros(6)
        self._rotation = np.empty((3, 3))

    def align(
        self,
        t_ns: int,
        gyro: Array,
        accel: Array,
        *,
        bias_sd: tuple[float, float],
        rest_sd: tuple[float, float],
        fields: tuple[Array, Array] | None,
    ) -> None:
        """Initialises the filter from the mean IMU sample (sensor axes) of a vehicle at rest.

        `bias_sd`: of the turn-on biases (gyro, accel); `rest_sd`: of the means as measures of perfect rest; `fields`:
        the magnetic field measured (body) and known (world), or None to leave the heading unknown.
        """
        s = self.state = FilterState(self.state.ring_size)
        s.t_ns = t_ns
        gyro_body, accel_body = self.body_from_imu @ gyro, self.body_from_imu @ accel
        s.last_imu[:] = np.concatenate([gyro_body, accel_body])
        level = _quat_turning(accel_body / np.linalg.norm(accel_body), _UP)
        turn = 0.0 if fields is None else _heading_turn(rotate(level, fields[0]), fields[1])
        s.nominal[6:10] = quat_multiply(quat_from_rotvec(turn * _UP), level)
        speed_sd = 0.1 if rest_sd[1] < 0.1 else 5.0
        heading_sd = self.config.unknown_heading_sd if fields is None else 2.0
        sd = [1e3] * 3 + [speed_sd] * 3 + [0.5, 0.5, heading_sd] + [bias_sd[0]] * 3 + [bias_sd[1]] * 3 + [1e4]
        s.covariance[:] = np.diag(np.square(sd))

        # At rest the gyro measures its bias, and R (f - b) = g, which correlates tilt and accelerometer bias.
        rotation = self._world_from_body()
        force = rotation @ accel_body
        jacobian = np.zeros((6, N_ERROR))
        jacobian[0:3, 9:12] = _IDENTITY
        jacobian[3:6, 6:9] = -cross_matrix(force)
        jacobian[3:6, 12:15] = -rotation
        innovation = np.concatenate([gyro_body, self.noise[GRAVITY] * _UP - force])
        self._update((innovation, jacobian, np.square(np.repeat(rest_sd, 3))), _ALL_STATES, np.inf)
        if fields is not None:
            self._update(self._heading_measurement(*fields), _ALL_STATES, np.inf)

    def advance(self, t_ns: int, gyro: Array, accel: Array) -> Array:
        """Processes an IMU sample (sensor axes) and returns the output row described in `ekf_kernels`."""
        s = self.state
        sample = self._sample
        sample[:3] = gyro
        sample[3:] = accel
        row = s.ring_count % s.ring_size
        out = np.empty(N_OUTPUT)
        memory = Remembered(s.nominal, s.covariance, s.last_imu, s.ring, s.position_offset_variance)
        advance(tuple(memory), self._fitted, sample, (t_ns - s.t_ns) * 1e-9, row, out)
        s.ring_t_ns[row] = t_ns
        s.ring_count += 1
        s.t_ns = t_ns
        return out

    def correct_position(self, t_ns: int, position: Array, sd: Array, axes: int = 3) -> bool:
        """Corrects with the antenna's world position at `t_ns`, or its first two axes; True if it is accepted."""
        past, age = self._antenna_at(t_ns)
        jacobian = np.zeros((3, N_ERROR))
        jacobian[:, 0:3] = _IDENTITY
        jacobian[:, 3:6] = -age * _IDENTITY
        jacobian[:, 6:9] = -cross_matrix(self._world_from_body() @ self.levers[1])
        variance = (sd * sd)[:axes]
        taken = self._correct(POSITION, ((position - past[:3])[:axes], jacobian[:axes], variance), _ALL_STATES)
        if taken:
            self.state.position_offset_variance[:axes] = self.config.gnss_correlated_share * variance
        return taken

    def correct_velocity(self, t_ns: int, velocity: Array, sd: Array, axes: int = 3) -> bool:
        """Corrects with the antenna's world velocity at `t_ns`, or its first two axes."""
        past, age = self._antenna_at(t_ns)
        # The integral of specific force since then equals the change of velocity, less gravity.
        force_integral = self.state.nominal[3:6] - past[3:] + self.noise[GRAVITY] * age * _UP
        jacobian = np.zeros((3, N_ERROR))
        jacobian[:, 3:6] = _IDENTITY
        jacobian[:, 6:9] = cross_matrix(force_integral)
        jacobian[:, 12:15] = age * self._world_from_body()
        measurement = (velocity - past[3:])[:axes], jacobian[:axes], (sd * sd)[:axes]
        return self._correct(VELOCITY, measurement, _ALL_STATES)

    def correct_altitude(self, t_ns: int, altitude: float) -> bool:
        """Corrects with a barometric altitude whose origin is unknown and changes slowly."""
        nominal = self.state.nominal
        age = (self.state.t_ns - t_ns) * 1e-9
        innovation = altitude - (nominal[2] - age * nominal[5] + nominal[16])
        jacobian = np.zeros((1, N_ERROR))
        jacobian[0, 2] = jacobian[0, 15] = 1.0
        jacobian[0, 5] = -age
        variance = np.array([self.config.barometer_sd**2])
        return self._correct(ALTITUDE, (np.array([innovation]), jacobian, variance), _ALL_STATES)

    def correct_heading(self, field_body: Array, field_world: Array) -> bool:
        """Corrects with the direction of the magnetic field's horizontal part; dip and strength are not used."""
        return self._correct(HEADING, self._heading_measurement(field_body, field_world), _HEADING_STATES)

    def _heading_measurement(self, field_body: Array, field_world: Array) -> Measurement:
        """Innovation, Jacobian (a tilt error also turns the horizontal part of a dipping field), variance."""
        seen = self._world_from_body() @ field_body
        east, north, up = seen.tolist()
        dip = up / max(east * east + north * north, 1e-18)
        jacobian = np.zeros((1, N_ERROR))
        jacobian[0, 6:9] = -dip * east, -dip * north, 1.0
        return np.array([_heading_turn(seen, field_world)]), jacobian, np.array([self.config.heading_sd**2])

    @property
    def attitude(self) -> Array:
        """(3, 3) world_from_body, a copy."""
        return self._world_from_body().copy()

    def _world_from_body(self) -> Array:
        world_from_body(self.state.nominal, self._rotation)
        return self._rotation

    def _antenna_at(self, t_ns: int) -> tuple[Array, float]:
        """Position and velocity of the antenna at `t_ns`, as the filter now estimates them, and their age (s)."""
        s = self.state
        past = np.empty(6)
        return past, recall(s.ring, s.ring_t_ns, s.ring_count, t_ns, past)

    def _correct(self, kind: int, measurement: Measurement, gain_mask: Array) -> bool:
        """Gates and applies a measurement. After too many rejections, resets the states that contradict the sensor."""
        s = self.state
        worst = self._update(measurement, gain_mask, self.config.gate)
        if worst <= self.config.gate:
            s.refused_since[kind] = None
            return True
        if math.isnan(worst):
            return False
        first = s.refused_since[kind]
        if first is None:
            s.refused_since[kind] = s.t_ns
            return False
        if (s.t_ns - first) * 1e-9 < self.config.recovery_after:
            return False
        for index, sd in _FORGET[kind].items():
            s.covariance[index, :] = 0.0
            s.covariance[:, index] = 0.0
            s.covariance[index, index] = sd * sd
        s.refused_since[kind] = None
        self._update(measurement, gain_mask, np.inf)
        return True

    def _update(self, measurement: Measurement, gain_mask: Array, gate: float) -> float:
        """Returns the largest innovation in sigmas. If it exceeds `gate` or is NaN, nothing was changed."""
        s = self.state
        past = s.ring, s.ring_t_ns, s.t_ns
        return float(update(s.nominal, s.covariance, measurement, gain_mask, gate, past))


def _heading_turn(seen: Array, known: Array) -> float:
    """The rotation about up, in (-π, π], from the horizontal part of one field to that of the other."""
    return float(np.arctan2(seen[0] * known[1] - seen[1] * known[0], seen[0] * known[0] + seen[1] * known[1]))


def _quat_turning(start: Array, end: Array) -> Array:
    """The shortest rotation that takes unit vector `start` to `end`."""
    quat = np.array([1.0 + float(start @ end), *np.cross(start, end)])
    norm = float(np.linalg.norm(quat))
    return quat / norm if norm > 1e-6 else np.array([0.0, 1.0, 0.0, 0.0])
