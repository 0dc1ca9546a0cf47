"""The mapper as a consumer of streams."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skyloop.navigation.map_streams import MapStreams
from skyloop_client.errors import ScenarioError
from skyloop_client.estimator import EstimatorSetup
from skyloop_client.messages import DepthImage, Estimate, GridMap, Message, PointCloud, StartConditions, VoxelMap
from skyloop_client.streams import Rate, StreamInfo

LENS = {"fx": 100.0, "fy": 100.0, "cx": 79.5, "cy": 44.5}
LEVEL = np.array([1.0, 0.0, 0.0, 0.0])
START = StartConditions(0.0, 0.0, 0.0, 9.81, np.zeros(3), np.zeros(3), 0.0)


def consumer(**options: Any) -> MapStreams:
    infos = {
        "depth": StreamInfo("drone/depth", "DepthImage", Rate(10), "drone", details=LENS),
        "vio": StreamInfo("drone/vio", "Estimate", None, "drone"),
    }
    return MapStreams(EstimatorSetup("drone", "maps", infos, START), **options)


def image(t_ns: int, depth: float = 3.0, arrival_ns: int | None = None) -> Message:
    data = DepthImage(t_ns, np.full((90, 160), depth, np.float32))
    return Message("drone/depth", 0, t_ns, t_ns if arrival_ns is None else arrival_ns, data)


def pose(t_ns: int, x: float = 0.0, valid: bool = True) -> Message:
    zero, sd = np.zeros(3), np.full(3, 0.1)
    estimate = Estimate(t_ns, np.array([x, 0.0, 1.5]), zero, LEVEL, zero, sd, sd, sd, valid)
    return Message("drone/vio", 0, t_ns, t_ns, estimate)


def test_a_wall_ahead_comes_out_on_all_three_maps_once_the_pose_is_there() -> None:
    maps = consumer(heights=(1.0, 2.0))
    for k in range(6):
        t_ns = 100_000_000 * k
        assert not maps.on_message(image(t_ns)), "it waits for the pose of its stamp"
        answer = maps.on_message(pose(t_ns))
    told = dict(answer)
    assert set(told) == {"maps/ground", "maps/near"}, "voxels come once a second"
    ground, near = told["maps/ground"], told["maps/near"]
    assert isinstance(ground, GridMap) and isinstance(near, PointCloud) and ground.t_ns == near.t_ns == 500_000_000
    rows, columns = np.nonzero(ground.cells == 100)
    assert np.allclose(ground.origin[0] + 0.2 * (columns + 0.5), 3.0, atol=0.2) and len(rows) > 5
    assert np.allclose(near.points[:, 0], 3.0, atol=0.05) and len(near.points) > 20


def test_maps_come_no_more_often_than_asked_and_voxels_more_rarely() -> None:
    maps, kinds = consumer(period=0.2, voxel_period=0.5), []
    for k in range(11):
        t_ns = 100_000_000 * k
        maps.on_message(pose(t_ns))
        kinds.append([type(record) for _, record in maps.on_message(image(t_ns)) or ()])
    assert [len(each) for each in kinds] == [3, 0, 2, 0, 2, 0, 3, 0, 2, 0, 2]
    assert VoxelMap in kinds[0]


def test_poses_that_are_not_valid_place_nothing() -> None:
    maps = consumer()
    for k in range(5):
        assert not maps.on_message(pose(100_000_000 * k, valid=False))
        assert not maps.on_message(image(100_000_000 * k))
    assert maps.mapper.entered == 0


def test_it_needs_one_stream_of_poses() -> None:
    infos = {"depth": StreamInfo("drone/depth", "DepthImage", Rate(10), "drone", details=LENS)}
    with pytest.raises(ScenarioError, match="'maps' has 0 streams of poses under inputs; give one, such as state"):
        MapStreams(EstimatorSetup("drone", "maps", infos, START))
