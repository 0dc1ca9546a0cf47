"""The position of the world's origin on Earth, and the gravity and magnetic field there."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from pygeomag import GeoMag
from pygeomag.wmm.wmm_2025 import WMM_2025

from skyloop.core.frames import EQUATORIAL_RADIUS, FLATTENING, GeoPoint, LocalFrame
from skyloop_client.errors import ScenarioError, nearest_name
from skyloop_client.messages import Array

STANDARD_GRAVITY = 9.80665

# WGS84 normal gravity: at the equator, Somigliana's constant k, and m = ω²a²b/GM.
_EQUATORIAL_GRAVITY = 9.7803253359
_SOMIGLIANA = 0.00193185265241
_CENTRIFUGAL_RATIO = 0.00344978650684


class EarthConfig(BaseModel):
    """Where on the earth the origin of the world lies."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    latitude_deg: float = Field(default=47.641468, ge=-90.0, le=90.0)
    """The latitude of the world's origin, WGS84."""
    longitude_deg: float = Field(default=-122.140165, ge=-180.0, le=180.0)
    """The longitude of the world's origin, WGS84."""
    altitude: float = Field(default=122.0, ge=-1000.0, le=100_000.0)
    """m, the height of the world's origin above the WGS84 ellipsoid."""
    gravity: Annotated[float, Field(gt=0.0, le=1000.0)] | Literal["normal"] | None = None
    """m/s², the acceleration of gravity. null is the standard 9.80665; `normal` is the WGS84 normal gravity at the
    origin."""
    year: float = Field(default=2026.0, ge=2025.0, le=2030.0)
    """The decimal year of the magnetic field; the World Magnetic Model 2025 covers 2025 to 2030."""


@dataclass(frozen=True)
class Earth:
    """Constant over one run: home's local frame, gravity and magnetic field."""

    config: EarthConfig = field(default_factory=EarthConfig)

    @cached_property
    def local_frame(self) -> LocalFrame:
        return LocalFrame(GeoPoint(self.config.latitude_deg, self.config.longitude_deg, self.config.altitude))

    @cached_property
    def gravity(self) -> float:
        """m/s², along -z of the world."""
        if self.config.gravity is None:
            return STANDARD_GRAVITY
        if self.config.gravity == "normal":
            return normal_gravity(self.config.latitude_deg, self.config.altitude)
        return self.config.gravity

    @cached_property
    def magnetic_field_world(self) -> Array:
        """(3,) T, ENU, from the World Magnetic Model 2025 at home."""
        config = self.config
        north_east_down = GeoMag(coefficients_data=WMM_2025).calculate(
            config.latitude_deg, config.longitude_deg, config.altitude / 1000.0, config.year
        )
        return 1e-9 * np.array([north_east_down.y, north_east_down.x, -north_east_down.z])

    @cached_property
    def declination(self) -> float:
        """rad, the angle from true north to magnetic north, positive to the east."""
        east, north, _ = self.magnetic_field_world
        return float(np.arctan2(east, north))


def normal_gravity(latitude_deg: float, altitude: float) -> float:
    """m/s², WGS84: Somigliana's formula on the ellipsoid, second order in the altitude above it."""
    sine_squared = np.sin(np.radians(latitude_deg)) ** 2
    eccentricity_squared = FLATTENING * (2.0 - FLATTENING)
    on_ellipsoid = (
        _EQUATORIAL_GRAVITY * (1.0 + _SOMIGLIANA * sine_squared) / np.sqrt(1.0 - eccentricity_squared * sine_squared)
    )
    h = altitude / EQUATORIAL_RADIUS
    first_order = 1.0 + FLATTENING + _CENTRIFUGAL_RATIO - 2.0 * FLATTENING * sine_squared
    return float(on_ellipsoid * (1.0 - 2.0 * first_order * h + 3.0 * h * h))


HOMES = {
    # AirSim's Blocks, and the default of every scenario
    "airsim-redmond": GeoPoint(47.641468, -122.140165, 122.0),
    # PX4's simulators, and the examples of MAVSDK
    "px4-zurich": GeoPoint(47.397742, 8.545594, 488.0),
    # ArduPilot's sim_vehicle.py: the model airfield at Canberra
    "ardupilot-canberra": GeoPoint(-35.363261, 149.165230, 584.0),
}


def home_from(text: str) -> GeoPoint:
    """Reads a name of `HOMES`, or "latitude,longitude" in degrees, with an altitude in m if it is not 0."""
    if text in HOMES:
        return HOMES[text]
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise ScenarioError(f"no home named '{text}'; {nearest_name(text, HOMES)}, or give LAT,LON,ALT") from None
    if len(numbers) not in (2, 3):
        raise ScenarioError(f"home '{text}' has {len(numbers)} numbers; give LAT,LON or LAT,LON,ALT")
    latitude_deg, longitude_deg, altitude = [*numbers, 0.0][:3]
    if not (abs(latitude_deg) <= 90.0 and abs(longitude_deg) <= 180.0):
        raise ScenarioError(f"home '{text}' is no place on Earth; give degrees, the latitude first")
    return GeoPoint(latitude_deg, longitude_deg, altitude)
