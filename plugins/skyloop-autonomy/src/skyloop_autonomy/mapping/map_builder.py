"""Maps as a consumer: depth images or LiDAR sweeps and a pose stream in, streams of maps out.

In a scenario: `estimators: {map: {kind: maps, inputs: [depth, truth/drone]}}`.
In place of `truth/drone` name an estimator that stands before it, such as `vio`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from skyloop.core.frames import SENSOR_FROM_CAMERA, Transform
from skyloop.core.jit import prepare
from skyloop.core.validation import validated
from skyloop_autonomy.mapping import DepthLens, Mapper, MapperSettings, MapSnapshot, Sight, points_from_depth
from skyloop_client.errors import ScenarioError, nearest_name
from skyloop_client.estimator import Answer, EstimatorSetup
from skyloop_client.messages import DepthImage, Estimate, GridMap, Message, PointCloud, VoxelMap
from skyloop_client.streams import NS_PER_S, StreamInfo

RATES_HZ = {
    "voxels": 1.0,
    "ground": 5.0,
    "near": 5.0,
    "distance": 1.0,
    "ground_distance": 1.0,
    "points": 5.0,
    "movers": 30.0,
}
"""How often each stream is published at most; 0: never."""
POINTS_APART = 8
"""px between the pixels of a depth image that become points of `<name>/points`."""
POSES = ("VehicleState", "Estimate")
DEPTH_SENSORS = ("DepthImage", "LidarScan")

MESSAGES = {"voxels": "VoxelMap", "ground": "GridMap", "movers": "Movers"}
"""The records of the streams; all others are PointClouds."""
PRODUCTS: dict[str, Callable[[MapSnapshot], VoxelMap | GridMap | PointCloud]] = {
    "voxels": lambda maps: maps.voxels_message(),
    "ground": lambda maps: maps.ground_message(),
    "near": lambda maps: maps.near_message(),
    "distance": lambda maps: maps.distance_message(float(maps.body[2])),
    "ground_distance": lambda maps: maps.ground_distance_message(),
}


class MapBuilder:
    """Publishes `<name>/voxels` (VoxelMap) and `<name>/ground` (GridMap), and these PointClouds under `<name>/`: `near`
    (obstacles around the body), `distance` (the 3-D distance field at the height of the body), `ground_distance`, and
    `points` (the points of the depth image in the sensor's axes). `<name>/movers` (Movers) are objects that move."""

    def __init__(
        self,
        setup: EstimatorSetup,
        *,
        settings: dict[str, Any] | MapperSettings | None = None,
        rates_hz: Mapping[str, float] | None = None,
    ) -> None:
        """settings: see `MapperSettings`. rates_hz: in place of those in RATES_HZ."""
        checked = validated(MapperSettings, settings or {}, f"settings of '{setup.name}'")
        sensors = {info.name: info for info in setup.infos.values() if info.message in DEPTH_SENSORS}
        self._pose = _pose_stream(setup)
        self._sensors = sensors
        self.mapper = Mapper(sensors, checked)
        self._name = setup.name
        self._vehicle = setup.vehicle
        self._period_ns = {name: round(NS_PER_S / hz) for name, hz in _rates(setup.name, rates_hz).items() if hz > 0.0}
        if all(info.message != "DepthImage" for info in sensors.values()):
            for name in ("points", "movers"):
                self._period_ns.pop(name, None)
        self._due_ns = dict.fromkeys(self._period_ns, 0)
        self.products = {f"{setup.name}/{name}": MESSAGES.get(name, "PointCloud") for name in self._period_ns}
        """The streams it publishes, and their records."""
        # outside, the time to load compiled code would count as execution time of the first images
        prepare("skyloop_autonomy.mapping", when_called=True)

    def on_message(self, message: Message) -> Answer:
        """The streams that are due, when an image has found its pose."""
        answers: list[tuple[str, object]] = []
        if message.stream == self._pose:
            state = message.data
            # where an estimate is not valid, the images in between find no pose and are left out
            if not isinstance(state, Estimate) or state.valid:
                self.mapper.add_pose(state.t_ns, state.position, state.quat_wxyz)
        elif message.stream in self._sensors:
            self.mapper.add_image(message.stream, message.data)
            if isinstance(message.data, DepthImage) and self._is_due("points", message.t_ns):
                answers.append((f"{self._name}/points", self._points(message)))
        return [*answers, *self._maps()]

    def _maps(self) -> list[tuple[str, object]]:
        newest_ns = self.mapper.newest_ns
        if newest_ns is None:
            return []
        movers = [(f"{self._name}/movers", self.mapper.movers.message())] if self._is_due("movers", newest_ns) else []
        due = [name for name in PRODUCTS if self._is_due(name, newest_ns)]
        needed = any(name in ("distance", "ground_distance") for name in due)
        maps = self.mapper.maps(distances=needed) if due else None
        return [*movers, *((f"{self._name}/{name}", PRODUCTS[name](maps)) for name in due if maps is not None)]

    def _is_due(self, name: str, t_ns: int) -> bool:
        """Whether a stream gets a record of this stamp; if so, the next one is due a period later."""
        if name not in self._due_ns or t_ns < self._due_ns[name]:
            return False
        period = self._period_ns[name]
        self._due_ns[name] = (t_ns // period + 1) * period
        return True

    def _points(self, message: Message) -> PointCloud:
        info = self._sensors[message.stream]
        lens, sensor_from_camera = DepthLens.from_details(info.details), Transform(np.zeros(3), SENSOR_FROM_CAMERA)
        sight = Sight(far=float(info.details.get("max_range", 20.0)))
        points = points_from_depth(message.data.depth, lens, sensor_from_camera, sight, POINTS_APART)
        return PointCloud(message.t_ns, points, frame=info.name.removeprefix(f"{self._vehicle}/"))


def _pose_stream(setup: EstimatorSetup) -> str:
    found: list[StreamInfo] = [info for info in setup.infos.values() if info.message in POSES]
    if len(found) != 1:
        names = ", ".join(f"'{info.name}'" for info in found) or "none"
        raise ScenarioError(
            f"'{setup.name}' needs one stream of poses among its inputs, found {names}; "
            f"give truth/{setup.vehicle} or one estimator, such as vio"
        )
    return found[0].name


def _rates(name: str, given: Mapping[str, float] | None) -> dict[str, float]:
    for stream, hz in (given or {}).items():
        if stream not in RATES_HZ:
            raise ScenarioError(f"rates_hz of '{name}': no stream named '{stream}'; {nearest_name(stream, RATES_HZ)}")
        if isinstance(hz, bool) or not isinstance(hz, int | float) or not 0.0 <= hz <= 1000.0:
            raise ScenarioError(f"rates_hz of '{name}': {stream} is {hz!r}; give 0 to 1000")
    return {**RATES_HZ, **(given or {})}
