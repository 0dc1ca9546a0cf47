"""A sensor of your own: a pitot tube that measures the dynamic pressure along its forward axis."""

from dataclasses import dataclass
from typing import Any, ClassVar

from skyloop.core.frames import rotate_inverse
from skyloop.core.keyed_random import KeyedRandom
from skyloop_client.messages import Kinematics

AIR_DENSITY = 1.225


@dataclass(frozen=True)
class PitotSample:
    t_ns: int
    differential_pressure: float
    """Pa. Negative if the air comes from behind."""


class Pitot:
    """`measure` gets the exact motion of the mount. skyloop adds rates, latency and faults."""

    message: ClassVar[str] = "PitotSample"
    fault_fields: ClassVar[dict[str, int]] = {"differential_pressure": 1}

    def __init__(self, noise_sd: float = 0.0) -> None:
        """noise_sd: Pa."""
        self.noise_sd = noise_sd

    def initial_state(self, rng: KeyedRandom) -> None:
        """It keeps no state between samples."""

    def measure(self, kinematics: Kinematics, scene: Any, state: None, rng: KeyedRandom) -> tuple[PitotSample, None]:
        through_air = kinematics.velocity_world - kinematics.wind_world
        forward = float(rotate_inverse(kinematics.quat_wxyz, through_air)[0])
        pressure = 0.5 * AIR_DENSITY * forward * abs(forward) + self.noise_sd * rng.normal(1)[0]
        return PitotSample(kinematics.t_ns, float(pressure)), None
