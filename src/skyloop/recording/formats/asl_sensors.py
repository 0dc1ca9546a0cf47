"""The ASL form of each kind of sensor: its folder, rows, files and sensor.yaml."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import Transform
from skyloop.recording.formats.camera_poses import CAMERAS, mount_of
from skyloop.recording.formats.png_image import depth_numbers, encode_png
from skyloop_client.errors import DatasetError
from skyloop_client.messages import ImageTruth, LidarScan
from skyloop_client.streams import StreamInfo

YamlBlock = dict[str, Any]
Pixel = TypeVar("Pixel", bound=np.generic)

PER_METRE = 1000.0
"""Depth units per metre."""
LENSES = {"pinhole": "radial-tangential", "brown-conrady": "radial-tangential", "fisheye": "equidistant"}
"""Names of our lens models in ASL and Kalibr."""
LIDAR_POINT = np.dtype([
    ("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("intensity", "<f4"), ("ring", "<u2"), ("offset_ns", "<i8"),
    ("class", "u1"), ("instance", "<i4"),
])  # fmt: skip
FILES = "#timestamp [ns],filename"
XYZ = "xyz"


@dataclass(frozen=True, slots=True)
class AslChannel:
    """One folder: rows of numbers, or files with a row each."""

    folder: str
    header: str
    about: YamlBlock
    """The content of its sensor.yaml."""
    row: Callable[[Any], list[object]] | None = None
    """The numbers after the stamp."""
    extension: str = ""
    content: Callable[[Any], bytes | None] | None = None
    """Content of the file, or None if the record has none."""
    optional: bool = False
    """The folder is created with the first record."""


def channels_of(info: StreamInfo, sensor: str, body: Transform, classes: list[str]) -> list[AslChannel]:
    """The folders of a stream; none if it is not a sensor's. `body` is vehicle_from_B, B the IMU's frame."""
    about = {
        "sensor_type": "",
        "comment": f"skyloop {info.name}" + (f", {info.details['preset']}" if "preset" in info.details else ""),
        "T_BS": pose_block(body.inverse() @ mount_of(info)),
        "rate_hz": rate_hz(info),
    }
    if info.message in CAMERAS:
        about |= camera_block(info)
    if info.message == "CameraImage":
        return [_camera(sensor, {**about, "simulated": dict(info.details)})]
    if info.message == "ImageTruth":
        return _image_truth(sensor, about, classes)
    if info.message in FILE_KINDS:
        kind, notes, extension, content = FILE_KINDS[info.message]
        about |= {"sensor_type": kind, **notes, "simulated": dict(info.details)}
        return [AslChannel(sensor, FILES, about, extension=extension, content=content)]
    if info.message in ROW_KINDS:
        kind, columns, row = ROW_KINDS[info.message]
        about |= {"sensor_type": kind, **(imu_block(info) if kind == "imu" else {}), "simulated": dict(info.details)}
        return [AslChannel(sensor, ",".join(["#timestamp [ns]", *columns]), about, row=row)]
    return []


def rate_hz(info: StreamInfo) -> float | None:
    """An integer if the rate is whole."""
    if info.rate is None:
        return None
    return info.rate.num if info.rate.den == 1 else info.rate.hz


def pose_block(pose: Transform) -> YamlBlock:
    # -0.0 would be correct, but odd to read
    return {"cols": 4, "rows": 4, "data": [float(value) + 0.0 for value in pose.matrix().ravel()]}


def camera_block(info: StreamInfo) -> YamlBlock:
    details = info.details
    coefficients = [float(value) for value in details.get("distortion", ())] or [0.0] * 4
    if len(coefficients) == 5 and coefficients[4] == 0.0:
        coefficients.pop()  # readers of EuRoC expect k1, k2, p1, p2
    block = {
        "resolution": [int(details["width"]), int(details["height"])],
        "camera_model": "pinhole",
        "intrinsics": [float(details[name]) for name in ("fx", "fy", "cx", "cy")],
        "distortion_model": LENSES[details.get("model", "pinhole")],
        "distortion_coefficients": coefficients,
    }
    if details.get("gimbal", "none") != "none":
        block["gimbal"] = f"{details['gimbal']}: T_BS is that of the gimbal at rest"
    return block


def imu_block(info: StreamInfo) -> YamlBlock:
    names = {"gyro": "gyroscope", "accel": "accelerometer"}
    parts = [(short, long, part) for short, long in names.items() for part in ("noise_density", "random_walk")]
    return {f"{long}_{part}": info.details[f"{short}_{part}"] for short, long, part in parts}


def _camera(sensor: str, about: YamlBlock) -> AslChannel:
    is_grey = about["simulated"].get("mode") == "grey"
    about |= {"sensor_type": "camera", "encoding": "8-bit grey" if is_grey else "8-bit red, green, blue"}
    return AslChannel(sensor, FILES, about, extension="png", content=lambda image: encode_png(image.colour))


def _image_truth(sensor: str, about: YamlBlock, classes: list[str]) -> list[AslChannel]:
    """Folder names: segmentation0 and so on for camera rgb0, name_segmentation for a camera of another name."""
    number = re.fullmatch(r"rgb(\d+)", sensor)
    depth = {"encoding": "16-bit depth along the optical axis", "depth_unit": 1.0 / PER_METRE,
             "no_depth": "0: sky, or beyond 65.5 m"}  # fmt: skip
    normals = {"encoding": "8-bit red, green, blue = 127.5 (n + 1), n the normal in world axes (east, north, up)",
               "no_normal": "128, 128, 128: sky"}  # fmt: skip
    kinds: dict[str, tuple[YamlBlock, Callable[[ImageTruth], bytes | None]]] = {
        "depth_groundtruth": (depth, lambda truth: _if_there(truth.depth, _depth_png)),
        "normal": (normals, lambda truth: _if_there(truth.normals, _normals_png)),
        "segmentation": (
            {"encoding": "8-bit number of the class", "classes": dict(enumerate(classes))},
            lambda truth: _if_there(truth.classes, encode_png),
        ),
        "instance": (
            {"encoding": "16-bit number of the thing; 0: sky"},
            lambda truth: _if_there(truth.instances, _instances_png),
        ),
    }
    return [
        AslChannel(
            f"{kind}{number[1]}" if number else f"{sensor}_{kind}",
            FILES,
            {**about, "sensor_type": "camera-groundtruth", **notes},
            extension="png",
            content=content,
            optional=True,
        )
        for kind, (notes, content) in kinds.items()
    ]


def _if_there(array: NDArray[Pixel] | None, encode: Callable[[NDArray[Pixel]], bytes]) -> bytes | None:
    return None if array is None else encode(array)


def _depth_png(depth: NDArray[np.float32]) -> bytes:
    return encode_png(depth_numbers(depth, PER_METRE))


def _normals_png(normals: NDArray[np.float32]) -> bytes:
    return encode_png((normals * np.float32(127.5) + np.float32(128.0)).astype(np.uint8))


def _instances_png(instances: NDArray[np.int32]) -> bytes:
    if instances.max(initial=0) > 0xFFFF:
        raise DatasetError(f"thing number {instances.max()} does not fit 16 bits; ASL holds at most 65535 things")
    return encode_png(instances.astype(np.uint16))


def npy(array: NDArray[np.generic]) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.ascontiguousarray(array), version=(1, 0))
    return file.getvalue()


def _lidar_npy(scan: LidarScan) -> bytes:
    points = np.empty(len(scan.points), LIDAR_POINT)
    for axis, name in enumerate(XYZ):
        points[name] = scan.points[:, axis]
    fields = {"intensity": scan.intensities, "ring": scan.rings, "offset_ns": scan.offsets_ns}
    for name, values in {**fields, "class": scan.classes, "instance": scan.instances}.items():
        points[name] = values
    return npy(points)


def _columns(symbol: str, unit: str) -> list[str]:
    return [f"{symbol}_{axis} [{unit}]" for axis in XYZ]


def _fix_row(fix: Any) -> list[object]:
    position = [fix.latitude_deg, fix.longitude_deg, fix.altitude, *fix.velocity_enu]
    quality = [fix.fix_type, fix.hdop, fix.vdop, fix.satellites, fix.horizontal_sd, fix.vertical_sd, fix.speed_sd]
    return position + quality


FILE_KINDS: dict[str, tuple[str, YamlBlock, str, Callable[[Any], bytes]]] = {
    "DepthImage": (
        "depth-camera",
        {"encoding": "16-bit depth along the optical axis", "depth_unit": 1.0 / PER_METRE, "no_depth": 0},
        "png",
        lambda image: _depth_png(image.depth),
    ),
    "LidarScan": (
        "lidar",
        {
            "encoding": "one .npy a sweep, a row a return: x, y, z in m in the sensor's axes (forward, left, up) "
            "at its firing, intensity 0 to 1, ring, offset_ns of its firing from the stamp, class, instance",
        },
        "npy",
        _lidar_npy,
    ),
    "RadarScan": (
        "radar",
        {"encoding": "one .npy a burst: V, (n_rx, n_chirps, n_samples), stamped at its middle"},
        "npy",
        lambda scan: npy(scan.volts),
    ),
}
"""By record: sensor_type, notes for sensor.yaml, extension, content of a file."""
ROW_KINDS: dict[str, tuple[str, list[str], Callable[[Any], list[object]]]] = {
    "ImuSample": (
        "imu",
        _columns("w_RS_S", "rad s^-1") + _columns("a_RS_S", "m s^-2"),
        lambda sample: [*sample.angular_velocity, *sample.specific_force],
    ),
    "GnssFix": (
        "gps",
        ["latitude [deg]", "longitude [deg]", "altitude [m above WGS84]", "v_east [m s^-1]", "v_north [m s^-1]",
         "v_up [m s^-1]", "fix_type []", "hdop []", "vdop []", "satellites []", "horizontal_sd [m]", "vertical_sd [m]",
         "speed_sd [m s^-1]"],
        _fix_row,
    ),
    "BarometerSample": (
        "barometer",
        ["pressure [Pa]", "altitude [m]", "temperature [K]"],
        lambda sample: [sample.pressure, sample.altitude, sample.temperature],
    ),
    "MagnetometerSample": ("magnetometer", _columns("B_S", "T"), lambda sample: [*sample.field_tesla]),
    "RangeSample": (
        "rangefinder",
        ["distance [m]", "min_range [m]", "max_range [m]"],
        lambda sample: [sample.distance, sample.min_range, sample.max_range],
    ),
    "OpticalFlowSample": (
        "optical-flow",
        ["integration_time [us]", "flow_x [rad]", "flow_y [rad]", *_columns("gyro", "rad"), "quality []",
         "distance [m]"],
        lambda flow: [flow.integration_time_us, flow.integrated_x, flow.integrated_y, *flow.integrated_gyro,
                      flow.quality, flow.distance],
    ),
}  # fmt: skip
"""By record: sensor_type, columns after the stamp, their numbers."""
