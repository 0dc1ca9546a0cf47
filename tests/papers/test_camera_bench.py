"""The camera bench measures what it says; no timing is asserted."""

from __future__ import annotations

import numpy as np
import pytest

from skyloop.world.mesh import box, ellipsoid
from skyloop.world.model import Model, Shape
from skyloop.world.views import ViewRequest
from skyloop_papers.benchmarks.camera import PARK_LENS, drawn_parts, looking, peer_rates, room


def two_objects() -> Model:
    model = Model()
    ball = Shape("ball", (ellipsoid(1.0, rings=16, n=24), ellipsoid(1.0)), (20.0,))
    model.place(ball, (5.0, 0.0, 2.0), is_a="object")
    model.place(ball, (40.0, 0.0, 2.0), is_a="object", scale=2.0)
    model.place(Shape("behind", (box((1, 1, 1)),)), (-5.0, 0.0, 2.0), is_a="object")
    model.freeze()
    return model


def test_drawn_parts_are_what_is_visible_at_its_detail() -> None:
    parts = drawn_parts(two_objects(), ViewRequest(PARK_LENS, looking((0.0, 0.0, 2.0), 0.0)))
    assert sorted(len(part.faces) for part in parts) == [
        len(ellipsoid(1.0).faces),
        len(ellipsoid(1.0, rings=16, n=24).faces),
    ]
    far = min(parts, key=lambda part: len(part.faces))
    assert far.positions.max(axis=0) == pytest.approx([42.0, 2.0, 4.0], abs=0.1)


@pytest.mark.renders
def test_peers_draw() -> None:
    request = ViewRequest(PARK_LENS, looking((0.0, 0.0, 2.0), 0.0))
    rates = peer_rates(drawn_parts(two_objects(), request), request, 1)
    assert "mujoco" in rates and all(rate > 0.0 for rate in rates.values())


@pytest.mark.slow("runs the benchmark")
@pytest.mark.renders
def test_the_rig_is_measured() -> None:
    (figure,) = room(1)
    assert figure.key == "room_stereo_rigs_per_s"
    assert np.isfinite(figure.value) and figure.value > 0.0
