"""Which ROS 2 messages a stream becomes, and on which topics: the same in a bag, for ROS 2 nodes and in Foxglove."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skyloop.core.frames import SENSOR_FROM_CAMERA
from skyloop.core.plugins import Registry
from skyloop.recording.ros2 import products, samples
from skyloop.recording.ros2.tf_frames import (
    WORLD,
    body_frame,
    frame_of,
    odom_frame,
    on_gimbal,
    optical,
    topic_of,
    transform,
)
from skyloop.recording.ros2.types import RosMessage, tf2_msgs
from skyloop_client import messages
from skyloop_client.errors import DatasetError
from skyloop_client.streams import StreamInfo


@dataclass(frozen=True, slots=True)
class View:
    """One of the topics that a stream becomes."""

    topic: str
    """With {} for the stream's name."""
    kind: str
    """ROS 2's name of the message."""
    make: Callable[[StreamInfo, Any], RosMessage]
    """Gives the message of a record, or None if it has no such content."""
    needs: str = ""
    """What the camera's `truth` must ask for; otherwise there is no such topic."""
    in_bag: bool = True

    def is_in(self, info: StreamInfo) -> bool:
        return not self.needs or self.needs in info.details.get("truth", (self.needs,))

    def topic_of(self, info: StreamInfo) -> str:
        return topic_of(self.topic.format(info.name)[1:])


IMAGE, CLOUD, TF = "sensor_msgs/msg/Image", "sensor_msgs/msg/PointCloud2", "tf2_msgs/msg/TFMessage"
ODOMETRY, PATH, POSE = "nav_msgs/msg/Odometry", "nav_msgs/msg/Path", "geometry_msgs/msg/PoseStamped"
DETECTIONS, MARKERS = "vision_msgs/msg/Detection2DArray", "visualization_msgs/msg/MarkerArray"
TWIST = "geometry_msgs/msg/TwistWithCovarianceStamped"
CAMERA_INFO = View("/{}/camera_info", "sensor_msgs/msg/CameraInfo", samples.camera_info)
SAMPLES: dict[str, tuple[View, ...]] = {
    "CameraImage": (
        View("/{}/image_raw", IMAGE, samples.camera_image), CAMERA_INFO,
        View(
            "/{}/image_raw/compressed", "sensor_msgs/msg/CompressedImage", samples.compressed_image, in_bag=False
        ),
    ),
    "DepthImage": (View("/{}/image_raw", IMAGE, samples.depth_image), CAMERA_INFO),
    "ImageTruth": (
        View("/tf", TF, samples.camera_moved),
        *(View(f"/{{}}/{name}", IMAGE, samples.truth_image(name), needs=name) for name in samples.TRUTHS),
        View("/{}/labels", DETECTIONS, samples.labels, needs="labels"),
    ),
    "LidarScan": (View("/{}/points", CLOUD, samples.lidar_scan),),
    "RadarScan": (View("/{}", "std_msgs/msg/Float32MultiArray", samples.radar_scan),),
    "RadarDetections": (View("/{}", "radar_msgs/msg/RadarScan", samples.radar_detections),),
    "ImuSample": (View("/{}", "sensor_msgs/msg/Imu", samples.imu_sample),),
    "ImuBias": (View("/{}/bias", "sensor_msgs/msg/Imu", samples.imu_bias),),
    "GnssFix": (
        View("/{}", "sensor_msgs/msg/NavSatFix", samples.gnss_fix),
        View("/{}/velocity", TWIST, samples.gnss_velocity),
    ),
    "BarometerSample": (View("/{}", "sensor_msgs/msg/FluidPressure", samples.barometer_sample),),
    "MagnetometerSample": (View("/{}", "sensor_msgs/msg/MagneticField", samples.magnetometer_sample),),
    "RangeSample": (View("/{}", "sensor_msgs/msg/Range", samples.range_sample),),
    "BatteryState": (View("/{}", "sensor_msgs/msg/BatteryState", samples.battery_state),),
    "VehicleState": (View("/{}/odometry", ODOMETRY, samples.odometry), View("/tf", TF, samples.vehicle_moved)),
}  # fmt: skip
"""By record, in the order in which a bag has them."""
PRODUCTS: dict[str, tuple[View, ...]] = {
    "Estimate": (View("/{}", ODOMETRY, samples.odometry),),
    "Detections": (View("/{}", DETECTIONS, products.detections),),
    "GridMap": (View("/{}", "nav_msgs/msg/OccupancyGrid", products.grid),),
    "VoxelMap": (View("/{}", CLOUD, products.voxels),),
    "Path": (View("/{}", PATH, products.path),),
    "PointCloud": (View("/{}", CLOUD, products.cloud),),
    "KeyPose": (View("/{}", POSE, products.key_pose),),
    "Goal": (View("/{}", POSE, products.goal),),
    "GoalStatus": (View("/{}", PATH, products.goal_status),),
    "LandingStatus": (View("/{}", TWIST, products.landing_status),),
    "Movers": (View("/{}", MARKERS, products.movers),),
    "Image": (View("/{}", IMAGE, products.image),),
    "Markers": (View("/{}", MARKERS, products.markers),),
    "Number": (View("/{}", "std_msgs/msg/Float64", products.number),),
}
"""The same for estimates and what user software publishes."""
VIEWS = SAMPLES | PRODUCTS
LATCHED = ("nav_msgs/msg/OccupancyGrid", TF)


OF_PLUGINS: Registry[tuple[View, ...]] = Registry("ros2", "ROS 2 form")
"""The same for records that plugins bring."""


def views_of(info: StreamInfo) -> tuple[View, ...]:
    """Empty for records without a ROS message (actuators, status, events) and for observers."""
    if not info.vehicle:
        return ()
    known = VIEWS.get(info.message) or OF_PLUGINS.get(info.message, ())
    return tuple(view for view in known if view.is_in(info))


def is_latched(topic: str, kind: str) -> bool:
    """Whether late subscribers still get the last message: of maps and of /tf_static."""
    return kind in LATCHED and topic != "/tf"


def without_form(infos: Iterable[StreamInfo]) -> list[str]:
    """The streams of records that no ROS 2 message is known for, beside those of skyloop itself."""
    return [info.name for info in infos if info.vehicle and not views_of(info) and info.message not in messages.__all__]


def mounts(infos: Iterable[StreamInfo], t_ns: int) -> RosMessage:
    """The content of /tf_static: from the map to each odom, from each body to its sensors, and from camera mounts to
    optical axes."""
    found: dict[str, RosMessage] = {}
    for info in infos:
        frame_id, body = frame_of(info), body_frame(info)
        if info.message not in SAMPLES or not info.vehicle or info.message == "BatteryState":
            continue
        if info.message == "VehicleState":
            odom = odom_frame(info)
            found[odom] = transform(t_ns, WORLD, odom, np.zeros(3), products.LEVEL)
        if frame_id == body or on_gimbal(info):
            continue
        found[frame_id] = transform(t_ns, body, frame_id, info.mount.position, info.mount.quat_wxyz)
        if info.message in ("CameraImage", "DepthImage"):
            eye = optical(frame_id)
            found[eye] = transform(t_ns, frame_id, eye, np.zeros(3), SENSOR_FROM_CAMERA)
    return tf2_msgs.TFMessage(list(found.values()))


def check_topics(infos: Iterable[str]) -> None:
    """Raises if two streams would be one topic."""
    topics: dict[str, str] = {}
    for name in infos:
        other = topics.setdefault(topic_of(name), name)
        if other != name:
            raise DatasetError(f"'{other}' and '{name}' would be one topic of ROS, {topic_of(name)}; rename one")
