"""Converts what sensors measure, and the truth, to ROS 2 messages. None: this record has no such content."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from skyloop.core.frames import matrix_from_quat, quat_conjugate, quat_from_yaw, quat_multiply, rotate_inverse
from skyloop.recording.formats.label_images import jpeg
from skyloop.recording.ros2 import tf_frames
from skyloop.recording.ros2.tf_frames import FLOAT32, NO_COVARIANCE, UINT16, WORLD, frame_of, header, optical
from skyloop.recording.ros2.types import (
    RosMessage,
    geometry_msgs,
    nav_msgs,
    radar_msgs,
    sensor_msgs,
    std_msgs,
    tf2_msgs,
    vision_msgs,
)
from skyloop_client.messages import (
    Array,
    BarometerSample,
    BatteryState,
    CameraImage,
    DepthImage,
    Estimate,
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
NO_TURN = geometry_msgs.Quaternion(0.0, 0.0, 0.0, 1.0)
NO_ORIENTATION = np.array([-1.0] + [0.0] * 8)
"""Value in sensor_msgs/Imu that means no orientation."""
INFRARED, NARROW = 1, 0.01
"""A rangefinder of ours is a beam of light; the cone that ROS asks for is as wide as a laser's, rad."""
DISCHARGING, GOOD, LITHIUM_POLYMER = 2, 1, 3
NO_FIX, FIX, GPS, DIAGONAL_KNOWN = -1, 0, 1, 2
UNKNOWN = float("nan")
NO_NUMBERS = np.zeros(0, np.float32)
WHOLE_IMAGE = sensor_msgs.RegionOfInterest(0, 0, 0, 0, False)
TRUTHS = {"depth": "32FC1", "classes": "8UC1", "instances": "32SC1"}
"""Encodings of the images of the truth."""


@lru_cache(maxsize=64)
def diagonal(*variances: float) -> Array:
    return np.diag(variances).ravel()


def _variance(info: StreamInfo, name: str = "noise_sd") -> float:
    return float(info.details.get(name) or 0.0) ** 2


# ---- images


def _head(info: StreamInfo, t_ns: int) -> RosMessage:
    return header(t_ns, frame_of(info))


def camera_info(info: StreamInfo, record: CameraImage | DepthImage) -> RosMessage:
    d = info.details
    fx, fy, cx, cy = (float(d[name]) for name in ("fx", "fy", "cx", "cy"))
    model, count = DISTORTION[d.get("model", "pinhole")]
    distortion = np.zeros(count)
    distortion[: len(d.get("distortion", ()))] = d.get("distortion", ())
    k = np.array([fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0])
    p = np.array([fx, 0.0, cx, 0.0, 0.0, fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0])
    head, size, binning = header(record.t_ns, optical(frame_of(info))), (d["height"], d["width"]), (0, 0)
    return sensor_msgs.CameraInfo(head, *size, model, distortion, k, np.eye(3).ravel(), p, *binning, WHOLE_IMAGE)


def camera_image(info: StreamInfo, record: CameraImage) -> RosMessage:
    encoding = "mono8" if record.colour.ndim == 2 else "rgb8"
    return tf_frames.image(record.t_ns, optical(frame_of(info)), encoding, record.colour)


def compressed_image(info: StreamInfo, record: CameraImage) -> RosMessage:
    kind = "mono8; jpeg compressed mono8" if record.colour.ndim == 2 else "rgb8; jpeg compressed bgr8"
    head = header(record.t_ns, optical(frame_of(info)))
    return sensor_msgs.CompressedImage(head, kind, np.frombuffer(jpeg(record.colour), np.uint8))


def depth_image(info: StreamInfo, record: DepthImage) -> RosMessage:
    # ROS (REP 118) uses NaN for a missing value
    depth = np.where(record.depth > 0.0, record.depth, np.float32(np.nan))
    return tf_frames.image(record.t_ns, optical(frame_of(info)), "32FC1", depth)


def truth_image(name: str) -> Callable[[StreamInfo, ImageTruth], RosMessage]:
    """The function for one of TRUTHS."""

    def made(info: StreamInfo, truth: ImageTruth) -> RosMessage:
        pixels = getattr(truth, name)
        return None if pixels is None else tf_frames.image(truth.t_ns, optical(frame_of(info)), TRUTHS[name], pixels)

    return made


def camera_moved(info: StreamInfo, truth: ImageTruth) -> RosMessage:
    if not tf_frames.on_gimbal(info):
        return None
    eye = optical(frame_of(info))
    return tf2_msgs.TFMessage([tf_frames.transform(truth.t_ns, WORLD, eye, truth.position, truth.quat_wxyz)])


def labels(info: StreamInfo, truth: ImageTruth) -> RosMessage:
    head = header(truth.t_ns, optical(frame_of(info)))
    return vision_msgs.Detection2DArray(head, [_label(head, truth, label) for label in truth.labels])


def _label(head: RosMessage, truth: ImageTruth, label: Label) -> RosMessage:
    """The box in the image, and the pose of the 3-D box in camera axes."""
    left, top, right, bottom = label.box_px
    position = rotate_inverse(truth.quat_wxyz, label.centre - truth.position)
    turn = quat_multiply(quat_conjugate(truth.quat_wxyz), quat_from_yaw(label.yaw))
    box = box_2d(0.5 * (left + right), 0.5 * (top + bottom), right - left + 1, bottom - top + 1)
    return detection(head, (label.class_name, 1.0), tf_frames.pose_of(position, turn), box, label.name)


def box_2d(x: float, y: float, width: float, height: float) -> RosMessage:
    """x and y of the centre, px. In ROS the origin is the centre of the first pixel."""
    return vision_msgs.BoundingBox2D(vision_msgs.Pose2D(vision_msgs.Point2D(x, y), 0.0), width, height)


def detection(head: RosMessage, what: tuple[str, float], pose: RosMessage, box: RosMessage, name: str) -> RosMessage:
    """`what`: the class and the score."""
    placed = geometry_msgs.PoseWithCovariance(pose, NO_COVARIANCE)
    found = vision_msgs.ObjectHypothesisWithPose(vision_msgs.ObjectHypothesis(*what), placed)
    return vision_msgs.Detection2D(head, [found], box, name)


# ---- clouds and radar


def lidar_scan(info: StreamInfo, scan: LidarScan) -> RosMessage:
    """In the layout of Velodyne's driver. Time is s after the stamp."""
    columns = [
        *((axis, FLOAT32, scan.points[:, k]) for k, axis in enumerate("xyz")),
        ("intensity", FLOAT32, scan.intensities), ("ring", UINT16, scan.rings),
        ("time", FLOAT32, scan.offsets_ns / NS_PER_S),
    ]  # fmt: skip
    return tf_frames.cloud(scan.t_ns, frame_of(info), columns)


def radar_scan(info: StreamInfo, scan: RadarScan) -> RosMessage:
    shape, names = list(scan.volts.shape), ["antenna", "chirp", "sample"]
    if np.iscomplexobj(scan.volts):
        shape, names = [*shape, 2], [*names, "real and imaginary part"]
    strides = [int(np.prod(shape[i:])) for i in range(len(shape))]
    axes = [std_msgs.MultiArrayDimension(*axis) for axis in zip(names, shape, strides, strict=True)]
    volts = np.ascontiguousarray(scan.volts).reshape(-1).view(np.float32)
    return std_msgs.Float32MultiArray(std_msgs.MultiArrayLayout(axes, 0), volts)


def radar_detections(info: StreamInfo, found: RadarDetections) -> RosMessage:
    columns = (found.ranges, found.azimuths, found.elevations, found.speeds, found.snr_db)
    rows = np.stack([np.asarray(column, float) for column in columns], axis=1).tolist()
    return radar_msgs.RadarScan(_head(info, found.t_ns), [radar_msgs.RadarReturn(*row) for row in rows])


# ---- small samples


def range_sample(info: StreamInfo, sample: RangeSample) -> RosMessage:
    # REP 117: infinity where nothing is in range; what is too near is -inf in our record too
    distance = np.inf if np.isnan(sample.distance) else sample.distance
    limits, head = (sample.min_range, sample.max_range), _head(info, sample.t_ns)
    return sensor_msgs.Range(head, INFRARED, NARROW, *limits, distance, _variance(info))


def battery_state(info: StreamInfo, battery: BatteryState) -> RosMessage:
    # in ROS a current out of the battery is negative
    return sensor_msgs.BatteryState(
        header(battery.t_ns, tf_frames.body_frame(info)), voltage=battery.voltage, temperature=UNKNOWN,
        current=-battery.current, charge=UNKNOWN, capacity=UNKNOWN, design_capacity=UNKNOWN,
        percentage=battery.state_of_charge, power_supply_status=DISCHARGING, power_supply_health=GOOD,
        power_supply_technology=LITHIUM_POLYMER, present=battery.voltage > 0.0, cell_voltage=NO_NUMBERS,
        cell_temperature=NO_NUMBERS, location="", serial_number="",
    )  # fmt: skip


def imu_sample(info: StreamInfo, sample: ImuSample) -> RosMessage:
    rate_hz = info.rate.hz if info.rate else 0.0
    gyro, accel = (_variance(info, f"{name}_noise_density") * rate_hz for name in ("gyro", "accel"))
    return _imu(info, sample.t_ns, (sample.angular_velocity, gyro), (sample.specific_force, accel))


def imu_bias(info: StreamInfo, bias: ImuBias) -> RosMessage:
    return _imu(info, bias.t_ns, (bias.gyro_bias, 0.0), (bias.accel_bias, 0.0))


def _imu(info: StreamInfo, t_ns: int, turning: tuple[Array, float], force: tuple[Array, float]) -> RosMessage:
    """Each with its variance."""
    (rates, gyro), (accelerations, accel) = turning, force
    return sensor_msgs.Imu(
        _head(info, t_ns), NO_TURN, NO_ORIENTATION,
        tf_frames.vector(rates), diagonal(gyro, gyro, gyro),
        tf_frames.vector(accelerations), diagonal(accel, accel, accel),
    )  # fmt: skip


def gnss_fix(info: StreamInfo, fix: GnssFix) -> RosMessage:
    status = sensor_msgs.NavSatStatus(FIX if fix.fix_type >= 2 else NO_FIX, GPS)
    covariance = diagonal(fix.horizontal_sd**2, fix.horizontal_sd**2, fix.vertical_sd**2)
    place = (fix.latitude_deg, fix.longitude_deg, fix.altitude)
    return sensor_msgs.NavSatFix(_head(info, fix.t_ns), status, *place, covariance, DIAGONAL_KNOWN)


def gnss_velocity(info: StreamInfo, fix: GnssFix) -> RosMessage:
    variance, twist = fix.speed_sd**2, tf_frames.twist_of(fix.velocity_enu, np.zeros(3))
    covariance = diagonal(variance, variance, variance, 0.0, 0.0, 0.0)
    told = geometry_msgs.TwistWithCovariance(twist, covariance)
    return geometry_msgs.TwistWithCovarianceStamped(header(fix.t_ns, WORLD), told)


def barometer_sample(info: StreamInfo, sample: BarometerSample) -> RosMessage:
    return sensor_msgs.FluidPressure(_head(info, sample.t_ns), sample.pressure, _variance(info))


def magnetometer_sample(info: StreamInfo, sample: MagnetometerSample) -> RosMessage:
    variance, field = _variance(info), tf_frames.vector(sample.field_tesla)
    return sensor_msgs.MagneticField(_head(info, sample.t_ns), field, diagonal(variance, variance, variance))


# ---- the vehicle


def odometry(info: StreamInfo, state: VehicleState | Estimate) -> RosMessage:
    """The twist is in body axes, as nav_msgs says. None for an estimate that is not valid: a message cannot say so."""
    place, motion = NO_COVARIANCE, NO_COVARIANCE
    if isinstance(state, Estimate):
        if not state.valid:
            return None
        body_from_world, twist_covariance = matrix_from_quat(state.quat_wxyz).T, np.zeros((6, 6))
        twist_covariance[:3, :3] = body_from_world @ _velocity_covariance(state) @ body_from_world.T
        place, motion = _pose_covariance(state).ravel(), twist_covariance.ravel()
    velocity = rotate_inverse(state.quat_wxyz, state.velocity_world)
    twist = tf_frames.twist_of(velocity, state.angular_velocity_body)
    return nav_msgs.Odometry(
        header(state.t_ns, WORLD), tf_frames.body_frame(info),
        geometry_msgs.PoseWithCovariance(tf_frames.pose_of(state.position, state.quat_wxyz), place),
        geometry_msgs.TwistWithCovariance(twist, motion),
    )  # fmt: skip


def _pose_covariance(estimate: Estimate) -> Array:
    """(6, 6) of position and attitude, world axes."""
    if estimate.covariance is not None:
        kept = [0, 1, 2, 6, 7, 8]
        return estimate.covariance[np.ix_(kept, kept)]
    return np.diag(np.square(np.concatenate([estimate.position_sd, estimate.attitude_sd])))


def _velocity_covariance(estimate: Estimate) -> Array:
    """(3, 3), world axes."""
    if estimate.covariance is not None:
        return estimate.covariance[3:6, 3:6]
    return np.diag(np.square(estimate.velocity_sd))


def vehicle_moved(info: StreamInfo, state: VehicleState) -> RosMessage:
    frames = tf_frames.odom_frame(info), tf_frames.body_frame(info)
    return tf2_msgs.TFMessage([tf_frames.transform(state.t_ns, *frames, state.position, state.quat_wxyz)])
