"""Nodes on other people's DDS, compiled here: Debian's Fast DDS, as ROS 2 uses by default, and Cyclone DDS in C."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ros2_fast import SOURCE, FastNode, compiled
from ros2_rig import DOMAIN, PATIENCE_S, Flown, Node, flown, ns

from link_rig import eventually
from skyloop_client.messages import Arm, Disarm, TakeOff, Velocity

pytestmark = pytest.mark.slow("compiles nodes on two other middlewares")
CYCLONE = {
    "default": "",
    "humble": '<General><Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces></General>',
    "jazzy": "<General><AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto"
    "</ParticipantIndex><MaxAutoParticipantIndex>32</MaxAutoParticipantIndex><Peers>"
    '<Peer address="localhost"/></Peers></Discovery>',
}
"""What rmw_cyclonedds sets: nothing, with Humble's ROS_LOCALHOST_ONLY=1, with Jazzy's range of LOCALHOST."""
SI = "simulation_interfaces/srv"
RCL = "rcl_interfaces/srv"
SET_BOOL, TRIGGER = "std_srvs/srv/SetBool", "std_srvs/srv/Trigger"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("fast"))


@pytest.fixture(scope="module")
def it() -> Iterator[Flown]:
    with flown([{"name": "drone", "sensors": {"imu": {"kind": "imu", "rate_hz": 200}}}], world="blocks") as it:
        yield it


@pytest.fixture(scope="module", params=["default", "localhost", "jazzy"])
def node(it: Flown, program: Path, request: pytest.FixtureRequest) -> Iterator[FastNode]:
    """With ROS 2's settings: none, Humble's ROS_LOCALHOST_ONLY=1, Jazzy's range of LOCALHOST."""
    node = FastNode(program, request.param)
    yield node
    node.close()


def call(it: Flown, node: FastNode, service: str, kind: str, values: Any = None) -> Any:
    return it.call(node, service, kind, values)  # type: ignore[arg-type]


@pytest.mark.needs("libfastrtps.so", "g++")
def test_fast_dds_hears_and_commands(it: Flown, node: FastNode) -> None:
    node.read("/clock", "rosgraph_msgs/msg/Clock")
    node.read("/robot_description", "std_msgs/msg/String", "latched")
    it.wanted("/clock")
    stamps: list[int] = []
    for _ in range(200):
        # what we find at once, the node may find a moment later
        it.run(0.1)
        stamps += [ns(one["clock"]) for one in node.take("/clock", 1, 0.1)]
        if len(stamps) >= 20:
            break
    assert len(stamps) >= 20 and stamps == sorted(stamps)
    assert "<robot" in node.take("/robot_description")[0]["data"]
    vehicle = it.simulation.port.vehicle()
    vehicle.send(Arm(), TakeOff(), by="test")
    twist = {"linear": {"x": 1.5, "y": -0.5, "z": 0.25}, "angular": {"z": 0.3}}
    for _ in range(40):
        assert node.write("/drone/cmd_vel", "geometry_msgs/msg/Twist", twist) == 1
        if it.comes(lambda: isinstance(vehicle.setpoint, Velocity), 0.5):
            break
    assert vehicle.setpoint.velocity.tolist() == [1.5, -0.5, 0.25] and vehicle.setpoint.yaw_rate == 0.3
    vehicle.send(Disarm(), by="test")


@pytest.mark.needs("libfastrtps.so", "g++")
def test_fast_dds_gets_sensors_by_a_plain_subscription(it: Flown, node: FastNode) -> None:
    """`create_subscription(Imu, "/drone/imu", callback, 10)`: reliable, keep the last 10, volatile."""
    node.read("/drone/imu", "sensor_msgs/msg/Imu", "plain")
    it.wanted("/drone/imu")
    stamps: list[int] = []
    for _ in range(200):
        it.run(0.02)
        stamps += [ns(one["header"]["stamp"]) for one in node.take("/drone/imu", 1, 0.1)]
        if len(stamps) >= 20:
            break
    assert len(stamps) >= 20 and stamps == sorted(stamps)


@pytest.mark.needs("libfastrtps.so", "g++")
def test_services_answer_fast_dds(it: Flown, node: FastNode) -> None:
    """`ros2 service call /drone/arm ...` of Humble and Jazzy. No question is executed twice."""
    vehicle = it.simulation.port.vehicle()
    for on in (True, False, True, False):
        before = it.link.services.calls
        reply = call(it, node, "/drone/arm", SET_BOOL, {"data": on})
        assert reply == {"success": True, "message": ""} and vehicle.status.armed == on
        assert it.link.services.calls == before + 1
    refused = call(it, node, "/mavros/set_mode", "mavros_msgs/srv/SetMode", {"custom_mode": "ACRO"})
    assert refused == {"mode_sent": False}
    reply = call(it, node, "/drone/land", TRIGGER)
    assert not reply["success"] and "disarmed" in reply["message"]


@pytest.mark.needs("libfastrtps.so", "g++")
def test_a_client_of_each_kind_gets_its_own_reply(it: Flown, node: FastNode) -> None:
    """Both are answered by one server; neither is disturbed by the other's replies."""
    other = Node()
    try:
        for k in range(10):
            one = call(it, node, "/get_entity_info", f"{SI}/GetEntityInfo", {"entity": f"fast_{k}"})
            two = it.call(other, "/get_entity_state", f"{SI}/GetEntityState", {"entity": f"cyclone_{k}"})
            three = it.call(other, "/drone/arm", SET_BOOL, {"data": k % 2 == 0})
            four = call(it, node, "/drone/arm", SET_BOOL, {"data": k % 2 == 1})
            assert f"'fast_{k}'" in one["result"]["error_message"]
            assert f"'cyclone_{k}'" in two["result"]["error_message"]
            assert three["success"] and four["success"]
    finally:
        other.close()


@pytest.mark.needs("libfastrtps.so", "g++")
def test_questions_and_replies_longer_than_a_datagram(it: Flown, node: FastNode) -> None:
    long = call(it, node, "/get_entities", f"{SI}/GetEntities", {"filters": {"filter": "x" * 100_000}})
    assert long["result"]["result"] == 4 and "at most 200 characters" in long["result"]["error_message"]
    editor = it.simulation.editor
    if "thing_0" not in editor.names():
        shape = editor.shapes()[0]
        for k in range(300):
            editor.add_thing(
                f"thing_{k}", shape, np.array([float(k), 2.0, 3.0]), np.array([1.0, 0.0, 0.0, 0.0]), np.ones(3)
            )
    states = call(it, node, "/get_entities_states", f"{SI}/GetEntitiesStates", {"filters": {"filter": "^thing_"}})
    places = [state["pose"]["position"]["x"] for state in states["states"]]
    assert states["entities"] == [f"thing_{k}" for k in range(300)] and places == list(range(300))


@pytest.mark.needs("libfastrtps.so", "g++")
def test_the_action_of_steps(it: Flown, node: FastNode) -> None:
    """As an action's client on Fast DDS: three services, and the topic of its feedback."""
    action, goal = (
        "simulation_interfaces/action/SimulateSteps",
        {"uuid": [*range(15), len(it.link.control.action._goals)]},
    )
    state = {"state": {"state": 2}}
    assert call(it, node, "/set_simulation_state", f"{SI}/SetSimulationState", state)["result"]["result"] == 1
    node.read("/simulate_steps/_action/feedback", f"{action}_FeedbackMessage", "reliable")
    it.serve_until(lambda: it.link.control.action._feedback.is_wanted)
    before = it.simulation.clock.now_ns
    asked = {"goal_id": goal, "goal": {"steps": 4}}
    assert call(it, node, "/simulate_steps/_action/send_goal", f"{action}_SendGoal", asked)["accepted"]
    done = call(it, node, "/simulate_steps/_action/get_result", f"{action}_GetResult", {"goal_id": goal})
    assert done["status"] == 4 and it.simulation.clock.now_ns == before + 4_000_000
    reported = [one["feedback"]["completed_steps"] for one in node.take("/simulate_steps/_action/feedback", 4)]
    assert reported == [1, 2, 3, 4]
    state = {"state": {"state": 1}}
    assert call(it, node, "/set_simulation_state", f"{SI}/SetSimulationState", state)["result"]["result"] == 1


@pytest.mark.needs("libfastrtps.so", "g++")
def test_parameters_of_fast_dds(it: Flown, node: FastNode) -> None:
    """As `ros2 param list`, `get`, `set` and `describe` ask, which use all six services of a node."""
    names = call(it, node, "/skyloop/list_parameters", f"{RCL}/ListParameters")["result"]["names"]
    assert {"pace", "wind", "weather.rain", "use_sim_time"} <= set(names)
    wanted = {"names": ["weather.rain", "wind"]}
    kinds = call(it, node, "/skyloop/get_parameter_types", f"{RCL}/GetParameterTypes", wanted)["types"]
    assert kinds == [3, 8]
    about = call(it, node, "/skyloop/describe_parameters", f"{RCL}/DescribeParameters", wanted)["descriptors"]
    assert [one["name"] for one in about] == wanted["names"]
    assert about[0]["floating_point_range"][0]["to_value"] == 200.0
    for rain in (2.5, 0.0):
        given = {"parameters": [{"name": "weather.rain", "value": {"type": 3, "double_value": rain}}]}
        assert call(it, node, "/skyloop/set_parameters", f"{RCL}/SetParameters", given)["results"][0]["successful"]
        assert it.simulation.editor.weather.rain == rain
        values = call(it, node, "/skyloop/get_parameters", f"{RCL}/GetParameters", wanted)["values"]
        assert values[0]["double_value"] == rain
    given["parameters"].append({"name": "wimd", "value": {"type": 8, "double_array_value": [1.0]}})
    service = "/skyloop/set_parameters_atomically", f"{RCL}/SetParametersAtomically"
    refused = call(it, node, *service, given)["result"]
    assert not refused["successful"] and refused["reason"] == "no parameter 'wimd'; did you mean 'wind'?"


@pytest.mark.needs("libfastrtps.so", "g++")
def test_the_graph_reaches_fast_dds(it: Flown, node: FastNode) -> None:
    """Its reader is one of Humble: without a type's hash, with identities of 24 bytes."""
    node.read("ros_discovery_info", "rmw_dds_common/msg/ParticipantEntitiesInfo", "latched")
    reported = node.take_bytes("ros_discovery_info")[-1]
    server = it.link.participant.server
    assert b"skyloop\0" in reported
    assert all(gid + bytes(8) in reported for gid in [*server.readers, *server.writers])


@pytest.mark.needs("libfastrtps.so", "g++")
def test_the_command_of_the_page(program: Path, tmp_path: Path) -> None:
    """A flight as its page starts it, and a node of ROS with default settings: arm, take off, see it rise, end it."""
    command = [sys.executable, "-c", "from skyloop.cli import main; main()", "run", "hover", "--ros2"]
    command += ["--set", "vehicles.drone.pilot=null", "--set", "duration=600", "--out", str(tmp_path / "run")]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ROS_")}
    flight = subprocess.Popen(command, env={**environment, "ROS_DOMAIN_ID": str(DOMAIN + 1)})
    node = FastNode(program, "default", DOMAIN + 1)
    try:
        node.read("/drone/odom", "nav_msgs/msg/Odometry", "reliable")
        # topics may be found later than services
        heights = [one["pose"]["pose"]["position"]["z"] for one in node.take("/drone/odom", 1, 300.0)]
        node.ask("/drone/takeoff", TRIGGER, wait=300.0)
        assert node.answer() == {"success": True, "message": ""}
        until = time.monotonic() + 120.0
        while not any(height > 1.5 for height in heights) and time.monotonic() < until:
            heights += [one["pose"]["pose"]["position"]["z"] for one in node.take("/drone/odom")]
        assert heights[-1] > 1.5 and heights[0] < 1.0
        node.ask("/set_simulation_state", f"{SI}/SetSimulationState", {"state": {"state": 3}})
        assert node.answer()["result"]["result"] == 1
        assert flight.wait(timeout=120) == 0
    finally:
        node.close()
        flight.kill()
        flight.wait()


@pytest.mark.needs("libfastrtps.so", "g++")
@pytest.mark.parametrize("where", ["default", "localhost", "jazzy"])
def test_a_flight_on_the_network_is_found_and_forgotten(program: Path, tmp_path: Path, where: str) -> None:
    """With SUBNET here a node finds us that hears this machine only. After Ctrl-C it knows nobody any more, long before
    our lease is over."""
    command = [sys.executable, "-c", "from skyloop.cli import main; main()", "run", "hover", "--ros2"]
    command += ["--set", "vehicles.drone.pilot=null", "--set", "duration=600", "--out", str(tmp_path / "run")]
    reach = {"ROS_DOMAIN_ID": str(DOMAIN + 2), "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}
    flight = subprocess.Popen(command, env={**os.environ, **reach})
    node = FastNode(program, where, DOMAIN + 2)
    try:
        node.read("/drone/imu", "sensor_msgs/msg/Imu", "plain")
        assert node.take("/drone/imu", 1, 300.0)
        node.ask("/drone/arm", SET_BOOL, {"data": True})
        assert node.answer() == {"success": True, "message": ""}
        assert node.peers() == 2
        flight.send_signal(signal.SIGINT)
        flight.wait(timeout=120)
        # both leases are at least 10 s
        assert eventually(lambda: node.peers() == 0, 5.0)
    finally:
        node.close()
        flight.kill()
        flight.wait()


@pytest.fixture(scope="module")
def cyclone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cyclone")
    for name in ("Oracle.idl", "cyclone_dds.c"):
        shutil.copy(SOURCE.with_name(name), folder)
    subprocess.run(["idlc", "Oracle.idl"], cwd=folder, check=True)
    subprocess.run(["gcc", "-o", "node", "cyclone_dds.c", "Oracle.c", "-lddsc"], cwd=folder, check=True)
    return folder / "node"


@pytest.mark.needs("idlc", "libddsc.so", "g++")
@pytest.mark.parametrize("settings", CYCLONE)
def test_cyclone_in_c_hears_calls_and_commands(it: Flown, cyclone: Path, settings: str) -> None:
    vehicle, before = it.simulation.port.vehicle(), it.link.services.calls
    vehicle.send(Disarm(), by="test")
    environment = {**os.environ, "CYCLONEDDS_URI": f"<CycloneDDS><Domain>{CYCLONE[settings]}</Domain></CycloneDDS>"}
    node = subprocess.Popen(
        [cyclone, str(DOMAIN)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    assert node.stdin is not None and node.stdout is not None
    heard = node.stdout
    try:
        it.until(lambda: bool(select.select([heard], [], [], 0.002)[0]) or node.poll() is not None, 600.0)
        assert node.stdout.readline() == "armed 1 1, clock, description\n"
        assert it.link.services.calls == before + 2 and vehicle.status.armed
        assert it.comes(lambda: isinstance(vehicle.setpoint, Velocity), PATIENCE_S)
        assert vehicle.setpoint.velocity.tolist() == [1.5, -0.5, 0.25] and vehicle.setpoint.yaw_rate == 0.3
    finally:
        node.stdin.close()
        node.wait()
        node.stdout.close()
