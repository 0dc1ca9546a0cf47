"""Objects that stood and are moved, added and taken away while the simulation runs."""

from __future__ import annotations

import numpy as np
import pytest

from skyloop.world.mesh import box
from skyloop.world.model import Model, Shape
from skyloop.world.rays import RayTracer

UNIT = Shape("unit", (box((1.0, 1.0, 1.0)),))


@pytest.fixture
def model() -> Model:
    made = Model()
    made.place(UNIT, (3.0, 0.0, 0.0), is_a="block", name="near")
    made.place(UNIT, (6.0, 0.0, 0.0), is_a="block", name="far")
    made.place(UNIT, (0.0, 0.0, -9.0), is_a="block", name="ground", solid=False)
    made.freeze()
    return made


def ahead(model: Model) -> tuple[float, int]:
    """Distance and instance of what a ray along x meets."""
    hits = RayTracer(model).cast([[0.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]], 100.0, model.motion(0))
    return float(hits.distance[0]), int(model.part_object[hits.row[0]])


def test_a_loosened_thing_stands_where_it_stood(model: Model) -> None:
    assert ahead(model) == pytest.approx((2.5, 1))
    placed = model.loosen(1)
    assert placed is not None and model.n_standing == 2
    assert [instance.rows for instance in model.objects] == [[], [2], [0], [1]]
    assert ahead(model) == pytest.approx((2.5, 1))
    assert model.loosen(1) is placed


def test_it_can_be_put_elsewhere_and_taken_away(model: Model) -> None:
    placed = model.loosen(1)
    assert placed is not None
    placed.places[0, 0, 3] = 10.0
    model.forget()
    assert ahead(model) == pytest.approx((5.5, 2))
    assert model.remove(2)
    assert ahead(model) == pytest.approx((9.5, 1))
    assert model.objects[2].rows == [] and len(model.part_shape) == 2
    number = model.place(UNIT, (1.0, 0.0, 0.0), is_a="block", name="new")
    model.freeze()
    assert number == 4 and ahead(model) == pytest.approx((0.5, 4))


def test_ground_and_nothing_cannot_be_loosened(model: Model) -> None:
    assert model.loosen(3) is None and model.loosen(0) is None and not model.remove(3)
    assert np.array_equal(model.part_object, [1, 2, 3])
