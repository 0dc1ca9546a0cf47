"""A sensor: how far a radio beacon is away."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from skyloop.core.keyed_random import KeyedRandom
from skyloop.sensors.sensor import Sensor, SensorConfig
from skyloop_client.messages import Kinematics


@dataclass(frozen=True)
class BeaconSample:
    t_ns: int
    distance: float
    """m"""


class BeaconConfig(SensorConfig):
    """Beacon: the distance to a transmitter."""

    kind: Literal["beacon"] = "beacon"
    rate_hz: float | str = 10.0
    """Samples per second."""
    transmitter: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """m, in world axes."""


class Beacon(Sensor[None]):
    Config = BeaconConfig
    message = "BeaconSample"

    def __init__(self, config: BeaconConfig, period_s: float) -> None:
        self.transmitter = config.transmitter

    def initial_state(self, rng: KeyedRandom) -> None:
        """It remembers nothing between samples."""

    def measure(self, kinematics: Kinematics, scene: Any, state: None, rng: KeyedRandom) -> tuple[BeaconSample, None]:
        return BeaconSample(kinematics.t_ns, float(np.linalg.norm(kinematics.position - self.transmitter))), None
