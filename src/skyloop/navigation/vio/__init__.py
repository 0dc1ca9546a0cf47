"""Visual-inertial odometry: where a vehicle is, from two cameras and an IMU and nothing else."""

from skyloop.navigation.vio.calibration import CameraModel, ImuModel, StereoCalibration
from skyloop.navigation.vio.odometry import VisualInertialOdometry
from skyloop.navigation.vio.settings import VioSettings

__all__ = ["CameraModel", "ImuModel", "StereoCalibration", "VioSettings", "VisualInertialOdometry"]
