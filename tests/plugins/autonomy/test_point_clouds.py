"""From a depth image to points: geometry, edges, ranges and holes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from depth_scenes import HEIGHT, LENS, WIDTH, camera_at, person, wall

from skyloop_autonomy.mapping import DepthLens, Sight, points_from_depth
from skyloop_autonomy.mapping.point_clouds import trusted_range
from skyloop_client.errors import ScenarioError


def test_each_pixel_is_where_the_lens_and_the_pose_put_it() -> None:
    chance = np.random.default_rng(3)
    depth = (3.0 + 0.02 * chance.random((HEIGHT, WIDTH))).astype(np.float32)
    pose = camera_at(1.0, -2.0, 0.5, yaw=0.7)
    v, u = np.mgrid[:HEIGHT, :WIDTH]
    rays = np.stack([(u - LENS.cx) / LENS.fx, (v - LENS.cy) / LENS.fy, np.ones_like(u)], axis=-1)
    expected = pose.apply((rays * depth[..., None]).reshape(-1, 3))
    assert points_from_depth(depth, LENS, pose, Sight()) == pytest.approx(expected, abs=1e-5)


def test_a_stride_takes_the_middle_of_each_block() -> None:
    depth, pose = wall(3.0), camera_at(0.0, 0.0, 0.0)
    every = points_from_depth(depth, LENS, pose, Sight()).reshape(HEIGHT, WIDTH, 3)
    assert np.array_equal(points_from_depth(depth, LENS, pose, Sight(), 4), every[2::4, 2::4].reshape(-1, 3))


def test_what_is_too_near_too_far_blank_or_not_a_number_gives_no_point() -> None:
    depth = wall(3.0)
    depth[:10], depth[10:20], depth[20:30], depth[30:40], depth[40:50] = 0.05, 50.0, 0.0, np.nan, np.inf
    points = points_from_depth(depth, LENS, camera_at(0.0, 0.0, 0.0), Sight())
    assert len(points) == (HEIGHT - 50) * WIDTH and np.isfinite(points).all()


def test_pixels_between_the_two_depths_of_an_edge_are_left_out() -> None:
    depth = person(wall(6.0), 2.0)
    edge = depth[45] == 2.0
    left = int(np.flatnonzero(edge)[0])
    depth[40:50, left] = np.linspace(2.8, 5.2, 10)
    points = points_from_depth(depth, LENS, camera_at(0.0, 0.0, 0.0), Sight())
    assert set(points[:, 0].round(3)) == {2.0, 6.0}
    # a pole one pixel wide is no such edge: its pixels agree with those above and below
    depth = wall(6.0)
    depth[:, 80] = 2.0
    assert (points_from_depth(depth, LENS, camera_at(0.0, 0.0, 0.0), Sight())[:, 0] < 3.0).sum() == HEIGHT


def test_noise_sets_how_far_a_camera_is_trusted() -> None:
    noise = {"noise_scale": 0.005, "noise_growth_per_m": {"cement": 0.5, "formboard": 0.55, "glass": 0.95}}
    reach = trusted_range(noise, 0.2, 7.2)
    assert 0.005 * math.exp(0.55 * reach) == pytest.approx(0.2 / 3.0)
    assert trusted_range({"noise_scale": 0.0, "noise_growth_per_m": {"cement": 0.5}}, 0.2, 7.2) == 7.2


def test_bad_input_is_refused() -> None:
    with pytest.raises(ScenarioError, match="does not state its lens"):
        DepthLens.from_details({"fx": 300.0})
    with pytest.raises(ScenarioError, match="cannot be mapped"):
        points_from_depth(np.zeros((4, 4, 3), np.float32), LENS, camera_at(0, 0, 0), Sight())
    with pytest.raises(ScenarioError, match="give 0 <= near < far"):
        Sight(near=3.0, far=2.0)
