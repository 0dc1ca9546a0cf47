"""Visual-inertial odometry: the face of this folder."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skyloop.navigation.vio.calibration import StereoCalibration
from skyloop.navigation.vio.settings import VioSettings
from skyloop_client.messages import Array, Estimate

Grey = NDArray[np.uint8]


class VisualInertialOdometry:
    """Give it every IMU sample and every pair of images in the order of their stamps, per kind; read `estimate`."""

    def __init__(
        self,
        calibration: StereoCalibration,
        settings: VioSettings | None = None,
        *,
        start_position: Array | None = None,
        start_yaw: float = 0.0,
    ) -> None:
        self.calibration = calibration
        self.settings = settings or VioSettings()
        self._start = np.zeros(3) if start_position is None else np.array(start_position, np.float64), start_yaw
        self._estimate = Estimate.unknown(0, "no IMU sample yet")

    @property
    def estimate(self) -> Estimate:
        """The latest estimate: of the stamp of the newest IMU sample. Its covariance is (15, 15)."""
        return self._estimate

    def imu(self, stamp_ns: int, gyro: Array, accel: Array) -> Estimate:
        """Takes one sample, in the IMU's axes; returns the estimate of its instant."""
        self._estimate = Estimate.unknown(stamp_ns, "this estimator is being built")
        return self._estimate

    def images(self, stamp_ns: int, left: Grey, right: Grey | None = None, *, depth: Array | None = None) -> None:
        """Takes one pair: two grey images, or the left one and its depth in metres (0 or NaN: none)."""
