"""The voxel map without bounds agrees with the fixed one and grows wherever the camera looks."""

from __future__ import annotations

import numpy as np
import pytest
from depth_scenes import LENS, camera_at, person, wall

from skyloop_autonomy.mapping import GrowingMap, GrowingMapConfig, Sight, VoxelMapConfig, WorldVoxels
from skyloop_client.errors import ScenarioError


def test_it_holds_what_a_fixed_map_of_the_same_voxels_holds() -> None:
    fixed = WorldVoxels(VoxelMapConfig(size=(120, 120, 40), lower=(-12.0, -12.0, -2.0)))
    growing = GrowingMap()
    for number in range(8):
        pose = camera_at(0.3 * number, 0.1 * number, 1.5, yaw=0.7 * number)
        image = person(wall(5.0), 2.5)
        fixed.add_depth(image, LENS, pose)
        growing.add_depth(image, LENS, pose)
        points = np.random.default_rng(number).uniform([-6, -6, 0], [6, 6, 4], (200, 3))
        fixed.add_points(points, pose.position)
        growing.add_points(points, pose.position)
    counters, origin = growing.counters(fixed.origin, fixed.origin + 0.2 * np.array(fixed.counters.shape))
    assert origin == pytest.approx(fixed.origin)
    assert np.array_equal(counters, fixed.counters)
    assert (fixed.counters > 0).sum() > 1000 and (fixed.counters < 0).sum() > 5000


def test_it_grows_with_what_is_seen_and_not_with_the_way_between() -> None:
    growing = GrowingMap()
    assert growing.bounds[1] == pytest.approx(np.zeros(3)) and growing.message(0).voxels.size == 0
    for _ in range(3):
        growing.add_depth(wall(3.0), LENS, camera_at(0.0, 0.0, 1.5))
    once = growing.memory_bytes
    for _ in range(3):
        growing.add_depth(wall(3.1), LENS, camera_at(4000.0, -9000.0, 300.0, yaw=2.0))
    assert growing.memory_bytes < 3 * once
    low, high = growing.bounds
    assert low[1] < -8990.0 and high[0] > 3990.0
    near, _ = growing.counters([0.0, -1.0, 1.0], [4.0, 1.0, 2.0])
    far, _ = growing.counters([3990.0, -9010.0, 298.0], [4010.0, -8990.0, 302.0])
    assert near.max() == far.max() == 3


def test_an_image_that_reaches_too_far_is_refused() -> None:
    growing = GrowingMap(GrowingMapConfig(cell=0.05, sight=Sight(far=200.0)))
    with pytest.raises(ScenarioError, match=r"lower sight\.far"):
        growing.add_depth(wall(3.0), LENS, camera_at(0.0, 0.0, 1.5))
    with pytest.raises(ScenarioError, match="cell > 0"):
        GrowingMapConfig(cell=-1.0)
