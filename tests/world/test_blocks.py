"""The blocks world: how many, where not, how they stand on each other."""

from __future__ import annotations

import numpy as np
import pytest

from skyloop.world.semantics import CLASS_ID
from skyloop.world.worlds.blocks import Blocks


def blocks_of(world: Blocks) -> list[np.ndarray]:
    """World corners (n, 3) of every block."""
    model = world.model
    model.freeze()
    found = []
    for instance in model.objects:
        if instance.class_id == CLASS_ID["block"]:
            (row,) = instance.rows
            pose = model.standing_poses[row]
            found.append(model.shapes[model.part_shape[row]].lods[0].positions @ pose[:, :3].T + pose[:, 3])
    return found


@pytest.mark.parametrize("seed", range(4))
def test_as_many_as_asked_for_none_in_the_ground_or_over_the_take_off_place(seed: int) -> None:
    blocks = blocks_of(Blocks(seed))
    assert len(blocks) == 40
    for corners in blocks:
        assert corners[:, 2].min() >= -1e-6
        # the free circle is tested against the circle around the block, which holds it
        middle = corners[:, :2].mean(axis=0)
        reach = np.linalg.norm(corners[:, :2] - middle, axis=1).max()
        assert np.linalg.norm(middle) - reach > 3.0
        assert np.abs(corners[:, :2]).max() <= 40.0


@pytest.mark.parametrize("seed", range(4))
def test_a_block_stands_on_the_ground_or_inside_the_top_of_another(seed: int) -> None:
    blocks = blocks_of(Blocks(seed, count=60))
    raised = [b for b in blocks if b[:, 2].min() > 1e-6]
    assert raised
    for upper in raised:
        under = [b for b in blocks if abs(b[:, 2].max() - upper[:, 2].min()) < 1e-5 and supports(b, upper)]
        assert len(under) == 1


def supports(lower: np.ndarray, upper: np.ndarray) -> bool:
    """All of the upper block's footprint lies within the lower one's."""
    corners = np.unique(np.round(lower[:, :2], 4), axis=0)
    middle = corners.mean(axis=0)
    ring = corners[np.argsort(np.arctan2(*(corners - middle).T[::-1]))]
    edges = np.roll(ring, -1, axis=0) - ring
    inward = np.stack([-edges[:, 1], edges[:, 0]], axis=1)
    return bool((np.einsum("ed,ped->pe", inward, upper[:, None, :2] - ring[None]) >= -1e-6).all())


@pytest.mark.parametrize(("size", "count"), [(20.0, 26), (30.0, 60), (80.0, 426), (20.0, 1), (20.0, 0)])
def test_the_most_there_may_be_do_fit(size: float, count: int) -> None:
    assert len(blocks_of(Blocks(1, size=size, count=count))) == count
