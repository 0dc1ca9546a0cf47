"""The map around the body: cells, the sweep that frees them, memory, and motion."""

from __future__ import annotations

import numpy as np
import pytest
from depth_scenes import LENS, camera_at, person, wall

from skyloop_autonomy.mapping import CylinderConfig, CylinderMap
from skyloop_client.errors import ScenarioError

BODY = np.array([0.0, 0.0, 1.5])
CONFIG = CylinderConfig(pixels_apart=1)


def seeing(local: CylinderMap, image: np.ndarray, times: int = 3, yaw: float = 0.0, body: np.ndarray = BODY) -> None:
    for _ in range(times):
        local.add_depth(image, LENS, camera_at(body[0], body[1], body[2], yaw), body)


@pytest.mark.parametrize("yaw_deg", [1.0, 44.0, 91.0, 137.0, 200.0, 268.0, 359.0])
def test_a_person_is_in_the_ring_sector_and_layer_where_they_stand(yaw_deg: float) -> None:
    local = CylinderMap(CONFIG)
    seeing(local, person(wall(9.0), 2.5), yaw=np.radians(yaw_deg))
    rings, sectors, layers = np.nonzero(local.occupied)
    assert set(rings) == {8} and set(layers) <= set(range(5, 15))
    # 0.5 m at 2.5 m are 11.4 degrees
    apart = (3.0 * (sectors + 0.5) - yaw_deg + 180.0) % 360.0 - 180.0
    assert -7.5 < apart.min() < -3.0 and 3.0 < apart.max() < 7.5
    assert np.linalg.norm(local.cloud()[:, :2], axis=1) == pytest.approx(2.5, abs=0.05)
    assert local.nearest()[int(yaw_deg // 3)] == pytest.approx(2.4)


def test_the_sweep_frees_the_cells_before_a_wall_and_not_those_behind() -> None:
    local = CylinderMap(CONFIG)
    seeing(local, wall(4.0))
    ahead = local.free[:, 0]
    assert ahead[:12, 10].all() and not ahead[14:].any() and local.occupied[13, 0, 10]
    assert not local.free[:, 60].any()


def test_what_is_no_longer_seen_is_remembered_and_what_is_seen_gone_is_forgotten() -> None:
    local = CylinderMap(CONFIG)
    seeing(local, person(wall(9.0), 2.5), times=5)
    before = local.cloud()
    seeing(local, wall(9.0), times=30, yaw=np.pi)
    assert np.array_equal(local.cloud(), before)
    seeing(local, wall(9.0), times=3)
    assert len(local.cloud()) == 0


def beside_a_wall(distance: float) -> np.ndarray:
    """The depth image of a camera that looks along a wall on its left, in a hall that ends 6 m ahead."""
    x = (np.arange(wall(6.0).shape[1]) - LENS.cx) / LENS.fx
    with np.errstate(divide="ignore"):
        along = np.where(x < 0.0, -distance / x, np.inf)
    return np.minimum(wall(6.0), along[None].astype(np.float32))


@pytest.mark.parametrize("step", [0.004, 0.013, 0.055])
def test_a_wall_beside_the_vehicle_is_remembered_once_it_is_out_of_sight(step: float) -> None:
    """Steps between images of 15 Hz: creeping, through a door, and cruising."""
    local = CylinderMap(CONFIG)
    for north in np.arange(0.0, 1.5, step):
        seeing(local, beside_a_wall(1.1), times=1, yaw=0.5 * np.pi, body=BODY + np.array([0.0, north, 0.0]))
    points = local.cloud() - BODY - [0.0, north, 0.0]
    remembered = points[(np.abs(points[:, 0] + 1.1) < 0.1) & (np.abs(points[:, 2]) < 0.4)]
    # the field of view ends 43 degrees from the heading, and 1.2 m ahead on the wall
    gaps = np.diff(np.sort(remembered[(remembered[:, 1] > 0.0) & (remembered[:, 1] < 1.2), 1]), prepend=0.0, append=1.2)
    assert gaps.max() < 0.4


def test_obstacles_stay_where_they_are_while_the_body_moves() -> None:
    local = CylinderMap(CONFIG)
    seeing(local, person(wall(9.0), 5.0), times=5)
    # sideways and forwards past it, looking away
    for number in range(1, 100):
        body = BODY + number * np.array([0.03, 0.01, 0.005])
        local.add_depth(wall(9.0), LENS, camera_at(body[0], body[1], body[2], np.pi), body)
    cloud = local.cloud()
    assert len(cloud) > 5 and cloud[:, 0] == pytest.approx(5.0, abs=0.02) and np.abs(cloud[:, 1]).max() < 0.35
    assert local.nearest().min() == pytest.approx(np.hypot(5.0 - body[0], body[1]), abs=0.45)
    # left behind: out of the cylinder and forgotten
    away = BODY - [4.0, 0.0, 0.0]
    local.add_depth(wall(9.0), LENS, camera_at(away[0], away[1], away[2], np.pi), away)
    assert len(local.cloud()) == 0


def test_bad_settings_and_poses_are_refused() -> None:
    with pytest.raises(ScenarioError, match="cannot be made"):
        CylinderConfig(rings=0)
    with pytest.raises(ScenarioError, match="not finite"):
        CylinderMap().add_depth(wall(3.0), LENS, camera_at(np.inf, 0.0, 0.0), BODY)


def test_of_two_points_that_meet_in_a_cell_the_nearer_one_stays() -> None:
    """Beside a door the frame is 0.15 m nearer than the wall behind it, in the same ring, sector and layer."""
    from skyloop_autonomy.mapping.cylinder_map import _follow, _Frame

    near = CylinderMap()
    config = near.config
    frame = tuple(_Frame(1.0 / config.ring, 1.0 / config.layer, config.layers_below, 0.1, 7.2, 0.05, 3))
    for order in (0, 1):
        counters, points = np.zeros(config.shape, np.int8), np.zeros((int(np.prod(config.shape)), 3), np.float32)
        # any two cells: the points are entered by where they are
        cells = [5, 9000] if order == 0 else [9000, 5]
        for cell, x in zip(cells, (0.65, 0.80), strict=True):
            counters.reshape(-1)[cell], points[cell] = 5, (x, 0.01, 0.05)
        new_counters, new_points = np.zeros_like(counters), np.zeros_like(points)
        _follow(counters, points, np.zeros(3), frame, new_counters, new_points)
        (kept,) = np.flatnonzero(new_counters.reshape(-1))
        assert new_points[kept, 0] == np.float32(0.65)
