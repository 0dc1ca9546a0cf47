"""Names, types and bytes of ROS 2 messages: what others know them by, and what strangers may send."""

from __future__ import annotations

import hashlib
import re
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skyloop.links.ros2.settings
from skyloop.links.ros2.dds_types import dds_name, idl_class
from skyloop.links.ros2.settings import Ros2Settings, settings_from
from skyloop.recording.ros2.tf_frames import header
from skyloop.recording.ros2.types import STORE, decode, encode, nav_msgs, type_hash
from skyloop_client.errors import LinkError

OURS = sorted(kind for kind, built in STORE.types.items() if built.__module__ == "rosbags.usertypes")
"""Those of our own `types.idl`."""
DIGEST = "6ee965a36ba8e071abcda0da81a7ad616618ddef333a3a1744330d71f0e812a9"


def test_definitions_of_our_own_are_those_that_others_have() -> None:
    """Their hashes, as they were when nodes of Fast DDS and Cyclone were first tried with them."""
    assert len(OURS) == 107
    assert hashlib.sha256("".join(map(type_hash, OURS)).encode()).hexdigest() == DIGEST


def test_the_hash_that_a_jazzy_installation_tells() -> None:
    assert type_hash("std_msgs/msg/String") == "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"


def test_names_on_the_wire() -> None:
    assert dds_name("sensor_msgs/msg/Image") == "sensor_msgs::msg::dds_::Image_"
    assert dds_name("std_srvs/srv/Trigger_Request") == "std_srvs::srv::dds_::Trigger_Request_"
    assert (
        dds_name("rmw_dds_common/msg/ParticipantEntitiesInfo24")
        == "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_"
    )


@pytest.mark.parametrize("kind", [*OURS, "diagnostic_msgs/msg/DiagnosticArray", "nav_msgs/msg/Odometry"])
def test_cyclone_takes_every_type(kind: str) -> None:
    built = idl_class(kind)
    built.__idl__.populate()
    assert built.__idl__.idl_transformed_typename == dds_name(kind)


TAKEN = [
    "geometry_msgs/msg/PoseStamped", "nav_msgs/msg/Odometry", "std_msgs/msg/String",
    "trajectory_msgs/msg/MultiDOFJointTrajectory", *(kind for kind in OURS if kind.endswith("_Request")),
]  # fmt: skip


@settings(deadline=None)
@given(st.sampled_from(TAKEN), st.binary(max_size=200))
def test_any_bytes_are_a_message_or_refused(kind: str, data: bytes) -> None:
    for head in (b"", b"\0\1\0\0", b"\0\0\0\0"):
        try:
            decode(kind, head + data)
        except ValueError as error:
            assert str(error)


def test_promises_that_cannot_be_kept_are_refused() -> None:
    """Four billion poses in twenty bytes."""
    head = bytes(encode(nav_msgs.Path(header(0, "map"), [])))[:-4]
    with pytest.raises(ValueError, match=r"nav_msgs/msg/Path: .*sequence length"):
        decode("nav_msgs/msg/Path", head + struct.pack("<I", 0xFFFFFFFF))


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


def test_the_network_has_this_machine_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes here may stay on loopback. Cyclone refuses to start with one interface twice."""
    for host, interfaces in (("192.0.2.7", ["127.0.0.1", "192.0.2.7"]), ("127.0.0.1", [])):
        monkeypatch.setattr(skyloop.links.ros2.settings, "own_address", lambda host=host: host)
        config = Ros2Settings(reach="SUBNET").config() or ""
        assert re.findall(r'<NetworkInterface address="([^"]*)"', config) == interfaces
        assert '<Peer address="localhost"/>' in config


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
