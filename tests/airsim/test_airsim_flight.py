"""AirSim's methods that fly, each seen through another one; time stands still but for simContinueForTime."""

from __future__ import annotations

import math
import random
import time
from typing import Any

import numpy as np
import pytest
from airsim_rpc import Rpc, RpcError, Running, heading_deg, vector, xyz

pytestmark = pytest.mark.renders

SETTINGS = {
    "DefaultSensors": {"imu": {"SensorType": 2, "Enabled": False}},
    "Vehicles": {"Drone1": {"VehicleType": "SimpleFlight"}, "Drone2": {"X": -6, "Y": 2, "Yaw": 90}},
}
"""Without sensors, so that time passes quickly."""
KEEP = {"is_rate": True, "yaw_or_rate": 0.0}
NEVER = 3e38


def place(rpc: Rpc, name: str = "Drone1") -> np.ndarray[Any, Any]:
    return np.array(xyz(rpc("simGetVehiclePose", name)["position"]))


def heading(rpc: Rpc) -> float:
    return heading_deg(rpc("simGetVehiclePose", "Drone1"))


def velocity(rpc: Rpc) -> np.ndarray[Any, Any]:
    return np.array(xyz(rpc("simGetGroundTruthKinematics", "Drone1")["linear_velocity"]))


def during(rpc: Rpc, seconds: float, method: str, *params: Any) -> int:
    """Begin something, and let time pass."""
    number = rpc.send(method, *params)
    rpc("simContinueForTime", seconds)
    return number


def test_session(rpc: Rpc, server: Running) -> None:
    assert rpc("ping") is True
    assert rpc("getServerVersion") >= 4 and rpc("getMinRequiredClientVersion") == 1
    assert rpc("listVehicles") == ["Drone1", "Drone2"]
    assert '"Drone2"' in rpc("getSettingsString")
    home = rpc("getHomeGeoPoint", "Drone2")
    # 6 m south of the origin
    assert home["latitude"] == pytest.approx(47.641468 - 6.0 / 111_190.0, abs=2e-7)
    rpc("simPrintLogMessage", "a line ", "for people", 1)
    assert "a line for people" in server.lines


def test_time_stands_still_and_goes_on_exactly(rpc: Rpc) -> None:
    assert rpc("simIsPaused") is True
    began = rpc("getMultirotorState", "")["timestamp"]
    time.sleep(0.05)
    assert rpc("getMultirotorState", "")["timestamp"] == began
    rpc("simContinueForTime", 0.123456789)
    assert rpc("getMultirotorState", "")["timestamp"] == began + 123_456_789
    rpc("simContinueForFrames", 6)
    assert rpc("getMultirotorState", "")["timestamp"] == began + 223_456_789
    assert rpc("simIsPaused") is True
    rpc("simPause", False)
    assert rpc("simIsPaused") is False
    with pytest.raises(RpcError, match=r"simContinueForTime: .*more than 0"):
        rpc("simContinueForTime", -1.0)


def test_a_pause_ends_a_continuing(rpc: Rpc) -> None:
    waits = rpc.send("simContinueForTime", 1e5)
    rpc("simPause", True)
    rpc.wait(waits)
    assert rpc("simIsPaused") is True


def test_permission_and_arming(rpc: Rpc) -> None:
    assert rpc("isApiControlEnabled", "Drone1") is False
    with pytest.raises(RpcError, match="takeoff: API control of 'Drone1' is off"):
        rpc("takeoff", 20.0, "Drone1")
    rpc("enableApiControl", True, "Drone1")
    assert rpc("isApiControlEnabled", "Drone1") is True and rpc("isApiControlEnabled", "Drone2") is False
    assert rpc("armDisarm", False, "Drone1") is True
    with pytest.raises(RpcError, match="disarmed"):
        rpc("takeoff", 20.0, "Drone1")
    assert rpc("armDisarm", True, "Drone1") is True
    with pytest.raises(RpcError, match="vehicle"):
        rpc("takeoff", 20.0, "Dron1")


def test_take_off_and_land(flying: Rpc) -> None:
    rpc = flying
    assert place(rpc) == pytest.approx([0.0, 0.0, -2.0], abs=0.1)
    state = rpc("getMultirotorState", "Drone1")
    assert state["landed_state"] == 1
    assert state["gps_location"]["altitude"] == pytest.approx(122.1 - place(rpc)[2], abs=0.02)
    rotors = rpc("getRotorStates", "Drone1")["rotors"]
    assert sum(rotor["thrust"] for rotor in rotors) == pytest.approx(9.80665, rel=0.05)
    down = during(rpc, 8.0, "land", 60.0, "Drone1")
    assert rpc.wait(down) is True
    assert rpc("getMultirotorState", "Drone1")["landed_state"] == 0
    assert place(rpc)[2] == pytest.approx(0.0, abs=0.02)


def test_a_square_to_places(flying: Rpc) -> None:
    rpc = flying
    for corner in ([3.0, 0.0, -3.0], [3.0, 2.0, -3.0]):
        moved = during(rpc, 12.0, "moveToPosition", *corner, 3.0, NEVER, 0, KEEP, -1.0, 1.0, "Drone1")
        assert rpc.wait(moved) is True
        assert place(rpc) == pytest.approx(corner, abs=0.3)
    moved = during(rpc, 6.0, "moveToZ", -2.0, 1.0, NEVER, KEEP, -1.0, 1.0, "Drone1")
    assert rpc.wait(moved) is True and place(rpc)[2] == pytest.approx(-2.0, abs=0.2)
    goal = rpc("getMultirotorState", "Drone1")["gps_location"]
    away = (goal["latitude"] - 2.0 / 111_190.0, goal["longitude"], goal["altitude"] + 1.0)
    before = place(rpc)
    moved = during(rpc, 10.0, "moveToGPS", *away, 2.0, NEVER, 0, KEEP, -1.0, 1.0, "Drone1")
    assert rpc.wait(moved) is True
    assert place(rpc) - before == pytest.approx([-2.0, 0.0, -1.0], abs=0.3)
    home = during(rpc, 20.0, "goHome", NEVER, "Drone1")
    assert rpc.wait(home) is True and place(rpc) == pytest.approx([0.0, 0.0, 0.0], abs=0.4)


def test_a_path_with_the_nose_ahead(flying: Rpc) -> None:
    rpc = flying
    path = [vector(2.0, 0.0, -2.0), vector(2.0, 3.0, -2.0)]
    ahead = {"is_rate": False, "yaw_or_rate": 0.0}
    moved = during(rpc, 12.0, "moveOnPath", path, 2.0, NEVER, 1, ahead, -1.0, 1.0, "Drone1")
    assert rpc.wait(moved) is True
    assert place(rpc) == pytest.approx([2.0, 3.0, -2.0], abs=0.4)
    # the last piece went east
    assert heading(rpc) == pytest.approx(90.0, abs=20.0)


@pytest.mark.slow("two flights along a path")
def test_looking_further_ahead_cuts_corners_more(flying: Rpc) -> None:
    rpc = flying
    cut = []
    for k, (lookahead, adaptive) in enumerate(((0.6, 1.0), (-1.0, 1.0), (-1.0, 0.0), (6.0, 1.0))):
        here = place(rpc)
        corner = np.add(here, [6.0 if k % 2 == 0 else -6.0, 0.0, 0.0])
        path = [vector(*corner), vector(*np.add(corner, [0.0, 5.0, 0.0]))]
        rpc.send("moveOnPath", path, 3.0, NEVER, 0, KEEP, lookahead, adaptive, "Drone1")
        gaps = []
        for _ in range(40):
            rpc("simContinueForTime", 0.1)
            gaps.append(np.linalg.norm((place(rpc) - corner)[:2]))
        cut.append(min(gaps))
        rpc("simContinueForTime", 6.0)
    assert cut[0] < cut[1] < cut[2] < cut[3]


def test_velocities(flying: Rpc) -> None:
    rpc = flying
    moved = during(rpc, 3.0, "moveByVelocity", 1.0, -0.5, -0.25, 4.0, 0, KEEP, "Drone1")
    assert velocity(rpc) == pytest.approx([1.0, -0.5, -0.25], abs=0.12)
    rpc("simContinueForTime", 1.1)
    assert rpc.wait(moved) is True
    # from then on it hovers
    rpc("simContinueForTime", 4.0)
    assert np.linalg.norm(velocity(rpc)) < 0.3
    during(rpc, 4.0, "moveByVelocityZ", 0.5, 0.0, -4.0, 5.0, 0, KEEP, "Drone1")
    assert place(rpc)[2] == pytest.approx(-4.0, abs=0.3)
    during(rpc, 4.0, "rotateToYaw", 90.0, NEVER, 5.0, "Drone1")
    during(rpc, 3.0, "moveByVelocityBodyFrame", 1.0, 0.25, 0.0, 4.0, 0, KEEP, "Drone1")
    # forward is east now, right is south
    assert velocity(rpc)[:2] == pytest.approx([-0.25, 1.0], abs=0.15)
    during(rpc, 5.0, "moveByVelocityZBodyFrame", 0.0, -0.5, -3.0, 6.0, 0, KEEP, "Drone1")
    assert place(rpc)[2] == pytest.approx(-3.0, abs=0.3) and velocity(rpc)[0] == pytest.approx(0.5, abs=0.15)


def test_turning(flying: Rpc) -> None:
    rpc = flying
    turned = during(rpc, 5.0, "rotateToYaw", -60.0, NEVER, 2.0, "Drone1")
    assert rpc.wait(turned) is True and heading(rpc) == pytest.approx(-60.0, abs=5.0)
    before = heading(rpc)
    turned = during(rpc, 2.02, "rotateByYawRate", 20.0, 2.0, "Drone1")
    assert rpc.wait(turned) is True
    assert (heading(rpc) - before) % 360.0 == pytest.approx(40.0, abs=8.0)
    assert place(rpc)[:2] == pytest.approx([0.0, 0.0], abs=0.3)


@pytest.mark.parametrize(
    ("method", "last"),
    [("moveByRollPitchYawZ", (-2.0,)), ("moveByRollPitchYawrateZ", (-2.0,)), ("moveByRollPitchYawThrottle", (0.6,)),
     ("moveByRollPitchYawrateThrottle", (0.6,))],
)  # fmt: skip
def test_leaning_right_moves_right_and_nose_up_moves_back(flying: Rpc, method: str, last: tuple[float, ...]) -> None:
    rpc = flying
    during(rpc, 1.0, method, 0.1, 0.05, 0.0, *last, 1.5, "Drone1")
    assert velocity(rpc)[1] > 0.3, "rolled to the right, it must move to the right"
    assert velocity(rpc)[0] < -0.1, "nose up, it must move back"


def test_rates_and_motors(flying: Rpc) -> None:
    rpc = flying
    during(rpc, 0.4, "moveByAngleRatesZ", 0.0, 0.0, 0.5, -2.0, 1.0, "Drone1")
    assert xyz(rpc("simGetGroundTruthKinematics", "Drone1")["angular_velocity"])[2] == pytest.approx(0.5, abs=0.15)
    rpc("hover", "Drone1")
    rpc("simContinueForTime", 3.0)
    during(rpc, 0.3, "moveByAngleRatesThrottle", 0.6, 0.0, 0.0, 0.6, 1.0, "Drone1")
    assert xyz(rpc("simGetGroundTruthKinematics", "Drone1")["angular_velocity"])[0] > 0.3
    rpc("hover", "Drone1")
    rpc("simContinueForTime", 3.0)
    during(rpc, 0.2, "moveByMotorPWMs", 0.8, 0.8, 0.8, 0.8, 0.5, "Drone1")
    thrusts = [rotor["thrust"] for rotor in rpc("getRotorStates", "Drone1")["rotors"]]
    assert thrusts == pytest.approx([0.8 * 4.18] * 4, rel=0.05)


def test_sticks(flying: Rpc) -> None:
    rpc = flying
    rpc("moveByRC", {"roll": 0.3, "pitch": 0.0, "yaw": 0.0, "throttle": 0.6}, "Drone1")
    rpc("simContinueForTime", 0.8)
    assert velocity(rpc)[1] > 0.3
    assert rpc("getMultirotorState", "Drone1")["rc_data"]["roll"] == 0.3
    rpc("hover", "Drone1")
    rpc("simContinueForTime", 3.0)
    manual = rpc.send("moveByManual", 2.0, 2.0, -1.0, 4.0, 0, KEEP, "Drone1")
    rpc("moveByRC", {"roll": 0.0, "pitch": -0.5, "yaw": 0.0, "throttle": 0.5}, "Drone1")
    rpc("simContinueForTime", 3.0)
    assert velocity(rpc)[0] == pytest.approx(1.0, abs=0.2)
    rpc("simContinueForTime", 1.2)
    assert rpc.wait(manual) is True


def test_moves_end_early_when_cancelled_overtaken_or_late(flying: Rpc) -> None:
    rpc = flying
    far = (50.0, 0.0, -2.0, 1.0, NEVER, 0, KEEP, -1.0, 1.0, "Drone1")
    moved = during(rpc, 1.0, "moveToPosition", *far)
    rpc("cancelLastTask", "Drone1")
    assert rpc.wait(moved) is False
    moved = during(rpc, 1.0, "moveToPosition", *far)
    rpc("hover", "Drone1")
    assert rpc.wait(moved) is False
    late = during(rpc, 1.5, "moveToPosition", 50.0, 0.0, -2.0, 1.0, 1.0, 0, KEEP, -1.0, 1.0, "Drone1")
    assert rpc.wait(late) is False
    rpc("simContinueForTime", 3.0)
    assert np.linalg.norm(velocity(rpc)) < 0.4
    with pytest.raises(RpcError, match="moveToPosition: velocity is 0"):
        rpc("moveToPosition", 1.0, 0.0, -2.0, 0.0, NEVER, 0, KEEP, -1.0, 1.0, "Drone1")
    with pytest.raises(RpcError, match="moveToPosition: x is nan"):
        rpc("moveToPosition", math.nan, 0.0, -2.0, 1.0, NEVER, 0, KEEP, -1.0, 1.0, "Drone1")


def test_gains_change_how_it_flies(flying: Rpc) -> None:
    """A position gain of nearly nothing: a Position is not approached any more."""
    rpc = flying
    none = [0.0] * 3
    rpc("setPositionControllerGains", [0.001] * 3, none, none, "Drone1")
    during(rpc, 3.0, "rotateToYaw", 40.0, NEVER, 2.0, "Drone1")
    shifted = rpc("simGetGroundTruthKinematics", "Drone1")
    shifted["position"]["x_val"] += 1.0
    rpc("simSetKinematics", shifted, True, "Drone1")
    rpc("simContinueForTime", 2.0)
    assert place(rpc)[0] > 0.8
    rpc("setPositionControllerGains", [0.25] * 3, none, none, "Drone1")
    rpc("simContinueForTime", 6.0)
    assert abs(place(rpc)[0]) < 0.3
    with pytest.raises(RpcError, match="no derivative"):
        rpc("setPositionControllerGains", [0.25] * 3, none, [1.0] * 3, "Drone1")


@pytest.mark.parametrize(
    ("method", "weak", "usual"),
    [("setAngleRateControllerGains", 1e-5, 0.25), ("setAngleLevelControllerGains", 0.01, 2.5),
     ("setVelocityControllerGains", 0.002, 0.2)],
)  # fmt: skip
def test_weak_gains_make_it_slow(flying: Rpc, method: str, weak: float, usual: float) -> None:
    rpc = flying
    none, vertical = [0.0] * 3, [0.0, 0.0, 2.0]
    integral = vertical if method == "setVelocityControllerGains" else none
    third = 2.0 if method == "setVelocityControllerGains" else usual
    fastest = []
    for gain in (weak, usual):
        rpc(method, [gain, gain, third], integral, none, "Drone1")
        if method == "setVelocityControllerGains":
            during(rpc, 0.8, "moveByVelocity", 2.0, 0.0, 0.0, 3.0, 0, KEEP, "Drone1")
        else:
            during(rpc, 0.8, "moveByRollPitchYawZ", 0.0, -0.2, 0.0, -2.0, 3.0, "Drone1")
        fastest.append(velocity(rpc)[0])
    assert abs(fastest[0]) < 0.1 and fastest[1] > 0.4


def test_reset_puts_everything_back(flying: Rpc) -> None:
    rpc = flying
    moved = during(rpc, 2.0, "moveByVelocity", 2.0, 0.0, 0.0, 9.0, 0, KEEP, "Drone1")
    rpc("reset")
    assert rpc.wait(moved) is False
    assert place(rpc) == pytest.approx([0.0, 0.0, 0.0], abs=1e-3)
    assert rpc("isApiControlEnabled", "Drone1") is False
    rpc("simContinueForTime", 1.0)
    assert place(rpc) == pytest.approx([0.0, 0.0, 0.0], abs=5e-3)


def test_methods_that_are_none_are_named(rpc: Rpc) -> None:
    with pytest.raises(RpcError, match="getCarState: this method is for cars"):
        rpc("getCarState", "")
    with pytest.raises(RpcError, match=r"takeof: there is no such method.*takeoff"):
        rpc("takeof", 20.0)
    with pytest.raises(RpcError, match="simPause: missing a required argument"):
        rpc("simPause")


def test_a_client_that_vanishes_leaves_the_vehicle_hovering_then_landing(flying: Rpc, server: Running) -> None:
    flying.send("moveByVelocity", 3.0, 0.0, 0.0, 1e6, 0, KEEP, "Drone1")
    flying("simPause", False)
    flying.close()
    began = time.monotonic()
    time.sleep(0.2)
    watcher = Rpc(server.port)
    watcher("simContinueForTime", 4.0)
    there = place(watcher)
    assert np.linalg.norm(velocity(watcher)) < 0.4
    watcher("simContinueForTime", 2.0)
    assert place(watcher) == pytest.approx(there, abs=0.4)
    watcher.close()
    while not any("Drone1: no client has taken command: landing" in line for line in server.lines):
        assert time.monotonic() - began < 30.0
        time.sleep(0.05)
    watcher = Rpc(server.port)
    watcher("simContinueForTime", 12.0)
    assert watcher("getMultirotorState", "Drone1")["landed_state"] == 0 and place(watcher)[2] > -0.05
    watcher.close()


def test_mad_numbers_leave_the_vehicle_in_one_piece(rpc: Rpc, known_methods: set[str]) -> None:
    chance = random.Random(3)
    numbers = [0.0, -1.0, 3.0, 1e300, -1e300, 1e7, math.nan, math.inf, 1e-300]
    rpc("enableApiControl", True, "Drone1")
    moves = [name for name in sorted(known_methods) if name.startswith(("move", "rotate", "takeoff", "land", "goHome"))]
    for name in moves:
        for _ in range(4):
            count = {"takeoff": 1, "land": 1, "goHome": 1, "rotateToYaw": 3, "rotateByYawRate": 2}.get(name, 5)
            params: list[Any] = [chance.choice(numbers) for _ in range(count)]
            if name in ("moveToPosition", "moveToGPS"):
                params += [chance.choice([0, 1, 7]), KEEP, chance.choice(numbers), 1.0]
            elif name.startswith("moveByVelocity") or name == "moveByManual":
                params = [*params[:4], 0, KEEP]
            rpc.send(name, *params)
            rpc("simContinueForTime", 0.1)
    state = rpc("simGetGroundTruthKinematics", "Drone1")
    assert all(math.isfinite(value) for part in state.values() for value in part.values())
    for mad in (vector(1e300, 0.0, 0.0), vector(math.nan, 0.0, 0.0)):
        for method in ("simSetWind", "simSetExtForce"):
            with pytest.raises(RpcError, match="give"):
                rpc(method, mad)
        with pytest.raises(RpcError, match="give"):
            rpc("simSetKinematics", {**state, "linear_velocity": mad}, True, "Drone1")


@pytest.mark.parametrize("expression", ["(a+)+b", "(a|a)*b", ".*" * 9 + "x", "x" * 500, "["])
def test_expressions_that_never_end_are_refused(rpc: Rpc, expression: str) -> None:
    for method, *more in (("simListSceneObjects",), ("simSetSegmentationObjectID", 1, True)):
        with pytest.raises(RpcError, match=r"repeats|not a regular expression"):
            rpc(method, expression, *more)
