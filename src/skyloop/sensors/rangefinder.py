"""Rangefinder: one ray along the sensor's forward axis."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from pydantic import model_validator

from skyloop.core.keyed_random import KeyedRandom
from skyloop.core.quantities import Distance, Length
from skyloop.sensors.sensor import Details, Scene, Sensor, SensorConfig, numbers_of, plain
from skyloop_client.messages import Kinematics, RangeSample


@dataclass(frozen=True, slots=True)
class RangefinderNumbers:
    """The numbers of RangefinderConfig; the defaults are an instrument without errors."""

    min_range: float = 0.0
    max_range: float = 1000.0
    noise_sd: float = 0.0
    resolution: float = 0.0


PRESETS = {
    # AirSim's distance sensor; its 0.2 m cannot be changed there.
    "airsim": RangefinderNumbers(min_range=0.2, max_range=40.0, noise_sd=0.2),
    # Garmin LIDAR-Lite v3: 5 cm to 40 m, ±2.5 cm at short range, in steps of 1 cm.
    "lidar-lite": RangefinderNumbers(min_range=0.05, max_range=40.0, noise_sd=0.025, resolution=0.01),
    "perfect": RangefinderNumbers(),
}


class RangefinderConfig(SensorConfig):
    """Rangefinder: the distance along its forward axis to the nearest surface."""

    kind: Literal["rangefinder"] = "rangefinder"
    """The kind of sensor."""
    rate_hz: float | str = 50.0
    """Samples per second."""
    preset: Literal["airsim", "lidar-lite", "perfect"] = "lidar-lite"
    """The instrument whose numbers are used where yours are null."""
    min_range: Distance | None = None
    """m, the shortest distance it measures."""
    max_range: Length | None = None
    """m, the longest distance it measures."""
    noise_sd: Distance | None = None
    """m, one sigma of the white noise of each sample."""
    resolution: Distance | None = None
    """m, the step of one digit; 0: not quantised."""

    @model_validator(mode="after")
    def _has_a_range(self) -> RangefinderConfig:
        numbers = numbers_of(self, PRESETS)
        if numbers.min_range >= numbers.max_range:
            raise ValueError(f"min_range {numbers.min_range} m must be below max_range {numbers.max_range} m")
        return self


class Rangefinder(Sensor[tuple[()]]):
    """Keeps no state between samples."""

    Config = RangefinderConfig
    kernels = ("skyloop.world.rays",)
    message = "RangeSample"
    fault_fields = MappingProxyType({"distance": 1})

    def __init__(self, config: RangefinderConfig, period_s: float) -> None:
        self.numbers = numbers_of(config, PRESETS)
        self._preset = config.preset

    def initial_state(self, rng: KeyedRandom) -> tuple[()]:
        return ()

    def measure(
        self, kinematics: Kinematics, scene: Scene, state: tuple[()], rng: KeyedRandom
    ) -> tuple[RangeSample, tuple[()]]:
        n = self.numbers
        w, x, y, z = kinematics.quat_wxyz.tolist()
        forward = np.array([[1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)]])
        true = float(scene.rays(kinematics.position[None], forward, n.max_range)[0])
        distance = -math.inf if true < n.min_range else math.nan
        if n.min_range <= true <= n.max_range:
            distance = true + n.noise_sd * float(rng.normal(1)[0])
            if n.resolution > 0.0:
                distance = n.resolution * round(distance / n.resolution)
            distance = min(max(distance, n.min_range), n.max_range)
        return RangeSample(kinematics.t_ns, distance, n.min_range, n.max_range), state

    def details(self) -> Details:
        return {"preset": self._preset, **plain(self.numbers)}
