"""The sensors that a scenario can name by kind."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from skyloop.sensors.barometer import Barometer, BarometerConfig
from skyloop.sensors.camera import Camera, CameraConfig
from skyloop.sensors.depth_camera import DepthCamera, DepthCameraConfig
from skyloop.sensors.gnss import Gnss, GnssConfig
from skyloop.sensors.imu import Imu, ImuConfig
from skyloop.sensors.lidar import Lidar, LidarConfig
from skyloop.sensors.magnetometer import Magnetometer, MagnetometerConfig
from skyloop.sensors.optical_flow import OpticalFlow, OpticalFlowConfig
from skyloop.sensors.radar.config import RadarConfig
from skyloop.sensors.radar.radar import Radar
from skyloop.sensors.rangefinder import Rangefinder, RangefinderConfig
from skyloop.sensors.sensor import SensorConfig

SENSORS: dict[str, tuple[type[SensorConfig], type[Any]]] = {
    "imu": (ImuConfig, Imu),
    "gnss": (GnssConfig, Gnss),
    "barometer": (BarometerConfig, Barometer),
    "magnetometer": (MagnetometerConfig, Magnetometer),
    "rangefinder": (RangefinderConfig, Rangefinder),
    "lidar": (LidarConfig, Lidar),
    "camera": (CameraConfig, Camera),
    "depth_camera": (DepthCameraConfig, DepthCamera),
    "optical_flow": (OpticalFlowConfig, OpticalFlow),
    "radar": (RadarConfig, Radar),
}

AnySensor = Annotated[
    ImuConfig
    | GnssConfig
    | BarometerConfig
    | MagnetometerConfig
    | RangefinderConfig
    | LidarConfig
    | CameraConfig
    | DepthCameraConfig
    | OpticalFlowConfig
    | RadarConfig,
    Field(discriminator="kind"),
]
