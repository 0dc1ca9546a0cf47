"""The grids of the particles: what a sweep leaves in them, and what particles share."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import distance_transform_edt
from walled_city import placed, sweep

from skyloop_autonomy.grid_slam.tile_kernels import REACH, SPREAD
from skyloop_autonomy.grid_slam.tiled_maps import GridSettings, TiledMaps
from skyloop_client.messages import Array

SETTINGS = GridSettings(half_extent=32.0)
ORIGIN = np.zeros(3)


def maps_with(poses: list[Array], particles: int = 1) -> TiledMaps:
    maps = TiledMaps(particles, SETTINGS, np.zeros(2))
    for pose in poses:
        maps.add(0, pose[:2], placed(sweep(pose), pose))
    return maps


def cell_of(maps: TiledMaps, corner: Array, point: tuple[float, float]) -> tuple[int, int]:
    i, j = np.floor((np.array(point) - corner) / maps.settings.cell).astype(int)
    return int(i), int(j)


def test_walls_are_occupied_and_rays_carve_what_is_before_them() -> None:
    maps = maps_with([ORIGIN] * 4)
    evidence, corner = maps.known_part(0)
    for point in [(-11.9, 0.1), (13.95, 0.1), (0.1, -8.05), (0.1, 9.05)]:
        i, j = cell_of(maps, corner, point)
        near = evidence[i - 1 : i + 2, j - 1 : j + 2]
        assert near.max() == 4 * SETTINGS.hit
    assert evidence[cell_of(maps, corner, (1.0, 0.0))] == -4 * SETTINGS.miss
    # inside of the block, and behind the wall at x = -6
    assert evidence[cell_of(maps, corner, (5.0, 4.0))] == 0
    assert evidence[cell_of(maps, corner, (-9.0, -4.0))] == 0


def test_a_cell_changes_once_per_sweep_however_many_rays_cross_it() -> None:
    maps = maps_with([ORIGIN])
    evidence, _ = maps.known_part(0)
    assert set(np.unique(evidence)) == {-SETTINGS.miss, 0, SETTINGS.hit}


def test_the_ray_visits_every_cell_between_its_ends_once() -> None:
    maps = TiledMaps(1, SETTINGS, np.zeros(2))
    start, end = np.array([-3.03, 1.17]), np.array([4.41, -2.29])
    maps.add(0, start, end[None])
    evidence, corner = maps.known_part(0)
    steps = start + np.linspace(0.0, 1.0, 200_001)[:, None] * (end - start)
    cells = {tuple(c) for c in np.floor((steps - corner) / SETTINGS.cell).astype(int).tolist()}
    last = cell_of(maps, corner, (4.41, -2.29))
    assert {tuple(c) for c in np.argwhere(evidence < 0).tolist()} == cells - {last}
    assert evidence[last] == SETTINGS.hit


def test_the_likelihood_is_that_of_the_nearest_obstacle_also_after_obstacles_have_gone() -> None:
    maps = maps_with([np.array([0.3 * k, 0.1 * k, 0.02 * k]) for k in range(6)])
    thing = np.array([[-2.05, 3.05], [-2.1, 3.3]])
    for _ in range(6):
        maps.add(0, np.zeros(2), thing)
    before, _ = maps.likelihood(0)
    for _ in range(20):
        maps.add(0, np.zeros(2), 1.5 * thing)
    evidence, corner = maps.known_part(0)
    likelihood, _ = maps.likelihood(0)
    assert evidence[cell_of(maps, corner, (-2.05, 3.05))] < 0, "rays went through the place of the thing"
    occupied = evidence >= SETTINGS.occupied
    _, nearest = distance_transform_edt(~occupied, return_indices=True)
    apart = nearest - np.indices(occupied.shape)
    expected = np.rint(255.0 * np.exp(-0.5 * (apart**2).sum(axis=0) / SPREAD**2))
    within = np.abs(apart).max(axis=0) <= REACH
    assert np.array_equal(likelihood[within], expected[within])
    # where the nearest one is out of reach, another one in the corner of the window may count
    assert likelihood[~within].max(initial=0) <= 255.0 * np.exp(-0.5 * (REACH + 1) ** 2 / SPREAD**2) + 1.0
    assert before[cell_of(maps, corner, (-2.05, 3.05))] == 255


def test_rays_that_graze_a_wall_leave_its_cells_occupied() -> None:
    """A wall takes up the last quarter of its cells, and rays along it cross the rest of them."""
    maps = TiledMaps(1, SETTINGS, np.zeros(2))
    wall = np.column_stack([np.arange(0.5, 8.0, 0.1), np.full(75, 3.15)])
    along = np.array([[9.0, 3.04 + 0.004 * k] for k in range(10)])
    maps.add(0, np.array([4.0, 0.0]), wall)
    maps.add(0, np.array([4.0, 0.0]), wall)
    for _ in range(30):
        maps.add(0, np.array([-5.0, 3.03]), along)
    evidence, corner = maps.known_part(0)
    i, j = cell_of(maps, corner, (4.05, 3.1))
    assert evidence[i, j] == 2 * SETTINGS.hit
    # rays through the wall itself do clear it
    for _ in range(30):
        maps.add(0, np.array([4.05, 0.0]), np.array([[4.05, 6.0]]))
    assert maps.known_part(0)[0][i, j] < 0


def test_particles_share_tiles_until_one_of_them_writes() -> None:
    maps = maps_with([ORIGIN] * 3, particles=5)
    alone = maps.tiles_in_use
    maps.resample(np.zeros(5, np.int64))
    assert maps.tiles_in_use == alone
    before, _ = maps.known_part(0)
    maps.add(3, np.zeros(2), np.array([[2.0, 2.0]]))
    assert alone < maps.tiles_in_use <= alone + 4
    untouched, _ = maps.known_part(0)
    written, corner = maps.known_part(3)
    assert np.array_equal(untouched, before)
    changed = np.argwhere(written != before) * SETTINGS.cell + corner
    assert len(changed) > 5 and changed.min() > -0.3 and changed.max() < 2.2


def test_tiles_of_particles_that_died_are_used_again() -> None:
    maps = TiledMaps(2, SETTINGS, np.zeros(2))
    rng = np.random.default_rng(1)
    sizes = []
    for k in range(60):
        for p in range(2):
            pose = np.array([*rng.uniform(-2.0, 2.0, 2), rng.uniform(-3.0, 3.0)])
            maps.add(p, pose[:2], placed(sweep(pose), pose))
        maps.resample(np.array([k % 2, k % 2]))
        sizes.append(len(maps.arrays[5]))
    assert sizes[-1] == sizes[5]
    assert maps.tiles_in_use < 60


def test_returns_beyond_the_map_are_left_out_and_the_rest_of_their_ray_is_drawn() -> None:
    maps = TiledMaps(1, GridSettings(half_extent=3.0), np.zeros(2))
    maps.add(0, np.zeros(2), np.array([[50.0, 0.5], [1.0, 50.0]]))
    evidence, corner = maps.known_part(0)
    assert (evidence > 0).sum() == 0
    assert evidence[cell_of(maps, corner, (2.9, 0.05))] < 0


def test_a_snapshot_is_not_touched_by_what_comes_after_it() -> None:
    maps = maps_with([ORIGIN] * 2)
    saved, (before, _) = maps.snapshot(), maps.known_part(0)
    maps.add(0, np.zeros(2), np.array([[2.0, 2.0]]))
    assert not np.array_equal(maps.known_part(0)[0], before)
    maps.restore(saved)
    assert np.array_equal(maps.known_part(0)[0], before)
