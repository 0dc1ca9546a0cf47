"""The same localiser and map with kiss-icp in place of the particle filter: it says where each sweep was taken.

In a scenario: `estimators: {slam: {kind: kiss-icp, inputs: [imu,
barometer, below, lidar]}}`. The extra `skyloop-autonomy[lidar]` brings the library.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import PositiveFloat, field_validator

from skyloop.core.frames import matrix_from_quat, rotate
from skyloop_autonomy.grid_slam.kiss_odometry import KissOdometry, KissSettings
from skyloop_autonomy.grid_slam.localiser import GridLocaliser, LocaliserSettings
from skyloop_autonomy.grid_slam.particle_filter import TURN_SD, Belief
from skyloop_autonomy.grid_slam.settings import FilterSettings
from skyloop_client.errors import ScenarioError
from skyloop_client.estimator import EstimatorSetup
from skyloop_client.messages import Array, Estimate, LidarScan


class KissLocaliserSettings(LocaliserSettings):
    """Those of the grid localiser, and those of kiss-icp. There is one map, so one particle."""

    filter: FilterSettings = FilterSettings(particles=1)
    odometry: KissSettings = KissSettings()
    position_sd: PositiveFloat = 0.06
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

    def _believe(self, scan: LidarScan, now: Estimate, ring: Array) -> Belief:
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
