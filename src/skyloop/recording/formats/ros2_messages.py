"""Converts records to ROS 2 messages: the topic, type and fields of each.

Coordinate frames: `map` is the world (ENU), `<vehicle>/base_link` the body (FLU), `<vehicle>/<sensor>` a sensor's axes
(x forward), `<vehicle>/<sensor>_optical` a camera's (right, down, forward). A camera on a gimbal has no fixed mount.
Its optical frame is given from `map` if its truth was recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from PIL import Image

from skyloop.core.frames import SENSOR_FROM_CAMERA, quat_conjugate, quat_from_yaw, quat_multiply, rotate_inverse
from skyloop.recording.formats.ros2_names import (
    FLOAT32,
    NO_COVARIANCE,
    UINT16,
    WORLD,
    Outgoing,
    body_frame,
    header,
    optical,
    pose_of,
    topic_of,
    transform,
)
from skyloop.recording.formats.ros2_products import PRODUCTS
from skyloop.recording.recording import sensor_of
from skyloop_client.errors import DatasetError
from skyloop_client.messages import (
    Array,
    BarometerSample,
    BatteryState,
    CameraImage,
    DepthImage,
    GnssFix,
    ImageTruth,
    ImuBias,
    ImuSample,
    Label,
    LidarScan,
    MagnetometerSample,
    RadarDetections,
    RadarScan,
    RangeSample,
    VehicleState,
)
from skyloop_client.streams import NS_PER_S, StreamInfo

DISTORTION = {"pinhole": ("plumb_bob", 5), "brown-conrady": ("plumb_bob", 5), "fisheye": ("equidistant", 4)}
"""ROS's name of a lens model, and its number of coefficients."""
POINT_FIELDS = [
    ("x", 0, FLOAT32, 1), ("y", 4, FLOAT32, 1), ("z", 8, FLOAT32, 1), ("intensity", 12, FLOAT32, 1),
    ("ring", 16, UINT16, 1), ("time", 18, FLOAT32, 1),
]  # fmt: skip
"""name, offset, type, count, in the layout of Velodyne's driver. Time is s after the stamp."""
POINT = np.dtype([(name, {UINT16: "<u2", FLOAT32: "<f4"}[code]) for name, _, code, _ in POINT_FIELDS])
NO_ORIENTATION = np.array([-1.0] + [0.0] * 8)
"""Value in sensor_msgs/Imu that means no orientation."""
INFRARED, NARROW = 1, 0.01
"""A rangefinder of ours is a beam of light; the cone that ROS asks for is as wide as a laser's, rad."""
DISCHARGING, GOOD, LITHIUM_POLYMER = 2, 1, 3
NO_FIX, FIX, GPS, DIAGONAL_KNOWN = -1, 0, 1, 2


@lru_cache(maxsize=64)
def diagonal(*variances: float) -> Array:
    return np.diag(variances)


class Translator:
    """Converts the records of one recording, or of a running simulation."""

    def __init__(self, infos: Mapping[str, StreamInfo]) -> None:
        """`infos` are by stream; later ones are seen too."""
        self._infos = infos
        self._by_record: dict[str, Callable[[StreamInfo, Any], Iterator[Outgoing]]] = {
            "CameraImage": self._camera_image,
            "DepthImage": self._depth_image,
            "ImageTruth": self._image_truth,
            "LidarScan": self._lidar_scan,
            "RadarScan": self._radar_scan,
            "ImuSample": self._imu_sample,
            "ImuBias": self._imu_bias,
            "GnssFix": self._gnss_fix,
            "BarometerSample": self._barometer_sample,
            "MagnetometerSample": self._magnetometer_sample,
            "RadarDetections": self._radar_detections,
            "RangeSample": self._range_sample,
            "BatteryState": self._battery_state,
            "VehicleState": self._vehicle_state,
            **PRODUCTS,
        }
        topics: dict[str, str] = {}
        for name in infos:
            other = topics.setdefault(topic_of(name), name)
            if other != name:
                raise DatasetError(f"'{other}' and '{name}' would be one topic of ROS, {topic_of(name)}; rename one")

    def translated(self, stream: str, record: Any) -> Iterator[Outgoing]:
        """Empty for records without a ROS message (actuators, status, events) and for observers."""
        info = self._infos[stream]
        if info.message in self._by_record and info.vehicle:
            yield from self._by_record[info.message](info, record)

    def mounts(self, t_ns: int) -> Outgoing:
        """The content of /tf_static."""
        transforms: dict[str, tuple[Any, ...]] = {}
        for info in self._infos.values():
            frame_id = self._frame(info)
            if info.message not in self._by_record or info.message in PRODUCTS or not info.vehicle:
                continue
            if frame_id == body_frame(info) or _on_gimbal(info) or info.message == "BatteryState":
                continue
            mount = info.mount
            transforms[frame_id] = transform(t_ns, body_frame(info), frame_id, mount.position, mount.quat_wxyz)
            if info.message in ("CameraImage", "DepthImage"):
                eye = optical(frame_id)
                transforms[eye] = transform(t_ns, frame_id, eye, np.zeros(3), SENSOR_FROM_CAMERA)
        return "/tf_static", "tf2_msgs/TFMessage", (list(transforms.values()),)

    def _frame(self, info: StreamInfo) -> str:
        if info.message == "VehicleState":
            return body_frame(info)
        return f"{info.vehicle}/{sensor_of(info)}"

    def _image(self, info: StreamInfo, t_ns: int, topic: str, encoding: str, pixels: Any) -> Outgoing:
        height, width = pixels.shape[:2]
        head = header(t_ns, optical(self._frame(info)))
        fields = (head, height, width, encoding, False, pixels.nbytes // height, pixels.reshape(-1).view(np.uint8))
        return topic_of(f"{info.name}/{topic}"), "sensor_msgs/Image", fields

    def _camera_info(self, info: StreamInfo, t_ns: int) -> Outgoing:
        d = info.details
        fx, fy, cx, cy = (float(d[name]) for name in ("fx", "fy", "cx", "cy"))
        model, count = DISTORTION[d.get("model", "pinhole")]
        distortion = list(d.get("distortion", ()))
        distortion += [0.0] * (count - len(distortion))
        k = (fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0)
        p = (fx, 0.0, cx, 0.0, 0.0, fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0)
        head, whole = header(t_ns, optical(self._frame(info))), (0, 0, 0, 0, False)
        fields = (head, d["height"], d["width"], model, distortion, k, np.eye(3), p, 0, 0, whole)
        return topic_of(f"{info.name}/camera_info"), "sensor_msgs/CameraInfo", fields

    def _camera_image(self, info: StreamInfo, image: CameraImage) -> Iterator[Outgoing]:
        if image.colour.ndim == 2:
            yield self._image(info, image.t_ns, "image_raw", "mono8", image.colour)
        elif sensor_of(info).startswith("cam"):  # grey, as in EuRoC
            grey = np.asarray(Image.fromarray(image.colour).convert("L"))
            yield self._image(info, image.t_ns, "image_raw", "mono8", grey)
        else:
            yield self._image(info, image.t_ns, "image_raw", "rgb8", image.colour)
        yield self._camera_info(info, image.t_ns)

    def _depth_image(self, info: StreamInfo, image: DepthImage) -> Iterator[Outgoing]:
        # ROS (REP 118) uses NaN for a missing value
        depth = np.where(image.depth > 0.0, image.depth, np.float32(np.nan))
        yield self._image(info, image.t_ns, "image_raw", "32FC1", depth)
        yield self._camera_info(info, image.t_ns)

    def _image_truth(self, info: StreamInfo, truth: ImageTruth) -> Iterator[Outgoing]:
        eye = optical(self._frame(info))
        if _on_gimbal(info):
            pose = transform(truth.t_ns, WORLD, eye, truth.position, truth.quat_wxyz)
            yield "/tf", "tf2_msgs/TFMessage", ([pose],)
        for topic, encoding, pixels in (
            ("depth", "32FC1", truth.depth),
            ("classes", "8UC1", truth.classes),
            ("instances", "32SC1", truth.instances),
        ):
            if pixels is not None:
                yield self._image(info, truth.t_ns, topic, encoding, pixels)
        head = header(truth.t_ns, eye)
        detections = [_detection(head, truth, label) for label in truth.labels]
        yield topic_of(f"{info.name}/labels"), "vision_msgs/Detection2DArray", (head, detections)

    def _lidar_scan(self, info: StreamInfo, scan: LidarScan) -> Iterator[Outgoing]:
        cloud = np.empty(len(scan.points), POINT)
        for axis, name in enumerate("xyz"):
            cloud[name] = scan.points[:, axis]
        cloud["intensity"], cloud["ring"], cloud["time"] = scan.intensities, scan.rings, scan.offsets_ns / NS_PER_S
        head, data = header(scan.t_ns, self._frame(info)), cloud.view(np.uint8)
        fields = (head, 1, len(cloud), POINT_FIELDS, False, POINT.itemsize, cloud.nbytes, data, True)
        yield topic_of(f"{info.name}/points"), "sensor_msgs/PointCloud2", fields

    def _radar_scan(self, info: StreamInfo, scan: RadarScan) -> Iterator[Outgoing]:
        shape, labels = list(scan.volts.shape), ["antenna", "chirp", "sample"]
        if np.iscomplexobj(scan.volts):
            shape, labels = [*shape, 2], [*labels, "real and imaginary part"]
        strides = [int(np.prod(shape[i:])) for i in range(len(shape))]
        layout = (list(zip(labels, shape, strides, strict=True)), 0)
        volts = np.ascontiguousarray(scan.volts).reshape(-1).view(np.float32)
        yield topic_of(info.name), "std_msgs/Float32MultiArray", (layout, volts)

    def _radar_detections(self, info: StreamInfo, found: RadarDetections) -> Iterator[Outgoing]:
        columns = (found.ranges, found.azimuths, found.elevations, found.speeds, found.snr_db)
        returns = np.stack([np.asarray(column, float) for column in columns], axis=1).tolist()
        yield topic_of(info.name), "radar_msgs/RadarScan", (header(found.t_ns, self._frame(info)), returns)

    def _range_sample(self, info: StreamInfo, sample: RangeSample) -> Iterator[Outgoing]:
        # ROS (REP 117) uses infinity where nothing is in range
        distance = np.inf if np.isnan(sample.distance) else sample.distance
        variance = float(info.details.get("noise_sd") or 0.0) ** 2
        limits = (sample.min_range, sample.max_range)
        fields = (header(sample.t_ns, self._frame(info)), INFRARED, NARROW, *limits, distance, variance)
        yield topic_of(info.name), "sensor_msgs/Range", fields

    def _battery_state(self, info: StreamInfo, battery: BatteryState) -> Iterator[Outgoing]:
        unknown = float("nan")
        # in ROS a current out of the battery is negative
        numbers = (battery.voltage, unknown, -battery.current, unknown, unknown, unknown, battery.state_of_charge)
        kinds = (DISCHARGING, GOOD, LITHIUM_POLYMER, battery.voltage > 0.0)
        fields: tuple[Any, ...] = (header(battery.t_ns, body_frame(info)), *numbers, *kinds, [], [], "", "")
        yield topic_of(info.name), "sensor_msgs/BatteryState", fields

    def _imu_sample(self, info: StreamInfo, sample: ImuSample) -> Iterator[Outgoing]:
        rate_hz = info.rate.hz if info.rate else 0.0
        gyro, accel = (
            float(info.details.get(f"{name}_noise_density") or 0.0) ** 2 * rate_hz for name in ("gyro", "accel")
        )
        fields = (
            header(sample.t_ns, self._frame(info)), (0.0, 0.0, 0.0, 1.0), NO_ORIENTATION,
            sample.angular_velocity, diagonal(gyro, gyro, gyro),
            sample.specific_force, diagonal(accel, accel, accel),
        )  # fmt: skip
        yield topic_of(info.name), "sensor_msgs/Imu", fields

    def _imu_bias(self, info: StreamInfo, bias: ImuBias) -> Iterator[Outgoing]:
        head, exact = header(bias.t_ns, self._frame(info)), np.zeros(9)
        gyro, accel = bias.gyro_bias, bias.accel_bias
        fields = (head, (0.0, 0.0, 0.0, 1.0), NO_ORIENTATION, gyro, exact, accel, exact)
        yield topic_of(f"{info.name}/bias"), "sensor_msgs/Imu", fields

    def _gnss_fix(self, info: StreamInfo, fix: GnssFix) -> Iterator[Outgoing]:
        head = header(fix.t_ns, self._frame(info))
        status = (FIX if fix.fix_type >= 2 else NO_FIX, GPS)
        covariance = diagonal(fix.horizontal_sd**2, fix.horizontal_sd**2, fix.vertical_sd**2)
        place = (fix.latitude_deg, fix.longitude_deg, fix.altitude)
        yield topic_of(info.name), "sensor_msgs/NavSatFix", (head, status, *place, covariance, DIAGONAL_KNOWN)
        variance = fix.speed_sd**2
        covariance = diagonal(variance, variance, variance, 0.0, 0.0, 0.0)
        velocity = [*fix.velocity_enu.tolist(), 0.0, 0.0, 0.0, *covariance.reshape(-1).tolist()]
        in_world = header(fix.t_ns, WORLD)
        yield topic_of(f"{info.name}/velocity"), "geometry_msgs/TwistWithCovarianceStamped", (in_world, velocity)

    def _barometer_sample(self, info: StreamInfo, sample: BarometerSample) -> Iterator[Outgoing]:
        variance = float(info.details.get("noise_sd") or 0.0) ** 2
        head = header(sample.t_ns, self._frame(info))
        yield topic_of(info.name), "sensor_msgs/FluidPressure", (head, sample.pressure, variance)

    def _magnetometer_sample(self, info: StreamInfo, sample: MagnetometerSample) -> Iterator[Outgoing]:
        variance = float(info.details.get("noise_sd") or 0.0) ** 2
        head = header(sample.t_ns, self._frame(info))
        fields = (head, sample.field_tesla, diagonal(variance, variance, variance))
        yield topic_of(info.name), "sensor_msgs/MagneticField", fields

    def _vehicle_state(self, info: StreamInfo, state: VehicleState) -> Iterator[Outgoing]:
        body = body_frame(info)
        velocity = rotate_inverse(state.quat_wxyz, state.velocity_world).tolist()
        pose = [*pose_of(state.position, state.quat_wxyz), *NO_COVARIANCE]
        twist = [*velocity, *state.angular_velocity_body.tolist(), *NO_COVARIANCE]
        fields = (header(state.t_ns, WORLD), body, pose, twist)
        yield topic_of(f"{info.name}/odometry"), "nav_msgs/Odometry", fields
        moved = transform(state.t_ns, WORLD, body, state.position, state.quat_wxyz)
        yield "/tf", "tf2_msgs/TFMessage", ([moved],)


def _on_gimbal(info: StreamInfo) -> bool:
    return bool(info.details.get("gimbal", "none") != "none")


def _detection(head: tuple[Any, ...], truth: ImageTruth, label: Label) -> tuple[Any, ...]:
    """The box in the image, and the pose of the 3-D box in camera axes."""
    left, top, right, bottom = label.box_px
    box = (0.5 * (left + right), 0.5 * (top + bottom), 0.0, right - left + 1, bottom - top + 1)
    position = rotate_inverse(truth.quat_wxyz, label.centre - truth.position)
    turn = quat_multiply(quat_conjugate(truth.quat_wxyz), quat_from_yaw(label.yaw))
    pose = [*pose_of(position, turn), *NO_COVARIANCE]
    return head, [((label.class_name, 1.0), pose)], box, label.name
