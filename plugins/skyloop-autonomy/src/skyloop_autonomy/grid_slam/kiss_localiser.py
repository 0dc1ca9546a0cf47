"""The same localiser and map with kiss-icp in place of the particle filter: it says where each sweep was taken.

In a scenario: `estimators: {slam: {kind: kiss-icp, inputs: [imu,
barometer, below, lidar]}}`. The extra `skyloop-autonomy[lidar]` brings the library.

The library predicts that the last motion repeats itself. Here the motion that the inertial filter says takes the place
of that prediction, both to take the motion out of a sweep and as the first guess of the registration.
"""

from __future__ import annotations

import copy
import math
from typing import Any, ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, field_validator

from skyloop.core import quantities
from skyloop.core.frames import matrix_from_quat, rotate
from skyloop_autonomy.grid_slam.localiser import GridLocaliser, LocaliserSettings
from skyloop_autonomy.grid_slam.particle_filter import TURN_SD, PoseBelief
from skyloop_autonomy.grid_slam.tiled_maps import FilterSettings
from skyloop_client.errors import MissingExtra, ScenarioError
from skyloop_client.estimator import EstimatorSetup
from skyloop_client.messages import Array, Estimate, LidarScan

FEWEST_POINTS = 100
"""With fewer returns a sweep is not registered."""


class KissSettings(BaseModel):
    """Settings of kiss-icp."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    voxel_size: quantities.Length = 1.0
    """m, of its map. A sweep is thinned to one point per half of this for the map, and per 1.5 of it for matching."""
    points_per_voxel: int = Field(default=20, ge=1)
    """The most points of its map in one voxel."""
    most_points: int = Field(default=6000, ge=100)
    """At most so many returns of a sweep are used, evenly over it."""
    furthest: quantities.Length = 100.0
    """m; returns further away are left out, and the map ends there."""
    nearest: quantities.Length = 0.5
    """m; returns nearer than this come from the vehicle itself."""
    threshold: quantities.Length = 0.3
    """m. Points are matched within three times this, and those further apart than this count little. The library's
    adaptive threshold learns from errors of the predicted motion above 0.1 m, and inertial prediction has none."""
    iterations: int = Field(default=500, ge=1)
    """The most of the registration."""
    converged: quantities.Length = 1e-4
    """m and rad; with a smaller step the registration ends."""


class KissOdometry:
    """Where the body is after each sweep. One thread, so that the same sweeps give the same bytes."""

    def __init__(self, settings: KissSettings) -> None:
        self.settings = settings
        self._library = _made(settings)
        self._started = False

    def sweep(self, points: Array, offsets_ns: Any, start: Array, motion: Array) -> tuple[Array, bool]:
        """World_from_body (4, 4) at the end of a sweep, and whether the sweep was registered.

        points: (n, 3) m, body axes at the instant of each firing. offsets_ns: (n,) of these from the end of the sweep.
        start: (4, 4) world_from_body, used with the first sweep. motion: (4, 4) predicted, from the last sweep's body
        axes to these. The height is not to be used: between bare walls nothing in a sweep shows a climb, and the
        library misses it. A guess with the true height would make the other axes worse."""
        library = self._library
        if not self._started:
            library.last_pose, motion, self._started = start.copy(), np.eye(4), True
        stride = max(1, math.ceil(len(points) / self.settings.most_points))
        points, stamps = points[::stride], np.asarray(offsets_ns, np.float64)[::stride]
        kept = np.isfinite(points).all(axis=1)
        frame, stamps = np.ascontiguousarray(points[kept], np.float64), stamps[kept]
        if len(frame) < FEWEST_POINTS:
            library.last_pose = library.last_pose @ motion
            return library.last_pose.copy(), False
        # what the library uses to take the motion out, and to start from
        library.last_delta = motion
        # a LiDAR that measures all at once has no motion to take out, and the library would divide by zero
        library.register_frame(frame, stamps if np.ptp(stamps) > 0.0 else np.zeros(0))
        return library.last_pose.copy(), True

    def snapshot(self) -> Any:
        library = self._library
        return self._started, library.last_pose.copy(), library.local_map.point_cloud().copy()

    def restore(self, saved: Any) -> None:
        self._library = library = _made(self.settings)
        self._started, library.last_pose, points = copy.deepcopy(saved)
        if len(points):
            library.local_map.add_points(points)


def _made(settings: KissSettings) -> Any:
    try:
        from kiss_icp.config import KISSConfig
        from kiss_icp.kiss_icp import KissICP
    except ImportError:
        raise MissingExtra(
            "this localiser needs kiss-icp, which is not installed: pip install 'skyloop-autonomy[lidar]'"
        ) from None
    config = KISSConfig()
    config.data.max_range, config.data.min_range, config.data.deskew = settings.furthest, settings.nearest, True
    config.mapping.voxel_size, config.mapping.max_points_per_voxel = settings.voxel_size, settings.points_per_voxel
    config.adaptive_threshold.fixed_threshold = settings.threshold
    config.registration.max_num_iterations = settings.iterations
    config.registration.convergence_criterion = settings.converged
    config.registration.max_num_threads = 1
    return KissICP(config)


class KissLocaliserSettings(LocaliserSettings):
    """Those of the grid localiser, and those of kiss-icp. There is one map, so one particle."""

    filter: FilterSettings = FilterSettings(particles=1)
    odometry: KissSettings = KissSettings()
    position_sd: quantities.Length = 0.06
    """m, of a position of kiss-icp along each axis, as the inertial filter takes it: the library states none."""

    @field_validator("filter")
    @classmethod
    def _has_one_particle(cls, value: FilterSettings) -> FilterSettings:
        if value.particles != 1:
            raise ValueError(f"kiss-icp says one pose, so there is one particle, not {value.particles}")
        return value


class KissLocaliser(GridLocaliser):
    settings_class: ClassVar[type[LocaliserSettings]] = KissLocaliserSettings

    def __init__(self, setup: EstimatorSetup, *, settings: dict[str, Any] | LocaliserSettings | None = None) -> None:
        super().__init__(setup, settings=settings)
        fixes = [name for name, info in setup.infos.items() if info.message == "GnssFix"]
        if fixes:
            raise ScenarioError(
                f"estimator '{setup.name}': kiss-icp takes no satellite fixes; leave '{fixes[0]}' out of its inputs"
            )
        assert isinstance(self.settings, KissLocaliserSettings)
        self._sd = np.array([self.settings.position_sd, self.settings.position_sd, TURN_SD])
        self.odometry = KissOdometry(self.settings.odometry)

    def _believe(self, scan: LidarScan, now: Estimate, ring: Array) -> PoseBelief:
        mount, before = self._lidar.mount, self._memory.swept
        points = mount.position + rotate(mount.quat_wxyz, np.asarray(scan.points, np.float64))
        motion = np.eye(4) if before is None else _motion(before, now, self._moved(before, now))
        found, registered = self.odometry.sweep(points, scan.offsets_ns, _pose(now), motion)
        pose = np.array([found[0, 3], found[1, 3], np.arctan2(found[1, 0], found[0, 0])])
        # of a sweep that was not registered the pose is only a prediction
        return self.slam.place(pose, self._sd, ring, lost_below=self.settings.lost_below if registered else np.inf)

    def snapshot(self) -> Any:
        return super().snapshot(), self.odometry.snapshot()

    def restore(self, saved: Any) -> None:
        super().restore(saved[0])
        self.odometry.restore(saved[1])


def _pose(estimate: Estimate) -> Array:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = matrix_from_quat(estimate.quat_wxyz), estimate.position
    return pose


def _motion(before: Estimate, after: Estimate, moved: Array) -> Array:
    """(4, 4) from the body axes of one estimate to those of the next. moved: (3,) m, world."""
    first, last = matrix_from_quat(before.quat_wxyz), matrix_from_quat(after.quat_wxyz)
    motion = np.eye(4)
    motion[:3, :3] = first.T @ last
    motion[:3, 3] = first.T @ moved
    return motion
