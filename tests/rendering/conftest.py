"""One renderer for all tests that only look."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from painted_world import Tumbling, shape
from skyloop.rendering.client import Renderer
from skyloop.world.mesh import box, ellipsoid
from skyloop.world.model import Model, Shape
from skyloop.world.worlds.blocks import Blocks

PASSING = Tumbling((12.0, -6.0, 3.0), (0.0, 4.0, 0.0), (0.3, 0.2, 0.9))
"""A box that flies by before a camera at the origin that looks along +x."""
STAGE = (200.0, 0.0, 0.0)
"""Far from the blocks: a white floor with a tall box, an inner corner, a ball with levels of detail, black stripes."""


def playground() -> Model:
    world = Blocks(3)
    model = world.model
    x = STAGE[0]
    model.place(shape(box((60.0, 60.0, 0.2), centre=(x, 0.0, 0.1))), is_a="floor", name="stage")
    model.place(shape(box((1.0, 1.0, 4.0), centre=(x, 0.0, 2.2))), is_a="box", name="pillar")
    model.place(shape(box((0.2, 6.0, 3.0), centre=(x + 8.0, -13.0, 1.7))), is_a="wall", name="corner 1")
    model.place(
        shape(box((6.0, 0.2, 3.0), centre=(x + 5.0, -16.1, 1.7), material="brick")), is_a="wall", name="corner 2"
    )
    levels = tuple(ellipsoid(1.0, rings=rings, n=2 * rings) for rings in (32, 12, 6))
    model.place(Shape("ball", levels, (10.0, 25.0)), (x, 14.0, 3.0), is_a="object", name="ball")
    model.place(shape(box((0.1, 8.0, 3.0), centre=(x - 20.0, 0.0, 1.7), colour=(8, 8, 8))), is_a="sign", name="black")
    slab = Shape("roof", (box((10.0, 10.0, 0.2), centre=(-60.0, -60.0, 3.0)),), casts_shadow=False)
    model.place(slab, is_a="roof", name="roof")
    model.add_mover(PASSING, [shape(box((2.0, 1.0, 0.7), colour=(250, 220, 40)))], is_a="car", name="passing")
    return model


@pytest.fixture(scope="session")
def model() -> Model:
    model = playground()
    model.freeze()
    return model


@pytest.fixture(scope="session")
def renderer(model: Model) -> Iterator[Renderer]:
    renderer = Renderer(model)
    yield renderer
    renderer.close()
