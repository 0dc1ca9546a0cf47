"""kiss-icp in place of the particle filter: its odometry on made-up sweeps, and the localiser around it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from walled_city import WALLS, motion_between, sweep

from skyloop.sim.assembly import build
from skyloop.sim.estimator_assembly import UserEstimatorPart
from skyloop.sim.scenario import load_scenario
from skyloop_autonomy.grid_slam.kiss_localiser import KissLocaliser, KissOdometry, KissSettings
from skyloop_autonomy.grid_slam.particle_filter import GridParticleFilter
from skyloop_autonomy.grid_slam.tiled_maps import FilterSettings, GridSettings
from skyloop_client.errors import MissingExtra, ScenarioError
from skyloop_client.messages import Array

SMALL = KissSettings(voxel_size=0.5, furthest=40.0)
KIND = "kiss-icp"


def in_space(pose: Array) -> Array:
    """(4, 4) of x, y and heading."""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    made = np.eye(4)
    made[:2, :2], made[:2, 3] = [[c, -s], [s, c]], pose[:2]
    return made


def _cloud() -> Array:
    """(n, 3) m, world: positions on the walls of the city from 2 m below to 2 m above, and on the ground."""
    lines = [np.linspace((x0, y0), (x1, y1), int(np.hypot(x1 - x0, y1 - y0) / 0.37)) for x0, y0, x1, y1 in WALLS]
    walls = np.concatenate(lines)
    x, y = np.meshgrid(np.arange(-11.0, 13.0, 1.3), np.arange(-7.0, 8.0, 1.3))
    ground = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, -2.0)])
    return np.concatenate([ground, *(np.column_stack([walls, np.full(len(walls), z)]) for z in (-2.0, -0.7, 0.6, 1.9))])


CLOUD = _cloud()


def seen_from(pose: Array) -> Array:
    """(n, 3) m, body axes."""
    return np.asarray((CLOUD - [*pose[:2], 0.0]) @ in_space(pose)[:3, :3])


def oval(count: int = 24) -> Array:
    angle = np.linspace(0.0, np.pi, count)
    return np.stack([-4.5 + 3.5 * np.cos(angle), 3.0 + 3.5 * np.sin(angle), 0.3 + 0.5 * np.sin(angle)], axis=1)


def flown(odometry: KissOdometry, poses: Array, drift: Array | None = None, first: int = 0) -> list[Array]:
    """Poses of the odometry; drift: (3,) added to each predicted motion."""
    found = []
    for k in range(first, len(poses)):
        moved = np.zeros(3) if k == 0 else motion_between(poses[k - 1], poses[k])
        moved = moved if drift is None else moved + drift
        points = seen_from(poses[k])
        found.append(odometry.sweep(points, np.zeros(len(points)), in_space(poses[0]), in_space(moved))[0])
    return found


def test_it_follows_the_flight_although_the_prediction_drifts() -> None:
    poses = oval()
    found = flown(KissOdometry(SMALL), poses, drift=np.array([0.03, -0.02, 0.002]))
    off = np.array([pose[:2, 3] for pose in found]) - poses[:, :2]
    turned = np.array([np.arctan2(pose[1, 0], pose[0, 0]) for pose in found]) - poses[:, 2]
    # the prediction alone would be off by more than half a metre
    assert np.hypot(*off.T).max() < 0.12
    assert np.abs(turned).max() < 0.01


def test_the_motion_is_taken_out_of_a_sweep_by_the_predicted_one() -> None:
    """Each point is seen from where the vehicle was when it was measured; it flies 0.3 m in the time of a sweep."""
    poses = np.stack([np.linspace(-8.0, -5.3, 10), np.full(10, 4.0), np.zeros(10)], axis=1)
    off = []
    for with_offsets in (True, False):
        odometry = KissOdometry(SMALL)
        for k, pose in enumerate(poses):
            moving = np.array([0.3 * bool(k), 0.0, 0.0])
            points = seen_from(pose)
            share = (np.arctan2(points[:, 1], points[:, 0]) + np.pi) / (2.0 * np.pi)
            seen = points + np.outer(1.0 - share, [*moving[:2], 0.0])
            offsets = np.rint((share - 1.0) * 1e8) if with_offsets else np.zeros(len(points))
            found, _ = odometry.sweep(seen, offsets, in_space(poses[0]), in_space(moving))
        off.append(float(np.hypot(*(found[:2, 3] - poses[-1, :2]))))
    assert off[0] < 0.05 and off[1] > 2.0 * off[0]


def test_the_same_sweeps_give_the_same_bytes_also_from_a_snapshot() -> None:
    poses, odometry = oval(14), KissOdometry(SMALL)
    first = flown(odometry, poses[:7])
    saved = odometry.snapshot()
    rest = flown(odometry, poses, first=7)
    again = KissOdometry(SMALL)
    assert np.array_equal(flown(again, poses), [*first, *rest])
    again.restore(saved)
    assert np.array_equal(flown(again, poses, first=7), rest)


@pytest.mark.parametrize("points", [np.zeros((0, 3)), np.full((500, 3), np.nan)])
def test_a_sweep_without_returns_leaves_the_prediction(points: Array) -> None:
    odometry, poses = KissOdometry(SMALL), oval(3)
    flown(odometry, poses)
    motion = in_space(np.array([0.2, 0.0, 0.0]))
    before = odometry.snapshot()[1]
    found, registered = odometry.sweep(points, np.zeros(len(points)), np.eye(4), motion)
    assert not registered
    np.testing.assert_allclose(found, before @ motion)


def test_a_placed_sweep_is_drawn_where_it_was_placed_and_one_that_fits_no_map_is_not() -> None:
    start = np.array([-3.0, 3.0, 0.3])
    slam = GridParticleFilter(FilterSettings(particles=1, grid=GridSettings(half_extent=25.0)), start)
    sd = np.array([0.06, 0.06, 0.002])
    for _ in range(8):
        belief = slam.place(start, sd, sweep(start), lost_below=0.3)
    assert belief.likelihood > 0.8 and not belief.lost and np.array_equal(belief.pose, start)
    cells, corner = slam.maps.known_part(0)
    wall = np.floor((np.array([-3.0, WALLS[1, 1]]) - corner) / 0.2).astype(int)
    assert cells[wall[0], wall[1] - 1 : wall[1] + 2].max() >= slam.settings.grid.occupied
    lost = slam.place(start + np.array([2.0, 1.0, 0.5]), sd, sweep(start), lost_below=0.3)
    assert lost.lost and np.array_equal(slam.maps.known_part(0)[0], cells)


def scenario(**options: Any) -> Any:
    slam = {"kind": KIND, "inputs": ["imu", "barometer", "below", "lidar"], **options}
    return load_scenario("unknown-city", {"vehicles.0.estimators.slam": slam})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"inputs": ["imu", "barometer", "gnss", "lidar"]}, "kiss-icp takes no satellite fixes; leave 'gnss' out"),
        ({"options": {"settings": {"filter": {"particles": 3}}}}, "one particle, not 3"),
        ({"options": {"settings": {"odometry": {"voxel": 1.0}}}}, "odometry.voxel"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ScenarioError, match=words) as caught:
        build(scenario(**options))
    assert "\n" not in str(caught.value)


def test_without_the_library_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kiss_icp.config", None)
    with pytest.raises(MissingExtra, match=r"needs kiss-icp, .* pip install 'skyloop-autonomy\[lidar\]'$"):
        build(scenario())


@pytest.mark.slow("a flight on LiDAR")
def test_it_takes_off_on_the_estimates_of_kiss_icp() -> None:
    with build(scenario()) as simulation:
        simulation.run_until(3.5)
        off = simulation.bus.newest("drone/slam").data.position - simulation.truth().position
        assert simulation.truth().position[2] > 1.0
        assert np.hypot(*off[:2]) < 0.1
        grid = simulation.bus.newest("drone/slam_map").data
        assert (grid.cells == 100).sum() > 100 and (grid.cells == 0).sum() > 2000
        (part,) = simulation.parts_of(UserEstimatorPart)
        assert isinstance(part._own, KissLocaliser) and part._own.belief.likelihood > 0.3
