"""The 1976 standard atmosphere from below sea level to 20 km; above, its isothermal layer continues.

Altitudes are geopotential metres, as in the standard. A geometric altitude h may be used instead, with an error of
h²/6.4e6 m (0.16 m at 1 km, 16 m at 10 km).
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skyloop.core.jit import inlined
from skyloop_client.messages import Array

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
