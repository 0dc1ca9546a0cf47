from functools import partial
from typing import Any

import numpy as np
import pytest

from skyloop.world.model import Shape
from skyloop.world.scenery import street_furniture as furniture
from skyloop.world.scenery.panels import strokes

SHAPES: dict[str, Any] = {
    "bench": lambda g: furniture.bench_shape(g),
    "lantern": lambda g: furniture.lamp_shape(g),
    "street lamp": lambda g: furniture.lamp_shape(g, "street"),
    "bin": lambda g: furniture.bin_shape(g),
    "traffic light": lambda g: furniture.traffic_light_shape(g),
    "bollard": lambda g: furniture.bollard_shape(),
    "fence": lambda g: furniture.fence_shape(3.0),
    "shelter": lambda g: furniture.shelter_shape(),
    "planter": lambda g: furniture.planter_shape(g),
    "fountain": lambda g: furniture.fountain_shape(),
    **{kind: partial(furniture.sign_shape, kind=kind) for kind in furniture.SIGNS},
}
HEIGHTS = {
    "bench": 0.9,
    "bin": 0.9,
    "street lamp": 6.5,
    "lantern": 4.4,
    "stop": 2.7,
    "traffic light": 3.4,
    "fence": 1.05,
}


@pytest.mark.parametrize("seed", range(3))
def test_stands_on_the_ground_at_every_level_of_detail(seed: int) -> None:
    for name, make in SHAPES.items():
        check_stands(name, make(np.random.default_rng(seed)))


def check_stands(name: str, shape: Shape) -> None:
    for mesh in shape.lods:
        # from afar a fence is one board between its posts
        assert 0.0 <= mesh.positions[:, 2].min() <= (0.1 if name == "fence" else 0.0) + 1e-6
    assert shape.lods[0].positions[:, 2].min() == pytest.approx(0.0, abs=1e-6)
    assert len(shape.lods[0].faces) <= 300 or len(shape.lods) > 1
    low, high = shape.lods[0].positions.min(axis=0), shape.lods[0].positions.max(axis=0)
    for mesh in shape.lods[1:]:
        assert np.abs(mesh.positions.min(axis=0) - low).max() < 0.12
        assert np.abs(mesh.positions.max(axis=0) - high).max() < 0.4


@pytest.mark.parametrize("name", HEIGHTS)
def test_has_the_height_of_the_real_thing(name: str) -> None:
    shape = SHAPES[name](np.random.default_rng(2))
    assert shape.lods[0].positions[:, 2].max() == pytest.approx(HEIGHTS[name], rel=0.12)


def _facing(shape: Shape, axis: int, way: float, low: float) -> float:
    """m² of faces above `low` whose normal points along the axis."""
    mesh = shape.lods[0]
    p = mesh.positions[mesh.faces].astype(float)
    across = 0.5 * np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    above = p[:, :, 2].min(axis=1) > low
    return float(np.maximum(way * across[above, axis], 0.0).sum())


@pytest.mark.parametrize("kind", furniture.SIGNS)
def test_signs_show_their_marks_to_x(kind: str) -> None:
    shape = furniture.sign_shape(np.random.default_rng(0), kind)
    # the back is one plain plate; the front also has what is painted on it
    assert _facing(shape, 0, 1.0, 1.9) > 1.02 * _facing(shape, 0, -1.0, 1.9)
    colours = {tuple(c[:3]) for c in shape.lods[0].colours}
    assert len(colours) >= 3


def test_lamps_reach_over_the_road_and_benches_have_their_back_behind() -> None:
    lamp = furniture.lamp_shape(np.random.default_rng(0), "street").lods[0].positions
    assert lamp[:, 0].max() > 2.0 and lamp[:, 0].min() > -0.2
    bench = furniture.bench_shape(np.random.default_rng(0)).lods[0].positions
    assert bench[bench[:, 2] > 0.75, 0].max() < -0.2


def test_letters_fill_their_height_and_are_centred() -> None:
    boxes = np.array(strokes("STOP", 0.5))
    assert boxes[:, 1].min() == pytest.approx(-0.25) and boxes[:, 3].max() == pytest.approx(0.25)
    assert boxes[:, 0].min() == pytest.approx(-boxes[:, 2].max())
    # a 'T' is a bar and a stem: 3 + 4 cells
    cells = sum((right - left) * (high - low) for left, low, right, high in strokes("T", 5.0))
    assert cells == pytest.approx(7.0)
