"""Laying sweeps on a map, and the particle filter on simulated sweeps in a city of walls."""

from __future__ import annotations

import numpy as np
import pytest
from walled_city import motion_between, sweep

from skyloop_autonomy.grid_slam.particle_filter import GridParticleFilter, PoseBelief, PoseFix
from skyloop_autonomy.grid_slam.tiled_maps import FilterSettings, GridSettings
from skyloop_client.messages import Array

pytestmark = pytest.mark.flights

GRID = GridSettings(half_extent=25.0)
START = np.array([-3.0, 3.0, 0.3])
NO_MOTION = np.zeros(3)
ROUGH = {"grid": GRID, "odometry_sd": 0.03, "odometry_turn_sd": 0.003}
"""Odometry as bad as that of `flown`."""


def settled(points: Array, start: Array, particles: int = 1, **settings: float) -> GridParticleFilter:
    """A filter that has seen the city from its start, and trusts its odometry as `settings` say from then on."""
    sure = FilterSettings(particles=particles, grid=GRID, odometry_sd=1e-3, odometry_turn_sd=1e-4)
    slam = GridParticleFilter(sure, start)
    for _ in range(5):
        slam.sweep(points, NO_MOTION)
    slam.poses[:] = start
    going_on = GridParticleFilter(
        FilterSettings.model_validate({"particles": particles, "grid": GRID, **settings}), start
    )
    going_on.restore(slam.snapshot())
    return going_on


def flight(seconds: float = 12.0) -> Array:
    """(n, 3) poses 0.1 s apart on an oval through the free part of the city."""
    angle = np.linspace(0.0, 2.0 * np.pi, round(10 * seconds))
    x, y = -4.5 + 3.5 * np.cos(angle), 3.0 + 3.5 * np.sin(angle)
    return np.stack([x, y, 0.3 + 0.5 * np.sin(angle)], axis=1)


def flown(
    settings: FilterSettings, *, drift: Array = NO_MOTION, fixes: bool = False, seed: int = 5, sweeps: int = 120
) -> tuple[GridParticleFilter, list[PoseBelief], Array]:
    """The oval, on odometry with noise and a drift per sweep."""
    rng, poses = np.random.default_rng(seed), flight()[:sweeps]
    slam, beliefs = GridParticleFilter(settings, poses[0]), []
    for k, pose in enumerate(poses):
        moved = NO_MOTION if k == 0 else motion_between(poses[k - 1], pose)
        moved = moved + drift + rng.normal(0.0, [0.02, 0.02, 0.002])
        fix = PoseFix(pose[:2] + rng.normal(0.0, 0.3, 2), 3.0) if fixes else None
        beliefs.append(slam.sweep(sweep(pose, noise=rng.normal(0.0, 0.02, 360)), moved, fix))
    errors = np.array([belief.pose for belief in beliefs]) - poses
    return slam, beliefs, errors


@pytest.mark.parametrize("apart", [(0.1, -0.08, 0.01), (-0.5, 0.45, 0.06), (0.4, 0.5, -0.06)])
def test_a_sweep_finds_its_pose_from_nearby(apart: tuple[float, float, float]) -> None:
    """The larger ones are beyond what Gauss-Newton alone would find: the window is searched."""
    slam = settled(sweep(START), START, odometry_sd=0.5, odometry_turn_sd=0.05)
    belief = slam.sweep(sweep(START), np.array(apart))
    assert belief.likelihood > 0.7
    # the rest is chance: the pose is drawn from the posterior
    assert np.abs(belief.pose[:2] - START[:2]).max() < 0.15
    assert abs(belief.pose[2] - START[2]) < 0.02


def test_along_a_corridor_only_the_prior_knows_and_the_uncertainty_says_so() -> None:
    walls = np.array([(-60.0, -3.0, 60.0, -3.0), (-60.0, 3.0, 60.0, 3.0)])
    points = sweep(NO_MOTION, walls=walls)
    near = points[np.abs(points[:, 0]) < 6.0]
    slam = settled(near, NO_MOTION, odometry_sd=0.2)
    belief = slam.sweep(near, NO_MOTION)
    assert belief.sd[0] > 0.12
    assert belief.sd[1] < 0.08


def test_the_trajectory_is_found_although_odometry_drifts() -> None:
    drift = np.array([0.02, -0.01, 0.002])
    slam, _, errors = flown(FilterSettings.model_validate({"particles": 10, **ROUGH}), drift=drift)
    # the odometry alone would be off by metres
    assert 120 * np.hypot(*drift[:2]) > 2.5
    assert np.hypot(errors[:, 0], errors[:, 1]).max() < 0.25
    assert np.abs(errors[:, 2]).max() < 0.03
    assert slam.resamplings > 0


def test_bare_walls_do_not_hold_a_moving_vehicle_back() -> None:
    """Points on a bare wall move with the vehicle; matched to those of the sweep before, they would say it stands."""
    walls = np.array([(-90.0, -3.55, 90.0, -3.55), (-90.0, 4.05, 90.0, 4.05)])
    slam = GridParticleFilter(FilterSettings(particles=6, grid=GridSettings(half_extent=60.0)), NO_MOTION)
    pose, rng = np.zeros(3), np.random.default_rng(2)
    for k in range(60):
        step = np.array([0.3 if k else 0.0, 0.0, 0.0])
        pose = pose + step
        belief = slam.sweep(sweep(pose, noise=rng.normal(0.0, 0.03, 360), walls=walls), step)
    # beside the walls only the odometry tells the way along them: 2 cm per sweep
    assert abs(belief.pose[0] - pose[0]) < 3.0 * 0.02 * np.sqrt(60)
    assert abs(belief.pose[1]) < 0.05
    assert abs(belief.pose[2]) < 0.01


def test_a_pose_is_found_more_exactly_than_a_cell() -> None:
    """No wall of this city lies in the middle of its cells."""
    slam = settled(sweep(START), START, particles=20, odometry_sd=0.1, odometry_turn_sd=0.01)
    errors = [slam.sweep(sweep(START), np.array([0.0, 0.0, 0.0])).pose - START for _ in range(5)]
    assert np.abs(np.array(errors)[:, :2]).max() < 0.02
    assert np.abs(np.array(errors)[:, 2]).max() < 0.002


def test_the_stated_uncertainty_covers_the_error() -> None:
    _, beliefs, errors = flown(FilterSettings.model_validate({"particles": 10, **ROUGH}))
    sd = np.array([belief.sd for belief in beliefs])
    inside = np.abs(errors) < 3.0 * sd
    assert inside.mean() > 0.85


def test_the_same_sweeps_give_the_same_bytes_and_another_seed_others() -> None:
    first, second = (flown(FilterSettings(particles=6, grid=GRID), sweeps=30) for _ in range(2))
    assert first[0].poses.tobytes() == second[0].poses.tobytes()
    for p in range(6):
        assert first[0].maps.known_part(p)[0].tobytes() == second[0].maps.known_part(p)[0].tobytes()
    other = flown(FilterSettings(particles=6, grid=GRID, seed=1), sweeps=30)
    assert first[0].poses.tobytes() != other[0].poses.tobytes()


def test_fixes_pull_a_filter_back_that_has_nothing_to_see() -> None:
    settings = FilterSettings.model_validate({"particles": 50, **ROUGH})
    ends = []
    for fixes in (True, False):
        slam = GridParticleFilter(settings, NO_MOTION)
        for _ in range(200):
            fix = PoseFix(np.zeros(2), 1.0) if fixes else None
            belief = slam.sweep(np.zeros((0, 2)), np.array([0.02, 0.0, 0.0]), fix)
        ends.append(belief)
    assert ends[1].pose[0] > 3.0
    assert np.hypot(*ends[0].pose[:2]) < 2.0
    assert ends[0].sd[0] < ends[1].sd[0]


def test_a_snapshot_goes_on_with_the_same_bytes() -> None:
    slam = settled(sweep(START), START, 4)
    saved = slam.snapshot()
    runs = []
    for _ in range(2):
        slam.restore(saved)
        for k in range(5):
            slam.sweep(sweep(START + np.array([0.1 * k, 0.0, 0.0])), np.array([0.1, 0.0, 0.0]))
        runs.append((slam.poses.tobytes(), slam.maps.known_part(0)[0].tobytes()))
    assert runs[0] == runs[1]


def test_a_sweep_that_fits_no_map_is_not_believed() -> None:
    slam = settled(sweep(START), START)
    before = slam.maps.known_part(0)[0]
    elsewhere = np.array([(-3.0, -60.0, -3.0, 60.0), (5.5, -60.0, 5.5, 60.0), (-60.0, -2.2, 60.0, -2.2)])
    belief = slam.sweep(sweep(NO_MOTION, walls=elsewhere), np.array([0.1, 0.0, 0.0]), lost_below=0.3)
    assert belief.lost
    assert np.array_equal(slam.maps.known_part(0)[0], before)
    assert np.hypot(*(belief.pose - START)[:2]) < 0.25
    assert not slam.sweep(sweep(START), np.array([-0.1, 0.0, 0.0]), lost_below=0.3).lost


def test_a_sweep_without_returns_changes_no_map() -> None:
    slam = settled(sweep(START), START)
    before = slam.maps.known_part(0)[0]
    slam.sweep(np.zeros((0, 2)), NO_MOTION)
    assert np.array_equal(slam.maps.known_part(0)[0], before)
