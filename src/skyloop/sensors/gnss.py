"""GNSS receiver: position and velocity with correlated and white errors, start-up and outages."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from skyloop.core.frames import GeoPoint, LocalFrame
from skyloop.core.keyed_random import KeyedRandom
from skyloop.core.quantities import Delay, Instant, Length, NonNegative, Positive, Seconds
from skyloop.sensors.faults import add_error
from skyloop.sensors.noise import markov_step, turn_on_normals
from skyloop.sensors.sensor import Details, Scene, Sensor, SensorConfig, numbers_of, plain
from skyloop_client.messages import Array, GnssFix, Kinematics

_NO_FIX_SD = 100.0
_NO_FIX_DOP = 99.99
_SMALLEST_REPORTED_SD = 0.01

HorizontalVertical = tuple[NonNegative, NonNegative]


@dataclass(frozen=True, slots=True)
class GnssNumbers:
    """The numbers of GnssConfig; the defaults are a receiver without errors."""

    position_sd: tuple[float, float] = (0.0, 0.0)
    position_tau: float = 60.0
    position_white_sd: tuple[float, float] = (0.0, 0.0)
    velocity_sd: tuple[float, float] = (0.0, 0.0)
    velocity_tau: float = 1.0
    velocity_white_sd: tuple[float, float] = (0.0, 0.0)
    startup_delay: float = 0.0
    acquisition_tau: float = 0.0
    reported_position_sd: tuple[float, float] | None = None
    reported_speed_sd: float | None = None
    hdop: float = 0.7
    vdop: float = 1.1
    satellites: int = 12


# PX4's simulated GPS steps at 8 Hz: e ← 0.76 e + 0.02·0.8·n for position, e ← 0.54 e + 0.4·0.05·n for
# velocity; vertically the noise is 1.5 and 1.2 times as large. The same process at any rate has
# tau = -T/ln(factor), sd = drive/√(1 - factor²).
_PX4_PERIOD = 0.125
_PX4_POSITION_SD = 0.02 * 0.8 / math.sqrt(1.0 - 0.76**2)
_PX4_VELOCITY_SD = 0.4 * 0.05 / math.sqrt(1.0 - 0.54**2)

PRESETS = {
    # A single-frequency receiver under open sky, after a hot start. What matters within a flight is how its error
    # varies, not the offset of the day: some decimetres over minutes (estimated from static logs), and 0.05 m/s as
    # in its data sheet.
    "m8n": GnssNumbers(
        position_sd=(0.3, 0.4),
        position_tau=120.0,
        position_white_sd=(0.05, 0.1),
        velocity_sd=(0.04, 0.06),
        velocity_tau=1.0,
        velocity_white_sd=(0.03, 0.05),
        startup_delay=1.0,
        acquisition_tau=0.3,
    ),
    "px4-sih": GnssNumbers(
        position_sd=(_PX4_POSITION_SD, 1.5 * _PX4_POSITION_SD),
        position_tau=-_PX4_PERIOD / math.log(0.76),
        velocity_sd=(_PX4_VELOCITY_SD, 1.2 * _PX4_VELOCITY_SD),
        velocity_tau=-_PX4_PERIOD / math.log(0.54),
        reported_position_sd=(0.9, 1.78),
        reported_speed_sd=0.4,
        satellites=10,
    ),
    # AirSim: exact position and velocity. Only the reported sd decays, after 1 s, from 100 m to 0.1 m with
    # tau 0.9 s. (It runs at 50 Hz with a latency of 0.2 s; set rate_hz and latency for that.)
    "airsim": GnssNumbers(startup_delay=1.0, acquisition_tau=0.9, reported_position_sd=(0.1, 0.1)),
    # A carrier-phase fix with a base station nearby: about 2 cm.
    "rtk": GnssNumbers(
        position_sd=(0.015, 0.03),
        position_tau=30.0,
        position_white_sd=(0.005, 0.01),
        velocity_sd=(0.02, 0.03),
        velocity_tau=2.0,
        velocity_white_sd=(0.02, 0.03),
        startup_delay=1.0,
        acquisition_tau=0.3,
        satellites=20,
    ),
    "perfect": GnssNumbers(),
}


class Outage(BaseModel):
    """A time without satellites."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    start: Instant
    """s, the simulated time at which it begins, inclusive."""
    end: Instant | None = None
    """s, the simulated time at which the receiver begins to acquire again, exclusive; null: never."""

    @model_validator(mode="after")
    def _ends_after_start(self) -> Outage:
        if self.end is not None and self.end <= self.start:
            raise ValueError(f"outage ends at {self.end} s, before it starts at {self.start} s")
        return self


class GnssConfig(SensorConfig):
    """Satellite navigation receiver: position and velocity with correlated errors, acquisition and outages."""

    kind: Literal["gnss"] = "gnss"
    """The kind of sensor."""
    rate_hz: float | str = 10.0
    """Fixes per second."""
    latency: Delay = 0.12
    """s, the time from the instant a fix describes to the instant it may be read."""
    preset: Literal["m8n", "px4-sih", "airsim", "rtk", "perfect"] = "m8n"
    """The receiver whose numbers are used where yours are null."""
    position_sd: HorizontalVertical | None = None
    """m, one sigma of the slowly varying position error: east and north each, and up."""
    position_tau: Seconds | None = None
    """s, the correlation time of the slowly varying position error."""
    position_white_sd: HorizontalVertical | None = None
    """m, one sigma of the white position error of each fix: east and north each, and up."""
    velocity_sd: HorizontalVertical | None = None
    """m/s, one sigma of the slowly varying velocity error: east and north each, and up."""
    velocity_tau: Seconds | None = None
    """s, the correlation time of the slowly varying velocity error."""
    velocity_white_sd: HorizontalVertical | None = None
    """m/s, one sigma of the white velocity error of each fix: east and north each, and up."""
    startup_delay: Instant | None = None
    """s, the simulated time at which the receiver begins to acquire."""
    acquisition_tau: Instant | None = None
    """s, the time constant with which the reported sd falls from 100 m while the receiver acquires; 0: at once."""
    eph_3d: Length = 3.0
    """m, the reported horizontal sd at and below which there is a 3D fix."""
    eph_2d: Length = 4.0
    """m, the reported horizontal sd at and below which there is a 2D fix."""
    reported_position_sd: HorizontalVertical | None = None
    """m, the horizontal and vertical sd that the receiver reports in the end; null: what its errors amount to."""
    reported_speed_sd: NonNegative | None = None
    """m/s, the sd of the velocity that the receiver reports; null: what its errors amount to."""
    hdop: Positive | None = None
    """The horizontal dilution of precision it reports with a fix."""
    vdop: Positive | None = None
    """The vertical dilution of precision it reports with a fix."""
    satellites: Annotated[int, Field(ge=4, le=1000)] | None = None
    """The number of satellites it reports with a fix."""
    outages: tuple[Outage, ...] = ()
    """When it loses the satellites. It keeps publishing its last position, with fix_type 0 and an sd of 100 m."""


class GnssState(NamedTuple):
    error: Array
    """(6,) correlated error of the latest fix: m, then m/s, east north up."""
    last_position: tuple[float, float, float] | None
    """Latitude and longitude in degrees, altitude in m of the latest fix; None before the first."""


class Gnss(Sensor[GnssState]):
    """Without a fix it publishes its last position (home before the first fix) and zero velocity."""

    Config = GnssConfig
    message = "GnssFix"
    fault_fields = MappingProxyType({"position": 3, "velocity_enu": 3})
    """The error of `position` is in metres east, north, up."""

    def __init__(self, config: GnssConfig, period_s: float) -> None:
        n = self.numbers = numbers_of(config, PRESETS)
        self._config = config
        steps = [
            markov_step(sd, tau, period_s)
            for (level, up), tau in ((n.position_sd, n.position_tau), (n.velocity_sd, n.velocity_tau))
            for sd in (level, level, up)
        ]
        self.outages = tuple((outage.start, outage.end) for outage in config.outages)
        self._decay, self._step_sd = np.array(steps).T
        self._settled_sd = _east_north_up(n.position_sd, n.velocity_sd)
        self._white_sd = _east_north_up(n.position_white_sd, n.velocity_white_sd)
        total = np.maximum(np.hypot(self._settled_sd, self._white_sd), _SMALLEST_REPORTED_SD).tolist()
        self._reported_position_sd = n.reported_position_sd or (total[0], total[2])
        self._reported_speed_sd = total[3] if n.reported_speed_sd is None else n.reported_speed_sd

    def initial_state(self, rng: KeyedRandom) -> GnssState:
        return GnssState(self._settled_sd * turn_on_normals(rng, 6), None)

    def measure(
        self, kinematics: Kinematics, scene: Scene, state: GnssState, rng: KeyedRandom
    ) -> tuple[GnssFix, GnssState]:
        normals = rng.normal(12)
        error = self._decay * state.error + self._step_sd * normals[:6]
        measured_error = error + self._white_sd * normals[6:]
        horizontal_sd, vertical_sd = self._position_sd_at(kinematics.t_ns * 1e-9)
        fix_type = 3 if horizontal_sd <= self._config.eph_3d else 2 if horizontal_sd <= self._config.eph_2d else 0
        if fix_type == 0:
            last = state.last_position
            return self._no_fix(kinematics.t_ns, scene.local_frame, last), GnssState(error, last)
        point = scene.local_frame.geodetic_from_enu(kinematics.position + measured_error[:3])
        position = (point.latitude_deg, point.longitude_deg, point.altitude)
        fix = GnssFix(
            kinematics.t_ns,
            *position,
            velocity_enu=kinematics.velocity_world + measured_error[3:],
            fix_type=fix_type,
            hdop=self.numbers.hdop,
            vdop=self.numbers.vdop,
            satellites=self.numbers.satellites,
            horizontal_sd=horizontal_sd,
            vertical_sd=vertical_sd,
            speed_sd=self._reported_speed_sd,
        )
        return fix, GnssState(error, position)

    def _position_sd_at(self, t: float) -> tuple[float, float]:
        """The reported horizontal and vertical sd, which falls to its final value after an outage."""
        since = self.numbers.startup_delay
        for outage in self._config.outages:
            if outage.start <= t and (outage.end is None or t < outage.end):
                return _NO_FIX_SD, _NO_FIX_SD
            if outage.end is not None and outage.end <= t:
                since = max(since, outage.end)
        if t < since:
            return _NO_FIX_SD, _NO_FIX_SD
        tau = self.numbers.acquisition_tau
        remaining = math.exp((since - t) / tau) if tau > 0.0 else 0.0
        horizontal, vertical = self._reported_position_sd
        return (horizontal + (_NO_FIX_SD - horizontal) * remaining, vertical + (_NO_FIX_SD - vertical) * remaining)

    def _no_fix(self, t_ns: int, local_frame: LocalFrame, last: tuple[float, float, float] | None) -> GnssFix:
        home = local_frame.home
        return GnssFix(
            t_ns,
            *(last or (home.latitude_deg, home.longitude_deg, home.altitude)),
            velocity_enu=np.zeros(3),
            fix_type=0,
            hdop=_NO_FIX_DOP,
            vdop=_NO_FIX_DOP,
            satellites=0,
            horizontal_sd=_NO_FIX_SD,
            vertical_sd=_NO_FIX_SD,
            speed_sd=_NO_FIX_SD,
        )

    def disturbed(self, sample: GnssFix, field: str, error: Array) -> GnssFix:
        if field != "position":
            return add_error(sample, field, error)
        here = LocalFrame(GeoPoint(sample.latitude_deg, sample.longitude_deg, sample.altitude))
        moved = here.geodetic_from_enu(error)
        return replace(
            sample, latitude_deg=moved.latitude_deg, longitude_deg=moved.longitude_deg, altitude=moved.altitude
        )

    def details(self) -> Details:
        return {"preset": self._config.preset, **plain(self.numbers)}


def _east_north_up(position: tuple[float, float], velocity: tuple[float, float]) -> Array:
    """(6,) from (horizontal, vertical) of position and of velocity."""
    return np.array([position[0], position[0], position[1], velocity[0], velocity[0], velocity[1]])
