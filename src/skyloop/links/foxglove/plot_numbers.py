"""Converts records to plain numbers for Foxglove's plots: JSON, with units in the field names."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

import skyloop_client.messages
from skyloop.core.frames import euler_from_quat
from skyloop.recording.run_folder import is_bulk
from skyloop_client.messages import Array
from skyloop_client.schema import SUFFIXES, RecordField, record_fields
from skyloop_client.streams import NS_PER_S

UNSHOWN = ("covariance",)
"""Covariances have too many numbers for a plot. Their sigmas are plotted."""
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
    known = _fields(type(record).__name__)
    sec, nsec = divmod(int(record.t_ns), NS_PER_S)
    out: dict[str, Any] = {"timestamp": {"sec": sec, "nsec": nsec}}
    for field in dataclasses.fields(record):
        value, told = getattr(record, field.name), known.get(field.name)
        if field.name in ("t_ns", *UNSHOWN) or is_bulk(value) or getattr(value, "size", 1) > MOST_NUMBERS:
            continue
        if told is not None and field.name == ATTITUDE[0]:
            angles = np.degrees(euler_from_quat(value)).tolist()
            out[ATTITUDE[1]] = dict(zip(("roll", "pitch", "yaw"), angles, strict=True))
            continue
        name = field.name if told is None else plot_name(told)
        out[name] = _numbers(value, told) if isinstance(value, np.ndarray) else _plain(value)
    return out


def schema_of(record_name: str) -> dict[str, Any] | None:
    """A JSON Schema. None for user-defined records, whose fields are unknown until the first record."""
    known = _fields(record_name)
    if not known:
        return None
    properties: dict[str, Any] = {"timestamp": STAMP}
    for name, field in known.items():
        if name == ATTITUDE[0]:
            properties[ATTITUDE[1]] = _axes("roll", "pitch", "yaw")
        elif field.dtype and name not in UNSHOWN:
            properties[plot_name(field)] = _axes(*"xyz") if _is_vector(field) else {"type": "array", "items": NUMBER}
        elif name not in ("t_ns", *UNSHOWN):
            kind = {bool: "boolean", int: "integer", float: "number", str: "string"}.get(field.type, "object")
            properties[plot_name(field)] = {"type": kind}
    return (
        {"title": f"skyloop.{record_name}", "type": "object", "properties": properties} if len(properties) > 1 else None
    )


def plot_name(field: RecordField) -> str:
    """With the unit, unless the name has it: position_m, latitude_deg, field_tesla."""
    if not field.note.unit or field.name.endswith((*SUFFIXES, "_tesla")):
        return field.name
    return f"{field.name}_{field.note.unit.lower().replace('/', '_').replace('²', '2')}"


def _fields(record_name: str) -> dict[str, RecordField]:
    """Of our own records. Fields of user-defined ones keep their names."""
    record = getattr(skyloop_client.messages, record_name, None)
    return record_fields(record) if dataclasses.is_dataclass(record) else {}


def _is_vector(field: RecordField | None) -> bool:
    """Not one number per rotor, even if there are three."""
    return field is None or field.note.shape == (3,)


def _axes(*names: str) -> dict[str, Any]:
    return {"type": "object", "properties": dict.fromkeys(names, NUMBER)}


def _numbers(array: Array, field: RecordField | None) -> Any:
    values = [value if math.isfinite(value) else None for value in array.ravel().tolist()]
    return dict(zip("xyz", values, strict=True)) if array.shape == (3,) and _is_vector(field) else values


def _plain(value: Any) -> Any:
    """JSON has no NaN and no infinity. A plot gets a gap there."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value if isinstance(value, int | float | str | bool | None) else str(value)
