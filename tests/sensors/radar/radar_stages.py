"""One renderer for all tests of the radar: stages 500 m apart along y, each looked at along +x from its own place."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from painted_world import PaintedScene, Tumbling, shape
from skyloop.world.generation import generator
from skyloop.world.ground import Ground
from skyloop.world.mesh import box, ellipsoid
from skyloop.world.model import Model
from skyloop.world.rays import RayHits, RayTracer
from skyloop.world.scenery.actors.paths import MoverPath
from skyloop.world.scenery.actors.people import add_walker

WALL, BALL, MATT, PLATE, PERSON, WINDOW, FLYING, GROUND = (500.0 * k for k in range(8))
"""y of each setup."""
X = 20.0
"""m east, where the object of a setup stands (its near side)."""
BALL_RADIUS, FLYING_RADIUS = 0.25, 0.15
MATT_SIDE, PLATE_SIDE = 1.0, 0.12
FLYING_START = (X, FLYING, 0.0)
FLYING_VELOCITY = (1.2, 0.4, -0.3)


class RadarScene(PaintedScene):
    """Rays too."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._tracer = RayTracer(model)
        self.t_ns = 0

    def cast(self, origins: np.ndarray, directions: np.ndarray, max_range: float) -> RayHits:
        return self._tracer.cast(origins, directions, max_range, self.model.motion(self.t_ns), None)


@pytest.fixture(scope="session")
def stages() -> Iterator[RadarScene]:
    model = Model()
    model.place(shape(box((0.2, 60.0, 60.0), centre=(X + 0.1, WALL, 0.0), material="metal")), is_a="wall")
    ball = shape(ellipsoid(BALL_RADIUS, rings=48, n=96, material="metal"))
    model.place(ball, (X + BALL_RADIUS, BALL, 0.0), is_a="object", name="ball")
    matt = box((0.1, MATT_SIDE, MATT_SIDE), centre=(X + 0.05, MATT, 0.0), material="grass")
    model.place(shape(matt), is_a="object", name="matt")
    plate = box((0.01, PLATE_SIDE, PLATE_SIDE), centre=(X + 0.005, PLATE, 0.0), material="metal")
    model.place(shape(plate), is_a="object", name="plate")
    ground = Ground(np.zeros((3, 3)), (-100.0, PERSON - 100.0), 100.0)
    floor = box((60.0, 60.0, 0.2), centre=(X, PERSON, -0.1), material="asphalt")
    model.place(shape(floor), is_a="road", name="street")
    walk = MoverPath([(X, PERSON), (X + 12.0, PERSON)], closed=False, corner_radius=0.5)
    add_walker(model, generator(3, "radar test"), ground, walk, speed=1.0, start=0.0)
    pane = box((0.01, 6.0, 6.0), centre=(X - 2.0, WINDOW, 0.0), material="glass")
    model.place(shape(pane), is_a="window", name="pane")
    model.place(ball, (X + BALL_RADIUS, WINDOW, 0.0), is_a="target", name="ball behind glass")
    model.place(shape(box((80.0, 40.0, 0.2), centre=(X, GROUND, -0.1), material="tiles")), is_a="floor", name="tiles")
    flying = shape(ellipsoid(FLYING_RADIUS, rings=48, n=96, material="metal"))
    model.add_mover(Tumbling(FLYING_START, FLYING_VELOCITY, (0.0, 0.0, 0.0)), [flying], is_a="vehicle", name="flying")
    scene = RadarScene(model)
    yield scene
    scene.close()
