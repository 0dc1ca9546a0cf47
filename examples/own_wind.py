"""A wind of your own: an upright Rankine vortex. It rotates like a solid inside its core and decays outside."""

import numpy as np

from skyloop_client.messages import Array


class Vortex:
    def __init__(self, centre: tuple[float, float] = (0.0, 0.0), core: float = 4.0, top_speed: float = 6.0) -> None:
        """centre, core: m; top_speed: m/s, counter-clockwise at the edge of the core."""
        self.centre = np.array(centre)
        self.core = core
        self.top_speed = top_speed

    def velocity(self, position: Array, t_s: float) -> Array:
        x, y = position[:2] - self.centre
        distance = max(float(np.hypot(x, y)), 1e-9)
        speed = self.top_speed * min(distance / self.core, self.core / distance)
        return np.array([-y, x, 0.0]) * speed / distance
