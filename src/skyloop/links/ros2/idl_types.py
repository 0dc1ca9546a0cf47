"""Makes the classes by which Cyclone DDS knows ROS 2 messages, from their definitions.

Messages are sent and taken as bytes. Cyclone needs the classes to tell others the type, and to refuse bytes that are
not of it."""

from __future__ import annotations

from functools import cache
from typing import Any

from skyloop.recording.formats.ros2_definitions import FIELD, FIELDS, schema_name
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
    """`sensor_msgs/Image` is `sensor_msgs::msg::dds_::Image_` on the wire."""
    package, folder, name = schema_name(kind.removesuffix("24")).split("/")
    return f"{package}::{folder}::dds_::{name}_"


@cache
def idl_class(kind: str) -> Any:
    fields = {}
    for one, brackets, length, name in FIELD.findall(FIELDS[kind]):
        inner = SIMPLE[one] if one in SIMPLE else idl_class(one)
        if brackets:
            many: Any = types
            inner = many.array[inner, int(length)] if length else many.sequence[inner]
        fields[name] = inner
    return make_idl_struct(kind.replace("/", "_"), dds_name(kind), fields)
