"""Open level ground and one person, who walks to and fro in front of the origin: a quiet place for a radar."""

from __future__ import annotations

import math

import numpy as np

from skyloop.world.generation import generator
from skyloop.world.ground import Ground, place_terrain
from skyloop.world.model import Model
from skyloop.world.scenery.actors.paths import Path
from skyloop.world.scenery.actors.people import add_walker
from skyloop_client.errors import ScenarioError

NEAR, FAR = 3.5, 8.0
"""m along +x between which the person walks."""
SLOWEST, FASTEST = 0.5, 2.0


class RadarLab:
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
