"""The fields of the ROS 2 messages in our bags, and their encoding in CDR (XCDR 1, little-endian)."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

FIELDS = {
    "builtin_interfaces/Time": "int32 sec, uint32 nanosec",
    "builtin_interfaces/Duration": "int32 sec, uint32 nanosec",
    "std_msgs/Header": "builtin_interfaces/Time stamp, string frame_id",
    "std_msgs/MultiArrayDimension": "string label, uint32 size, uint32 stride",
    "std_msgs/MultiArrayLayout": "std_msgs/MultiArrayDimension[] dim, uint32 data_offset",
    "std_msgs/Float32MultiArray": "std_msgs/MultiArrayLayout layout, float32[] data",
    "std_msgs/Float64": "float64 data",
    "std_msgs/ColorRGBA": "float32 r, float32 g, float32 b, float32 a",
    "geometry_msgs/Point": "float64 x, float64 y, float64 z",
    "geometry_msgs/Vector3": "float64 x, float64 y, float64 z",
    "geometry_msgs/Quaternion": "float64 x, float64 y, float64 z, float64 w",
    "geometry_msgs/Pose": "geometry_msgs/Point position, geometry_msgs/Quaternion orientation",
    "geometry_msgs/PoseStamped": "std_msgs/Header header, geometry_msgs/Pose pose",
    "geometry_msgs/PoseWithCovariance": "geometry_msgs/Pose pose, float64[36] covariance",
    "geometry_msgs/Twist": "geometry_msgs/Vector3 linear, geometry_msgs/Vector3 angular",
    "geometry_msgs/TwistWithCovariance": "geometry_msgs/Twist twist, float64[36] covariance",
    "geometry_msgs/TwistWithCovarianceStamped": "std_msgs/Header header, geometry_msgs/TwistWithCovariance twist",
    "geometry_msgs/Transform": "geometry_msgs/Vector3 translation, geometry_msgs/Quaternion rotation",
    "geometry_msgs/TransformStamped": (
        "std_msgs/Header header, string child_frame_id, geometry_msgs/Transform transform"
    ),
    "tf2_msgs/TFMessage": "geometry_msgs/TransformStamped[] transforms",
    "nav_msgs/Odometry": (
        "std_msgs/Header header, string child_frame_id, geometry_msgs/PoseWithCovariance pose, "
        "geometry_msgs/TwistWithCovariance twist"
    ),
    "nav_msgs/MapMetaData": (
        "builtin_interfaces/Time map_load_time, float32 resolution, uint32 width, uint32 height, "
        "geometry_msgs/Pose origin"
    ),
    "nav_msgs/OccupancyGrid": "std_msgs/Header header, nav_msgs/MapMetaData info, int8[] data",
    "nav_msgs/Path": "std_msgs/Header header, geometry_msgs/PoseStamped[] poses",
    "sensor_msgs/CompressedImage": "std_msgs/Header header, string format, uint8[] data",
    "sensor_msgs/Image": (
        "std_msgs/Header header, uint32 height, uint32 width, string encoding, uint8 is_bigendian, uint32 step, "
        "uint8[] data"
    ),
    "sensor_msgs/RegionOfInterest": "uint32 x_offset, uint32 y_offset, uint32 height, uint32 width, bool do_rectify",
    "sensor_msgs/CameraInfo": (
        "std_msgs/Header header, uint32 height, uint32 width, string distortion_model, float64[] d, float64[9] k, "
        "float64[9] r, float64[12] p, uint32 binning_x, uint32 binning_y, sensor_msgs/RegionOfInterest roi"
    ),
    "sensor_msgs/PointField": "string name, uint32 offset, uint8 datatype, uint32 count",
    "sensor_msgs/PointCloud2": (
        "std_msgs/Header header, uint32 height, uint32 width, sensor_msgs/PointField[] fields, bool is_bigendian, "
        "uint32 point_step, uint32 row_step, uint8[] data, bool is_dense"
    ),
    "sensor_msgs/Imu": (
        "std_msgs/Header header, geometry_msgs/Quaternion orientation, float64[9] orientation_covariance, "
        "geometry_msgs/Vector3 angular_velocity, float64[9] angular_velocity_covariance, "
        "geometry_msgs/Vector3 linear_acceleration, float64[9] linear_acceleration_covariance"
    ),
    "sensor_msgs/NavSatStatus": "int8 status, uint16 service",
    "sensor_msgs/NavSatFix": (
        "std_msgs/Header header, sensor_msgs/NavSatStatus status, float64 latitude, float64 longitude, "
        "float64 altitude, float64[9] position_covariance, uint8 position_covariance_type"
    ),
    "sensor_msgs/FluidPressure": "std_msgs/Header header, float64 fluid_pressure, float64 variance",
    "sensor_msgs/MagneticField": (
        "std_msgs/Header header, geometry_msgs/Vector3 magnetic_field, float64[9] magnetic_field_covariance"
    ),
    "vision_msgs/Point2D": "float64 x, float64 y",
    "vision_msgs/Pose2D": "vision_msgs/Point2D position, float64 theta",
    "vision_msgs/BoundingBox2D": "vision_msgs/Pose2D center, float64 size_x, float64 size_y",
    "vision_msgs/ObjectHypothesis": "string class_id, float64 score",
    "vision_msgs/ObjectHypothesisWithPose": (
        "vision_msgs/ObjectHypothesis hypothesis, geometry_msgs/PoseWithCovariance pose"
    ),
    "vision_msgs/Detection2D": (
        "std_msgs/Header header, vision_msgs/ObjectHypothesisWithPose[] results, vision_msgs/BoundingBox2D bbox, "
        "string id"
    ),
    "vision_msgs/Detection2DArray": "std_msgs/Header header, vision_msgs/Detection2D[] detections",
    "visualization_msgs/UVCoordinate": "float32 u, float32 v",
    "visualization_msgs/MeshFile": "string filename, uint8[] data",
    "visualization_msgs/Marker": (
        "std_msgs/Header header, string ns, int32 id, int32 type, int32 action, geometry_msgs/Pose pose, "
        "geometry_msgs/Vector3 scale, std_msgs/ColorRGBA color, builtin_interfaces/Duration lifetime, "
        "bool frame_locked, geometry_msgs/Point[] points, std_msgs/ColorRGBA[] colors, string texture_resource, "
        "sensor_msgs/CompressedImage texture, visualization_msgs/UVCoordinate[] uv_coordinates, string text, "
        "string mesh_resource, visualization_msgs/MeshFile mesh_file, bool mesh_use_embedded_materials"
    ),
    "visualization_msgs/MarkerArray": "visualization_msgs/Marker[] markers",
}
"""By type, in the order they are sent. vision_msgs is version 4."""
CODES = {
    "bool": "?", "int8": "b", "uint8": "B", "uint16": "H", "int32": "i", "uint32": "I", "float32": "f", "float64": "d",
}  # fmt: skip
LITTLE_ENDIAN = b"\x00\x01\x00\x00"
"""The first bytes of every body. Alignment counts from after them."""
FIELD = re.compile(r"([\w/]+)(\[(\d*)\])? (\w+)")


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    kind: str
    """A key of CODES or FIELDS, or string."""
    packing: struct.Struct | None
    """struct code of numbers."""
    is_array: bool
    length: int | None
    """Length of a fixed array, or of a message that consists only of float64."""


@cache
def fields_of(kind: str) -> tuple[Field, ...]:
    fields = []
    for kind_of_one, brackets, length, name in FIELD.findall(FIELDS[kind]):
        if kind_of_one in FIELDS and not brackets and (doubles := _doubles_in(kind_of_one)):
            fields.append(Field(name, kind_of_one, struct.Struct("<d"), True, doubles))
        else:
            packing = struct.Struct("<" + CODES[kind_of_one]) if kind_of_one in CODES else None
            fields.append(Field(name, kind_of_one, packing, bool(brackets), int(length) if length else None))
    return tuple(fields)


def _doubles_in(kind: str) -> int:
    """The number of float64 in a message that consists only of float64, otherwise 0."""
    fields = fields_of(kind)
    if all(field.length if field.is_array else True for field in fields) and all(
        field.packing is not None and field.packing.format == "<d" for field in fields
    ):
        return sum(field.length or 1 for field in fields)
    return 0


def schema_name(kind: str) -> str:
    package, name = kind.split("/")
    return f"{package}/msg/{name}"


@cache
def schema_text(kind: str) -> str:
    """In the form of `ros2msg`: the fields, then the definition of every other type they need."""
    needed, left = [], [kind]
    while left:
        one = left.pop(0)
        if one not in needed:
            needed.append(one)
            left += [field.kind for field in fields_of(one) if field.kind in FIELDS]
    parts = ["\n".join(FIELDS[one].split(", ")) + "\n" for one in needed]
    heads = ["", *(f"{'=' * 80}\nMSG: {one}\n" for one in needed[1:])]
    return "".join(head + part for head, part in zip(heads, parts, strict=True))


def encode(kind: str, values: Sequence[Any]) -> bytes:
    """A message's bytes. `values` holds its fields in order, nested for messages within it.

    For a message that consists only of float64 (such as a pose and its covariance) it holds one row of them."""
    out = bytearray(LITTLE_ENDIAN)
    _put(out, kind, values)
    return bytes(out)


def _put(out: bytearray, kind: str, values: Sequence[Any]) -> None:
    for field, value in zip(fields_of(kind), values, strict=True):
        if field.is_array:
            _put_array(out, field, value)
        elif field.packing is not None:
            _align(out, field.packing.size)
            out += field.packing.pack(value)
        elif field.kind == "string":
            _put_string(out, value)
        else:
            _put(out, field.kind, value)


def _put_array(out: bytearray, field: Field, value: Any) -> None:
    if field.packing is not None:
        numbers = np.ascontiguousarray(value, field.packing.format[1:]).reshape(-1)
        if field.length is None:
            _put_count(out, len(numbers))
        elif len(numbers) != field.length:
            raise ValueError(f"{field.name} takes {field.length} numbers, not {len(numbers)}")
        if len(numbers):
            _align(out, field.packing.size)
            out += numbers.data.cast("B")
        return
    _put_count(out, len(value))
    for one in value:
        _put(out, field.kind, one)


def _put_string(out: bytearray, text: str) -> None:
    data = text.encode() + b"\0"
    _put_count(out, len(data))
    out += data


def _put_count(out: bytearray, count: int) -> None:
    _align(out, 4)
    out += count.to_bytes(4, "little")


def _align(out: bytearray, size: int) -> None:
    # the header of 4 bytes does not count
    out += bytes(-(len(out) - len(LITTLE_ENDIAN)) % size)
