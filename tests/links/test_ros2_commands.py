"""What a ROS 2 node of other people's making commands, and what the vehicle does. Every axis has its own number."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from ros2_rig import Flown, Node, flown, ns

from skyloop_client.messages import Estimate, Goal, Position, Velocity

pytestmark = pytest.mark.processes

YAW_DEG = 70.0
VEHICLES = [
    {
        "name": "drone", "position": [1.0, -2.0], "yaw_deg": YAW_DEG, "estimators": {"vio": {"kind": "link"}},
        "sensors": {"baro": {"kind": "barometer"}},
    },
]  # fmt: skip
TRIGGER, SET_BOOL = "std_srvs/srv/Trigger", "std_srvs/srv/SetBool"


@pytest.fixture(scope="module")
def it(node: Node) -> Iterator[Flown]:
    with flown(VEHICLES) as it:
        yield it


def send(it: Flown, node: Node, topic: str, kind: str, values: Any) -> Any:
    """Publish once; what the vehicle follows then."""
    came: list[bytes] = []
    kept = it.link.taker

    def taker(handler: Any, data: bytes, sender: Any) -> None:
        kept(handler, data, sender)
        came.append(data)

    it.link.taker = taker  # type: ignore[method-assign]
    try:
        for _ in range(20):
            # the first of a stream may pass before our end knows its writer, as in any ROS 2
            assert node.write(topic, kind, values) == 1
            if it.comes(lambda: bool(came), 0.5):
                break
    finally:
        it.link.taker = kept  # type: ignore[method-assign]
    assert came
    return it.simulation.port.vehicle().setpoint


def twist(x: float, y: float, z: float, turn: float) -> Any:
    return {"linear": {"x": x, "y": y, "z": z}, "angular": {"z": turn}}


def test_services_arm_take_off_and_land(it: Flown, node: Node) -> None:
    vehicle = it.simulation.port.vehicle()
    refused = it.call(node, "/drone/land", TRIGGER)
    assert not refused["success"] and "disarmed" in refused["message"]
    assert it.call(node, "/drone/arm", SET_BOOL, {"data": True})["success"] and vehicle.status.armed
    assert it.call(node, "/drone/arm", SET_BOOL, {"data": False})["success"] and not vehicle.status.armed
    assert it.call(node, "/drone/takeoff", TRIGGER)["success"]
    it.until(lambda: vehicle.status.mode == "hover")
    assert vehicle.truth.position[2] == pytest.approx(2.0, abs=0.3)
    assert vehicle.commander == "ros2"


def test_cmd_vel_is_forward_left_up(it: Flown, node: Node) -> None:
    flying = send(it, node, "/drone/cmd_vel", "geometry_msgs/msg/Twist", twist(1.5, -0.5, 0.25, 0.3))
    assert isinstance(flying, Velocity) and flying.frame == "body" and flying.yaw_rate == 0.3
    assert flying.velocity.tolist() == [1.5, -0.5, 0.25]
    start = it.simulation.truth().position.copy()
    it.run(0.4)
    moved = it.simulation.truth().position - start
    yaw = math.radians(YAW_DEG)
    assert moved[:2] @ [math.cos(yaw), math.sin(yaw)] > 0.05  # forward
    assert moved[2] > 0.0


def test_stamped_twists_say_their_axes(it: Flown, node: Node) -> None:
    kind, values = "geometry_msgs/msg/TwistStamped", twist(0.5, -1.0, 0.75, -0.2)
    for name, frame, axes in (
        ("cmd_vel_stamped", "map", "world"), ("cmd_vel", "drone/base_link", "body"), ("cmd_vel_stamped", "", "body"),
    ):  # fmt: skip
        flying = send(it, node, f"/drone/{name}", kind, {"header": {"frame_id": frame}, "twist": values})
        assert flying.frame == axes and flying.velocity.tolist() == [0.5, -1.0, 0.75] and flying.yaw_rate == -0.2
    for topic in ("cmd_vel", "cmd_vel_unstamped"):
        stamped = topic == "cmd_vel"
        flying = send(
            it, node, f"/mavros/setpoint_velocity/{topic}", kind if stamped else "geometry_msgs/msg/Twist",
            {"twist": values} if stamped else values,
        )  # fmt: skip
        assert flying.frame == "world" and flying.velocity.tolist() == [0.5, -1.0, 0.75]


def pose(x: float, y: float, z: float, yaw: float, frame: str = "map") -> Any:
    turn = {"w": math.cos(yaw / 2), "z": math.sin(yaw / 2)}
    return {"header": {"frame_id": frame}, "pose": {"position": {"x": x, "y": y, "z": z}, "orientation": turn}}


def test_goals(it: Flown, node: Node) -> None:
    kind = "geometry_msgs/msg/PoseStamped"
    going = send(it, node, "/drone/goal_pose", kind, pose(3.0, -1.0, 2.5, 0.4))
    assert isinstance(going, Goal) and going.position.tolist() == [3.0, -1.0, 2.5]
    assert going.yaw == pytest.approx(0.4)
    clicked = send(it, node, "/goal_pose", kind, pose(4.0, -2.0, 0.0, -0.6))
    assert clicked.position[:2].tolist() == [4.0, -2.0]
    assert clicked.position[2] == pytest.approx(it.simulation.truth().position[2]) and clicked.position[2] > 1.0
    setpoint = send(it, node, "/mavros/setpoint_position/local", kind, pose(1.0, 2.0, 3.0, 1.2))
    assert isinstance(setpoint, Position) and setpoint.position.tolist() == [1.0, 2.0, 3.0]
    # 2 m ahead and 1 m to the left of where it looks
    state = it.simulation.truth()
    ahead = send(it, node, "/drone/goal_pose", kind, pose(2.0, 1.0, 0.5, 0.0, "drone/base_link"))
    w, x, y, z = state.quat_wxyz
    forward = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)])
    left = np.array([2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)])
    up = np.cross(forward, left)
    assert ahead.position == pytest.approx(state.position + 2.0 * forward + left + 0.5 * up)


def test_an_unknown_frame_moves_nothing(it: Flown, node: Node, caplog: pytest.LogCaptureFixture) -> None:
    before = it.simulation.port.vehicle().setpoint
    after = send(it, node, "/drone/goal_pose", "geometry_msgs/msg/PoseStamped", pose(9.0, 9.0, 9.0, 0.0, "moon"))
    assert after.position.tolist() == before.position.tolist()
    assert "frame 'moon' is unknown" in caplog.text


def test_numbers_that_are_none_move_nothing(it: Flown, node: Node, caplog: pytest.LogCaptureFixture) -> None:
    before = it.simulation.port.vehicle().setpoint
    after = send(it, node, "/drone/cmd_vel", "geometry_msgs/msg/Twist", twist(float("nan"), 0.0, 0.0, 0.0))
    assert type(after) is type(before) and "not finite" in caplog.text


def test_a_trajectory_is_followed(it: Flown, node: Node) -> None:
    vehicle = it.simulation.port.vehicle()
    start = vehicle.truth.position.copy()
    way = [np.array([0.0, 0.0, 0.0]), np.array([1.0, -0.5, 0.2]), np.array([2.0, -1.5, 0.5])]
    points = []
    for k, step in enumerate(way):
        x, y, z = (start + step).tolist()
        place = {"translation": {"x": x, "y": y, "z": z}, "rotation": {"w": 1.0}}
        points.append({"transforms": [place], "time_from_start": {"sec": 2 * k}})
    send(it, node, "/drone/command/trajectory", "trajectory_msgs/msg/MultiDOFJointTrajectory", {"points": points})
    it.run(2.0)
    assert vehicle.truth.position == pytest.approx(start + way[1], abs=0.4)
    it.run(4.0)
    assert vehicle.truth.position == pytest.approx(start + way[2], abs=0.15)


def test_odometry_becomes_an_estimate(it: Flown, node: Node) -> None:
    """Its twist is in body axes; the estimate's velocity is in the world's."""
    yaw, now = math.pi / 2, it.simulation.clock.now_ns
    values = {
        "header": {"frame_id": "map", "stamp": {"sec": now // 10**9, "nanosec": now % 10**9}},
        "pose": {**pose(1.0, 2.0, 3.0, yaw), "covariance": np.diag([1.0, 4.0, 9.0, 0.01, 0.04, 0.09]).ravel().tolist()},
        "twist": {"twist": {"linear": {"x": 3.0, "y": 1.0, "z": -0.5}, "angular": {"x": 0.1, "y": 0.2, "z": 0.3}}},
    }
    send(it, node, "/drone/vio", "nav_msgs/msg/Odometry", values)
    estimate = it.simulation.latest("drone/vio")
    assert isinstance(estimate, Estimate) and estimate.t_ns == now
    assert estimate.position.tolist() == [1.0, 2.0, 3.0]
    assert estimate.velocity_world == pytest.approx([-1.0, 3.0, -0.5])
    assert estimate.angular_velocity_body.tolist() == [0.1, 0.2, 0.3]
    assert estimate.position_sd.tolist() == [1.0, 2.0, 3.0]
    assert estimate.attitude_sd == pytest.approx([0.1, 0.2, 0.3])


def test_mavros_services(it: Flown, node: Node) -> None:
    vehicle = it.simulation.port.vehicle()
    assert it.call(node, "/mavros/set_mode", "mavros_msgs/srv/SetMode", {"custom_mode": "AUTO.LAND"})["mode_sent"]
    it.until(lambda: not vehicle.status.armed)
    assert not it.call(node, "/mavros/set_mode", "mavros_msgs/srv/SetMode", {"custom_mode": "ACRO"})["mode_sent"]
    assert it.call(node, "/mavros/cmd/arming", "mavros_msgs/srv/CommandBool", {"value": True})["success"]
    answer = it.call(node, "/mavros/cmd/takeoff", "mavros_msgs/srv/CommandTOL", {"altitude": 0.0})
    assert answer["success"] and answer["result"] == 0
    assert it.call(node, "/mavros/cmd/land", "mavros_msgs/srv/CommandTOL")["success"]


def test_orders_are_topics_too(it: Flown, node: Node) -> None:
    """For who wants no answer."""
    vehicle = it.simulation.port.vehicle()
    it.until(lambda: not vehicle.status.armed)
    send(it, node, "/drone/takeoff", "std_msgs/msg/Empty", {})
    assert vehicle.status.mode == "takeoff"
    send(it, node, "/drone/arm", "std_msgs/msg/Bool", {"data": False})
    assert not vehicle.status.armed
    assert ns({"sec": 1, "nanosec": 2}) == 1_000_000_002


# ---- parameters

KINDS = {bool: (1, "bool_value"), int: (2, "integer_value"), float: (3, "double_value"), str: (4, "string_value")}
NODE, RCL = "/skyloop", "rcl_interfaces/srv"


def given(name: str, value: Any) -> Any:
    kind, field = (8, "double_array_value") if isinstance(value, list) else KINDS[type(value)]
    return {"name": name, "value": {"type": kind, field: value}}


def put(it: Flown, node: Node, name: str, value: Any) -> Any:
    asked = {"parameters": [given(name, value)]}
    return it.call(node, f"{NODE}/set_parameters", f"{RCL}/SetParameters", asked)["results"][0]


def got(it: Flown, node: Node, *names: str) -> list[Any]:
    values = it.call(node, f"{NODE}/get_parameters", f"{RCL}/GetParameters", {"names": names})["values"]
    fields = dict([*KINDS.values(), (8, "double_array_value")])
    return [one[fields[one["type"]]] if one["type"] else None for one in values]


def test_parameters_are_listed_and_described(it: Flown, node: Node) -> None:
    """All six services, as `ros2 param` asks them."""
    names = it.call(node, f"{NODE}/list_parameters", f"{RCL}/ListParameters")["result"]["names"]
    assert names == sorted(names)
    assert {"pace", "wind", "use_sim_time", "drone.baro.fault", "drone.rotor3.fault", "drone.limits.speed"} <= set(
        names
    )
    some = it.call(
        node, f"{NODE}/list_parameters", f"{RCL}/ListParameters", {"prefixes": ["weather", "wind"], "depth": 1}
    )["result"]
    assert len(some["names"]) == 10 and some["prefixes"] == ["weather"]
    asked = {"names": ["weather.rain", "use_sim_time", "weather.day_of_year", "wind", "drone.limits.speed", "none"]}
    kinds = it.call(node, f"{NODE}/get_parameter_types", f"{RCL}/GetParameterTypes", asked)["types"]
    assert kinds == [3, 1, 2, 8, 3, 0]
    rain, clock, day, wind, speed, none = it.call(
        node, f"{NODE}/describe_parameters", f"{RCL}/DescribeParameters", asked
    )["descriptors"]
    assert rain["description"].startswith("mm/h") and not rain["read_only"]
    assert (rain["floating_point_range"][0]["from_value"], rain["floating_point_range"][0]["to_value"]) == (0.0, 200.0)
    assert clock["read_only"] and day["integer_range"][0]["to_value"] == 366 and none["type"] == 0
    assert wind["type"] == 8 and speed["floating_point_range"][0]["to_value"] == 200.0


def test_parameters_change_the_flight(it: Flown, node: Node) -> None:
    simulation, vehicle = it.simulation, it.simulation.port.vehicle()
    node.read("/parameter_events", "rcl_interfaces/msg/ParameterEvent", "reliable")
    it.serve_until(lambda: it.link.participant.writer("/parameter_events", "", "state").is_wanted)
    assert put(it, node, "wind", [3.0, -2.0, 0.5])["successful"]
    assert simulation.editor.wind.tolist() == [3.0, -2.0, 0.5] == got(it, node, "wind")[0]
    event = node.take("/parameter_events")[0]
    assert event["node"] == NODE and event["changed_parameters"][0]["value"]["double_array_value"] == [3.0, -2.0, 0.5]
    assert ns(event["stamp"]) == simulation.clock.now_ns
    # what a command line takes for an integer, and YAML for a truth value
    assert put(it, node, "pace", 2)["successful"] and it.gate.pace.factor == 2.0
    assert put(it, node, "pace", 0.0)["successful"] and it.gate.pace.factor is None
    assert put(it, node, "drone.baro.fault", False)["successful"]
    before = simulation.bus.newest("drone/baro").index
    it.run(0.5)
    assert simulation.bus.newest("drone/baro").index == before and got(it, node, "drone.baro.fault") == ["off"]
    assert put(it, node, "drone.baro.fault", "bias value=500")["successful"]
    high = simulation.latest("drone/baro")
    it.run(0.5)
    assert simulation.latest("drone/baro").pressure - high.pressure == pytest.approx(500.0, abs=30.0)
    assert put(it, node, "drone.baro.fault", "none")["successful"]
    assert put(it, node, "drone.rotor1.fault", "lost value=0.5")["successful"]
    assert got(it, node, "drone.rotor1.fault", "drone.rotor0.fault") == ["lost value=0.5", "none"]
    assert put(it, node, "drone.rotor1.fault", "none")["successful"]
    together = {"parameters": [given("weather.rain", 12.5), given("drone.limits.speed", 7.0)]}
    service = f"{NODE}/set_parameters_atomically", f"{RCL}/SetParametersAtomically"
    assert it.call(node, *service, together)["result"]["successful"]
    assert simulation.editor.weather.rain == 12.5 and vehicle.limits.speed == 7.0
    together["parameters"][0] = given("weather.rain", 1.0)
    together["parameters"].append(given("weather.snow", 1e6))
    refused = it.call(node, *service, together)["result"]
    assert not refused["successful"] and refused["reason"] == "weather.snow is 1000000.0; give 0 to 50"
    assert got(it, node, "weather.rain", "weather.snow") == [12.5, 0.0]


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("wimd", 1.0, "no parameter 'wimd'; did you mean 'wind'?"),
        ("use_sim_time", False, "use_sim_time can only be read"),
        ("wind", 3.0, "wind is a list of numbers, not a number"),
        ("wind", [1.0, 2.0], "wind has 3 numbers, not 2"),
        ("weather.rain", float("nan"), "weather.rain is nan; give 0 to 200"),
        ("weather.day_of_year", "May", "weather.day_of_year is an integer, not a text"),
        ("drone.limits.speed", 0.0, "drone.limits: speed"),
        ("drone.baro.fault", "sulk", "drone/baro: kind"),
        ("drone.baro.fault", "bias", "fault 'bias' needs value"),
        ("drone.rotor1.fault", "lost value=a", "is no fault of a rotor"),
        ("drone.failsafes.battery_action", "hide", "battery_action"),
    ],
)
def test_a_bad_value_is_refused_in_one_line(it: Flown, node: Node, name: str, value: Any, reason: str) -> None:
    before = got(it, node, name)
    result = put(it, node, name, value)
    assert not result["successful"] and reason in result["reason"] and "\n" not in result["reason"]
    assert got(it, node, name) == before
