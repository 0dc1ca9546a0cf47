"""An endless level ground."""

from __future__ import annotations

from skyloop.world.ground import Ground


class Flat:
    def __init__(self, seed: int, *, height: float = 0.0) -> None:
        """height: m, the height of the ground above the world's origin."""
        self.ground = Ground.flat(height)
