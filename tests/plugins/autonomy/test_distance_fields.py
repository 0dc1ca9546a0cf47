"""Distance fields are exact: SciPy's transform of the same grid is the oracle, and geometry where it is simple."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import distance_transform_edt

from skyloop_autonomy.mapping import DistanceField, signed_distance
from skyloop_client.errors import ScenarioError

SHAPES = [(40, 31), (23, 17, 9), (1, 30, 4), (12, 1, 1), (5, 6, 40)]


def oracle(occupied: np.ndarray, cell: float) -> np.ndarray:
    outside, inside = distance_transform_edt(~occupied), distance_transform_edt(occupied)
    return cell * np.where(occupied, 0.5 - inside, outside - 0.5)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [0.01, 0.2, 0.9])
def test_random_grids_have_the_exact_field(shape: tuple[int, ...], share: float) -> None:
    occupied = np.random.default_rng(7).random(shape) < share
    occupied.flat[0], occupied.flat[-1] = True, False
    assert signed_distance(occupied, 0.2) == pytest.approx(oracle(occupied, 0.2), abs=1e-5)


def test_updates_give_the_field_of_the_newest_grid_whatever_came_before() -> None:
    chance = np.random.default_rng(2)
    occupied = chance.random((30, 25, 8)) < 0.02
    field = DistanceField(occupied.shape, 0.1)
    for _ in range(25):
        changed = tuple(chance.integers(0, occupied.shape, (int(chance.integers(0, 4)), 3)).T)
        occupied[changed] ^= True
        assert field.update(occupied) == pytest.approx(oracle(occupied, 0.1), abs=1e-5)


def test_an_empty_grid_is_infinitely_far_from_anything_and_a_full_one_from_freedom() -> None:
    field = DistanceField((4, 5, 6), 0.2)
    assert (field.update(np.zeros((4, 5, 6), bool)) == np.inf).all()
    assert (field.update(np.ones((4, 5, 6), bool)) == -np.inf).all()
    assert (field.update(np.zeros((4, 5, 6), bool)) == np.inf).all()


def test_a_grid_of_another_shape_is_refused() -> None:
    with pytest.raises(ScenarioError, match="distance field of"):
        DistanceField((4, 5), 0.2).update(np.zeros((5, 4), bool))
    with pytest.raises(ScenarioError, match="2 or 3 sides"):
        DistanceField((4,), 0.2)
