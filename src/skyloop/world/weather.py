"""Sun and weather: the light of the world, and what is in the air between it and a sensor."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from skyloop.world.generation import generator
from skyloop_client.messages import Array


class WeatherConfig(BaseModel):
    """The position of the sun, the clouds, and what is in the air; the same everywhere and for the whole run."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    time_of_day: Annotated[float, Field(ge=0.0, le=24.0)] = 10.5
    """h, local solar time; the sun is highest at 12."""
    day_of_year: Annotated[int, Field(ge=1, le=366)] = 172
    """The day of the year, 1 being the first of January; with the latitude it sets the height of the sun."""
    clouds: Annotated[float, Field(ge=0.0, le=1.0)] = 0.3
    """The share of the sky that clouds cover; they take the same share of the sunlight away."""
    visibility: Annotated[float, Field(ge=5.0, le=100_000.0)] = 30_000.0
    """m, the distance at which contrast falls to 2 %; below 1000 m it is fog."""
    rain: Annotated[float, Field(ge=0.0, le=200.0)] = 0.0
    """mm/h, the rain that falls."""
    snow: Annotated[float, Field(ge=0.0, le=50.0)] = 0.0
    """mm/h, the water in the snow that falls; snow also lies on surfaces that face up."""
    dust: Annotated[float, Field(ge=0.0, le=1000.0)] = 0.0
    """mg/m³, the dust in the air."""
    wetness: Annotated[float, Field(ge=0.0, le=1.0)] = 0.0
    """The share of the ground that is wet; 10 mm/h of rain wet all of it in any case."""
    leaves: Annotated[float, Field(ge=0.0, le=1.0)] = 0.0
    """The amount of autumn leaves that fall and lie on surfaces that face up, 1 being the most. Only cameras see
    them."""


def randomised(config: WeatherConfig, seed: int, topics: Collection[str]) -> WeatherConfig:
    """A config with the sun, the weather or both drawn by the seed; usual conditions are the most frequent."""
    draw = generator(seed, "weather")
    changes: dict[str, float | int] = {}
    if "sun" in topics:
        changes |= {"time_of_day": draw.uniform(7.0, 18.0), "day_of_year": int(draw.integers(60, 300))}
    if "weather" in topics:
        changes |= {"clouds": draw.uniform(0.0, 1.0), "visibility": 10.0 ** draw.uniform(2.3, 4.5)}
        kind = draw.choice(["dry", "dry", "dry", "rain", "snow", "dust"])
        if kind != "dry":
            most = {"rain": 30.0, "snow": 4.0, "dust": 80.0}[kind]
            changes[kind] = draw.uniform(0.1, 1.0) * most
    return config.model_copy(update=changes)


@dataclass(frozen=True, slots=True, eq=False)
class Weather:
    config: WeatherConfig
    sun_direction: Array
    """(3,) unit, world, towards the sun; below the horizon at night."""

    @property
    def sunlight(self) -> float:
        """0 at night or under cloud, 1 for a high sun in a clear sky."""
        height = float(np.clip(self.sun_direction[2] / 0.25, 0.0, 1.0))
        return height * (1.0 - 0.9 * self.config.clouds)

    @property
    def extinction(self) -> float:
        """1/m for light: fog (Koschmieder), rain (0.365·R^0.63 dB/km), snow (about 5 times that), dust (0.6 m²/g)."""
        c = self.config
        decibel_per_km = 0.365 * c.rain**0.63 + 1.8 * c.snow**0.75
        return float(3.912 / c.visibility + decibel_per_km / 4343.0 + 0.6e-3 * c.dust)


def weather_at(config: WeatherConfig, latitude_deg: float) -> Weather:
    """The weather of a config, with the sun where it stands at this latitude."""
    declination = np.radians(23.44) * np.sin(2.0 * np.pi * (config.day_of_year - 81) / 365.25)
    latitude = np.radians(latitude_deg)
    hour = np.radians(15.0 * (config.time_of_day - 12.0))
    east = -np.cos(declination) * np.sin(hour)
    north = np.sin(declination) * np.cos(latitude) - np.cos(declination) * np.sin(latitude) * np.cos(hour)
    up = np.sin(declination) * np.sin(latitude) + np.cos(declination) * np.cos(latitude) * np.cos(hour)
    return Weather(config, np.array([east, north, up]))
