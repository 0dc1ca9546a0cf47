"""Makes the classes by which Cyclone DDS knows ROS 2 messages, from their definitions.

Messages are sent and taken as bytes. Cyclone needs the classes to tell others the type, and to refuse bytes that are
not of it."""

from __future__ import annotations

from functools import cache
from typing import Any

from rosbags.interfaces import Nodetype

from skyloop.recording.ros2.types import STORE
from skyloop_client.errors import SetupError

try:
    from cyclonedds.idl import make_idl_struct, types
except ImportError:
    raise SetupError("--ros2 needs Cyclone DDS: pip install 'skyloop[ros2]'") from None

SIMPLE: dict[str, Any] = {
    "bool": bool, "byte": types.byte, "int8": types.int8, "uint8": types.uint8, "int16": types.int16,
    "uint16": types.uint16,
    "int32": types.int32, "uint32": types.uint32, "int64": types.int64, "uint64": types.uint64,
    "float32": types.float32, "float64": types.float64, "string": str,
}  # fmt: skip


def dds_name(kind: str) -> str:
    """`sensor_msgs/msg/Image` is `sensor_msgs::msg::dds_::Image_` on the wire."""
    package, folder, name = kind.removesuffix("24").split("/")
    return f"{package}::{folder}::dds_::{name}_"


@cache
def idl_class(kind: str) -> Any:
    fields = {name: _idl_type(about) for name, about in STORE.fielddefs[kind][1]}
    return make_idl_struct(kind.replace("/", "_"), dds_name(kind), fields)


def _idl_type(about: Any) -> Any:
    what, rest = about
    if what == Nodetype.NAME:
        return idl_class(rest)
    if what == Nodetype.BASE:
        return SIMPLE[rest[0]]
    inner, length = rest
    many: Any = types
    return many.array[_idl_type(inner), length] if what == Nodetype.ARRAY else many.sequence[_idl_type(inner)]
