"""Rolling ground made from a seed: a few waves of random direction, level around the origin for take-off."""

from __future__ import annotations

import numpy as np

from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.world.ground import Ground
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

WAVES = 8


class Hills:
    def __init__(self, seed: int, *, amplitude: float = 4.0, wavelength: float = 60.0, extent: float = 300.0) -> None:
        """amplitude: m, the typical height of the hills above and below the origin.
        wavelength: m, the length of the longest wave of the ground.
        extent: m, the distance from the origin to each edge.
        """
        for name, value, least, most in (
            ("amplitude", amplitude, 0.0, 1e3),
            ("wavelength", wavelength, 1.0, 1e5),
            ("extent", extent, 20.0, 1e3),
        ):
            if not least <= value <= most:
                raise ScenarioError(f"world 'hills': {name} is {value:g} m; give {least:g} to {most:g}")
        draws = KeyedRandom(stream_key(seed, "world/hills"), 0).uniform(3 * WAVES).reshape(3, WAVES)
        heading = 2.0 * np.pi * draws[0]
        number = 2.0 * np.pi / (wavelength * (0.35 + 0.65 * draws[1]))
        phase = 2.0 * np.pi * draws[2]

        def height(x: Array, y: Array) -> Array:
            total = np.zeros_like(x)
            for k in range(WAVES):
                along = x * np.cos(heading[k]) + y * np.sin(heading[k])
                total += np.sin(number[k] * along + phase[k])
            level = 1.0 - np.exp(-(x**2 + y**2) / 2.0 / 10.0**2)
            return np.asarray(amplitude / np.sqrt(WAVES) * total * level)

        self.ground = Ground.from_function(height, (-extent, -extent, extent, extent), 1.0)
