"""A mapper as a consumer: depth images and poses in, maps out on streams.

It is made like an estimator, so it runs in the simulator's process, in another one and on a target. In a scenario:
`estimators: {maps: {kind: "skyloop.navigation.map_streams:MapStreams", inputs: [depth, state]}}`."""

from __future__ import annotations

from typing import Any

from skyloop.core.validation import validated
from skyloop.navigation.mapping.mapper import Mapper, MapperSettings
from skyloop.navigation.mapping.projection import projected
from skyloop_client.errors import ScenarioError
from skyloop_client.estimator import Answer, EstimatorSetup
from skyloop_client.messages import Message, PointCloud

EYES = ("DepthImage", "LidarScan")
POSES = ("Estimate", "VehicleState")


class MapStreams:
    """Publishes the map from above on `<name>/ground`, the obstacles near the vehicle on `<name>/near`, and now and
    then the voxels on `<name>/voxels`."""

    def __init__(
        self, setup: EstimatorSetup, *, period: float = 0.1, voxel_period: float = 1.0, **settings: Any
    ) -> None:
        """period: s between two maps, the first image after it counts; voxel_period: the same for the voxels, 0: never.
        settings: those of MapperSettings."""
        poses = [info.name for info in setup.infos.values() if info.message in POSES]
        if len(poses) != 1:
            raise ScenarioError(
                f"'{setup.name}' has {len(poses)} streams of poses under inputs; give one, such as state"
            )
        self._pose = poses[0]
        eyes = {info.name: info for info in setup.infos.values() if info.message in EYES}
        self.mapper = Mapper(eyes, validated(MapperSettings, settings, f"settings of '{setup.name}'"))
        self._name = setup.name
        self._period_ns, self._voxel_period_ns = round(1e9 * period), round(1e9 * voxel_period)
        self._told_ns = self._voxels_told_ns = -(1 << 62)

    def on_message(self, message: Message) -> Answer:
        if message.stream == self._pose:
            state = message.data
            if not getattr(state, "valid", True):
                return None
            new = self.mapper.add_pose(state.t_ns, state.position, state.quat_wxyz)
        else:
            new = self.mapper.add_image(message.stream, message.data)
        if not new or message.arrival_ns - self._told_ns < self._period_ns:
            return None
        self._told_ns = message.arrival_ns
        return self._maps(message.arrival_ns)

    def _maps(self, now_ns: int) -> Answer:
        mapper, t_ns = self.mapper, self.mapper.newest_ns
        assert t_ns is not None
        voxels = mapper.voxels.message(t_ns)
        ground = projected(voxels.voxels, voxels.origin, voxels.resolution, mapper.settings.heights)
        answers: list[Any] = [
            (f"{self._name}/ground", ground.message(t_ns)),
            (f"{self._name}/near", PointCloud(t_ns, mapper.near.cloud())),
        ]
        if self._voxel_period_ns and now_ns - self._voxels_told_ns >= self._voxel_period_ns:
            self._voxels_told_ns = now_ns
            answers.append((f"{self._name}/voxels", voxels))
        return answers
