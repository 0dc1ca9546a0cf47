"""The camera bench measures what it says; no timing is asserted."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from skyloop.benchmarks.camera import PARK_LENS, Sizes, _peer_rate, _room, _write_obj, looking
from skyloop.benchmarks.drawn_triangles import drawn_parts
from skyloop.world.mesh import box, ellipsoid
from skyloop.world.model import Model, Shape
from skyloop.world.views import ViewRequest


def two_things() -> Model:
    model = Model()
    ball = Shape("ball", (ellipsoid(1.0, rings=16, n=24), ellipsoid(1.0)), (20.0,))
    model.place(ball, (5.0, 0.0, 2.0), is_a="object")
    model.place(ball, (40.0, 0.0, 2.0), is_a="object", scale=2.0)
    model.place(Shape("behind", (box((1, 1, 1)),)), (-5.0, 0.0, 2.0), is_a="object")
    model.freeze()
    return model


def test_drawn_parts_are_what_is_visible_at_its_detail() -> None:
    parts = drawn_parts(two_things(), ViewRequest(PARK_LENS, looking((0.0, 0.0, 2.0), 0.0)))
    assert sorted(len(part.faces) for part in parts) == [
        len(ellipsoid(1.0).faces),
        len(ellipsoid(1.0, rings=16, n=24).faces),
    ]
    far = min(parts, key=lambda part: len(part.faces))
    assert far.positions.max(axis=0) == pytest.approx([42.0, 2.0, 4.0], abs=0.1)


@pytest.mark.renders
@pytest.mark.parametrize("peer", ["mujoco", *(["pybullet"] if sys.version_info < (3, 12) else [])])
def test_peers_draw(peer: str, tmp_path: Path) -> None:
    request = ViewRequest(PARK_LENS, looking((0.0, 0.0, 2.0), 0.0))
    parts = drawn_parts(two_things(), request)
    for number, part in enumerate(parts):
        _write_obj(part, tmp_path / f"{number}.obj")
    assert _peer_rate(peer, str(tmp_path), len(parts), request, 1) > 0.0


@pytest.mark.slow("runs the benchmark")
@pytest.mark.renders
def test_the_rig_is_measured() -> None:
    (figure,) = _room(Sizes(rigs=1))
    assert figure.key == "room_stereo_rigs_per_s"
    assert np.isfinite(figure.value) and figure.value > 0.0
