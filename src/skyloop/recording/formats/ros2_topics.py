"""Which ROS 2 topics a stream becomes: the same in a bag and on the wire."""

from __future__ import annotations

from skyloop.recording.formats.ros2_names import topic_of
from skyloop_client.streams import StreamInfo

IMAGE, CAMERA_INFO = ("/image_raw", "sensor_msgs/Image"), ("/camera_info", "sensor_msgs/CameraInfo")
TOPICS: dict[str, tuple[tuple[str, str], ...]] = {
    "CameraImage": (IMAGE, CAMERA_INFO),
    "DepthImage": (IMAGE, CAMERA_INFO),
    "ImageTruth": (
        ("/depth", "sensor_msgs/Image"), ("/classes", "sensor_msgs/Image"), ("/instances", "sensor_msgs/Image"),
        ("/labels", "vision_msgs/Detection2DArray"),
    ),
    "LidarScan": (("/points", "sensor_msgs/PointCloud2"),),
    "RadarScan": (("", "std_msgs/Float32MultiArray"),),
    "RadarDetections": (("", "radar_msgs/RadarScan"),),
    "ImuSample": (("", "sensor_msgs/Imu"),),
    "ImuBias": (("/bias", "sensor_msgs/Imu"),),
    "GnssFix": (("", "sensor_msgs/NavSatFix"), ("/velocity", "geometry_msgs/TwistWithCovarianceStamped")),
    "BarometerSample": (("", "sensor_msgs/FluidPressure"),),
    "MagnetometerSample": (("", "sensor_msgs/MagneticField"),),
    "RangeSample": (("", "sensor_msgs/Range"),),
    "BatteryState": (("", "sensor_msgs/BatteryState"),),
    "VehicleState": (("/odometry", "nav_msgs/Odometry"),),
    "Estimate": (("", "nav_msgs/Odometry"),),
    "Detections": (("", "vision_msgs/Detection2DArray"),),
    "GridMap": (("", "nav_msgs/OccupancyGrid"),),
    "VoxelMap": (("", "sensor_msgs/PointCloud2"),),
    "Path": (("", "nav_msgs/Path"),),
    "PointCloud": (("", "sensor_msgs/PointCloud2"),),
    "KeyPose": (("", "geometry_msgs/PoseStamped"),),
    "Goal": (("", "geometry_msgs/PoseStamped"),),
    "GoalStatus": (("", "nav_msgs/Path"),),
    "LandingStatus": (("", "geometry_msgs/TwistWithCovarianceStamped"),),
    "Movers": (("", "visualization_msgs/MarkerArray"),),
    "Image": (("", "sensor_msgs/Image"),),
    "Markers": (("", "visualization_msgs/MarkerArray"),),
    "Number": (("", "std_msgs/Float64"),),
}  # fmt: skip
"""By record: what follows the stream's name in a topic, and the topic's type. A state also goes to /tf."""


def topics_of(info: StreamInfo) -> list[tuple[str, str]]:
    """Topics and types. Empty for records without a ROS message (actuators, status, events) and for observers."""
    views = TOPICS.get(info.message, ()) if info.vehicle else ()
    return [(topic_of(f"{info.name}{suffix}"), kind) for suffix, kind in views]
