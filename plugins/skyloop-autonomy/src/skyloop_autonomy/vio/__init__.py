"""Visual-inertial odometry: where a vehicle is, from two cameras and an IMU and nothing else."""

from skyloop_autonomy.vio.calibration import CameraModel, ImuModel, StereoCalibration
from skyloop_autonomy.vio.odometry import VisualInertialOdometry
from skyloop_autonomy.vio.settings import VioSettings

__all__ = ["CameraModel", "ImuModel", "StereoCalibration", "VioSettings", "VisualInertialOdometry"]
