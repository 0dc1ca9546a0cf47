"""The air: density and wind.

The 1976 standard atmosphere reaches from below sea level to 20 km; above, its isothermal layer continues.

Altitudes are geopotential metres, as in the standard. A geometric altitude h may be used instead, with an error of
h²/6.4e6 m (0.16 m at 1 km, 16 m at 10 km).

Wind is none, constant, Dryden turbulence after MIL-F-8785C, or a field of the user's. The Dryden filters are driven by
keyed random numbers. Their states have unit variance and are discretised exactly, so height and airspeed may change at
any step without a jump, and the variance is right at any step length.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypeAlias

import numpy as np
from numba import uint64
from numpy.typing import ArrayLike
from pydantic import BaseModel, ConfigDict, Field

from skyloop.core.jit import inlined
from skyloop.core.keyed_random import normal_pair
from skyloop.core.quantities import AirSpeed, Hertz, Speed
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array
from skyloop_client.user_code import load_plugin

SEA_LEVEL_TEMPERATURE = 288.15
SEA_LEVEL_PRESSURE = 101325.0
SEA_LEVEL_DENSITY = 1.225
GAS_CONSTANT = 8.31432 / 0.0289644
"""J/(kg·K), of dry air, from the standard's own gas constant."""

_GRAVITY = 9.80665
LAPSE_RATE = 0.0065
TROPOPAUSE = 11_000.0
_TROPOPAUSE_TEMPERATURE = SEA_LEVEL_TEMPERATURE - LAPSE_RATE * TROPOPAUSE
EXPONENT = _GRAVITY / (GAS_CONSTANT * LAPSE_RATE)
_TROPOPAUSE_PRESSURE = SEA_LEVEL_PRESSURE * (_TROPOPAUSE_TEMPERATURE / SEA_LEVEL_TEMPERATURE) ** EXPONENT
STRATOSPHERE_SCALE_HEIGHT = GAS_CONSTANT * _TROPOPAUSE_TEMPERATURE / _GRAVITY


def temperature(altitude: ArrayLike) -> Array:
    """K."""
    h = np.asarray(altitude, dtype=np.float64)
    return np.asarray(SEA_LEVEL_TEMPERATURE - LAPSE_RATE * np.minimum(h, TROPOPAUSE))


def pressure(altitude: ArrayLike) -> Array:
    """Pa."""
    h = np.asarray(altitude, dtype=np.float64)
    in_troposphere = SEA_LEVEL_PRESSURE * (temperature(h) / SEA_LEVEL_TEMPERATURE) ** EXPONENT
    return np.asarray(in_troposphere * np.exp(-np.maximum(h - TROPOPAUSE, 0.0) / STRATOSPHERE_SCALE_HEIGHT))


def density(altitude: ArrayLike) -> Array:
    """kg/m³."""
    return np.asarray(pressure(altitude) / (GAS_CONSTANT * temperature(altitude)))


def altitude_from_pressure(pressure: ArrayLike) -> Array:
    """m, the altitude at which the standard atmosphere has this pressure in Pa."""
    p = np.asarray(pressure, dtype=np.float64)
    ratio = np.maximum(p, _TROPOPAUSE_PRESSURE) / SEA_LEVEL_PRESSURE
    in_troposphere = SEA_LEVEL_TEMPERATURE / LAPSE_RATE * (1.0 - ratio ** (1.0 / EXPONENT))
    above = STRATOSPHERE_SCALE_HEIGHT * np.log(_TROPOPAUSE_PRESSURE / np.minimum(p, _TROPOPAUSE_PRESSURE))
    return np.asarray(in_troposphere + above)


@inlined
def air_density(altitude):
    """kg/m³; as `density`, for one altitude, inside kernels."""
    kelvin = SEA_LEVEL_TEMPERATURE - LAPSE_RATE * min(altitude, TROPOPAUSE)
    p = SEA_LEVEL_PRESSURE * (kelvin / SEA_LEVEL_TEMPERATURE) ** EXPONENT
    if altitude > TROPOPAUSE:
        p *= np.exp(-(altitude - TROPOPAUSE) / STRATOSPHERE_SCALE_HEIGHT)
    return p / (GAS_CONSTANT * kelvin)


FOOT = 0.3048
KNOT = 1852.0 / 3600.0

Vector3: TypeAlias = tuple[float, float, float]


class Calm(BaseModel):
    """The air stands still."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["calm"] = "calm"
    """No wind."""


class ConstantWind(BaseModel):
    """The wind is the same everywhere and always."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["constant"] = "constant"
    """Constant wind."""
    velocity: tuple[AirSpeed, AirSpeed, AirSpeed]
    """m/s, the velocity of the air over the ground, in world axes."""


class DrydenWind(BaseModel):
    """A mean wind with Dryden turbulence around it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["dryden"] = "dryden"
    """Mean wind with Dryden turbulence."""
    mean: tuple[AirSpeed, AirSpeed, AirSpeed] = (0.0, 0.0, 0.0)
    """m/s, the mean velocity of the air over the ground, in world axes."""
    w20_kt: float = Field(default=15.0, ge=0.0, le=300.0)
    """The wind speed at 20 ft, which sets the strength of the turbulence: 15 is light, 30 moderate, 45 severe."""
    airspeed_floor: Speed = 1.0
    """m/s, the lowest airspeed at which turbulence passes; a slower vehicle sees it pass at this speed."""

    @property
    def w20(self) -> float:
        """m/s."""
        return self.w20_kt * KNOT


class FieldWind(BaseModel):
    """A wind that a class of your own computes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["field"] = "field"
    """Wind from a class of your own."""
    source: str = Field(pattern=r":")
    """The class, as module:Class; its instances have velocity(position, t_s) -> (3,) m/s, in world axes."""
    rate_hz: Hertz = 50.0
    """Calls of the class per second; the wind is held between two calls."""
    options: dict[str, Any] = {}
    """Keyword arguments for the class."""


Wind = Annotated[Calm | ConstantWind | DrydenWind | FieldWind, Field(discriminator="kind")]


class WindField(Protocol):
    """The interface of the class named by `FieldWind.source`."""

    def velocity(self, position: Array, t_s: float) -> Array:
        """(3,) m/s of the air over the ground at a world position and simulated time in seconds."""


def wind_field(config: FieldWind, folder: Path | None = None) -> WindField:
    """The user's wind field, created from its module, class and options."""
    make = load_plugin(config.source, folder)
    try:
        field: WindField = make(**config.options)
    except TypeError as error:
        raise ScenarioError(f"wind source '{config.source}' refuses its options {config.options}: {error}") from error
    if not callable(getattr(field, "velocity", None)):
        raise ScenarioError(f"wind source '{config.source}' has no method velocity(position, t_s); add one")
    return field


_SQRT3 = np.sqrt(3.0)
_SQRT_HALF = np.sqrt(0.5)


@inlined
def dryden_scales(height, w20):
    """Lengths (m) and intensities (m/s) (Lu, Lv, Lw, su, sv, sw) at `height` m above ground, w20 in m/s."""
    h = max(height / FOOT, 10.0)
    sw = 0.1 * w20
    if h < 1000.0:
        profile = 0.177 + 0.000823 * h
        lu = FOOT * h / profile**1.2
        su = sw / profile**0.4
        return lu, lu, FOOT * h, su, su, sw
    # Isotropic from 1000 ft up; between 1000 and 2000 ft the length grows to the 1750 ft of medium and high altitude.
    length = FOOT * (1000.0 + 0.75 * min(h - 1000.0, 1000.0))
    return length, length, length, sw, sw, sw


@inlined
def _gamma_tail(x, k):
    """1 - exp(-x)·Σ_{j<k} x^j/j!, summed from the far end so that it stays exact for small x."""
    term = 1.0
    for j in range(1, k + 1):
        term *= x / j
    if x > 1.0:
        head, power = 1.0, 1.0
        for j in range(1, k):
            power *= x / j
            head += power
        return 1.0 - np.exp(-x) * head
    total = 0.0
    j = k
    while term > 1e-17 * total:
        total += term
        j += 1
        term *= x / j
    return np.exp(-x) * total


@inlined
def _advance_two_poles(gust, first, a, n1, n2):
    """Exact step of x1 = n/(1+τs), x2 = x1/(1+τs) over a = dt/τ, which keeps the covariance [[1, ½], [½, ½]]."""
    decay = np.exp(-a)
    q11 = -np.expm1(-2.0 * a)
    q12 = 0.5 * _gamma_tail(2.0 * a, 2)
    q22 = 0.5 * _gamma_tail(2.0 * a, 3)
    x1, x2 = gust[first], gust[first + 1]
    spread = np.sqrt(q11)
    shared = q12 / spread if spread > 0.0 else 0.0
    gust[first] = decay * x1 + spread * n1
    gust[first + 1] = decay * (x2 + a * x1) + shared * n1 + np.sqrt(max(q22 - shared * shared, 0.0)) * n2


@inlined
def initial_gust(gust, key):
    """Fills gust[0:5] with a draw from its stationary distribution."""
    # The steps use blocks 0 to 2.
    u, _ = normal_pair(key, uint64(0), uint64(3))
    v1, v2 = normal_pair(key, uint64(0), uint64(4))
    w1, w2 = normal_pair(key, uint64(0), uint64(5))
    gust[0] = u
    gust[1] = v1
    gust[2] = 0.5 * (v1 + v2)
    gust[3] = w1
    gust[4] = 0.5 * (w1 + w2)


@inlined
def advance_gust(gust, key, step, dt, airspeed, height, w20):
    """Advances gust[0:5] by `dt` at `airspeed` (m/s, floored by the caller) through the turbulence."""
    lu, lv, lw, _, _, _ = dryden_scales(height, w20)
    u, _ = normal_pair(key, uint64(step), uint64(0))
    v1, v2 = normal_pair(key, uint64(step), uint64(1))
    w1, w2 = normal_pair(key, uint64(step), uint64(2))
    way = airspeed * dt
    gust[0] = np.exp(-way / lu) * gust[0] + np.sqrt(-np.expm1(-2.0 * way / lu)) * u
    _advance_two_poles(gust, 1, way / lv, v1, v2)
    _advance_two_poles(gust, 3, way / lw, w1, w2)


@inlined
def gust_velocity(gust, mean_x, mean_y, height, w20):
    """(wx, wy, wz) m/s, world, to add to the mean: u along the mean wind (east if none), v left, w up."""
    _, _, _, su, sv, sw = dryden_scales(height, w20)
    # √3·x1 + (1-√3)·x2 is the filter (1+√3τs)/(1+τs)²; its variance is 2.
    u = su * gust[0]
    v = sv * _SQRT_HALF * (_SQRT3 * gust[1] + (1.0 - _SQRT3) * gust[2])
    w = sw * _SQRT_HALF * (_SQRT3 * gust[3] + (1.0 - _SQRT3) * gust[4])
    speed = np.hypot(mean_x, mean_y)
    cosine, sine = 1.0, 0.0
    if speed > 0.0:
        cosine, sine = mean_x / speed, mean_y / speed
    return cosine * u - sine * v, sine * u + cosine * v, w
