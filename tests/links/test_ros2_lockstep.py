"""Time that waits for a node, a bag that a node recorded, and the command line."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ros2_rig import DOMAIN, Node, flown, ns
from rosbags.highlevel import AnyReader

from skyloop.cli.verbs import execute
from skyloop.links.ros2 import time_control
from skyloop.links.ros2.time_control import Lockstep, parsed
from skyloop.recording.recording import Recording
from skyloop.recording.ros2.bag import Mcap
from skyloop_client.errors import LinkError
from skyloop_client.messages import Arm, Message, TakeOff
from skyloop_client.streams import Rate

ANSWERS = "/drone/cmd_vel_stamped"


def flight(node: Node, times: int) -> tuple[Any, dict[str, Any]]:
    """`times`: how often the node answers each message."""
    with flown([{"name": "drone"}], lockstep=f"{ANSWERS}@50") as it:
        places = []
        it.simulation.bus.on("truth/drone", lambda message: places.append(message.data.position.copy()))
        it.simulation.port.vehicle().send(Arm(), TakeOff(1.0), by="test")
        assert (
            node.reported(echo="/truth/drone/odometry", type="nav_msgs/msg/Odometry", to=ANSWERS, times=times) == "ok"
        )
        it.run(1.5)
        summary = it.link.summary()
        assert node.reported(stop=True) == "ok"
    return np.array(places), summary


@pytest.mark.processes
def test_ros2_lockstep_gives_the_same_flight_twice(node: Node) -> None:
    """Whatever the scheduler does between the two processes, and however often the node answers."""
    (first, reported), (second, loud) = flight(node, 1), flight(node, 4)
    assert np.array_equal(first, second) and len(first) > 70
    assert reported["lockstep"]["answers"] >= 74 and reported["lockstep"]["surplus"] == 0
    assert loud["lockstep"]["answers"] == reported["lockstep"]["answers"] and loud["lockstep"]["surplus"] > 150
    # it went east, ever faster, and a little south
    assert first[-1][0] > 0.3 and first[-1][1] < -0.05


@pytest.mark.processes
def test_ros2_lockstep_without_a_node_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A node that was there and is silent is given up after a while."""
    monkeypatch.setattr(time_control, "PATIENCE_S", 0.2)
    monkeypatch.setattr(time_control, "SETTLE_S", 0.0)
    monkeypatch.setattr(time_control, "FIRST_S", 0.01)
    with flown([{"name": "drone"}], lockstep=ANSWERS) as it:
        it.link.lockstep.is_there = lambda: True
        it.run(0.1)
        assert it.simulation.now == pytest.approx(0.1)
        it.link.lockstep.answer(None, lambda: None)
        it.run(0.1)
        assert [event.kind for event in [it.simulation.latest("link/drone")]] == ["lost"]
    assert f"nobody answers on {ANSWERS}" in caplog.text


def test_answers_without_a_stamp_wait_their_turn(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One is obeyed at each instant, at whatever moment they came, and no more are kept than a node should need."""
    monkeypatch.setattr(time_control, "SETTLE_S", 0.0)
    monkeypatch.setattr(time_control, "MOST_WAITING", 4)
    rate, obeyed = Rate(50), list[str]()
    keep = Lockstep("/a", rate, lambda: True, lambda: None)
    for name in "abcde":
        keep.answer(None, partial(obeyed.append, name))
    assert obeyed == [] and caplog.text.count("no more are kept") == 1
    for k in range(4):
        # the stop is chosen again after an answer; then time may pass to the next instant
        assert keep.blocks_time(rate.due_ns(k) + 1) and not keep.blocks_time(rate.due_ns(k) + 1)
        assert obeyed == list("abcd")[: k + 1]
    assert keep.blocks_time(rate.due_ns(4) + 1) and keep.blocks_time(rate.due_ns(4) + 1)


def test_answers_with_an_empty_stamp_are_told_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(time_control, "SETTLE_S", 0.0)
    rate, obeyed = Rate(50), list[str]()
    keep = Lockstep("/a", rate, lambda: True, lambda: None)
    for name, stamp_ns in (("a", 0), ("b", 0), ("c", 20_000_000), ("d", 0)):
        keep.answer(stamp_ns, partial(obeyed.append, name))
    assert keep.blocks_time(1) and keep.blocks_time(rate.due_ns(1) + 1) and obeyed == ["a", "c"]
    assert keep.blocks_time(rate.due_ns(2) + 1) and keep.surplus == 2
    assert caplog.text.count("answers on /a have no stamp") == 1


@pytest.mark.processes
def test_ros2_lockstep_topics_and_rates() -> None:
    assert parsed("/drone/cmd_vel") == ("/drone/cmd_vel", Rate(50))
    assert parsed("/drone/cmd_vel@30") == ("/drone/cmd_vel", Rate(30))
    for wrong in ("/a@no", "/a@0", "/a@-3", "/a@1/0"):
        with pytest.raises(LinkError, match="is no rate"):
            parsed(wrong)
    with (
        pytest.raises(LinkError, match=r"commands come on .*/drone/cmd_vel"),
        flown([{"name": "drone"}], lockstep="/a"),
    ):
        pass


# ---- a bag

BAGGED = {
    "/tf_static": ["tf2_msgs/msg/TFMessage", "latched"],
    "/tf": ["tf2_msgs/msg/TFMessage", "reliable"],
    "/truth/drone/odometry": ["nav_msgs/msg/Odometry", "reliable"],
    "/drone/imu": ["sensor_msgs/msg/Imu", "best effort"],
    "/drone/gnss": ["sensor_msgs/msg/NavSatFix", "best effort"],
    "/drone/gnss/velocity": ["geometry_msgs/msg/TwistWithCovarianceStamped", "reliable"],
    "/drone/down": ["sensor_msgs/msg/Range", "best effort"],
    "/drone/lidar/points": ["sensor_msgs/msg/PointCloud2", "best effort"],
    "/drone/battery": ["sensor_msgs/msg/BatteryState", "reliable"],
}
MOUNT = {"position": [0.12, -0.03, 0.05], "rotation_deg": [10.0, 25.0, -40.0]}
SENSORS = {
    "imu": {"kind": "imu", "rate_hz": 100, "mount": MOUNT},
    "gnss": {"kind": "gnss", "startup_delay": 0.0},
    "down": {"kind": "rangefinder", "mount": {"rotation_deg": [0.0, 90.0, 0.0]}},
    "lidar": {"kind": "lidar", "preset": "vlp16", "rate_hz": 10, "points_per_second": 20000},
}


def in_bag(path: Path) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    with AnyReader([path]) as reader:
        for connection, _, data in reader.messages():
            if connection.topic in BAGGED:
                message = reader.deserialize(data, connection.msgtype)
                found.setdefault(connection.topic, []).append(message)
    return found


def plain(message: Any) -> Any:
    """Comparable, whichever type store a message comes from."""
    if hasattr(message, "__dataclass_fields__"):
        return {
            name: plain(getattr(message, name))
            for name in message.__dataclass_fields__
            if name.islower() and name[0] != "_"
        }
    if isinstance(message, list):
        return [plain(one) for one in message]
    return message.tobytes() if isinstance(message, np.ndarray) else repr(message)


@pytest.mark.processes
def test_ros2_bag_of_a_node_equals_our_export(node: Node, tmp_path: Path) -> None:
    sent: list[Message] = []
    with flown([{"name": "drone", "position": [1.0, -2.0], "yaw_deg": 70.0, "sensors": SENSORS}]) as it:
        assert node.reported(record=str(tmp_path / "theirs"), topics=BAGGED) == "ok"
        it.wanted(*BAGGED)
        it.simulation.bus.on_every(sent.append)
        it.simulation.port.vehicle().send(Arm(), TakeOff(), by="test")
        it.run(1.0)
        recording = Recording(tmp_path, dict(it.simulation.bus.infos), {"vehicle": "drone"})
        it.comes(lambda: False, 0.3)
        assert node.reported(stop=True) == "ok"
    ours = Mcap(recording)
    ours.add([message for message in sent if isinstance(message, Message)])
    ours.finish()
    theirs, exported = in_bag(tmp_path / "theirs"), in_bag(tmp_path / "ros2")
    for topic in BAGGED:
        assert [plain(one) for one in theirs[topic]] == [plain(one) for one in exported[topic]], topic
    assert len(theirs["/drone/imu"]) > 90 and ns({"sec": 0, "nanosec": 5}) == 5


# ---- the command line


@pytest.mark.processes
def test_the_command_line_flies_with_nodes(
    node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pilot of the scenario flies, and a node in another process sees its clock."""
    monkeypatch.setenv("ROS_DOMAIN_ID", str(DOMAIN))
    node.read("/clock", "rosgraph_msgs/msg/Clock")
    node.read("/robot_description", "std_msgs/msg/String", "latched")
    # with best effort a reliable reader gets nothing
    node.read("/drone/imu", "sensor_msgs/msg/Imu", "plain")
    node.read("/mavros/imu/data_raw", "sensor_msgs/msg/Imu")
    words = ["run", "hover", "--json", "--out", str(tmp_path / "run"), "--set", "duration=2"]
    assert execute([*words, "--link", "ros2:sensor_qos=best_effort"]) == 0
    assert json.loads(capsys.readouterr().out)["links"]["ros2"]["sent"] > 0
    assert len(node.take("/clock", 2)) >= 2 and "<robot" in node.take("/robot_description")[0]["data"]
    assert node.take("/mavros/imu/data_raw") and not node.take("/drone/imu", 1, 0.0)


@pytest.mark.parametrize(
    ("verb", "arguments", "environment", "line"),
    [
        ("run", ["--ros2"], {"ROS_DOMAIN_ID": "999"}, "ROS_DOMAIN_ID is '999'"),
        ("loop", ["--pilot", "scenario", "--ros2"], {"ROS_DOMAIN_ID": "999"}, "ROS_DOMAIN_ID is '999'"),
        ("run", ["--ros2", "--ros2-lockstep", "/drone/cmd_vel@x"], {}, "is no rate"),
        ("run", ["--ros2-lockstep", "/drone/cmd_vel"], {}, "--ros2-lockstep is for --ros2"),
        ("run", ["--ros2", "--seeds", "1..2"], {}, "leave out --seed"),
        ("run", ["--link", "ros2:sensor_qos=sometimes"], {}, "known: best_effort, reliable"),
    ],
)
def test_what_is_wrong_is_one_line(
    verb: str,
    arguments: Any,
    environment: Any,
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert execute([verb, "hover", "--out", str(tmp_path / "run"), *arguments]) == 1
    said = capsys.readouterr().err
    assert line in said and len(said.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()
