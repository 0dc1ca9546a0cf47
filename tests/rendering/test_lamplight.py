"""Which lamps count in a picture, and where and how bright they are."""

from __future__ import annotations

import numpy as np
import pytest

from skyloop.rendering.lamplight import LIGHT, MOST_LAMPS, REACH, lit_lamps, seen_lamps
from skyloop.world.lamps import Lamp
from skyloop.world.mesh import box
from skyloop.world.model import Model, Shape

EAST = np.array([1.0, 0.0, 0.0])


def street(n: int) -> Model:
    """Lamps every 2 m along x, their light 3 m up and, because they are twice as large, at 6 m."""
    model = Model()
    post = Shape("post", (box((0.1, 0.1, 3.0)),), lamp=Lamp((0.0, 0.0, 3.0), 0.2, (1.0, 0.5, 0.25)))
    for k in range(n):
        model.place(post, (2.0 * k, 0.0, 0.0), is_a="lamp", scale=2.0, name=f"lamp {k}")
    model.place(Shape("stone", (box((1.0, 1.0, 1.0)),)), is_a="rock", name="stone")
    model.freeze()
    return model


def test_lamps_are_dark_until_they_are_switched() -> None:
    model = street(3)
    assert len(lit_lamps(model, model.motion(0))) == 0
    assert model.switch(2, 100.0, on=True) and model.switch(3, on=True) and not model.switch(4, on=True)
    lit = lit_lamps(model, model.motion(0))
    np.testing.assert_allclose(lit[0], [2.0, 0.0, 6.0, 0.4, 100 * LIGHT, 50 * LIGHT, 25 * LIGHT])
    assert lit[1, 4] == pytest.approx(4.0), "a usual one, at 1 m"
    model.switch(2, on=False)
    assert len(lit_lamps(model, model.motion(0))) == 1
    model.switch(2, on=True)
    assert lit_lamps(model, model.motion(0))[0, 4] == pytest.approx(100 * LIGHT), "it keeps its intensity"


def test_a_moved_lamp_shines_where_it_is() -> None:
    model = street(2)
    model.switch(1, on=True)
    placed = model.loosen(1)
    assert placed is not None
    placed.places[0, :, 3] = 5.0, 6.0, 7.0
    model.forget()
    np.testing.assert_allclose(lit_lamps(model, model.motion(0))[0, :3], [5.0, 6.0, 13.0])


def test_the_nearest_whose_light_reaches_what_is_seen() -> None:
    model = street(60)
    for number in range(1, 61):
        model.switch(number, on=True)
    lit, eye = lit_lamps(model, model.motion(0)), np.array([60.0, 0.0, 6.0])
    seen = seen_lamps(lit, eye, EAST)
    assert seen.shape == (MOST_LAMPS, 8) and (seen[:, 7] == 1.0).all()
    assert seen[:, 0].min() > -REACH and (np.diff(np.abs(seen[:, 0])) >= 0.0).all()
    few = seen_lamps(lit[:2], np.zeros(3), EAST)
    assert few[:, 7].sum() == 2.0 and not few[2:].any()
