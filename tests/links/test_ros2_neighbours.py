"""Several simulators in one domain, and the process that speaks DDS when it ends, hangs, or is sent what ends it."""

from __future__ import annotations

import logging
import os
import signal
import socket
import struct
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ros2_rig import DOMAIN, Flown, Node, flown

from skyloop.cli.verbs import execute
from skyloop.links.ros2 import dds_client
from skyloop.links.ros2.dds_pipe import Ring
from skyloop.links.ros2.settings import settings_from
from skyloop_client.errors import LinkError

DRONE = [{"name": "drone", "sensors": {"imu": {"kind": "imu", "rate_hz": 200}}}]
STATE = "simulation_interfaces/srv/GetSimulationState"


@pytest.fixture(scope="module")
def it() -> Iterator[Flown]:
    with flown(DRONE) as it:
        yield it


@pytest.mark.processes
def test_a_namespace_keeps_two_simulators_apart(it: Flown, node: Node, caplog: pytest.LogCaptureFixture) -> None:
    with flown(DRONE, namespace="left/two", lockstep=None) as other:
        node.read("/left/two/clock", "rosgraph_msgs/msg/Clock")
        node.read("/left/two/drone/imu", "sensor_msgs/msg/Imu")
        other.wanted("/clock", "/drone/imu")
        other.run(0.5)
        assert node.take("/left/two/clock")
        # names have it, frames have not
        assert node.take("/left/two/drone/imu")[0]["header"]["frame_id"] == "drone/imu"
        assert not it.link.publications.wants("/clock")
        armed = other.call(node, "/left/two/drone/arm", "std_srvs/srv/SetBool", {"data": True})
        assert armed["success"] and other.simulation.port.vehicle().status.armed
        assert not it.simulation.port.vehicle().status.armed
        names = other.call(node, "/left/two/skyloop/list_parameters", "rcl_interfaces/srv/ListParameters")
        assert "pace" in names["result"]["names"]
        other.serve_until(lambda: "/left/two/skyloop" in node.graph(0.5)["nodes"])
        for one in (it, other):
            one.link.neighbours.look()
    assert "another simulator" not in caplog.text


@pytest.mark.processes
def test_two_simulators_without_one_say_what_to_do(it: Flown, caplog: pytest.LogCaptureFixture) -> None:
    with flown(DRONE) as other:
        for one in (it, other):
            one.serve_until(lambda: "another simulator" in caplog.text)
            one.link.neighbours.look()
            assert caplog.text.count("another simulator") == 1
            assert f"in domain {DOMAIN} answers /set_simulation_state too" in caplog.text
            assert "another ROS_DOMAIN_ID, or --link ros2:namespace=NAME" in caplog.text
            caplog.clear()


def test_namespaces_that_are_none() -> None:
    assert settings_from({}, "/a/b_2/").full("/clock") == "/a/b_2/clock"
    assert settings_from({}, "a").full("/parameter_events") == "/parameter_events"
    for wrong in ("2a", "a b", "a//b", "ü", "/"):
        with pytest.raises(LinkError, match="is none; give letters"):
            settings_from({}, wrong)


def test_a_bad_namespace_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["run", "hover", "--link", "ros2:namespace=2a"]) == 1
    said = capsys.readouterr().err
    assert "ros2: namespace '2a' is none" in said and len(said.strip().splitlines()) == 1


# ---- the process that speaks DDS

LOOPBACK = "127.0.0.1"
SLOW = pytest.mark.slow("the same with two more ends of the process")


def announcement() -> bytes:
    """Of a participant that lives for 0 s. Cyclone 11 removes its address before it has added it."""
    prefix = b"\x00\x00" + b"\x01" * 10
    address = struct.pack("<iI", 1, 9) + bytes(12) + socket.inet_aton(LOOPBACK)
    parameters = (
        (0x15, b"\x02\x03\x00\x00"), (0x16, bytes(4)), (0x50, prefix + b"\x00\x00\x01\xc1"), (0x32, address),
        (0x31, address), (0x02, bytes(8)), (0x58, struct.pack("<I", 0xFFFF)), (0x01, b""),
    )  # fmt: skip
    payload = b"\x00\x03\x00\x00" + b"".join(struct.pack("<HH", pid, len(value)) + value for pid, value in parameters)
    body = struct.pack("<HH", 0, 16) + bytes(4) + b"\x00\x01\x00\xc2" + struct.pack("<iI", 0, 1) + payload
    return b"RTPS\x02\x03\x00\x00" + prefix + struct.pack("<BBH", 0x15, 5, len(body)) + body


def announce() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(LOOPBACK))
        for k in range(8):
            sender.sendto(announcement(), (LOOPBACK, 7410 + 250 * DOMAIN + 2 * k))
        sender.sendto(announcement(), ("239.255.0.1", 7400 + 250 * DOMAIN))


@given(st.lists(st.tuples(st.integers(1, 400), st.integers(0, 3)), max_size=200))
def test_bytes_under_way_are_never_overwritten(orders: list[tuple[int, int]]) -> None:
    """Of each order the size, and how many older ones are carried out before the next."""
    ring, live, done = Ring(64, 1088), list[tuple[int, int]](), 0
    for size, ended in orders:
        start = ring.take(size, done)
        if start is not None:
            assert start >= 64 and start + size <= 1088
            assert all(start + size <= low or start >= high for low, high in live)
            live.append((start, start + size))
        gone = min(ended, len(live))
        done, live = done + gone, live[gone:]
    assert ring.take(1024, done + len(live)) == 64 and ring.take(1, done + len(live)) is None


@pytest.mark.processes
@pytest.mark.parametrize(
    "how", ["a datagram", pytest.param("kill -9", marks=SLOW), pytest.param("it hangs", marks=SLOW)]
)
def test_a_process_that_ends_is_started_again(
    it: Flown, how: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The flight goes on, one line says so, and a subscriber gets the same topics from the next process."""
    assert len(announcement()) == 164
    monkeypatch.setattr(dds_client, "PATIENCE_S", 0.5)
    process = it.link.participant._process
    before = process.process_id
    node = None
    try:
        if how != "a datagram":
            # which would end the node, too
            node = subscribed(it)
        it.run(0.1)
        caplog.clear()
        if how == "kill -9":
            os.kill(before, signal.SIGKILL)
        elif how == "it hangs":
            os.kill(before, signal.SIGSTOP)
        for _ in range(2000):
            if how == "a datagram":
                announce()
            now = it.simulation.clock.now_ns
            it.run(0.2)
            assert it.simulation.clock.now_ns == now + 200_000_000
            if process.process_id != before:
                break
        assert process.process_id != before
        node = node or subscribed(it)
        it.serve_until(lambda: it.link.publications.wants("/drone/imu"))
        node.take("/drone/imu", 1000, 0.5)
        it.run(0.2)
        assert node.take("/drone/imu", 20)[-1]["header"]["stamp"]["sec"] >= it.simulation.clock.now_ns // 10**9 - 1
        # latched, of each process that it has known
        assert len(node.take("/tf_static", 2, 2.0)) == (1 if how == "a datagram" else 2)
        it.serve_until(lambda: "/skyloop" in node.graph(0.5)["nodes"])
        lines = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
        assert len(lines) == 1 and "is started again, the flight goes on" in lines[0]
        assert ("SIGSEGV" if how == "a datagram" else "SIGKILL") in lines[0]
    finally:
        if node is not None:
            node.close()


def subscribed(it: Flown) -> Node:
    node = Node()
    node.read("/drone/imu", "sensor_msgs/msg/Imu")
    node.read("/tf_static", "tf2_msgs/msg/TFMessage", "latched")
    it.wanted("/drone/imu")
    return node
