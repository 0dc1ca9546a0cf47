"""Types and qualities of service of ROS 2 in the terms of Cyclone DDS.

Messages are sent and taken as bytes. Cyclone needs the classes to tell others the type, and to refuse bytes that are
not of it."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from rosbags.interfaces import Nodetype

from skyloop.recording.ros2.types import STORE
from skyloop_client.errors import SetupError
from skyloop_client.streams import NS_PER_S

try:
    from cyclonedds.core import Policy, Qos
    from cyclonedds.idl import IdlStruct, make_idl_struct, types
except ImportError:
    raise SetupError("--ros2 needs Cyclone DDS: pip install 'skyloop[ros2]'") from None

SIMPLE: dict[str, object] = {
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
def idl_class(kind: str) -> type[IdlStruct]:
    fields = {name: _idl_type(about) for name, about in STORE.fielddefs[kind][1]}
    return make_idl_struct(kind.replace("/", "_"), dds_name(kind), fields)


def _idl_type(about: Any) -> object:
    what, rest = about
    if what == Nodetype.NAME:
        return idl_class(rest)
    if what == Nodetype.BASE:
        return SIMPLE[rest[0]]
    inner, length = rest
    many: Any = types
    return many.array[_idl_type(inner), length] if what == Nodetype.ARRAY else many.sequence[_idl_type(inner)]


# ---- quality of service


# first our own module, which says in one line what is missing without Cyclone


Quality = Literal[
    "sensor", "large", "lossy", "state", "newest", "latched", "order", "stream", "estimate", "answers", "whole"
]
NO_WAIT = Policy.Reliability.Reliable(0)
"""A reader that does not keep up loses messages; the simulation never waits for it."""
PLAIN_CDR = Policy.DataRepresentation(use_cdrv0_representation=True)
BY_QUALITY: dict[Quality, tuple[object, ...]] = {
    # what is kept for a reader that lost something: a second of an IMU, and 10 images, which are megabytes. With the
    # last so many, Cyclone never refuses a message for the sake of a reader that has stopped
    "sensor": (NO_WAIT, Policy.History.KeepLast(200), Policy.Durability.Volatile),
    "large": (NO_WAIT, Policy.History.KeepLast(10), Policy.Durability.Volatile),
    # rmw's sensor data, for sensors if the user says so
    "lossy": (Policy.Reliability.BestEffort, Policy.History.KeepLast(5), Policy.Durability.Volatile),
    # rmw's default
    "state": (NO_WAIT, Policy.History.KeepLast(10), Policy.Durability.Volatile),
    # such as the clock
    "newest": (NO_WAIT, Policy.History.KeepLast(1), Policy.Durability.Volatile),
    # late readers still get the last message
    "latched": (
        NO_WAIT, Policy.History.KeepLast(1), Policy.Durability.TransientLocal,
        Policy.DurabilityService(0, Policy.History.KeepLast(1), -1, -1, -1),
    ),
    # nothing is dropped, and the writer waits: for measuring
    "whole": (Policy.Reliability.Reliable(10 * NS_PER_S), Policy.History.KeepAll, Policy.Durability.Volatile),
    # what we read: single orders, estimates of any publisher, and streams of which only the newest count
    "order": (NO_WAIT, Policy.History.KeepLast(16), Policy.Durability.Volatile),
    "estimate": (Policy.Reliability.BestEffort, Policy.History.KeepLast(16), Policy.Durability.Volatile),
    "stream": (Policy.Reliability.BestEffort, Policy.History.KeepLast(1), Policy.Durability.Volatile),
    # answers that time waits for: none may take the place of another
    "answers": (Policy.Reliability.BestEffort, Policy.History.KeepLast(1000), Policy.Durability.Volatile),
}  # fmt: skip


def qos(quality: Quality, user_data: str = "") -> Qos:
    return Qos(*BY_QUALITY[quality], PLAIN_CDR, Policy.Userdata(user_data.encode()))
