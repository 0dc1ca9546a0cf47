"""Images that arrive late, poses that are missing, and what planners read of the maps."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from depth_scenes import LENS, wall

from skyloop.core.frames import quat_from_yaw, yaw_from_quat
from skyloop_autonomy.mapping import Mapper, MapperSettings, MapSnapshot, PoseHistory
from skyloop_autonomy.mapping.counting import FREE, OCCUPIED, UNKNOWN
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import DepthImage, LidarScan
from skyloop_client.streams import Mount, StreamInfo

DEPTH = StreamInfo("drone/depth", "DepthImage", details=dict(LENS._asdict()), mount=Mount(np.array([0.1, 0.0, 0.0])))
LIDAR = StreamInfo("drone/lidar", "LidarScan", mount=Mount(np.array([0.0, 0.0, 0.1])))
LEVEL = quat_from_yaw(0.0)
MS = 1_000_000


def seen(times: int = 4, **settings: object) -> Mapper:
    """A wall 3 m ahead of the camera, seen from (0, 0, 1.5)."""
    mapper = Mapper({"depth": DEPTH}, MapperSettings(**settings))  # type: ignore[arg-type]
    for n in range(times):
        mapper.add_pose(33 * n * MS, [0.0, 0.0, 1.5], LEVEL)
        mapper.add_image("depth", DepthImage(33 * n * MS, wall(3.05)))
    return mapper


def index_at(maps: MapSnapshot, x: float) -> tuple[int, int, int]:
    index = maps.voxel([x, 0.0, 1.5])
    assert index is not None
    return index


def test_planners_get_states_projection_distances_and_near_points() -> None:
    maps = seen().maps()
    assert maps is not None and maps.t_ns == 99 * MS and maps.body.tolist() == [0.0, 0.0, 1.5]
    at_wall, between, behind = (index_at(maps, x) for x in (3.15, 1.5, 4.5))
    assert [int(maps.states[index]) for index in (at_wall, between, behind)] == [OCCUPIED, FREE, UNKNOWN]
    assert maps.ground.states[at_wall[:2]] == OCCUPIED and maps.ground.states[between[:2]] == FREE
    # from the middle of a voxel to the face of the wall's first one, which begins at 3 m
    middle = maps.origin + (np.array(between) + 0.5) * maps.cell
    assert maps.distance[between] == pytest.approx(3.0 - middle[0], abs=1e-5)
    assert maps.ground_distance[between[:2]] == pytest.approx(3.0 - middle[0], abs=1e-5)
    assert len(maps.near) > 100 and np.abs(maps.near[:, 0] - 3.15).max() < 0.02
    assert maps.voxel([50.0, 0.0, 1.5]) is None


def test_a_map_that_was_read_does_not_change_afterwards() -> None:
    mapper = seen(4)
    first = mapper.maps()
    assert first is not None and mapper.maps() is first
    for _ in range(10):
        mapper.add_image("depth", DepthImage(99 * MS, wall(2.05)))
    second = mapper.maps()
    assert second is not None and second is not first
    assert first.states[first.voxel([2.15, 0.0, 1.5])] == FREE != second.states[second.voxel([2.15, 0.0, 1.5])]
    assert first.distance.min() < 0.0 and first.distance is not second.distance


def test_an_image_is_placed_at_the_pose_of_its_own_stamp() -> None:
    """The vehicle flies 1 m/s towards a wall at 5 m; images come 0.5 s late and poses at 10 Hz."""
    mapper = Mapper({"depth": DEPTH})
    images = [(n * 33 * MS, wall(4.95 - n * 0.033)) for n in range(30)]
    for now in range(0, 1500, 10):
        if now % 100 == 0:
            mapper.add_pose(now * MS, [now * 1e-3, 0.0, 1.5], LEVEL)
        while images and images[0][0] + 500 * MS <= now * MS:
            t_ns, depth = images.pop(0)
            mapper.add_image("depth", DepthImage(t_ns, depth))
    maps = mapper.maps()
    assert maps is not None and (mapper.entered, mapper.dropped) == (30, 0)
    assert np.unique(np.nonzero(maps.occupied)[0]).tolist() == [int((5.05 - maps.origin[0]) / 0.2)]


def test_an_image_waits_for_its_pose_and_is_dropped_where_there_is_none() -> None:
    mapper = Mapper({"depth": DEPTH})
    mapper.add_pose(0, [0.0, 0.0, 1.5], LEVEL)
    assert mapper.add_image("depth", DepthImage(50 * MS, wall(3.0))) == 0
    assert mapper.maps() is None
    assert mapper.add_pose(100 * MS, [0.0, 0.0, 1.5], LEVEL) == 1
    # the estimate was lost for three seconds: where the vehicle was in between is not known
    assert mapper.add_image("depth", DepthImage(2000 * MS, wall(3.0))) == 0
    assert mapper.add_pose(3100 * MS, [2.0, 0.0, 1.5], LEVEL) == 0
    assert (mapper.entered, mapper.dropped) == (1, 1)
    for n in range(200):
        mapper.add_image("depth", DepthImage((4000 + n) * MS, wall(3.0)))
    assert mapper.dropped == 1 + 200 - 60


def test_a_sweep_is_placed_beam_by_beam() -> None:
    """A LiDAR that turns with the vehicle, 90 degrees during the sweep; every beam goes straight ahead."""
    mapper = Mapper({"lidar": LIDAR})
    for t in range(0, 101, 10):
        mapper.add_pose(t * MS, [0.0, 0.0, 1.5], quat_from_yaw(math.radians(0.9 * t)))
    offsets = np.arange(-99, 1) * MS
    n = len(offsets)
    points = np.tile(np.array([4.0, 0.0, 0.0], np.float32), (n, 1))
    none = np.zeros(n)
    scan = LidarScan(
        100 * MS, points, points[:, 0], none.astype(np.float32), none.astype(np.uint16), offsets,
        none.astype(np.uint8), none.astype(np.int32),
    )  # fmt: skip
    for _ in range(3):
        assert mapper.add_image("lidar", scan) == 1
    maps = mapper.maps()
    assert maps is not None
    where = maps.origin[:2] + (np.argwhere(maps.occupied)[:, :2] + 0.5) * maps.cell
    assert np.abs(np.linalg.norm(where, axis=1) - 4.0).max() < 0.2
    bearings = np.degrees(np.arctan2(where[:, 1], where[:, 0]))
    assert bearings.min() < 4.0 and bearings.max() > 86.0


def test_a_map_without_bounds_has_a_field_that_grows_with_it() -> None:
    mapper = seen(size=None)
    small = mapper.maps()
    for n in range(4):
        mapper.add_pose((1000 + 33 * n) * MS, [40.0, 0.0, 1.5], LEVEL)
        mapper.add_image("depth", DepthImage((1000 + 33 * n) * MS, wall(3.05)))
    large = mapper.maps()
    assert small is not None and large is not None
    assert large.states.shape[0] > small.states.shape[0] + 150 and large.distance.shape == large.states.shape
    for x in (3.15, 43.15):
        assert large.states[large.voxel([x, 0.0, 1.5])] == OCCUPIED


def test_a_copy_of_the_mapper_goes_on_by_itself() -> None:
    mapper = seen(4)
    twin = copy.deepcopy(mapper)
    for _ in range(4):
        mapper.add_image("depth", DepthImage(99 * MS, wall(2.05)))
    assert twin.maps().states[twin.maps().voxel([2.15, 0.0, 1.5])] == FREE
    for _ in range(4):
        twin.add_image("depth", DepthImage(99 * MS, wall(2.05)))
    assert np.array_equal(twin.maps().states, mapper.maps().states)


def test_mistakes_are_one_line() -> None:
    with pytest.raises(ScenarioError, match="without a sensor"):
        Mapper({})
    with pytest.raises(ScenarioError, match="ImuSample; a map needs"):
        Mapper({"imu": StreamInfo("drone/imu", "ImuSample")})
    with pytest.raises(ScenarioError, match="no sensor 'dept'"):
        seen().add_image("dept", DepthImage(0, wall(3.0)))
    with pytest.raises(ValueError, match="are empty"):
        MapperSettings(heights=(2.0, 1.0))


def flown() -> PoseHistory:
    """1 m/s eastwards, turning by 1 rad/s, a pose every 10 ms for 1 s."""
    history = PoseHistory()
    for number in range(101):
        history.add(10 * MS * number, [0.01 * number, 0.0, 1.5], quat_from_yaw(0.01 * number))
    return history


def test_a_stamp_between_two_poses_is_interpolated() -> None:
    pose = flown().at(347 * MS)
    assert pose is not None
    assert pose.position == pytest.approx([0.347, 0.0, 1.5])
    assert yaw_from_quat(pose.quat_wxyz) == pytest.approx(0.347)
    exact = flown().at(350 * MS)
    assert exact is not None and exact.position[0] == pytest.approx(0.35)


def test_nothing_is_guessed_before_after_or_across_a_gap() -> None:
    history = flown()
    assert history.at(-1) is None and history.at(1001 * MS) is None and PoseHistory().at(0) is None
    history.add(2000 * MS, [2.0, 0.0, 1.5], [1.0, 0.0, 0.0, 0.0])
    assert history.at(1500 * MS) is None and history.newest_ns == 2000 * MS


def test_late_repeated_and_broken_poses() -> None:
    history = PoseHistory()
    level = [1.0, 0.0, 0.0, 0.0]
    assert history.add(20 * MS, [2.0, 0.0, 0.0], level) and history.add(0, [0.0, 0.0, 0.0], level)
    assert not history.add(10 * MS, [np.nan, 0.0, 0.0], level) and not history.add(10 * MS, [0.0] * 3, [0.0] * 4)
    assert history.at(10 * MS).position[0] == pytest.approx(1.0)
    history.add(20 * MS, [4.0, 0.0, 0.0], level)
    assert history.at(10 * MS).position[0] == pytest.approx(2.0)


def test_old_poses_are_forgotten() -> None:
    history = PoseHistory(kept_ns=100 * MS)
    for number in range(50):
        history.add(10 * MS * number, [number, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0])
    assert history.at(300 * MS) is None and history.at(400 * MS) is not None
