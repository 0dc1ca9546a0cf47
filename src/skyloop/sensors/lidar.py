"""LiDAR: one sweep of rays per sample, from a spinning head, in a rosette or in a plane.

A sample is due at the END of its sweep, because the simulation cannot look ahead. So the sensor's motion during the
sweep is extrapolated backwards from the due instant, with constant acceleration and constant angular velocity, and
`offsets_ns` are negative. Moving objects in the world are evaluated at the middle of each of `slices` pieces of the
sweep.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil
from types import MappingProxyType
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skyloop.core.keyed_random import KeyedRandom
from skyloop.core.quantities import Degrees, Distance, Length, Positive
from skyloop.sensors.faults import add_error
from skyloop.sensors.lidar_kernels import (
    LaserSettings,
    Pattern,
    Sweep,
    aim,
    draw_range_noise,
    elevations,
    keep_returns,
    rosette,
    spinning,
)
from skyloop.sensors.sensor import Details, Scene, Sensor, SensorConfig, numbers_of, plain
from skyloop.world.semantics import CLASSES
from skyloop.world.weather import Weather
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array, Kinematics, LidarScan

FOG_ECHOES = 0.1
"""Echoes of fog relative to those of rain, snow or dust of the same extinction. Fog has no single bright drops."""
FOG_VISIBILITY = 1000.0
"""m; clearer air is haze and sends nothing back."""
MOST_POINTS = 5_000_000
"""Points in one sweep."""


@dataclass(frozen=True, slots=True)
class LidarNumbers:
    """The numbers of LidarConfig; the defaults are an instrument without errors."""

    pattern: str = "spinning"
    channels: int = 16
    vertical_fov_deg: tuple[float, float] = (-15.0, 15.0)
    horizontal_fov_deg: tuple[float, float] = (-180.0, 180.0)
    points_per_second: float = 300_000.0
    staggered: bool = False
    min_range: float = 0.0
    max_range: float = 200.0
    range_noise_sd: float = 0.0
    dropout: float = 0.0
    intensity: bool = True
    min_reflectance: float = 0.0
    weather: bool = False
    motion_distortion: bool = False
    slices: int = 8


_REAL = LidarNumbers(weather=True, motion_distortion=True)

# Data sheets give the range for a surface of 10 % or 80 %; min_reflectance follows with the square of the range.
PRESETS = {
    # AirSim's defaults on a multirotor: no noise, no intensity, all rays at one instant.
    "airsim": LidarNumbers(
        vertical_fov_deg=(-45.0, -15.0),
        horizontal_fov_deg=(0.0, 359.0),
        points_per_second=100_000.0,
        max_range=100.0,
        intensity=False,
    ),
    # Velodyne VLP-16: 2 degrees between channels, ±3 cm.
    "vlp16": replace(_REAL, staggered=True, min_range=0.5, max_range=100.0, range_noise_sd=0.03, min_reflectance=0.4),
    # Velodyne HDL-32E: 1.33 degrees between channels, ±2 cm.
    "hdl32": replace(
        _REAL,
        channels=32,
        vertical_fov_deg=(-30.67, 10.67),
        points_per_second=695_000.0,
        staggered=True,
        min_range=1.0,
        max_range=100.0,
        range_noise_sd=0.02,
        min_reflectance=0.4,
    ),
    # Ouster OS1-64 of the first generation, 1024 columns at 10 Hz: 120 m at 80 %, all channels of a column at once.
    "os1-64": replace(
        _REAL,
        channels=64,
        vertical_fov_deg=(-16.6, 16.6),
        points_per_second=655_360.0,
        min_range=0.8,
        max_range=120.0,
        range_noise_sd=0.015,
        min_reflectance=0.8,
    ),
    # Livox Mid-40: a cone of 38.4 degrees, 260 m at 80 %, 2 cm.
    "livox-mid40": replace(
        _REAL,
        pattern="rosette",
        channels=1,
        horizontal_fov_deg=(-19.2, 19.2),
        points_per_second=100_000.0,
        min_range=1.0,
        max_range=260.0,
        range_noise_sd=0.02,
        min_reflectance=0.8,
    ),
    # Slamtec RPLIDAR A2: 800 points in a plane per turn, 12 m.
    "rplidar": replace(
        _REAL,
        channels=1,
        vertical_fov_deg=(0.0, 0.0),
        points_per_second=8_000.0,
        min_range=0.2,
        max_range=12.0,
        range_noise_sd=0.02,
        min_reflectance=0.3,
    ),
    "perfect": LidarNumbers(),
}


class LidarConfig(SensorConfig):
    """LiDAR: exact rays in a spinning, flat or rosette pattern, with motion distortion, intensity, dropouts and
    weather."""

    kind: Literal["lidar"] = "lidar"
    """The kind of sensor."""
    rate_hz: float | str = 10.0
    """Sweeps per second; a spinning head turns once per sweep."""
    preset: Literal["airsim", "vlp16", "hdl32", "os1-64", "livox-mid40", "rplidar", "perfect"] = "vlp16"
    """The instrument whose numbers are used where yours are null."""
    pattern: Literal["spinning", "rosette"] | None = None
    """`spinning`: a turning head with a column of channels; `rosette`: one beam that draws petals in a cone around
    forward."""
    channels: Annotated[int, Field(ge=1, le=1024)] | None = None
    """The number of beams above each other; 1 scans a plane. A rosette has 1."""
    vertical_fov_deg: tuple[Degrees, Degrees] | None = None
    """The elevations of the lowest and the highest channel, evenly filled between them; a rosette has none."""
    horizontal_fov_deg: tuple[Degrees, Degrees] | None = None
    """The first and the last azimuth, counter-clockwise from forward. The full width of a rosette's cone is their
    difference."""
    points_per_second: Positive | None = None
    """1/s, the firings over the full circle; a narrower horizontal field has fewer."""
    staggered: bool | None = None
    """true: the channels of a column fire one after another while the head turns; false: all at once."""
    min_range: Distance | None = None
    """m, the shortest distance it measures."""
    max_range: Length | None = None
    """m, the longest distance it measures."""
    range_noise_sd: Distance | None = None
    """m, one sigma of the white noise of each return."""
    dropout: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    """The share of returns that is lost at random."""
    intensity: bool | None = None
    """false: all intensities are 0."""
    min_reflectance: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    """The reflectance times cosine of incidence that is just detected at `max_range`. Nearer, less is enough, by the
    square of the range. 0: everything is detected."""
    weather: bool | None = None
    """true: fog, rain, snow and dust dim the returns and cause some of their own."""
    motion_distortion: bool | None = None
    """true: each firing starts from where the sensor is at that instant; false: the whole sweep is taken at its end."""
    slices: Annotated[int, Field(ge=1, le=1000)] | None = None
    """The number of instants of a sweep at which moving objects are evaluated, with motion distortion."""

    @model_validator(mode="after")
    def _can_be_built(self) -> LidarConfig:
        n = numbers_of(self, PRESETS)
        if n.min_range >= n.max_range:
            raise ValueError(f"min_range {n.min_range} m must be below max_range {n.max_range} m")
        lower, upper = n.vertical_fov_deg
        if not -90.0 <= lower <= upper <= 90.0:
            raise ValueError(f"vertical_fov_deg {n.vertical_fov_deg} must rise within -90 and 90")
        widest = 180.0 if n.pattern == "rosette" else 360.0
        if not 0.0 < n.horizontal_fov_deg[1] - n.horizontal_fov_deg[0] <= widest:
            raise ValueError(f"horizontal_fov_deg {n.horizontal_fov_deg} must rise by at most {widest:g}")
        if n.pattern == "rosette" and (n.channels != 1 or self.vertical_fov_deg is not None):
            raise ValueError("a rosette has one channel and no vertical_fov_deg; set channels to 1")
        return self


class Lidar(Sensor[tuple[()]]):
    """Keeps no state between samples."""

    Config = LidarConfig
    kernels = ("skyloop.world.rays",)
    message = "LidarScan"
    independent = True
    fault_fields = MappingProxyType({"ranges": 1, "intensities": 1})

    def __init__(self, config: LidarConfig, period_s: float) -> None:
        self.numbers = numbers_of(config, PRESETS)
        self._preset = config.preset
        self._sweep = period_s
        self.pattern = _pattern(self.numbers, period_s)
        self._offsets_ns = self.pattern.offsets_ns * int(self.numbers.motion_distortion)
        # reused for each sweep; new memory would cost a tenth of the time
        n = len(self._offsets_ns)
        self._origins, self._along = np.empty((n, 3), np.float32), np.empty((n, 3), np.float32)
        self._normals = np.zeros(4 * ceil(n / 4))

    def initial_state(self, rng: KeyedRandom) -> tuple[()]:
        return ()

    def measure(
        self, kinematics: Kinematics, scene: Scene, state: tuple[()], rng: KeyedRandom
    ) -> tuple[LidarScan, tuple[()]]:
        pattern = self.pattern
        directions = pattern.directions_at(kinematics.t_ns)
        origins, along = self._origins, self._along
        aim(directions, self._offsets_ns, _motion(kinematics), origins, along)
        scan = _blank(kinematics.t_ns, len(directions))
        settings, model = self._settings(scene.weather), scene.model
        counter, offsets = rng.counter, self._offsets_ns
        given = (directions, pattern.rings, offsets, self._normals, model.part_object, model.object_class, *counter)
        sweep, laser, out = tuple(Sweep(*given)), tuple(settings), _arrays(scan)
        if self.numbers.range_noise_sd > 0.0:
            draw_range_noise(*counter, self._normals)
        count = 0
        for first, end, t_ns in self._slices(kinematics.t_ns, bool(model.movers)):
            rays = along[first:end]
            hits = scene.cast(origins[first:end], rays, self.numbers.max_range, t_ns)
            met = (hits.distance, hits.row, hits.material, hits.normal, rays)
            count = keep_returns(first, count, met, sweep, laser, out)
        return LidarScan(kinematics.t_ns, *(array[:count] for array in out)), state

    def _slices(self, t_ns: int, anything_moves: bool) -> Iterator[tuple[int, int, int | None]]:
        """First firing, last + 1 and instant of the pieces that are cast one after another."""
        n = len(self._offsets_ns)
        if not (anything_moves and self.numbers.motion_distortion):
            yield 0, n, None
            return
        cuts = np.linspace(0, n, min(self.numbers.slices, n) + 1).astype(int).tolist()
        for first, end in pairwise(cuts):
            middle = int(self._offsets_ns[first] + self._offsets_ns[end - 1]) // 2
            # simulated time begins at 0
            yield first, end, max(t_ns + middle, 0)

    def _settings(self, weather: Weather) -> LaserSettings:
        n = self.numbers
        extinction, echo_rate = (weather.extinction, _echo_rate(weather)) if n.weather else (0.0, 0.0)
        return LaserSettings(
            n.min_range, n.max_range, n.range_noise_sd, n.dropout, n.min_reflectance, extinction, echo_rate,
            float(n.intensity),
        )  # fmt: skip

    def disturbed(self, sample: LidarScan, field: str, error: Array) -> LidarScan:
        """A fault in the ranges moves the points along their beams."""
        if field != "ranges":
            return add_error(sample, field, error.astype(np.float32))
        ranges = (sample.ranges + error[0]).astype(np.float32)
        beams = sample.points / np.maximum(sample.ranges, np.float32(1e-6))[:, None]
        return replace(sample, ranges=ranges, points=beams * ranges[:, None])

    def details(self) -> Details:
        n = self.numbers
        facts: Details = {"preset": self._preset, **plain(n)}
        if n.pattern == "spinning":
            facts["elevations_deg"] = np.degrees(elevations(n.channels, n.vertical_fov_deg)).tolist()
        return {**facts, "sweep": self._sweep, "points_per_sweep": len(self._offsets_ns), "classes": list(CLASSES)}


def _pattern(n: LidarNumbers, sweep: float) -> Pattern:
    if n.points_per_second * sweep > MOST_POINTS:
        raise ScenarioError(
            f"a LiDAR of {n.points_per_second:g} points/s in sweeps of {sweep:g} s has more than {MOST_POINTS} points "
            "in one; lower points_per_second or raise rate_hz"
        )
    if n.pattern == "rosette":
        return rosette(n.horizontal_fov_deg[1] - n.horizontal_fov_deg[0], n.points_per_second, sweep)
    return spinning(n.channels, n.vertical_fov_deg, n.horizontal_fov_deg, n.points_per_second, sweep, n.staggered)


def _blank(t_ns: int, n: int) -> LidarScan:
    return LidarScan(
        t_ns,
        np.empty((n, 3), np.float32),
        np.empty(n, np.float32),
        np.empty(n, np.float32),
        np.empty(n, np.uint16),
        np.empty(n, np.int64),
        np.empty(n, np.uint8),
        np.empty(n, np.int32),
    )


def _arrays(scan: LidarScan) -> tuple[NDArray[Any], ...]:
    """All fields but the stamp, in order."""
    return (
        scan.points, scan.ranges, scan.intensities, scan.rings, scan.offsets_ns, scan.classes, scan.instances
    )  # fmt: skip


def _motion(k: Kinematics) -> Array:
    """(16,) in the order that `aim` expects."""
    return np.concatenate([k.position, k.velocity_world, k.acceleration_world, k.quat_wxyz, k.angular_velocity])


def _echo_rate(weather: Weather) -> float:
    """1/m at the sensor: the extinction by rain, snow and dust, and a small part of that by fog; 0 in clear air."""
    still = weather.config.model_copy(update={"rain": 0.0, "snow": 0.0, "dust": 0.0})
    haze = replace(weather, config=still).extinction
    fog = haze if weather.config.visibility < FOG_VISIBILITY else 0.0
    return weather.extinction - haze + FOG_ECHOES * fog
