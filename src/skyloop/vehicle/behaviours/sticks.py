"""Fly by the sticks of a remote control: a held height, and a landing by pushing down on the ground."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skyloop.vehicle.behaviours.behaviour import Behaviour, Order, Situation
from skyloop_client.messages import Land, Velocity
from skyloop_client.streams import NS_PER_S

STANDS = 0.1
"""m/s: a vehicle that sinks slower than this for a second, although commanded to sink, is on the ground."""
HEIGHT_HOLD = 0.6
"""m/s: with the climb stick in the middle, the height is kept from when the vehicle is slower than this, as in PX4."""
HEIGHT_PULL = 1.5
"""1/s: rate at which an error of that height is closed."""


class Sticks(Behaviour):
    """`wanted` is set before each update, to the velocity that the sticks ask for."""

    def __init__(self) -> None:
        self.wanted = Velocity(np.zeros(3), "body")
        self._moved_ns = self._stands_ns = -NS_PER_S
        """When the last input came, and since when sticks have asked it to sink without effect."""
        self._height: float | None = None
        """World z in m that is kept while the climb stick is in the middle."""

    def update(self, now: Situation) -> Order | None:
        climb, climbs = float(self.wanted.velocity[2]), float(now.state.velocity_world[2])
        begins = now.t_ns - self._moved_ns > NS_PER_S
        self._moved_ns = now.t_ns
        if begins or climb > -STANDS or climbs < -STANDS:
            self._stands_ns = now.t_ns
        if now.t_ns - self._stands_ns > NS_PER_S:
            return Land()
        # a vehicle that is only told to climb at 0 m/s sinks a little with each change of its tilt
        height = float(now.state.position[2])
        if begins or climb != 0.0 or not now.is_flying:
            self._height = None
        elif self._height is None and abs(climbs) < HEIGHT_HOLD:
            self._height = height
        if self._height is None:
            return self.wanted
        climb = min(max(HEIGHT_PULL * (self._height - height), -1.0), 1.0)
        return replace(self.wanted, velocity=np.array([*self.wanted.velocity[:2], climb]))
