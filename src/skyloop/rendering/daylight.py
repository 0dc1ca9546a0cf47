"""Computes the colours of light from the sun's height and the weather."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import moderngl
import numpy as np

from skyloop.rendering.programs import write
from skyloop.rendering.wire import Sky


@dataclass(frozen=True, slots=True)
class Daylight:
    """Linear light; 1 is a white surface in full sun."""

    sun_direction: tuple[float, ...]
    sun_colour: tuple[float, ...]
    zenith_colour: tuple[float, ...]
    horizon_colour: tuple[float, ...]
    sky_colour: tuple[float, ...]
    """The light that falls on a surface from above; it is less blue than the sky itself."""
    ground_colour: tuple[float, ...]
    """The light that falls on a surface from below."""
    extinction: float
    wetness: float
    snow: float
    leaves: float
    clouds: float
    haze: float

    def write_to(self, program: moderngl.Program) -> None:
        for name, value in asdict(self).items():
            write(program, name, value)


@dataclass(slots=True)
class LitPass:
    """Draws with a program, and knows the light that was last written to it."""

    array: moderngl.VertexArray
    _light: Daylight | None = None

    @property
    def program(self) -> moderngl.Program:
        return self.array.program

    def set_light(self, light: Daylight) -> None:
        if self._light is not light:
            light.write_to(self.program)
            self._light = light


def daylight(sky: Sky) -> Daylight:
    sun = np.asarray(sky["sun_direction"], float)
    height = float(sun[2])
    up = _step(-0.10, 0.15, height)  # from dusk to day
    low = 1.0 - _step(0.0, 0.35, height)  # the sun is red near the horizon
    clear = 1.0 - 0.95 * sky["clouds"] ** 2
    murk = _step(2e-4, 8e-3, sky["extinction"])
    sun_colour = 2.0 * _step(0.02, 0.12, height) * clear * (1.0 - 0.9 * murk)
    warm = np.array([1.0, 0.96 - 0.36 * low, 0.88 - 0.58 * low])
    blue = np.array([0.11, 0.33, 0.95]) * (1.0 - 0.4 * low)
    grey = np.array([0.46, 0.49, 0.53])
    overcast = max(sky["clouds"] ** 2, murk)
    zenith = up * (blue * (1.0 - overcast) + grey * overcast) + np.array([0.025, 0.034, 0.065])
    pale = np.array([0.50, 0.74, 1.10]) * (1.0 - low) + np.array([0.85, 0.55, 0.35]) * low
    horizon = up * (pale * (1.0 - overcast) + 1.1 * grey * overcast) + np.array([0.036, 0.043, 0.070])
    if sky["dust"] > 0.0:
        brown = min(1.0, sky["dust"] / 60.0)
        horizon = horizon * (1.0 - brown) + up * brown * np.array([0.62, 0.48, 0.30])
        zenith = zenith * (1.0 - brown) + up * brown * np.array([0.45, 0.36, 0.24])
    ambient = 0.75 * zenith + 0.30 * horizon
    # shade is less blue than the sky: part of its light comes from the ground, and cameras balance the blue away
    ambient = 1.45 * (0.35 * ambient + 0.65 * ambient @ [0.30, 0.55, 0.15])
    ground = 0.42 * horizon + 0.12 * sun_colour * warm * max(height, 0.0)
    return Daylight(
        tuple(sun),
        tuple(sun_colour * warm),
        tuple(zenith),
        tuple(horizon),
        tuple(ambient),
        tuple(ground),
        float(sky["extinction"]),
        min(1.0, max(sky["wetness"], sky["rain"] / 10.0)),
        min(1.0, sky["snow"] / 2.0),
        sky["leaves"],
        float(sky["clouds"]),
        float(murk),
    )


def _step(low: float, high: float, x: float) -> float:
    """0 below `low`, 1 above `high`, smooth between."""
    s = float(np.clip((x - low) / (high - low), 0.0, 1.0))
    return s * s * (3.0 - 2.0 * s)
