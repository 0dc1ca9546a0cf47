"""Converts records to plain numbers for Foxglove's plots: JSON, with units in the field names."""

from __future__ import annotations

import dataclasses
import math
import typing
from typing import Any

import numpy as np

import skyloop_client.messages
from skyloop.core.frames import euler_from_quat
from skyloop.recording.run_folder import is_bulk
from skyloop_client.messages import Array
from skyloop_client.streams import NS_PER_S

UNITS = {
    "position": "m", "velocity_world": "m_s", "angular_velocity_body": "rad_s", "acceleration_world": "m_s2",
    "angular_acceleration_body": "rad_s2", "rotor_speeds": "rad_s", "rotor_thrusts": "n", "wind_world": "m_s",
    "position_sd": "m", "velocity_sd": "m_s", "attitude_sd": "rad", "voltage": "v", "current": "a", "energy_used": "j",
    "commands": "rad_s", "speeds": "rad_s", "angular_velocity": "rad_s", "specific_force": "m_s2",
    "gyro_bias": "rad_s", "accel_bias": "m_s2", "altitude": "m", "velocity_enu": "m_s", "horizontal_sd": "m",
    "vertical_sd": "m", "speed_sd": "m_s", "pressure": "pa", "temperature": "k", "distance": "m", "min_range": "m",
    "max_range": "m", "integrated_x": "rad", "integrated_y": "rad", "integrated_gyro": "rad",
    "velocity": "m_s", "yaw": "rad", "yaw_rate": "rad_s", "thrust": "n", "offset": "m",
    "heading": "rad",
}  # fmt: skip
"""Units of the fields of our own records. Fields of user-defined sensors keep their names."""
UNSHOWN = ("covariance",)
"""Covariances have too many numbers for a plot. Their sigmas are plotted."""
PER_ROTOR = {"rotor_speeds", "rotor_thrusts", "commands", "speeds"}
ATTITUDE = ("quat_wxyz", "attitude_deg")
"""Shown as Euler angles, because a plotted quaternion is hard to read."""
MOST_NUMBERS = 64
"""Largest array that is plotted."""
UNPLOTTED = {
    "CameraImage", "DepthImage", "ImageTruth", "LidarScan", "RadarScan", "RadarDetections", "RangeDopplerImage",
    "Event", "Detections", "GridMap", "VoxelMap", "Path", "PointCloud", "KeyPose", "Goal",
    "GoalStatus", "Image", "Markers", "Movers",
}  # fmt: skip
NUMBER = {"type": "number"}
STAMP = {"type": "object", "title": "time", "properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}}}


def is_plotted(record_name: str) -> bool:
    return record_name not in UNPLOTTED


def plotted(record: Any) -> dict[str, Any]:
    """The plottable fields of a record, with its stamp. Images, point clouds and lists are left out."""
    ours = is_ours(type(record).__name__)
    sec, nsec = divmod(int(record.t_ns), NS_PER_S)
    out: dict[str, Any] = {"timestamp": {"sec": sec, "nsec": nsec}}
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if field.name in ("t_ns", *UNSHOWN) or is_bulk(value) or getattr(value, "size", 1) > MOST_NUMBERS:
            continue
        if ours and field.name == ATTITUDE[0]:
            angles = np.degrees(euler_from_quat(value)).tolist()
            out[ATTITUDE[1]] = dict(zip(("roll", "pitch", "yaw"), angles, strict=True))
        elif isinstance(value, np.ndarray):
            out[_name(field.name, ours)] = _numbers(value, field.name)
        else:
            out[_name(field.name, ours)] = _plain(value)
    return out


def schema_of(record_name: str) -> dict[str, Any] | None:
    """A JSON Schema. None for user-defined records, whose fields are unknown until the first record."""
    if not is_ours(record_name):
        return None
    properties: dict[str, Any] = {"timestamp": STAMP}
    for name, hint in typing.get_type_hints(getattr(skyloop_client.messages, record_name)).items():
        if name == "t_ns":
            continue
        if name == ATTITUDE[0]:
            properties[ATTITUDE[1]] = _axes("roll", "pitch", "yaw")
        elif name in UNSHOWN:
            continue
        elif Array in (hint, *typing.get_args(hint)):
            properties[_name(name, True)] = {"type": "array", "items": NUMBER} if name in PER_ROTOR else _axes(*"xyz")
        else:
            kind = {bool: "boolean", int: "integer", float: "number", str: "string"}.get(hint, "object")
            properties[_name(name, True)] = {"type": kind}
    return {"title": f"skyloop.{record_name}", "type": "object", "properties": properties}


def is_ours(record_name: str) -> bool:
    return dataclasses.is_dataclass(getattr(skyloop_client.messages, record_name, None))


def _axes(*names: str) -> dict[str, Any]:
    return {"type": "object", "properties": dict.fromkeys(names, NUMBER)}


def _name(field: str, ours: bool) -> str:
    return f"{field}_{UNITS[field]}" if ours and field in UNITS else field


def _numbers(array: Array, field: str) -> Any:
    values = [value if math.isfinite(value) else None for value in array.ravel().tolist()]
    return dict(zip("xyz", values, strict=True)) if array.shape == (3,) and field not in PER_ROTOR else values


def _plain(value: Any) -> Any:
    """JSON has no NaN and no infinity. A plot gets a gap there."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value if isinstance(value, int | float | str | bool | None) else str(value)
