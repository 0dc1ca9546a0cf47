"""Worlds of bare ground."""

from __future__ import annotations

import math

import numpy as np

from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.world.generation import generator
from skyloop.world.ground import Ground, place_terrain
from skyloop.world.model import Model
from skyloop.world.scenery.actors.paths import Path
from skyloop.world.scenery.actors.people import add_walker
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array


class Flat:
    """An endless level ground."""

    def __init__(self, seed: int, *, height: float = 0.0) -> None:
        """height: m, the height of the ground above the world's origin."""
        self.ground = Ground.flat(height)


WAVES = 8


class Hills:
    """Rolling ground made from a seed: a few waves of random direction, level around the origin for take-off."""

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


NEAR, FAR = 3.5, 8.0
"""m along +x between which the person walks."""
SLOWEST, FASTEST = 0.5, 2.0


class RadarLab:
    """Open level ground and one person, who walks to and fro in front of the origin: a quiet place for a radar."""

    def __init__(self, seed: int, *, speed: float = 1.0, randomise: frozenset[str] = frozenset()) -> None:
        """speed: m/s, the speed of the person, 0.5 to 2. The seed chooses who walks and where they start."""
        if not (math.isfinite(speed) and SLOWEST <= speed <= FASTEST):
            raise ScenarioError(f"world 'radar-lab': speed is {speed} m/s; give {SLOWEST} to {FASTEST}")
        random = generator(seed, "radar-lab")
        self.ground = Ground(np.zeros((3, 3)), (-100.0, -100.0), 100.0)
        self.model = Model()
        place_terrain(self.model, self.ground, "asphalt")
        self.path = Path([(NEAR, 0.0), (FAR, 0.0)], closed=False, corner_radius=0.5)
        start = float(random.uniform(0.0, self.path.length))
        add_walker(self.model, random, self.ground, self.path, speed=speed, start=start, randomise=randomise)
