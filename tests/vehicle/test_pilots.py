import copy
import math
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from skyloop.vehicle.pilots.pilots import (
    PILOTS,
    AnyPilotConfig,
    HoverPilot,
    TrajectoryPilot,
    WaypointPilot,
    build_pilot,
)
from skyloop.vehicle.trajectories.trajectories import CircleConfig
from skyloop_client.messages import Arm, Estimate, Goal, GoHome, Land, Position, TakeOff, VehicleStatus


class FakeVehicle:
    """Obeys at once in mode and glides to its aim at 2 m/s; it is its own bundle."""

    vehicle = "drone"

    def __init__(self, rate_hz=50):
        self.t_ns = 0
        self.dt_ns = 1_000_000_000 // rate_hz
        self.mode, self.armed = "disarmed", False
        self.position, self.velocity, self.yaw = np.zeros(3), np.zeros(3), 0.0
        self.aim = np.zeros(3)
        self.log = []

    def get(self, suffix):
        if suffix == "status":
            return VehicleStatus(self.t_ns, self.mode, self.armed, self.position[2] < 0.01, "")
        assert suffix == "state"
        quat = np.array([math.cos(self.yaw / 2), 0, 0, math.sin(self.yaw / 2)])
        zero = np.zeros(3)
        return Estimate(self.t_ns, self.position, self.velocity, quat, zero, zero + 0.1, zero + 0.1, zero + 0.1, True)

    def obey(self, order):
        self.log.append((self.t_ns, order))
        match order:
            case Arm():
                self.mode, self.armed = "idle", True
            case TakeOff(altitude):
                self.mode, self.aim = "takeoff", self.position + np.array([0, 0, altitude])
            case Goal(position, yaw):
                self.mode, self.aim = "goal", position
                self.yaw = self.yaw if yaw is None else yaw
            case Position():
                self.mode, self.aim, self.position, self.yaw = (
                    "setpoint",
                    order.position,
                    order.position,
                    order.yaw or 0.0,
                )
            case Land():
                self.mode, self.aim = "land", self.position * [1, 1, 0]
            case GoHome():
                self.mode, self.aim = "home", np.array([0.0, 0.0, 2.0])
            case _:
                raise AssertionError(order)

    def step(self):
        self.t_ns += self.dt_ns
        away = self.aim - self.position
        reach = 2.0 * self.dt_ns * 1e-9
        distance = float(np.linalg.norm(away))
        self.velocity = away / max(distance, 1e-9) * 2.0 if distance > reach else np.zeros(3)
        self.position = self.position + (away * reach / distance if distance > reach else away)
        if distance <= reach and self.mode == "home":
            self.obey(Land())
        if distance <= reach and self.mode == "takeoff":
            self.mode = "hover"
        if self.mode == "land" and self.position[2] < 0.01:
            self.mode, self.armed = "disarmed", False

    def orders(self):
        return [order for _, order in self.log]


def ask(pilot, vehicle):
    reply = pilot(vehicle)
    for order in reply if isinstance(reply, list) else [reply]:
        if order is not None:
            vehicle.obey(order)


def fly(pilot, vehicle, *, seconds=120.0):
    while not pilot.done and vehicle.t_ns < seconds * 1e9:
        ask(pilot, vehicle)
        vehicle.step()
    return vehicle


def test_hover_pilot_takes_off_waits_and_lands():
    pilot, vehicle = HoverPilot(3.0, 5.0), FakeVehicle(10)
    fly(pilot, vehicle)
    assert vehicle.orders() == [Arm(), TakeOff(3.0), Land()]
    # 1.5 s of climb, 5 s of hover.
    assert vehicle.log[-1][0] * 1e-9 == pytest.approx(6.5, abs=0.2)
    assert pilot.done
    assert not vehicle.armed
    assert pilot(vehicle) is None  # type: ignore[arg-type]


def test_a_sortie_cut_short_on_the_ground_is_done():
    pilot, vehicle = HoverPilot(2.0), FakeVehicle(10)
    fly(pilot, vehicle, seconds=5)
    vehicle.obey(Land())
    fly(pilot, vehicle, seconds=10)
    assert pilot.done


def test_without_a_status_it_keeps_asking_to_fly():
    class Silent:
        t_ns, vehicle = 0, "drone"

        def get(self, suffix):
            return None

    pilot = HoverPilot(2.0)
    silent: Any = Silent()
    assert pilot(silent) == [Arm(), TakeOff(2.0)]
    assert pilot(silent) == [Arm(), TakeOff(2.0)]
    assert not pilot.done


CIRCLE = CircleConfig(centre=(5.0, 0.0, 4.0), radius=4.0, speed=3.0)


def test_trajectory_pilot_goes_to_the_start_then_follows_then_lands():
    pilot = TrajectoryPilot(CIRCLE, 2.0)
    vehicle = fly(pilot, FakeVehicle(50))
    orders = vehicle.orders()
    assert orders[:2] == [Arm(), TakeOff(2.0)]
    assert isinstance(orders[2], Goal)
    np.testing.assert_allclose(orders[2].position, [9.0, 0.0, 4.0])
    assert orders[2].yaw == pytest.approx(math.pi / 2)
    points = orders[3:-1]
    assert all(isinstance(point, Position) for point in points)
    assert len(points) == math.floor(pilot.trajectory.duration * 50) + 1
    assert orders[-1] == Land()
    assert pilot.done
    for t_ns, point in vehicle.log[3:-1]:
        expected = pilot.trajectory.at((t_ns - pilot.started_ns) * 1e-9)
        np.testing.assert_array_equal(point.position, expected.position)
        np.testing.assert_array_equal(point.snap, expected.snap)


def test_trajectory_pilot_waits_to_face_the_right_way():
    pilot, vehicle = TrajectoryPilot(CIRCLE, 2.0), FakeVehicle(50)
    while not isinstance((vehicle.orders() or [None])[-1], Goal):
        ask(pilot, vehicle)
        vehicle.step()
    vehicle.yaw = -1.0
    fly(pilot, vehicle, seconds=30)
    assert pilot.started_ns is None
    vehicle.yaw = math.pi / 2
    fly(pilot, vehicle)
    assert pilot.done


def test_trajectory_pilot_that_does_not_land_stays_at_the_end():
    pilot = TrajectoryPilot(CIRCLE, 2.0, land=False)
    vehicle = fly(pilot, FakeVehicle(50))
    assert pilot.done
    last = vehicle.orders()[-1]
    assert isinstance(last, Goal)
    np.testing.assert_allclose(last.position, [9.0, 0.0, 4.0], atol=1e-12)


WAYPOINTS = [[5, 0, 3], [5, 5, 3], [0, 5, 2]]


@pytest.mark.parametrize(
    ("options", "ending"),
    [
        ({}, [Land()]),
        ({"land": False, "speed": 2.5}, []),
        ({"home": True, "speed": (1.0, 4.0, 2.0)}, [GoHome(), Land()]),
    ],
)
def test_waypoint_pilot_sends_goal_after_goal(options, ending):
    pilot = WaypointPilot(WAYPOINTS, 2.0, **options)
    vehicle = fly(pilot, FakeVehicle(10))
    orders = vehicle.orders()
    assert pilot.done
    assert pilot.reached == 3
    assert pilot.mission == {"mission_completed": True, "waypoints": 3, "waypoints_reached": 3}
    np.testing.assert_array_equal([order.position for order in orders[2:5]], WAYPOINTS)
    speed = options.get("speed", None)
    assert [order.speed for order in orders[2:5]] == (list(speed) if isinstance(speed, tuple) else [speed] * 3)
    assert orders[5:] == ending


def test_waypoint_pilot_waits_for_the_acceptance_radius():
    pilot, vehicle = WaypointPilot(WAYPOINTS, 2.0, acceptance_radius=0.8), FakeVehicle(10)
    gaps = []
    while not pilot.done:
        before = len(vehicle.log)
        ask(pilot, vehicle)
        if len(vehicle.log) > before and 1 <= pilot.reached <= 2 and isinstance(vehicle.orders()[-1], Goal):
            gaps.append(np.linalg.norm(vehicle.position - WAYPOINTS[pilot.reached - 1]))
        vehicle.step()
    assert len(gaps) == 2
    assert all(0.6 - 1e-9 <= gap <= 0.8 for gap in gaps)


@pytest.mark.parametrize("pause_s", [0.5, 3.0, 7.0, 10.0])
def test_a_copied_pilot_flies_the_same_rest(pause_s):
    pilot, vehicle = TrajectoryPilot(CIRCLE, 2.0), FakeVehicle(50)
    fly(pilot, vehicle, seconds=pause_s)
    twin, other = copy.deepcopy((pilot, vehicle))
    fly(pilot, vehicle)
    assert not twin.done
    fly(twin, other)
    assert [t for t, _ in vehicle.log] == [t for t, _ in other.log]
    assert list(map(repr, vehicle.orders())) == list(map(repr, other.orders()))


@pytest.mark.parametrize(
    ("options", "rate_hz"),
    [
        ({"kind": "hover", "altitude": 4, "duration": 2}, 10),
        ({"kind": "trajectory", "trajectory": CIRCLE.model_dump()}, 50),
        ({"kind": "waypoints", "waypoints": WAYPOINTS, "home": True}, 10),
    ],
)
def test_pilots_are_built_from_their_configurations(options, rate_hz):
    config = TypeAdapter(AnyPilotConfig).validate_python(options)
    assert config.rate_hz == rate_hz
    assert type(config) is PILOTS[config.kind].Config
    pilot = build_pilot(config)
    assert type(pilot) is PILOTS[config.kind]
    fly(pilot, FakeVehicle(rate_hz))
    assert pilot.done
