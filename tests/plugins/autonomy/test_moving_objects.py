"""Objects that move in depth images: people are found and followed, and what stands is not called a mover."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from depth_scenes import HEIGHT, LENS, WIDTH, camera_at

from skyloop.core.frames import Transform, matrix_from_quat, quat_from_yaw
from skyloop_autonomy.mapping import Mapper, MapperSettings
from skyloop_autonomy.mapping.counting import FREE
from skyloop_client.messages import DepthImage, Movers
from skyloop_client.streams import Mount, StreamInfo

pytestmark = pytest.mark.flights

EYE = StreamInfo("drone/depth", "DepthImage", details=dict(LENS._asdict()), mount=Mount(np.zeros(3)))
EVERY_NS = 66_666_667
ROOM = (-2.0, -3.0, 6.5, 3.0)
"""m: west, south, east, north."""
PILLARS = ((5.0, -1.5, 0.3), (4.0, 2.0, 0.25))
RADIUS = 0.25


def view(pose: Transform, people: Sequence[tuple[float, float]]) -> np.ndarray:
    """The depth image of a room with round pillars and people, each 1.8 m high, over a floor."""
    u, v = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT))
    rays = np.stack([(u - LENS.cx) / LENS.fx, (v - LENS.cy) / LENS.fy, np.ones(u.shape)], axis=-1)
    d = rays @ matrix_from_quat(pose.quat_wxyz).T
    x, y, z = pose.position
    with np.errstate(divide="ignore"):
        depth = np.minimum(
            np.where(d[..., 0] > 0.0, (ROOM[2] - x) / d[..., 0], (ROOM[0] - x) / d[..., 0]),
            np.where(d[..., 1] > 0.0, (ROOM[3] - y) / d[..., 1], (ROOM[1] - y) / d[..., 1]),
        )
        depth = np.minimum(depth, np.where(d[..., 2] < 0.0, -z / d[..., 2], np.inf))
    tall = [(*pillar, 9.0) for pillar in PILLARS] + [(*position, RADIUS, 1.8) for position in people]
    for px, py, radius, height in tall:
        a, b = d[..., 0] ** 2 + d[..., 1] ** 2, d[..., 0] * (x - px) + d[..., 1] * (y - py)
        under = b * b - a * ((x - px) ** 2 + (y - py) ** 2 - radius**2)
        hit = (-b - np.sqrt(np.maximum(under, 0.0))) / a
        met = (under > 0.0) & (hit > 0.0) & (z + hit * d[..., 2] < height)
        depth = np.where(met, np.minimum(depth, hit), depth)
    return depth.astype(np.float32)


class Watcher:
    """A mapper whose camera looks at the room, with the noise of depths and poses."""

    def __init__(
        self,
        seed: int = 1,
        pose_noise: float = 0.0,
        depth_noise: float = 0.01,
        size: tuple[int, int, int] | None = None,
    ) -> None:
        self.mapper = Mapper({"depth": EYE}, MapperSettings(size=size))
        self.random = np.random.default_rng(seed)
        self.pose_noise, self.depth_noise = pose_noise, depth_noise
        self.t_ns = 0
        self.drift = np.zeros(3)

    def used_to_the_room(self) -> Watcher:
        for _ in range(10):
            assert len(self.look().ids) == 0
        return self

    def look(
        self,
        position: tuple[float, float, float] = (0.0, 0.0, 1.5),
        yaw: float = 0.0,
        people: Sequence[tuple[float, float]] = (),
    ) -> Movers:
        self.t_ns += EVERY_NS
        depth = view(camera_at(*position, yaw), people)
        depth += self.random.normal(0.0, self.depth_noise, depth.shape).astype(np.float32) * depth / 3.0
        # errors of odometry change slowly
        self.drift += 0.1 * (self.random.normal(0.0, self.pose_noise, 3) * 4.0 - self.drift)
        turned = yaw + float(self.random.normal(0.0, 0.1 * self.pose_noise))
        self.mapper.add_pose(self.t_ns, np.array(position) + self.drift, quat_from_yaw(turned))
        self.mapper.add_image("depth", DepthImage(self.t_ns, depth))
        return self.mapper.movers.message()


def test_a_person_who_crosses_is_found_with_position_velocity_and_size() -> None:
    watcher = Watcher().used_to_the_room()
    found = []
    for step in range(45):
        y = -2.2 + 0.9 * step * EVERY_NS * 1e-9
        movers = watcher.look(people=[(3.0, y)])
        found.append(len(movers.ids))
        if len(movers.ids):
            assert math.dist(movers.positions[0, :2], (3.0, y)) < 0.25
    assert max(found) == 1 and sum(found) > 30, "one object, known after about a second"
    assert np.linalg.norm(movers.velocities[0] - [0.0, 0.9, 0.0]) < 0.2
    radius, height = movers.sizes[0]
    top = movers.positions[0, 2] + 0.5 * height
    assert 0.2 < radius < 0.5 and 1.6 < top < 2.0


def test_a_person_who_walks_at_the_camera_is_found_in_time() -> None:
    watcher = Watcher().used_to_the_room()
    first = None
    for step in range(60):
        x = 5.0 - 0.8 * step * EVERY_NS * 1e-9
        movers = watcher.look(people=[(x, 0.2)])
        if first is None and len(movers.ids):
            first = x
        if x < 1.2:
            break
    assert first is not None and first > 3.5
    assert np.linalg.norm(movers.velocities[0] - [-0.8, 0.0, 0.0]) < 0.25


def test_two_people_keep_their_numbers() -> None:
    watcher = Watcher().used_to_the_room()
    for step in range(30):
        along = 0.8 * step * EVERY_NS * 1e-9
        movers = watcher.look(people=[(2.2, -1.0 + along), (4.0, 1.0 - along)])
        if step == 20:
            known = dict(zip(movers.ids.tolist(), movers.positions[:, 0], strict=True))
    assert len(known) == 2
    for number, x in zip(movers.ids.tolist(), movers.positions[:, 0], strict=True):
        assert abs(known[number] - x) < 0.3


def test_a_room_seen_with_poses_as_noisy_as_odometry_has_no_movers() -> None:
    watcher = Watcher(0, pose_noise=0.03, depth_noise=0.03)
    for step in range(110):
        position = (1.5 * math.sin(0.03 * step), 1.2 * math.sin(0.05 * step), 1.5)
        movers = watcher.look(position, 0.8 * math.sin(0.06 * step))
        assert len(movers.ids) == 0, f"step {step}: {movers.positions}"


def test_somebody_who_walks_leaves_nothing_in_the_maps() -> None:
    watcher = Watcher().used_to_the_room()
    for step in range(50):
        watcher.look(people=[(3.0, -2.0 + 0.8 * step * EVERY_NS * 1e-9)])
    maps = watcher.mapper.maps(distances=False)
    assert maps is not None
    for y in np.arange(-1.2, 0.0, 0.2):
        index = maps.voxel([3.0, y, 1.5])
        assert index is not None and maps.states[index] == FREE


def test_somebody_who_stops_is_taken_up_by_the_maps() -> None:
    watcher = Watcher().used_to_the_room()
    for step in range(90):
        movers = watcher.look(people=[(3.0, min(-1.8 + 0.8 * step * EVERY_NS * 1e-9, 0.0))])
    assert len(movers.ids) == 0
    cloud = watcher.mapper.near.cloud()
    assert (np.linalg.norm(cloud[:, :2] - [3.0, 0.0], axis=1) < 0.4).sum() > 3


@pytest.mark.slow("a flight with a depth camera")
def test_somebody_who_leaves_the_view_is_expected_where_he_went_for_a_while() -> None:
    watcher = Watcher().used_to_the_room()
    for step in range(48):
        movers = watcher.look(people=[(2.0, -1.0 + 0.9 * step * EVERY_NS * 1e-9)])
    before = movers.positions[0, 1]
    later = [watcher.look(people=[]) for _ in range(130)]
    went, stopped = later[10].positions[:, 1]
    assert went > before + 0.4 and abs(stopped - before) < 0.1, "on as he did, or stopped out of sight"
    assert later[10].velocities[1].tolist() == [0.0, 0.0, 0.0]
    assert len(later[60].ids) == 1 and later[60].positions[0, 1] == stopped
    assert len(later[-1].ids) == 0


@pytest.mark.parametrize("size", [None, (110, 110, 15)])
def test_somebody_who_stood_and_walks_away_is_not_left_in_the_maps(size: tuple[int, int, int] | None) -> None:
    """Also where the camera does not look any more."""
    watcher = Watcher(size=size)
    for _ in range(25):
        watcher.look(people=[(3.0, -1.0)])
    maps = watcher.mapper.maps(distances=False)
    assert maps is not None and maps.occupied[maps.voxel([2.8, -1.0, 1.3])]
    movers = watcher.look(people=[(3.0, -1.0)])
    for step in range(60):
        movers = watcher.look(people=[(3.0, -1.0 + 0.8 * step * EVERY_NS * 1e-9)])
        if len(movers.ids):
            break
    assert len(movers.ids) == 1 and step < 35
    maps = watcher.mapper.maps(distances=False)
    assert maps is not None and not maps.occupied[maps.voxel([2.8, -1.0, 1.3])]
    cloud = watcher.mapper.near.cloud()
    assert (np.linalg.norm(cloud[:, :2] - [2.8, -1.0], axis=1) < 0.2).sum() == 0
    # what stands stays
    assert (np.linalg.norm(cloud[:, :2] - PILLARS[1][:2], axis=1) < 0.5).sum() > 3
