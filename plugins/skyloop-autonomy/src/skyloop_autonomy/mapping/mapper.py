"""Depth images or LiDAR sweeps and poses in, maps out: every image is placed at the pose of its own stamp."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from skyloop.core.frames import SENSOR_FROM_CAMERA, Transform, slerp
from skyloop_autonomy.mapping.cylinder_map import CylinderConfig, CylinderMap
from skyloop_autonomy.mapping.distance_fields import DistanceField
from skyloop_autonomy.mapping.growing_map import GrowingMap, GrowingMapConfig
from skyloop_autonomy.mapping.map_snapshot import MapSnapshot, projected
from skyloop_autonomy.mapping.moving_objects import BODY, MovingObjects
from skyloop_autonomy.mapping.point_clouds import DepthLens, Sight, trusted_range
from skyloop_autonomy.mapping.voxel_map import VoxelMapConfig, WorldVoxels
from skyloop_client.errors import ScenarioError, nearest_name
from skyloop_client.messages import Array, DepthImage, LidarScan
from skyloop_client.streams import StreamInfo

KEPT_NS = 5_000_000_000
"""Poses older than this are forgotten."""


class PoseHistory:
    """The poses of the last seconds, by their stamps."""

    def __init__(self, kept_ns: int = KEPT_NS) -> None:
        self._kept_ns = kept_ns
        self._stamps: list[int] = []
        self._poses: list[Transform] = []

    def add(self, t_ns: int, position: ArrayLike, quat_wxyz: ArrayLike) -> bool:
        """Enters world_from_body. A pose that is not finite is left out, and False is returned.

        A stamp that is already there gets the newer pose.
        """
        pose = Transform(np.array(position, float), np.array(quat_wxyz, float))
        if not (np.isfinite(pose.position).all() and np.isfinite(pose.quat_wxyz).all() and pose.quat_wxyz.any()):
            return False
        at = bisect_left(self._stamps, t_ns)
        if at < len(self._stamps) and self._stamps[at] == t_ns:
            self._poses[at] = pose
        else:
            self._stamps.insert(at, t_ns)
            self._poses.insert(at, pose)
        forgotten = bisect_left(self._stamps, self._stamps[-1] - self._kept_ns)
        del self._stamps[:forgotten], self._poses[:forgotten]
        return True

    def at(self, t_ns: int, widest_gap_ns: int = 200_000_000) -> Transform | None:
        """world_from_body at a stamp, between the pose before and the one after.

        None if one of them is not there (yet), or if they are more than widest_gap_ns apart: nothing is guessed.
        """
        after = bisect_left(self._stamps, t_ns)
        before = bisect_right(self._stamps, t_ns) - 1
        if before < 0 or after >= len(self._stamps):
            return None
        gap = self._stamps[after] - self._stamps[before]
        if gap == 0:
            return self._poses[before]
        if gap > widest_gap_ns:
            return None
        share = (t_ns - self._stamps[before]) / gap
        a, b = self._poses[before], self._poses[after]
        return Transform(a.position + share * (b.position - a.position), slerp(a.quat_wxyz, b.quat_wxyz, share))

    @property
    def newest_ns(self) -> int | None:
        return self._stamps[-1] if self._stamps else None


MOST_WAITING = 60
"""Images that wait for a pose: two seconds at 30 Hz."""
SWEEP_PIECE_NS = 5_000_000
"""Points of a sweep that were fired within this time are placed at one pose."""

Count = Annotated[int, Field(ge=1, le=4000)]


class MapperSettings(BaseModel):
    """The settings of the maps; the defaults are E2ES's."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    cell: Annotated[float, Field(ge=0.02, le=5.0)] = 0.2
    """m, edge of a voxel."""
    size: tuple[Count, Count, Count] | None = (110, 110, 15)
    """Voxels east, north and up. null: the map grows with what is seen and has no bounds."""
    lower: tuple[float, float, float] | None = None
    """m, world, of the lower corner. null: the world's origin is in the middle, and the map begins 0.5 m above it."""
    heights: tuple[float, float] | None = None
    """m, world, from which to which height the projection looks. null: all of the map."""
    far: Annotated[float, Field(gt=0.1, le=200.0)] = 7.2
    """m, the range up to which a measurement counts. Where the noise of a depth camera is larger than a third of a
    voxel, the range is shorter."""
    blank_is_far: bool = False
    """Whether pixels without a value are taken to be out of range, so that the way up to `far` is free there."""
    latest_wait: Annotated[float, Field(gt=0.0, le=4.0)] = 0.2
    """s, the widest gap between two poses in which an image is placed between them."""

    @model_validator(mode="after")
    def _heights_are_in_order(self) -> MapperSettings:
        if self.heights is not None and not self.heights[0] < self.heights[1]:
            raise ValueError(f"heights {list(self.heights)} are empty; give the lower one first")
        return self


@dataclass(frozen=True, slots=True, eq=False)
class _DepthSensor:
    """A sensor as the mapper uses it."""

    body_from_sensor: Transform
    """Of a depth camera: its optical axes, right, down, forward."""
    lens: DepthLens | None
    """None for a LiDAR."""
    far: float

    @staticmethod
    def of(info: StreamInfo, settings: MapperSettings) -> _DepthSensor:
        mount = Transform(np.array(info.mount.position, float), np.array(info.mount.quat_wxyz, float))
        if info.message == "LidarScan":
            return _DepthSensor(mount, None, settings.far)
        if info.message != "DepthImage":
            raise ScenarioError(f"'{info.name}' gives {info.message}; a map needs a DepthImage or a LidarScan")
        far = trusted_range(info.details, settings.cell, settings.far)
        optical = mount @ Transform(np.zeros(3), SENSOR_FROM_CAMERA)
        return _DepthSensor(optical, DepthLens.from_details(info.details), far)


class Mapper:
    """The maps of one vehicle: global voxels, local cylinder, projection and distance fields.

    Plain data throughout, so `copy.deepcopy` takes a snapshot of the mapper itself.
    """

    def __init__(self, sensors: Mapping[str, StreamInfo], settings: MapperSettings | None = None) -> None:
        """sensors: what is known of each depth camera or LiDAR, by the name that `add_image` is given."""
        self.settings = settings or MapperSettings()
        self._sensors = {name: _DepthSensor.of(info, self.settings) for name, info in sensors.items()}
        if not self._sensors:
            raise ScenarioError("a map without a sensor; give it the stream of a depth camera or of a LiDAR")
        depth_far = [sensor.far for sensor in self._sensors.values() if sensor.lens is not None]
        sight = Sight(far=min(depth_far, default=self.settings.far), blank_is_far=self.settings.blank_is_far)
        self.voxels: WorldVoxels | GrowingMap = self._made_voxels(sight)
        self.near = CylinderMap(CylinderConfig(sight=replace(sight, hit_pixels=2)))
        self.movers = MovingObjects(self.voxels.config.rule, sight)
        """What moves, by the depth images; a LiDAR's points are not looked at."""
        self.poses = PoseHistory()
        self._waiting: deque[tuple[str, DepthImage | LidarScan]] = deque()
        self._fields: tuple[DistanceField, DistanceField] | None = None
        self._newest: tuple[int, Array] | None = None
        self._shown: MapSnapshot | None = None
        self.entered = self.dropped = 0
        """Images that are in the maps, and those for which there was no pose."""

    def _made_voxels(self, sight: Sight) -> WorldVoxels | GrowingMap:
        s = self.settings
        if s.size is None:
            return GrowingMap(GrowingMapConfig(s.cell, sight=sight))
        return WorldVoxels(VoxelMapConfig(s.cell, s.size, s.lower, sight=sight))

    def add_pose(self, t_ns: int, position: ArrayLike, quat_wxyz: ArrayLike) -> int:
        """world_from_body at a stamp, from truth or an estimate that is valid. Returns how many images that waited for
        it are in the maps now."""
        self.poses.add(t_ns, position, quat_wxyz)
        return self._enter_waiting()

    def add_image(self, sensor: str, image: DepthImage | LidarScan) -> int:
        """Returns how many images are in the maps that were not before: 0 while this one waits for its pose."""
        if sensor not in self._sensors:
            raise ScenarioError(f"a map has no sensor '{sensor}'; {nearest_name(sensor, self._sensors)}")
        self._waiting.append((sensor, image))
        while len(self._waiting) > MOST_WAITING:
            self._waiting.popleft()
            self.dropped += 1
        return self._enter_waiting()

    def _enter_waiting(self) -> int:
        before, newest_ns = self.entered, self.poses.newest_ns
        while newest_ns is not None and self._waiting and self._waiting[0][1].t_ns <= newest_ns:
            name, image = self._waiting.popleft()
            pose = self._pose(image.t_ns)
            if pose is None:
                self.dropped += 1
                continue
            sensor = self._sensors[name]
            if isinstance(image, LidarScan):
                self._enter_sweep(image, sensor)
            else:
                assert sensor.lens is not None
                world_from_camera = pose @ sensor.body_from_sensor
                depth = self._without_movers(image, sensor.lens, world_from_camera, pose.position)
                self.voxels.add_depth(depth, sensor.lens, world_from_camera)
                self.near.add_depth(depth, sensor.lens, world_from_camera, pose.position)
            self._newest, self._shown = (image.t_ns, pose.position), None
            self.entered += 1
        return self.entered - before

    def _without_movers(
        self, image: DepthImage, lens: DepthLens, world_from_camera: Transform, body: Array
    ) -> NDArray[np.float32]:
        """What moves is followed by itself and not entered into maps of what stands."""
        reach = np.array([self.movers.reach, self.movers.reach, 2.0])
        counters, corner = self.voxels.window(body - reach, body + reach)
        known = counters, corner, self.settings.cell
        depth = self.movers.see(image.t_ns, image.depth, lens, (world_from_camera, body), known)
        for positions, heights in self.movers.left_behind:
            self.voxels.forget(positions, BODY, heights)
            self.near.forget(positions, BODY, heights)
        return depth

    def _pose(self, t_ns: int) -> Transform | None:
        return self.poses.at(t_ns, round(self.settings.latest_wait * 1e9))

    def _enter_sweep(self, scan: LidarScan, sensor: _DepthSensor) -> None:
        """Each point is placed at the pose of its firing, to a few milliseconds."""
        ends, starts = [], []
        pieces = scan.offsets_ns // SWEEP_PIECE_NS
        for piece in np.unique(pieces):
            chosen = pieces == piece
            pose = self._pose(scan.t_ns + int(scan.offsets_ns[chosen].mean()))
            if pose is not None:
                world_from_sensor = pose @ sensor.body_from_sensor
                ends.append(world_from_sensor.apply(scan.points[chosen].astype(float)))
                starts.append(np.tile(world_from_sensor.position, (int(chosen.sum()), 1)))
        if ends:
            self.voxels.add_points(np.concatenate(ends), np.concatenate(starts))

    # ---- what planners read

    @property
    def newest_ns(self) -> int | None:
        """Stamp of the newest image in the maps."""
        return None if self._newest is None else self._newest[0]

    def maps(self, *, distances: bool = True) -> MapSnapshot | None:
        """The maps as they are now; None before the first image. The same object until the next image.

        distances: False leaves the distance fields empty, which take most of the time."""
        if self._newest is None:
            return None
        if self._shown is not None and (self._shown.distance.size or not distances):
            return self._shown
        t_ns, body = self._newest
        message = self.voxels.message(t_ns)
        ground = projected(message.voxels, message.origin, message.resolution, self.settings.heights)
        self._shown = MapSnapshot(
            t_ns=t_ns,
            body=body.copy(),
            states=message.voxels,
            origin=message.origin,
            cell=message.resolution,
            ground=ground,
            distance=np.empty(0, np.float32),
            ground_distance=np.empty(0, np.float32),
            near=self.near.cloud(),
        )
        if distances:
            distance, ground_distance = self._distances(self._shown)
            self._shown = replace(self._shown, distance=distance, ground_distance=ground_distance)
        return self._shown

    def _distances(self, shown: MapSnapshot) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        shape = shown.states.shape
        if self._fields is None or self._fields[0].shape != shape:
            self._fields = DistanceField(shape, shown.cell), DistanceField(shape[:2], shown.cell)
        space, ground = self._fields
        return space.update(shown.occupied).copy(), ground.update(shown.ground.occupied).copy()
