"""A world of your own: level ground with a crater, a bowl with a level floor."""

import numpy as np

from skyloop.world.ground import Ground
from skyloop_client.messages import Array


class Crater:
    def __init__(
        self, seed: int, *, centre: tuple[float, float] = (20.0, 0.0), depth: float = 3.0, radius: float = 8.0
    ) -> None:
        """centre, depth, radius: m; the floor takes the inner half of the radius."""
        east, north = centre

        def height(x: Array, y: Array) -> Array:
            outwards = np.hypot(x - east, y - north) / radius
            slope = np.clip(2.0 * (outwards - 0.5), 0.0, 1.0)
            return depth * (0.5 - 0.5 * np.cos(np.pi * slope) - 1.0)

        extent = (east - 2 * radius, north - 2 * radius, east + 2 * radius, north + 2 * radius)
        self.ground = Ground.from_function(height, extent, 0.5)
