"""Names, types and bytes of ROS 2 messages, against rosbags' type store and its encoder."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rosbags.typesys import Stores, get_types_from_idl, get_typestore

from skyloop.links.ros2.idl_types import dds_name, idl_class
from skyloop.links.ros2.settings import Ros2Settings, settings_from
from skyloop.links.ros2.type_hash import type_hash
from skyloop.recording.formats.ros2_decoding import decode
from skyloop.recording.formats.ros2_definitions import FIELDS, encode, schema_name
from skyloop_client.errors import LinkError

STORE = get_typestore(Stores.ROS2_JAZZY)
STORE.register(get_types_from_idl(Path(__file__).with_name("ros2_types.idl").read_text()))
KNOWN = [kind for kind in FIELDS if schema_name(kind) in STORE.fielddefs and not kind.startswith("rmw_dds_common")]


def test_hashes_are_those_of_rosbags() -> None:
    assert len(KNOWN) > 110
    assert [kind for kind in KNOWN if type_hash(kind) != STORE.hash_rihs01(schema_name(kind))] == []


def test_the_hash_that_a_jazzy_installation_tells() -> None:
    assert type_hash("std_msgs/String") == "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"


def test_names_on_the_wire() -> None:
    assert dds_name("sensor_msgs/Image") == "sensor_msgs::msg::dds_::Image_"
    assert dds_name("std_srvs/srv/Trigger_Request") == "std_srvs::srv::dds_::Trigger_Request_"
    assert dds_name("rmw_dds_common/ParticipantEntitiesInfo24") == "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_"


@pytest.mark.parametrize("kind", sorted(FIELDS))
def test_cyclone_takes_every_type(kind: str) -> None:
    made = idl_class(kind)
    made.__idl__.populate()
    assert made.__idl__.idl_transformed_typename == dds_name(kind)


def example(kind: str, first: int = 0) -> Any:
    """A message of rosbags with something different in every field."""
    made = STORE.types[schema_name(kind)]
    values = {}
    what: Any
    rest: Any
    for k, (name, (what, rest)) in enumerate(STORE.fielddefs[schema_name(kind)][1], start=first + 1):
        if what.name == "NAME":
            values[name] = example(rest.replace("/msg/", "/"), 7 * k)
        elif what.name == "BASE":
            values[name] = {"string": f"text {k}", "bool": True}.get(
                rest[0], float(k) if "float" in rest[0] else k % 100
            )
        else:
            (inner, about), length = rest
            count = length or 3
            if inner.name == "NAME":
                values[name] = [example(about.replace("/msg/", "/"), 5 * k + i) for i in range(count)]
            elif about[0] == "string":
                values[name] = [f"item {i}" for i in range(count)]
            else:
                values[name] = (np.arange(count) + k).astype(about[0])
    return made(**values)


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, dict):
        return all(same(value, getattr(theirs, name)) for name, value in ours.items())
    if isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return bool(np.array_equal(ours, theirs))


@pytest.mark.parametrize("kind", sorted(KNOWN))
def test_what_rosbags_writes_is_read(kind: str) -> None:
    message = example(kind)
    for little in (True, False):
        data = bytes(STORE.serialize_cdr(message, schema_name(kind), little_endian=little))
        assert same(decode(kind, data), message)


@given(st.sampled_from(sorted(KNOWN)), st.binary(max_size=200))
def test_any_bytes_are_a_message_or_refused(kind: str, data: bytes) -> None:
    for head in (b"", b"\0\1\0\0", b"\0\0\0\0"):
        try:
            decode(kind, head + data)
        except ValueError as error:
            assert str(error)


def test_promises_that_cannot_be_kept_are_refused() -> None:
    """Four billion poses in twenty bytes."""
    head = encode("nav_msgs/Path", (((0, 0), "map"), []))[:-4]
    with pytest.raises(ValueError, match="promised"):
        decode("nav_msgs/Path", head + struct.pack("<I", 0xFFFFFFFF))


# ---- who may hear it


def test_this_machine_only_unless_told() -> None:
    settings = settings_from({})
    assert settings == Ros2Settings(0, "LOCALHOST", ())
    config = settings.config() or ""
    assert 'NetworkInterface address="127.0.0.1" multicast="true"' in config
    assert "<AllowMulticast>spdp</AllowMulticast>" in config and '<Peer address="localhost"/>' in config


@pytest.mark.parametrize(
    ("environment", "reach"),
    [
        ({"ROS_LOCALHOST_ONLY": "1", "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}, "LOCALHOST"),
        ({"ROS_LOCALHOST_ONLY": "0"}, "SUBNET"),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}, "SUBNET"),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "localhost"}, "LOCALHOST"),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF"}, "OFF"),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT"}, "SYSTEM_DEFAULT"),
    ],
)
def test_ros2_settings_of_the_environment(environment: dict[str, str], reach: str) -> None:
    assert settings_from({"ROS_DOMAIN_ID": "17", **environment}).reach == reach
    assert settings_from({"ROS_DOMAIN_ID": "17", **environment}).domain == 17


def test_ros2_settings_of_peers() -> None:
    given = settings_from({"ROS_STATIC_PEERS": "10.0.0.7; 10.0.0.8"})
    peers = given.config() or ""
    # they are elsewhere, so loopback alone does not do; others are not looked for on the network
    assert not given.stays_here and 'autodetermine="true" multicast="false"' in peers
    assert '<Peer address="10.0.0.7"/><Peer address="10.0.0.8"/>' in peers
    assert "<Peer" not in (Ros2Settings(reach="OFF").config() or "")
    assert "127.0.0.1" not in (Ros2Settings(reach="SUBNET").config() or "")


@pytest.mark.parametrize(
    "environment",
    [
        {"ROS_DOMAIN_ID": "233"}, {"ROS_DOMAIN_ID": "-1"}, {"ROS_DOMAIN_ID": "one"}, {"ROS_DOMAIN_ID": "²"},
        {"ROS_LOCALHOST_ONLY": "yes"}, {"ROS_AUTOMATIC_DISCOVERY_RANGE": "EVERYWHERE"},
        {"ROS_STATIC_PEERS": "no host at all"}, {"ROS_STATIC_PEERS": 'a"b'},
    ],
)  # fmt: skip
def test_ros2_settings_that_are_wrong(environment: dict[str, str]) -> None:
    with pytest.raises(LinkError, match=f"{next(iter(environment))} is '.*'; give"):
        settings_from(environment)
