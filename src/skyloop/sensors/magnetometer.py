"""Magnetometer: the earth's field in sensor axes, with hard iron, scale errors, white noise and a varying bias."""

# mypy: allow-untyped-defs

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numba import float64, types, void

from skyloop.core.jit import kernel
from skyloop.core.keyed_random import KeyedRandom
from skyloop.core.quantities import NonNegative, Vector
from skyloop.core.rotations import to_world
from skyloop.sensors.noise import turn_on_normals, walk_step, white_sd
from skyloop.sensors.sensor import (
    Details,
    PositiveOrInfinite,
    Scene,
    Sensor,
    SensorConfig,
    Vector3,
    numbers_of,
    plain,
)
from skyloop_client.messages import Array, Kinematics, MagnetometerSample

_TESLA_PER_GAUSS = 1e-4


@dataclass(frozen=True, slots=True)
class MagnetometerNumbers:
    """The numbers of MagnetometerConfig; the defaults are an instrument without errors."""

    noise_sd: float = 0.0
    noise_density: float = 0.0
    random_walk: float = 0.0
    bias_tau: float = math.inf
    turn_on_sd: float = 0.0
    hard_iron: Vector3 = (0.0, 0.0, 0.0)
    scale: Vector3 = (1.0, 1.0, 1.0)


PRESETS = {
    # AirSim's magnetometer: 5 mG per sample at any rate, and no offset by default.
    "hmc5883": MagnetometerNumbers(noise_sd=0.005 * _TESLA_PER_GAUSS),
    # PX4's Gazebo plugin, given in gauss there.
    "gazebo": MagnetometerNumbers(
        noise_density=0.0004 * _TESLA_PER_GAUSS, random_walk=6.4e-6 * _TESLA_PER_GAUSS, bias_tau=600.0
    ),
    "perfect": MagnetometerNumbers(),
}


class MagnetometerConfig(SensorConfig):
    """Magnetometer: the earth's magnetic field in sensor axes, with noise, bias, hard iron and scale errors."""

    kind: Literal["magnetometer"] = "magnetometer"
    """The kind of sensor."""
    rate_hz: float | str = 50.0
    """Samples per second."""
    preset: Literal["hmc5883", "gazebo", "perfect"] = "hmc5883"
    """The instrument whose numbers are used where yours are null."""
    noise_sd: NonNegative | None = None
    """T, one sigma of the white noise of each sample."""
    noise_density: NonNegative | None = None
    """T/√Hz, a white noise density; it adds to `noise_sd`."""
    random_walk: NonNegative | None = None
    """(T/s)/√Hz, the white noise that drives the bias."""
    bias_tau: PositiveOrInfinite | None = None
    """s, the correlation time of the bias; .inf: a pure random walk."""
    turn_on_sd: NonNegative | None = None
    """T, one sigma of the bias at the start, per axis."""
    hard_iron: Vector | None = None
    """T, a constant bias in sensor axes."""
    scale: Vector | None = None
    """The measured field over the true field, per sensor axis."""


_A = float64[::1]


@kernel(void(_A, _A, _A, types.UniTuple(float64, 3), _A, _A, _A))
def _measure_one(q, field_world, shape, noise, normals, bias, out):
    """shape: hard iron, then scale; noise: white sd, decay of the bias, sd of its step. The bias advances in place."""
    white, decay, step = noise
    out[0], out[1], out[2] = to_world(q[0], -q[1], -q[2], -q[3], field_world[0], field_world[1], field_world[2])
    for i in range(3):
        bias[i] = decay * bias[i] + step * normals[3 + i]
        out[i] = shape[3 + i] * out[i] + shape[i] + bias[i] + white * normals[i]


class Magnetometer(Sensor[Array]):
    """The state is the (3,) varying bias of the latest sample, T; hard iron is not part of it."""

    Config = MagnetometerConfig
    message = "MagnetometerSample"
    fault_fields = MappingProxyType({"field_tesla": 3})

    def __init__(self, config: MagnetometerConfig, period_s: float) -> None:
        n = self.numbers = numbers_of(config, PRESETS)
        self._preset = config.preset
        self._shape = np.array([*n.hard_iron, *n.scale])
        white = math.hypot(n.noise_sd, white_sd(n.noise_density, period_s))
        self._noise = (white, *walk_step(n.random_walk, n.bias_tau, period_s))

    def initial_state(self, rng: KeyedRandom) -> Array:
        return self.numbers.turn_on_sd * turn_on_normals(rng, 3)

    def measure(
        self, kinematics: Kinematics, scene: Scene, state: Array, rng: KeyedRandom
    ) -> tuple[MagnetometerSample, Array]:
        bias, out = state.copy(), np.empty(3)
        field_world = scene.magnetic_field_world
        _measure_one(kinematics.quat_wxyz, field_world, self._shape, self._noise, rng.normal(6), bias, out)
        return MagnetometerSample(kinematics.t_ns, out), bias

    def details(self) -> Details:
        return {"preset": self._preset, **plain(self.numbers)}
