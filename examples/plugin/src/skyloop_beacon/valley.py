"""A world: a valley that runs to the east."""

import numpy as np

from skyloop.world.ground import Ground


class Valley:
    """A valley to the east with a level floor 10 m wide."""

    def __init__(self, seed: int, *, slope: float = 0.2) -> None:
        """slope: m up per m aside."""
        extent = (-100.0, -100.0, 100.0, 100.0)
        self.ground = Ground.from_function(lambda east, north: slope * np.maximum(abs(north) - 5.0, 0.0), extent, 1.0)
