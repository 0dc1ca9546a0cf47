"""Inertial measurement unit: angular velocity and specific force, with noise, bias, range and quantisation."""

# mypy: allow-untyped-defs

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numba import float64, types, uint64, void

from skyloop.core.jit import inlined, kernel
from skyloop.core.keyed_random import KeyedRandom
from skyloop.core.quantities import NonNegative
from skyloop.core.rotations import to_world
from skyloop.sensors.noise import draw_normals, quantised, saturated, turn_on_normals, walk_step, white_sd
from skyloop.sensors.sensor import (
    Details,
    PositiveOrInfinite,
    Scene,
    Sensor,
    SensorConfig,
    numbers_of,
    plain,
)
from skyloop_client.messages import Array, ImuBias, ImuSample, Kinematics

_STANDARD_GRAVITY = 9.80665


@dataclass(frozen=True, slots=True)
class ImuNumbers:
    """The numbers of ImuConfig; the defaults are an instrument without errors."""

    gyro_noise_density: float = 0.0
    gyro_random_walk: float = 0.0
    gyro_bias_tau: float = math.inf
    gyro_turn_on_sd: float = 0.0
    gyro_range: float = math.inf
    gyro_lsb: float = 0.0
    accel_noise_density: float = 0.0
    accel_random_walk: float = 0.0
    accel_bias_tau: float = math.inf
    accel_turn_on_sd: float = 0.0
    accel_range: float = math.inf
    accel_lsb: float = 0.0


PRESETS = {
    # AirSim's IMU. Its angular random walk of 0.30 deg/√h is 0.30·(π/180)/√3600 rad/√s, its velocity random
    # walk 0.24 mg/√Hz. Its bias is a pure random walk whose density is bias stability over √tau: 4.6 deg/h over
    # √500 s, 36 µg over √800 s. Ranges are the MPU-6000's widest, ±2000 deg/s and ±16 g; AirSim has none.
    "mpu6000": ImuNumbers(
        gyro_noise_density=math.radians(0.30) / 60.0,
        gyro_random_walk=math.radians(4.6) / 3600.0 / math.sqrt(500.0),
        gyro_range=math.radians(2000.0),
        accel_noise_density=0.24e-3 * _STANDARD_GRAVITY,
        accel_random_walk=36e-6 * _STANDARD_GRAVITY / math.sqrt(800.0),
        accel_range=16.0 * _STANDARD_GRAVITY,
    ),
    # The IMU plugin of the E2ES vehicle (iris with D435), which runs at 200 Hz there; Gazebo has no limits.
    "e2es": ImuNumbers(
        gyro_noise_density=3.0e-5,
        gyro_random_walk=3.0e-5,
        gyro_bias_tau=1000.0,
        gyro_turn_on_sd=0.0087,
        accel_noise_density=3.0e-5,
        accel_random_walk=3.0e-5,
        accel_bias_tau=300.0,
        accel_turn_on_sd=0.196,
    ),
    # EuRoC's ADIS16448: the densities of its sensor.yaml; ±1000 deg/s in steps of 0.04 deg/s and ±18 g in
    # steps of 0.833 mg as in the data sheet.
    "adis16448": ImuNumbers(
        gyro_noise_density=1.6968e-4,
        gyro_random_walk=1.9393e-5,
        gyro_range=math.radians(1000.0),
        gyro_lsb=math.radians(0.04),
        accel_noise_density=2.0e-3,
        accel_random_walk=3.0e-3,
        accel_range=18.0 * _STANDARD_GRAVITY,
        accel_lsb=0.833e-3 * _STANDARD_GRAVITY,
    ),
    "perfect": ImuNumbers(),
}


class ImuConfig(SensorConfig):
    """Inertial measurement unit: angular velocity and specific force, with noise, bias, range and quantisation."""

    kind: Literal["imu"] = "imu"
    """The kind of sensor."""
    rate_hz: float | str = 200.0
    """Samples per second."""
    preset: Literal["mpu6000", "e2es", "adis16448", "perfect"] = "mpu6000"
    """The instrument whose numbers are used where yours are null."""
    gyro_noise_density: NonNegative | None = None
    """(rad/s)/√Hz, the white noise density of the gyroscope."""
    gyro_random_walk: NonNegative | None = None
    """(rad/s²)/√Hz, the white noise that drives the gyroscope's bias."""
    gyro_bias_tau: PositiveOrInfinite | None = None
    """s, the correlation time of the gyroscope's bias; .inf: a pure random walk."""
    gyro_turn_on_sd: NonNegative | None = None
    """rad/s, one sigma of the gyroscope's bias at the start."""
    gyro_range: PositiveOrInfinite | None = None
    """rad/s, the largest angular velocity it measures, either way; .inf: no limit."""
    gyro_lsb: NonNegative | None = None
    """rad/s, the step of one digit of the gyroscope; 0: not quantised."""
    accel_noise_density: NonNegative | None = None
    """(m/s²)/√Hz, the white noise density of the accelerometer."""
    accel_random_walk: NonNegative | None = None
    """(m/s³)/√Hz, the white noise that drives the accelerometer's bias."""
    accel_bias_tau: PositiveOrInfinite | None = None
    """s, the correlation time of the accelerometer's bias; .inf: a pure random walk."""
    accel_turn_on_sd: NonNegative | None = None
    """m/s², one sigma of the accelerometer's bias at the start."""
    accel_range: PositiveOrInfinite | None = None
    """m/s², the largest specific force it measures, either way; .inf: no limit."""
    accel_lsb: NonNegative | None = None
    """m/s², the step of one digit of the accelerometer; 0: not quantised."""


# Columns of the (6, 5) table of one IMU, rows gyro x y z, accelerometer x y z.
_WHITE_SD, _DECAY, _STEP_SD, _RANGE, _LSB = range(5)


def axis_table(numbers: ImuNumbers, period_s: float) -> Array:
    """(6, 5) the numbers that the kernels need of an IMU sampled every `period_s`."""
    n = numbers
    gyro = [
        white_sd(n.gyro_noise_density, period_s),
        *walk_step(n.gyro_random_walk, n.gyro_bias_tau, period_s),
        n.gyro_range,
        n.gyro_lsb,
    ]
    accel = [
        white_sd(n.accel_noise_density, period_s),
        *walk_step(n.accel_random_walk, n.accel_bias_tau, period_s),
        n.accel_range,
        n.accel_lsb,
    ]
    return np.array([gyro] * 3 + [accel] * 3)


@inlined
def corrupt(axes, key, index, bias, normals, values):
    """Turns six true `values` into measured ones in place, and advances the six biases by one sample."""
    draw_normals(key, index, normals)
    for i in range(6):
        bias[i] = axes[i, _DECAY] * bias[i] + axes[i, _STEP_SD] * normals[6 + i]
        value = values[i] + bias[i] + axes[i, _WHITE_SD] * normals[i]
        values[i] = saturated(quantised(value, axes[i, _LSB]), axes[i, _RANGE])


_A = float64[::1]


_THREE = types.UniTuple(_A, 3)


@kernel(void(_THREE, float64, float64[:, ::1], types.UniTuple(uint64, 2), _A, _THREE))
def _measure_one(motion, gravity, axes, counter, bias_before, out):
    """motion: attitude, rates, acceleration; out: bias, gyro, accelerometer."""
    q, w, a = motion
    key, index = counter
    bias, gyro, accel = out
    values, normals = np.empty(6), np.empty(12)
    values[3], values[4], values[5] = to_world(q[0], -q[1], -q[2], -q[3], a[0], a[1], a[2] + gravity)
    values[0], values[1], values[2] = w[0], w[1], w[2]
    for i in range(6):
        bias[i] = bias_before[i]
    corrupt(axes, key, index, bias, normals, values)
    for i in range(3):
        gyro[i], accel[i] = values[i], values[3 + i]


class Imu(Sensor[Array]):
    """The state is the (6,) bias in the latest sample: gyro rad/s, then accelerometer m/s²."""

    Config = ImuConfig
    message = "ImuSample"
    truth_message = "ImuBias"
    fault_fields = MappingProxyType({"angular_velocity": 3, "specific_force": 3})

    def __init__(self, config: ImuConfig, period_s: float) -> None:
        self.numbers = numbers_of(config, PRESETS)
        self._preset = config.preset
        self._axes = axis_table(self.numbers, period_s)

    def initial_state(self, rng: KeyedRandom) -> Array:
        sd = np.repeat([self.numbers.gyro_turn_on_sd, self.numbers.accel_turn_on_sd], 3)
        return sd * turn_on_normals(rng, 6)

    def measure(self, kinematics: Kinematics, scene: Scene, state: Array, rng: KeyedRandom) -> tuple[ImuSample, Array]:
        bias, gyro, accel = np.empty(6), np.empty(3), np.empty(3)
        motion = (kinematics.quat_wxyz, kinematics.angular_velocity, kinematics.acceleration_world)
        _measure_one(motion, scene.gravity, self._axes, rng.counter, state, (bias, gyro, accel))
        return ImuSample(kinematics.t_ns, gyro, accel), bias

    def truth(self, state: Array, t_ns: int) -> ImuBias:
        """The bias in the sample that came with `state`."""
        return ImuBias(t_ns, state[:3].copy(), state[3:].copy())

    def details(self) -> Details:
        return {"preset": self._preset, **plain(self.numbers)}
