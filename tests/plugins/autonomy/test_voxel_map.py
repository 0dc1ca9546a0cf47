"""The voxel map of a fixed box: counters, thresholds, hits, carved rays, LiDAR points."""

from __future__ import annotations

import numpy as np
import pytest
from depth_scenes import LENS, camera_at, wall

from skyloop_autonomy.mapping import CounterRule, Sight, VoxelMapConfig, WorldVoxels
from skyloop_client.errors import ScenarioError

HERE = camera_at(0.0, 0.0, 1.5)


def test_a_counter_needs_three_hits_and_stops_at_its_limit() -> None:
    voxels = WorldVoxels()
    at = (70, 55, 5)  # 3 m ahead, in the middle
    seen = []
    for _ in range(8):
        voxels.add_depth(wall(3.05), LENS, HERE)
        seen.append((int(voxels.counters[at]), bool(voxels.occupied[at])))
    assert seen[:3] == [(1, False), (2, False), (3, True)] and seen[-1] == (5, True)
    for _ in range(8):
        voxels.add_depth(wall(6.05), LENS, HERE)
    assert voxels.counters[at] == -3 and voxels.free[at]


def test_rays_free_exactly_the_voxels_before_the_wall() -> None:
    voxels = WorldVoxels()
    for _ in range(3):
        voxels.add_depth(wall(3.05), LENS, HERE)
    east = voxels.origin[0] + voxels.cell * np.arange(110)
    assert set(np.argwhere(voxels.occupied)[:, 0]) == {70}
    assert voxels.free[(east >= 0.0) & (east < 2.9), 55, 5].all()
    assert not voxels.free[east >= 3.0].any() and not voxels.free[east < -0.2].any()
    # the wall has no hole where the camera saw it, and the space before it none either
    middles = voxels.origin[1:] + voxels.cell * (np.indices((110, 15)).reshape(2, -1).T + 0.5)
    inside = (np.abs(middles[:, 0]) < 2.5) & (np.abs(middles[:, 1] - 1.5) < 0.9)
    assert voxels.occupied[70].reshape(-1)[inside].all()
    narrower = (np.abs(middles[:, 0]) < 1.8) & (np.abs(middles[:, 1] - 1.5) < 0.9)
    assert voxels.free[66].reshape(-1)[narrower].all()


def test_a_wall_out_of_sight_frees_the_way_and_is_not_entered() -> None:
    voxels = WorldVoxels(VoxelMapConfig(sight=Sight(far=4.0)))
    for _ in range(3):
        voxels.add_depth(wall(9.0), LENS, HERE)
    assert not voxels.occupied.any() and voxels.free[55:74, 55, 5].all() and not voxels.free[77:].any()


def test_blank_pixels_say_nothing_unless_they_stand_for_out_of_range() -> None:
    blank = wall(0.0)
    silent, open_sky = WorldVoxels(), WorldVoxels(VoxelMapConfig(sight=Sight(blank_is_far=True)))
    for _ in range(3):
        silent.add_depth(blank, LENS, HERE)
        open_sky.add_depth(blank, LENS, HERE)
    assert not silent.counters.any() and open_sky.free[60:80, 55, 5].all() and not open_sky.occupied.any()
    # single pixels are gaps of the camera, not sky
    dotted = WorldVoxels(VoxelMapConfig(sight=Sight(blank_is_far=True)))
    gaps = wall(3.05)
    gaps[::2, ::2] = 0.0
    for _ in range(3):
        dotted.add_depth(gaps, LENS, HERE)
    assert not dotted.free[71:].any()


def test_a_lone_pixel_before_a_wall_is_noise() -> None:
    voxels = WorldVoxels()
    chance = np.random.default_rng(1)
    for _ in range(12):
        image = wall(6.05)
        stray = chance.random(image.shape) < 0.02
        image[stray] = chance.uniform(1.0, 6.0, int(stray.sum()))
        voxels.add_depth(image, LENS, HERE)
    assert set(np.argwhere(voxels.occupied)[:, 0]) == {85}


def test_a_camera_outside_of_the_box_maps_what_it_sees_in_it() -> None:
    below = camera_at(0.0, 0.0, 0.1)
    voxels = WorldVoxels()
    for _ in range(3):
        voxels.add_depth(wall(4.05), LENS, below)
    assert voxels.occupied[75, 55, :3].all() and voxels.free.any() and not voxels.free[76:].any()


def test_points_of_a_lidar_are_hits_and_their_beams_free_the_way() -> None:
    voxels = WorldVoxels()
    points = np.array([[3.1, 0.1, 1.6], [0.1, -4.1, 2.0], [30.0, 30.0, 1.6], [np.nan, 0.0, 0.0]])
    for _ in range(3):
        voxels.add_points(points, [0.1, 0.1, 1.6])
    assert {tuple(row) for row in np.argwhere(voxels.occupied)} == {(70, 55, 5), (55, 34, 7)}
    assert voxels.free[55:70, 55, 5].all()
    # a beam to something far away frees its way up to the range
    assert voxels.free[79, 79, 5] and not voxels.free[84, 84, 5]
    each = WorldVoxels()
    for _ in range(3):
        each.add_points(points[:2], np.tile([0.1, 0.1, 1.6], (2, 1)))
    assert np.array_equal(each.occupied, voxels.occupied)


def test_beams_visit_the_voxels_that_fine_steps_along_them_visit() -> None:
    chance = np.random.default_rng(5)
    for start, end in chance.uniform([-3.0, -3.0, 0.0], [3.0, 3.0, 4.0], (50, 2, 3)):
        voxels = WorldVoxels(VoxelMapConfig(cell=0.25, size=(16, 16, 8), lower=(-2.0, -2.0, 1.0)))
        voxels.add_points(end, start)
        steps = start + np.linspace(0.0, 1.0, 20_001)[:, None] * (end - start)
        numbers = np.floor((steps - voxels.origin) / 0.25).astype(int)
        inside = ((numbers >= 0) & (numbers < voxels.counters.shape)).all(axis=1)
        expected = {tuple(row) for row in numbers[inside]}
        visited = {tuple(row) for row in np.argwhere(voxels.counters != 0)}
        # steps may jump over a corner that a beam cuts by less than their length
        assert expected <= visited and len(visited - expected) <= 1


def test_the_message_says_occupied_free_and_unknown() -> None:
    voxels = WorldVoxels()
    for _ in range(3):
        voxels.add_depth(wall(3.05), LENS, HERE)
    message = voxels.message(7)
    assert (message.t_ns, message.resolution) == (7, 0.2) and message.voxels.dtype == np.int8
    assert np.array_equal(message.voxels == 100, voxels.occupied)
    assert np.array_equal(message.voxels == 0, voxels.free) and message.voxels[0, 0, 0] == -1


def test_bad_settings_and_poses_are_refused() -> None:
    with pytest.raises(ScenarioError, match="cannot be made"):
        VoxelMapConfig(cell=0.0)
    with pytest.raises(ScenarioError, match="cannot work"):
        CounterRule(occupied=0.1, free=0.9)
    with pytest.raises(ScenarioError, match="not finite"):
        WorldVoxels().add_depth(wall(3.0), LENS, camera_at(np.nan, 0.0, 0.0))
    with pytest.raises(ScenarioError, match="points of shape"):
        WorldVoxels().add_points(np.zeros((5, 2)), np.zeros(3))
