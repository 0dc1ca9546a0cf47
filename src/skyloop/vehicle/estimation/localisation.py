"""Localisation: turns a vehicle's sensor messages into estimates that a controller can fly on."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from skyloop.core.frames import GeoPoint, LocalFrame, matrix_from_quat
from skyloop.vehicle.estimation.ekf import EkfConfig, ErrorStateFilter, FilterState
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array, BarometerSample, Estimate, GnssFix, ImuSample, MagnetometerSample, Message
from skyloop_client.streams import Mount, StreamInfo

_DEFAULT_IMU_HZ = 250.0
_RING_MARGIN = 0.3
"""s of history kept beyond the GNSS's stated latency."""
_SCALE_HEIGHT = 8434.0
"""m of height per relative change of pressure, near sea level."""
_AHEAD_LIMIT_NS = 30_000_000
_ANY_TURN = np.full(3, math.pi)
_EAST = np.array([1.0, 0.0, 0.0])
_NOT_ALIGNED, _NOT_SURE = "not aligned yet: keep still", "its uncertainty is too large"
"""The reasons why an estimate is not valid."""
_IMU_DETAILS = {
    "gyro_noise_density": 8.7e-5,
    "gyro_random_walk": 1e-6,
    "accel_noise_density": 2.35e-3,
    "accel_random_walk": 1.3e-5,
    "gyro_turn_on_sd": 0.0,
    "accel_turn_on_sd": 0.0,
}
"""The details that an IMU stream should have, with the values of an MPU6000 for missing ones."""


@dataclass
class AlignmentSums:
    """Sums over the samples of one still window."""

    start_ns: int
    count: int = 0
    total: Array = field(default_factory=lambda: np.zeros(6))
    squares: Array = field(default_factory=lambda: np.zeros(6))
    field_body: Array = field(default_factory=lambda: np.zeros(3))
    field_count: int = 0


@dataclass
class LocaliserState:
    filter: FilterState
    sums: AlignmentSums | None = None
    first_ns: int | None = None
    aligned: bool = False
    valid: bool = False
    heading_due_ns: int = 0


def barometer_walk(config: EkfConfig, info: StreamInfo | None) -> float:
    """m/√s, the random walk of the barometer's error, from its own numbers but at least the config's."""
    details = {} if info is None else info.details
    factor_sd, factor_tau = details.get("factor_sd") or 0.0, details.get("factor_tau") or math.inf
    return math.hypot(config.barometer_random_walk, _SCALE_HEIGHT * factor_sd * math.sqrt(2.0 / factor_tau))


def process_noise(config: EkfConfig, info: StreamInfo, gravity: float, barometer: StreamInfo | None = None) -> Array:
    """The `noise` array of `ekf_kernels`, computed from the numbers of the sensors."""

    def density(key: str, floor: float) -> float:
        value = float(info.details.get(key, _IMU_DETAILS[key]))
        return (config.noise_multiplier * max(value, floor)) ** 2

    return np.array(
        [
            density("gyro_noise_density", config.gyro_noise_floor),
            density("accel_noise_density", config.accel_noise_floor),
            density("gyro_random_walk", config.gyro_random_walk_floor),
            density("accel_random_walk", config.accel_random_walk_floor),
            barometer_walk(config, barometer) ** 2,
            gravity,
            config.imu_gap,
            config.imu_gap_rate_sd,
            config.imu_gap_accel_sd,
        ]
    )


class EkfLocaliser:
    """Feeds one vehicle's IMU, GNSS, barometer and magnetometer to an `ErrorStateFilter`."""

    def __init__(
        self,
        config: EkfConfig,
        infos: Mapping[str, StreamInfo],
        home: GeoPoint,
        magnetic_field_world: Array,
        *,
        gravity: float = 9.80665,
    ) -> None:
        """The record type of a stream tells its sensor; of two alike the first is used. The field is in T."""
        self.config = config
        self._frame = LocalFrame(home)
        self._field_world = np.array(magnetic_field_world, dtype=np.float64)
        self._field_strength = float(np.linalg.norm(self._field_world))
        by_record: dict[str, StreamInfo] = {}
        for info in infos.values():
            by_record.setdefault(info.message, info)
        if "ImuSample" not in by_record:
            raise ScenarioError(
                f"the EKF needs an IMU, but the streams are {sorted(infos)}; add an imu sensor to the vehicle"
            )
        handlers: dict[str, Callable[[Any], Estimate | None]] = {
            "ImuSample": self._on_imu,
            "GnssFix": self._on_gnss,
            "BarometerSample": self._on_barometer,
            "MagnetometerSample": self._on_magnetometer,
        }
        self._handlers = {info.name: handlers[record] for record, info in by_record.items() if record in handlers}
        self._imu = by_record["ImuSample"]
        magnetometer = by_record.get("MagnetometerSample")
        self._has_magnetometer = magnetometer is not None
        self._body_from_magnetometer = matrix_from_quat((magnetometer or self._imu).mount.quat_wxyz)
        self._filter = self._make_filter(by_record.get("GnssFix"), by_record.get("BarometerSample"), gravity)
        self._state = LocaliserState(self._filter.state)

    def _make_filter(self, gnss: StreamInfo | None, barometer: StreamInfo | None, gravity: float) -> ErrorStateFilter:
        imu = self._imu.mount
        antenna = gnss.mount if gnss else Mount()
        latency = gnss.latency_ns * 1e-9 if gnss else 0.0
        imu_hz = self._imu.rate.hz if self._imu.rate else _DEFAULT_IMU_HZ
        return ErrorStateFilter(
            self.config,
            process_noise(self.config, self._imu, gravity, barometer),
            np.ascontiguousarray(matrix_from_quat(imu.quat_wxyz)),
            np.array([-imu.position, antenna.position - imu.position]),
            ring_size=math.ceil((latency + _RING_MARGIN) * imu_hz) + 2,
        )

    def on_message(self, message: Message) -> Estimate | None:
        """Returns an estimate for every IMU sample and None for other messages. Unknown streams are ignored."""
        handler = self._handlers.get(message.stream)
        return handler(message.data) if handler else None

    @property
    def state(self) -> LocaliserState:
        """The live state, as plain numbers and arrays."""
        self._state.filter = self._filter.state
        return self._state

    def snapshot(self) -> LocaliserState:
        return copy.deepcopy(self.state)

    def restore(self, saved: LocaliserState) -> None:
        self._state = copy.deepcopy(saved)
        self._filter.state = self._state.filter

    def _on_imu(self, sample: ImuSample) -> Estimate | None:
        state = self._state
        gyro, accel = sample.angular_velocity, sample.specific_force
        if not math.isfinite(gyro.sum() + accel.sum()):
            return None
        if not state.aligned:
            self._gather(sample)
            if not state.aligned:
                return self._unaligned_estimate(sample)
        elif sample.t_ns <= self._filter.state.t_ns:
            return None
        out = self._filter.advance(sample.t_ns, gyro, accel)
        self._judge(out)
        parts = out[0:3], out[3:6], out[6:10], out[10:13], out[13:16], out[16:19], out[19:22]
        nominal, imu_from_body = self._filter.state.nominal, self._filter.body_from_imu.T
        biases = imu_from_body @ nominal[10:13], imu_from_body @ nominal[13:16]
        return Estimate(sample.t_ns, *parts, state.valid, *biases, reason="" if state.valid else _NOT_SURE)

    def correct_place(self, t_ns: int, position: Array, sd: Array, axes: int = 3) -> bool:
        """Correct with a world position of the body origin that another estimator gives, or its first two axes.

        Only where no GNSS is among the streams: with one, positions are those of its antenna. True if accepted."""
        return self._can_correct(t_ns) and self._filter.correct_position(t_ns, position, sd, axes)

    def correct_yaw(self, t_ns: int, yaw: float) -> bool:
        """Correct with the yaw that another estimator gives, to `heading_sd`. True if it is accepted."""
        if not self._can_correct(t_ns):
            return False
        rotation = self._filter.attitude
        turn = yaw - math.atan2(rotation[1, 0], rotation[0, 0])
        # a level direction that is seen turned by as much as the yaw is wrong
        seen = np.array([math.cos(turn), -math.sin(turn), 0.0])
        return self._filter.correct_heading(rotation.T @ seen, _EAST)

    def _can_correct(self, t_ns: int) -> bool:
        """False while the IMU is silent, because the filter is then earlier than the measurement."""
        return self._state.aligned and t_ns <= self._filter.state.t_ns + _AHEAD_LIMIT_NS

    def _on_gnss(self, fix: GnssFix) -> None:
        if fix.fix_type < 2 or not self._can_correct(fix.t_ns):
            return
        point = GeoPoint(fix.latitude_deg, fix.longitude_deg, fix.altitude)
        position = self._frame.enu_from_geodetic(point)
        horizontal = max(fix.horizontal_sd, self.config.gnss_horizontal_floor)
        vertical = max(fix.vertical_sd, self.config.gnss_vertical_floor)
        speed = max(fix.speed_sd, self.config.gnss_speed_floor)
        axes = 2 if fix.fix_type == 2 else 3
        position_sd = np.array([horizontal, horizontal, vertical])
        self._filter.correct_position(fix.t_ns, position, position_sd, axes)
        self._filter.correct_velocity(fix.t_ns, fix.velocity_enu, np.full(3, speed), axes)

    def _on_barometer(self, sample: BarometerSample) -> None:
        if self._can_correct(sample.t_ns):
            self._filter.correct_altitude(sample.t_ns, sample.altitude)

    def _on_magnetometer(self, sample: MagnetometerSample) -> None:
        state = self._state
        if state.aligned and sample.t_ns < state.heading_due_ns:
            return
        field_body = self._body_from_magnetometer @ sample.field_tesla
        # A field that is half or twice as strong as Earth's comes from a motor or a steel structure.
        if not 0.5 * self._field_strength < math.sqrt(field_body @ field_body) < 2.0 * self._field_strength:
            return
        if self._can_correct(sample.t_ns):
            state.heading_due_ns = sample.t_ns + round(self.config.heading_period * 1e9)
            self._filter.correct_heading(field_body, self._field_world)
        elif not state.aligned and state.sums is not None:
            state.sums.field_body += field_body
            state.sums.field_count += 1

    def _gather(self, sample: ImuSample) -> None:
        """Collects one window at rest, then aligns. It drops windows with motion until `alignment_patience` is over."""
        state = self._state
        if state.first_ns is None:
            state.first_ns = sample.t_ns
        if state.sums is None:
            state.sums = AlignmentSums(sample.t_ns)
        sums = state.sums
        values = np.concatenate([sample.angular_velocity, sample.specific_force])
        sums.count += 1
        sums.total += values
        sums.squares += values**2
        elapsed = (sample.t_ns - sums.start_ns) * 1e-9
        if elapsed < self.config.alignment_time or (self._has_magnetometer and sums.field_count == 0):
            return
        mean = sums.total / sums.count
        still = self._is_still(np.sqrt(np.maximum(sums.squares / sums.count - mean**2, 0.0)))
        patient = (sample.t_ns - state.first_ns) * 1e-9 < self.config.alignment_patience
        state.sums = None
        if still or not patient:
            self._align(sample.t_ns, mean, sums, still, elapsed)

    def _is_still(self, scatter: Array) -> bool:
        """Whether the scatter of the window (gyro 3, accel 3) is noise rather than motion."""
        hz = self._imu.rate.hz if self._imu.rate else _DEFAULT_IMU_HZ
        gyro_noise, accel_noise = 3.0 * np.sqrt(self._filter.noise[:2] * hz)
        rate_limit = max(self.config.still_rate_sd, gyro_noise)
        force_limit = max(self.config.still_force_sd, accel_noise)
        return bool(scatter[:3].max() < rate_limit and scatter[3:].max() < force_limit)

    def _align(self, t_ns: int, mean: Array, sums: AlignmentSums, still: bool, elapsed: float) -> None:
        details, config = {**_IMU_DETAILS, **self._imu.details}, self.config
        gyro_mean_sd, accel_mean_sd = np.sqrt(self._filter.noise[:2] / elapsed)
        has_field = sums.field_count > 0
        self._filter.align(
            t_ns,
            mean[:3],
            mean[3:],
            bias_sd=(
                max(float(details["gyro_turn_on_sd"]), config.gyro_bias_sd_floor),
                max(float(details["accel_turn_on_sd"]), config.accel_bias_sd_floor),
            ),
            rest_sd=(max(gyro_mean_sd, 2e-4), max(accel_mean_sd, 5e-3)) if still else (0.2, 1.0),
            fields=(sums.field_body / sums.field_count, self._field_world) if has_field else None,
        )
        self._state.aligned = True

    def _judge(self, out: Array) -> None:
        """The estimate becomes valid with a good position and stays valid until it is lost."""
        east, north, up = out[13:16].tolist()
        config, state = self.config, self._state
        horizontal = math.hypot(east, north)
        if max(out[19:22].tolist()) > config.lost_attitude_sd or horizontal > config.lost_position_sd:
            state.valid = False
        elif max(horizontal, up) < config.valid_position_sd:
            state.valid = True

    def _unaligned_estimate(self, sample: ImuSample) -> Estimate:
        rates = self._filter.body_from_imu @ sample.angular_velocity
        return replace(Estimate.unknown(sample.t_ns, _NOT_ALIGNED), angular_velocity_body=rates, attitude_sd=_ANY_TURN)
