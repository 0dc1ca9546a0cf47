"""Barometer: the pressure of the standard atmosphere with a slowly varying scale error, drift and white noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from skyloop.core.frames import EQUATORIAL_RADIUS
from skyloop.core.keyed_random import KeyedRandom
from skyloop.core.quantities import NonNegative, Number, Seconds
from skyloop.sensors.noise import markov_step, turn_on_normals
from skyloop.sensors.sensor import Details, Scene, Sensor, SensorConfig, numbers_of, plain
from skyloop.world import atmosphere
from skyloop_client.messages import Array, BarometerSample, Kinematics


@dataclass(frozen=True, slots=True)
class BarometerNumbers:
    """The numbers of BarometerConfig; the defaults are an instrument without errors."""

    noise_sd: float = 0.0
    factor_sd: float = 0.0
    factor_tau: float = 3600.0
    drift_rate: float = 0.0


PRESETS = {
    # MS5611-01BA03's data sheet: 0.027 mbar RMS at an oversampling of 1024, and an accuracy of 1.5 mbar, taken as two
    # sigma: heights must be taken relative to the first, which is 6 m wrong. Of drift it says 1 mbar in a year. In a
    # flight weather and warming drift: with a correlation of 10 h 0.2 m in 15 s and 3 m in an hour (one sigma).
    "ms5611": BarometerNumbers(noise_sd=2.7, factor_sd=0.00074, factor_tau=36_000.0),
    # AirSim's numbers for it. The air pressure of a whole year passes in some hours: 1.4 m in 15 s.
    "airsim": BarometerNumbers(noise_sd=2.7, factor_sd=0.001825, factor_tau=3600.0),
    # PX4's Gazebo plugin: 1 Pa RMS; its drift option is `drift_rate`.
    "gazebo": BarometerNumbers(noise_sd=1.0),
    "perfect": BarometerNumbers(),
}


class BarometerConfig(SensorConfig):
    """Barometer: the pressure of the standard atmosphere with a slowly varying scale error, drift and white noise."""

    kind: Literal["barometer"] = "barometer"
    """The kind of sensor."""
    rate_hz: float | str = 50.0
    """Samples per second."""
    preset: Literal["ms5611", "airsim", "gazebo", "perfect"] = "ms5611"
    """The instrument whose numbers are used where yours are null."""
    noise_sd: NonNegative | None = None
    """Pa, one sigma of the white noise of each sample."""
    factor_sd: NonNegative | None = None
    """One sigma of the slowly varying scale error; a ratio."""
    factor_tau: Seconds | None = None
    """s, the correlation time of the scale error."""
    drift_rate: Number | None = None
    """Pa/s, the steady drift from time 0 on."""


class Barometer(Sensor[float]):
    """The state is the scale error of the latest sample."""

    Config = BarometerConfig
    message = "BarometerSample"
    fault_fields = MappingProxyType({"pressure": 1})

    def __init__(self, config: BarometerConfig, period_s: float) -> None:
        self.numbers = numbers_of(config, PRESETS)
        self._preset = config.preset
        self._decay, self._step_sd = markov_step(self.numbers.factor_sd, self.numbers.factor_tau, period_s)

    def initial_state(self, rng: KeyedRandom) -> float:
        return self.numbers.factor_sd * float(turn_on_normals(rng, 1)[0])

    def measure(
        self, kinematics: Kinematics, scene: Scene, state: float, rng: KeyedRandom
    ) -> tuple[BarometerSample, float]:
        east, north, up = kinematics.position.tolist()
        # The ellipsoid drops below the tangent plane: 8 cm at 1 km.
        altitude = scene.local_frame.home.altitude + up + (east * east + north * north) / (2.0 * EQUATORIAL_RADIUS)
        white, step = rng.normal(2).tolist()
        factor = self._decay * state + self._step_sd * step
        drift = self.numbers.drift_rate * kinematics.t_ns * 1e-9
        pressure = float(atmosphere.pressure(altitude)) * (1.0 + factor) + drift + self.numbers.noise_sd * white
        temperature = float(atmosphere.temperature(altitude))
        return BarometerSample(kinematics.t_ns, pressure, _altitude(pressure), temperature), factor

    def disturbed(self, sample: BarometerSample, field: str, error: Array) -> BarometerSample:
        pressure = sample.pressure + float(error[0])
        return replace(sample, pressure=pressure, altitude=_altitude(pressure))

    def details(self) -> Details:
        return {"preset": self._preset, **plain(self.numbers)}


def _altitude(pressure: float) -> float:
    # A fault may give a pressure that no air has; the altimeter formula ends at vacuum.
    return float(atmosphere.altitude_from_pressure(max(pressure, 1.0)))
