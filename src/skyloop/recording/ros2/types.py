"""The types of ROS 2 messages and their bytes (CDR): rosbags' of Jazzy, and those of `types.idl`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from rosbags.serde import SerdeError
from rosbags.typesys import Stores, get_types_from_idl, get_typestore
from rosbags.typesys.store import Typestore

RosMessage = Any
"""An object of one of rosbags' classes: its fields are attributes, and `__msgtype__` its type's name."""
MOST_ITEMS = 1 << 20
"""Of a sequence that is read, such as the poses of a path."""


def _all_types() -> Typestore:
    store = get_typestore(Stores.ROS2_JAZZY)
    store.max_sequence_length = MOST_ITEMS
    definitions = get_types_from_idl(Path(__file__).with_name("types.idl").read_text(encoding="utf-8"))
    for name in definitions:
        store.fielddefs.pop(name, None)
    store.register(definitions)
    return store


STORE = _all_types()


def message_class(name: str) -> type[RosMessage]:
    """The class of a ROS 2 message, such as "std_msgs/msg/Float64". Its arguments are the fields."""
    return STORE.types[name]


def _package(name: str, folder: str = "msg") -> SimpleNamespace:
    """The classes of a package's messages, as attributes."""
    start = f"{name}/{folder}/"
    found = {kind.removeprefix(start): made for kind, made in STORE.types.items() if kind.startswith(start)}
    return SimpleNamespace(**found)


action_msgs = _package("action_msgs")
builtin_interfaces = _package("builtin_interfaces")
diagnostic_msgs = _package("diagnostic_msgs")
geometry_msgs = _package("geometry_msgs")
mavros_msgs = _package("mavros_msgs")
nav_msgs = _package("nav_msgs")
radar_msgs = _package("radar_msgs")
rcl_interfaces = _package("rcl_interfaces")
rmw_dds_common = _package("rmw_dds_common")
rosgraph_msgs = _package("rosgraph_msgs")
sensor_msgs = _package("sensor_msgs")
simulation_interfaces = _package("simulation_interfaces")
std_msgs = _package("std_msgs")
step_action = _package("simulation_interfaces", "action")
tf2_msgs = _package("tf2_msgs")
unique_identifier_msgs = _package("unique_identifier_msgs")
vision_msgs = _package("vision_msgs")
visualization_msgs = _package("visualization_msgs")


def encode(message: RosMessage) -> bytearray:
    """The bytes of a message, of which nothing else holds a view."""
    with STORE.serialize_cdr(message, message.__msgtype__, little_endian=True) as view:
        data = view.obj
    assert isinstance(data, bytearray)
    return data


def decode(kind: str, data: bytes | memoryview) -> RosMessage:
    """A message from its bytes, which come from strangers: whatever is wrong with them raises ValueError."""
    try:
        return STORE.deserialize_cdr(data, kind)
    except SerdeError as error:
        raise ValueError(f"{kind}: {error}") from None


@cache
def schema_text(kind: str) -> str:
    """In the form of `ros2msg`: the fields, then the definition of every other type they need."""
    return STORE.generate_msgdef(kind, ros_version=2)[0]


type_hash = cache(STORE.hash_rihs01)
"""By which ROS 2 nodes since Iron tell whether they mean the same type (RIHS01)."""
