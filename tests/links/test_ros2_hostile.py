"""Peers that are slow, late, wrong or loud. Nothing of theirs ends or slows a flight."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ros2_rig import DOMAIN, Flown, Node, flown, ns

from skyloop.links.ros2.link import MOST_WAITING
from skyloop_client.messages import Image

SENSORS = {"imu": {"kind": "imu", "rate_hz": 200}}
WRONG_TYPES = """
import sys, time
from dataclasses import dataclass
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.pub import DataWriter
from cyclonedds.topic import Topic
sys.path.insert(0, sys.argv[2])
from ros2_peer import CONFIG

@dataclass
class Same(IdlStruct, typename="geometry_msgs::msg::dds_::Twist_"):
    text: str

@dataclass
class Other(IdlStruct, typename="std_msgs::msg::dds_::String_"):
    data: str

domain = Domain(int(sys.argv[1]), CONFIG)
participant = DomainParticipant(int(sys.argv[1]))
quality = Qos(Policy.Reliability.Reliable(10**9))
writers = [DataWriter(participant, Topic(participant, "rt/drone/cmd_vel", Same), quality)]
writers.append(DataWriter(participant, Topic(participant, "rt/drone/goal_pose", Other), quality))
writers.append(DataWriter(participant, Topic(participant, "rq/drone/armRequest", Other), quality))
until = time.monotonic() + 1.0
while time.monotonic() < until:
    writers[0].write(Same("x" * 1000))
    for writer in writers[1:]:
        writer.write(Other("y" * 5000))
    time.sleep(0.01)
"""


@pytest.fixture(scope="module")
def it() -> Iterator[Flown]:
    with flown([{"name": "drone", "sensors": SENSORS}]) as it:
        yield it


@pytest.fixture(scope="module")
def node(it: Flown) -> Iterator[Node]:
    node = Node()
    yield node
    node.close()


@pytest.fixture(scope="module")
def third(it: Flown) -> Iterator[Node]:
    third = Node()
    yield third
    third.close()


def lives(it: Flown, node: Node) -> None:
    """It still answers, and time passes."""
    before = it.simulation.clock.now_ns
    it.run(0.1)
    assert it.simulation.clock.now_ns > before
    assert it.call(node, "/get_simulation_state", "simulation_interfaces/srv/GetSimulationState")["state"]["state"] == 1


@pytest.mark.processes
def test_three_participants_find_each_other(it: Flown, node: Node, third: Node) -> None:
    for one in (node, third):
        one.read("/drone/imu", "sensor_msgs/msg/Imu")
    writer, _ = it.link.publications._writers["/drone/imu"]
    it.serve_until(lambda: writer.readers == 2)
    for one in (node, third):
        # what we find at once, the node may find a moment later
        came: list[Any] = []
        for _ in range(100):
            it.run(0.05)
            came = one.take("/drone/imu", 1, 0.5)
            if came:
                break
        assert came
    lives(it, node)


@pytest.mark.processes
def test_a_late_joiner_gets_what_is_latched(it: Flown, third: Node) -> None:
    it.run(0.1)
    third.read("/tf_static", "tf2_msgs/msg/TFMessage", "latched")
    third.read("/robot_description", "std_msgs/msg/String", "latched")
    assert third.take("/tf_static")[0]["transforms"][0]["child_frame_id"] == "drone/imu"
    assert "<robot" in third.take("/robot_description")[0]["data"]


@pytest.mark.processes
def test_a_stopped_reader_slows_nobody(it: Flown, node: Node, third: Node) -> None:
    """A reliable reader whose process does not run at all. The other one still gets every image, far more of them than
    a writer keeps for one that has not confirmed."""
    vehicle, pixels = it.simulation.port.vehicle(), np.zeros((240, 320, 3), np.uint8)
    vehicle.publish("picture", Image(0, pixels), sender="test")
    third.read("/truth/drone/odometry", "nav_msgs/msg/Odometry", "reliable")
    for one in (third, node):
        one.read("/drone/picture", "sensor_msgs/msg/Image", "plain")
    writer, _ = it.link.publications._writers["/drone/picture"]
    it.wanted("/truth/drone/odometry")
    it.serve_until(lambda: writer.readers == 2)
    os.kill(third._process.pid, signal.SIGSTOP)
    try:
        before = it.simulation.now
        began = time.monotonic()
        it.run(10.0)
        # far more than it can hold for the stopped one; without waiting for it this takes a fraction of the time
        assert it.simulation.now == pytest.approx(before + 10.0) and time.monotonic() - began < 60.0
        for k in range(12):
            vehicle.publish("picture", Image(k + 1, pixels), sender="test")
            assert [ns(one["header"]["stamp"]) for one in node.take("/drone/picture", 1)] == [k + 1]
        assert it.link.participant.lost == 0
        lives(it, node)
    finally:
        os.kill(third._process.pid, signal.SIGCONT)


@pytest.mark.processes
def test_wrong_types_on_our_topics(it: Flown, node: Node, caplog: pytest.LogCaptureFixture) -> None:
    """One line says so, however many messages come."""
    folder = str(Path(__file__).parent)
    wrong = subprocess.Popen([sys.executable, "-c", WRONG_TYPES, str(DOMAIN), folder])
    it.serve_until(lambda: wrong.poll() is not None)
    assert wrong.wait() == 0
    assert it.simulation.port.vehicle().setpoint is None
    told = "/drone/goal_pose takes geometry_msgs/msg/PoseStamped; somebody publishes std_msgs/msg/String there"
    assert caplog.text.count(told) == 1
    lives(it, node)


@pytest.mark.processes
def test_a_flood_is_bounded(it: Flown, node: Node) -> None:
    assert node.reported(flood="/drone/cmd_vel", type="geometry_msgs/msg/Twist", count=4000) == "ok"
    assert it.gate.inbox.qsize() <= MOST_WAITING
    assert node.reported(flood="/drone/goal_pose", type="geometry_msgs/msg/PoseStamped", count=1500) == "ok"
    assert it.gate.inbox.qsize() <= MOST_WAITING
    lives(it, node)


@pytest.mark.processes
def test_random_bytes_on_the_ports_of_dds(it: Flown, node: Node) -> None:
    chance = random.Random(5)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
        for k in range(3000):
            data = chance.randbytes(chance.randrange(1, 400))
            if k % 2:
                # a header of RTPS 2.1 before it, so that it is looked into
                data = b"RTPS\x02\x01\x01\x10" + data
            for port in (7410, 7411, 7412, 7413):
                sender.sendto(data, ("127.0.0.1", 250 * DOMAIN + port))
            sender.sendto(data, ("239.255.0.1", 250 * DOMAIN + 7400))
    lives(it, node)
    # Cyclone would write a line or more about each
    assert os.fstat(it.link.participant._process._process._said.fileno()).st_size < 4000


@pytest.mark.processes
def test_only_loopback_is_heard() -> None:
    """A link joins the group of discovery on no other interface, and its sockets of services can send nowhere else."""
    before = groups()
    with flown([{"name": "drone"}], domain=DOMAIN + 1) as it:
        assert groups() - before <= {("lo", "0100FFEF")}
        sockets = it.link.participant._rtps._sockets
        assert [one.getsockname()[0] for one in sockets.all()] == ["127.0.0.1", "127.0.0.1", "239.255.0.1"]
        with pytest.raises(OSError, match="Invalid argument"):
            sockets.user.sendto(b"out", ("192.0.2.200", 9))


def groups() -> set[tuple[str, str]]:
    """Interfaces and the groups joined on them."""
    found, device = set(), ""
    for line in Path("/proc/net/igmp").read_text().splitlines()[1:]:
        words = line.split()
        if line[0].isdigit():
            device = words[1]
        else:
            found.add((device, words[0]))
    return found
