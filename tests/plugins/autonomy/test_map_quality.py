"""Maps of a rendered world beside its true occupancy, and of a person who walks away."""

from __future__ import annotations

import math

import numpy as np
import pytest
from depth_scenes import LENS, camera_at, depth_lens, frozen_world, person, rendered, wall

from skyloop_autonomy.evaluation.map_truth import true_voxels
from skyloop_autonomy.mapping import (
    CylinderConfig,
    CylinderMap,
    GrowingMap,
    Sight,
    VoxelMapConfig,
    WorldVoxels,
    judge,
)
from skyloop_client.errors import ScenarioError

SMALL = {"width": 320, "height": 180}


@pytest.mark.renders
@pytest.mark.parametrize(
    "preset", [pytest.param("d435", marks=pytest.mark.slow("pictures of stereo noise")), "d435-kim"]
)
def test_the_map_of_the_room_and_its_distances_are_those_of_the_world(preset: str) -> None:
    """Turns on two spots, which show most edges from one side only. Every view is seen three times, because a counter
    needs three. Whole flights are in docs/explanations/maps.md."""
    model = frozen_world("room")
    poses = [(x, y, math.pi * step / 4) for x, y in ((0.3, 0.2), (-1.3, 0.7)) for step in range(8)]
    lens = depth_lens(preset=preset, **SMALL)
    voxels = WorldVoxels(VoxelMapConfig(sight=Sight(far=5.4)))
    repeated = preset == "d435"  # without noise an image is always the same
    for shot in rendered(model, poses if repeated else [pose for pose in poses for _ in range(3)], preset, **SMALL):
        for _ in range(3 if repeated else 1):
            voxels.add_depth(shot.depth, lens, shot.world_from_camera)
    truth, unclear = true_voxels(model, None, voxels.origin, voxels.counters.shape, voxels.cell)
    found = judge(voxels.occupied, voxels.free, truth, voxels.cell, unclear)
    assert found.iou >= 0.85 and found.seen > 15_000 and found.false_occupied < 20
    assert found.distance_error < 0.1 and found.within_one_voxel > 0.9


def test_a_thin_object_is_neither_hit_nor_missed_by_an_image_that_mostly_passes_it() -> None:
    """A post 3 cm wide, 2 m ahead, in front of a wall at 5 m: it fills a tenth of its voxels."""
    image = wall(5.05)
    image[:, 80:82] = 2.1
    pose = camera_at(0.0, 0.0, 1.5)
    voxels, eager = WorldVoxels(), WorldVoxels(VoxelMapConfig(sight=Sight(miss_share=0.2)))
    for seen in (voxels, eager):
        seen.counters[65, 54:56] = 5
        for _ in range(10):
            seen.add_depth(image, LENS, pose)
    kept, cleared = (seen.occupied[65, 54:56, 2:8].any(axis=0) for seen in (voxels, eager))
    assert kept.all() and cleared.sum() <= 2
    # beside the post the same images free the way
    assert voxels.free[65, 56:60, 4:6].all()


def noisy(image: np.ndarray, chance: np.random.Generator) -> np.ndarray:
    """Kim's noise on cement, and one pixel in a hundred lost."""
    out = image + 0.005 * np.exp(0.5 * image) * chance.standard_normal(image.shape)
    out[chance.random(image.shape) < 0.01] = 0.0
    return out.astype(np.float32)


def test_a_person_who_walked_away_is_cleared_within_two_seconds() -> None:
    """At 30 images a second, with noise; in all three maps."""
    chance = np.random.default_rng(4)
    pose, body = camera_at(0.0, 0.0, 1.5), np.array([0.0, 0.0, 1.5])
    fixed, growing, local = WorldVoxels(), GrowingMap(), CylinderMap(CylinderConfig(pixels_apart=1))

    def obstacles() -> tuple[int, int, int]:
        """Occupied cells from 2 to 3 m ahead."""
        seen, _ = growing.counters([2.0, -1.0, 0.4], [3.0, 1.0, 2.6])
        above = growing.config.rule.occupied_above
        return int(fixed.occupied[65:70].sum()), int((seen > above).sum()), int(local.occupied[7:10].sum())

    def see(image: np.ndarray, images: int) -> None:
        for _ in range(images):
            shown = noisy(image, chance)
            fixed.add_depth(shown, LENS, pose)
            growing.add_depth(shown, LENS, pose)
            local.add_depth(shown, LENS, pose, body)

    see(person(wall(5.0), 2.5), 60)
    assert min(obstacles()) > 10
    images = 0
    while obstacles() != (0, 0, 0) and images < 60:
        see(wall(5.0), 1)
        images += 1
    # three misses take a counter from its limit below the threshold; noise costs a few more
    assert images <= 10
    see(wall(5.0), 60 - images)
    assert obstacles() == (0, 0, 0)
    # the position is known to be free, not merely no longer occupied
    assert fixed.free[65:70, 54:56, 3:7].all()


def test_a_score_counts_what_was_seen_only() -> None:
    shape = (6, 6, 6)
    truth, occupied, free = np.zeros(shape, bool), np.zeros(shape, bool), np.zeros(shape, bool)
    truth[4:] = True
    occupied[4], free[:4] = True, True
    # the sixth layer is true and unseen, so the map is right
    assert judge(occupied, free, truth, 0.2).iou == 1.0
    occupied[3, 0, 0], free[3, 0, 0] = True, False
    occupied[4, 1, :2], free[4, 1, :2] = False, True
    found = judge(occupied, free, truth, 0.2)
    assert (found.false_occupied, found.missed, found.seen) == (1, 2, 180)
    assert found.iou == pytest.approx(34 / 37)
    unclear = np.zeros(shape, bool)
    unclear[3, 0, 0] = True
    assert judge(occupied, free, truth, 0.2, unclear).iou == pytest.approx(34 / 36)
    with pytest.raises(ScenarioError, match="cannot be judged"):
        judge(occupied, free, truth[:3], 0.2)


def test_surfaces_on_the_face_of_a_voxel_are_unclear() -> None:
    """The room's boxes end at 2.5 m, where two layers of E2ES's map meet."""
    voxels = WorldVoxels()
    truth, unclear = true_voxels(frozen_world("room"), None, voxels.origin, voxels.counters.shape, 0.2)
    assert truth[:, :, 9].any() and not truth[:, :, 10].any() and unclear[:, :, 10].any()
    assert unclear[:, :, :9].sum() < 0.02 * truth.sum() and not (truth & unclear).any()
