"""Missions, failsafes and fences in simulated time only: no sockets, no wall clock, the same flight every time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mavlink_setup import HOME, PLAIN, SENSORS
from pymavlink.dialects.v20 import common as mavlink

import skyloop
from skyloop.core.frames import LocalFrame
from skyloop.links.mavlink.missions import Item
from skyloop.links.mavlink.plans import PlannedFence
from skyloop.links.mavlink.system import System
from skyloop.links.mavlink.vehicle import MavlinkVehicle
from skyloop.links.mavlink.wire import Geography
from skyloop.sim.simulation import Simulation
from skyloop.vehicle.behaviours.fence import contains
from skyloop_client.errors import LinkError, SetpointError
from skyloop_client.messages import Arm, TakeOff
from skyloop_papers.mission.flight import GroundStation

ARM, START = 400, 300
WAYPOINT, LOITER_TIME, RTL, LAND, TAKEOFF, DELAY, JUMP, SPEED = 16, 19, 20, 21, 22, 93, 177, 178


class Listener(GroundStation):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def send(self, message: Any, component: int = 1) -> None:
        super().send(message, component)
        if message.get_type() == "STATUSTEXT":
            self.texts.append(message.text if isinstance(message.text, str) else message.text.decode())


class Flight:
    def __init__(self, simulation: Simulation, folder: Path | None = None, desk: Listener | None = None) -> None:
        self.simulation = simulation
        geography = Geography(HOME, simulation.truth().position)
        self.system = System(simulation.port.vehicle("drone"), simulation.bus, 1, geography)
        self.vehicle = MavlinkVehicle(self.system, folder)
        self.desk = desk or Listener()
        self.texts = self.desk.texts
        self.vehicle.channels.append(self.desk)

    def command(self, number: int, *params: float) -> None:
        self.desk.command(self.vehicle, number, *params)

    def upload(self, *items: tuple[int, Any, tuple[float, ...]]) -> None:
        frame = LocalFrame(HOME)
        built = []
        for number, (command, place, params) in enumerate(items):
            x = y = 0
            if place is not None:
                geodetic = frame.geodetic_array_from_enu(place)
                x, y = round(geodetic[0] * 1e7), round(geodetic[1] * 1e7)
            filled = [*params, *[0.0] * (3 - len(params)), math.nan][:4]
            z = 0.0 if place is None else float(place[2])
            built.append(mavlink.MAVLink_mission_item_int_message(1, 1, number, 6, command, 0, 1, *filled, x, y, z))
        self.desk.upload(self.vehicle, built)

    def until(self, done: Callable[[], bool], longest: float = 60.0) -> float:
        """Simulated s it took."""
        began = self.simulation.now
        while not done():
            assert self.simulation.now - began < longest, (self.texts, self.vehicle.modes.shown, self.desk.reached)
            self.simulation.run_for(0.01)
            self.vehicle.tick()
        return self.simulation.now - began

    @property
    def mode(self) -> str:
        return self.vehicle.modes.shown


@contextmanager
def flight(**changes: Any) -> Iterator[Flight]:
    vehicle = {**PLAIN["vehicles"][0], **changes}  # type: ignore[index]
    with skyloop.build(skyloop.make_scenario({**PLAIN, "vehicles": [vehicle]})) as simulation:
        yield Flight(simulation)


def test_every_item_does_what_it_says() -> None:
    with flight() as flown:
        system = flown.vehicle.system
        flown.upload(
            (TAKEOFF, (0, 0, 3.0), ()),
            (WAYPOINT, (6.0, 0, 3.0), (0, 0.5)),
            (DELAY, None, (3.0, -1, -1)),
            (WAYPOINT, (6.0, 6.0, 4.0), (2.0, 0.5)),
            (LOITER_TIME, (0, 6.0, 4.0), (1.5,)),
            (JUMP, None, (3, 1)),
            (LAND, (0, 6.0, 0), ()),
        )
        flown.command(ARM, 1)
        flown.command(START)
        times = {}
        for count, expected in enumerate((0, 1, 2, 3, 4, 5, 3, 4, 5, 6)):
            times[expected] = flown.until(lambda count=count: len(flown.desk.reached) > count)  # type: ignore[misc]
            assert flown.desk.reached[count] == expected
            if expected == 0:
                assert system.state.position[2] == pytest.approx(3.0, abs=0.4)
            if expected == 1:
                assert math.dist(system.state.position[:2], (6.0, 0.0)) < 0.6
                # it looks where it flies: east
                assert abs(system.yaw) < 0.3
        assert times[2] == pytest.approx(3.0, abs=0.05)
        assert not system.port.status.armed
        assert math.dist(system.state.position[:2], (0.0, 6.0)) < 0.7
        assert flown.mode == "hold"
        assert flown.vehicle.modes.flight.complete


def test_a_mission_without_a_take_off_takes_off() -> None:
    with flight() as flown:
        flown.upload((WAYPOINT, (5.0, 5.0, 6.0), (0, 0.5)))
        flown.command(ARM, 1)
        flown.command(START)
        flown.until(lambda: flown.vehicle.modes.flight.complete)
        assert flown.mode == "hold"
        flown.until(lambda: math.dist(flown.vehicle.system.state.position, (5.0, 5.0, 6.0 + 0.2)) < 0.5)


def test_it_flies_along_its_legs() -> None:
    with flight() as flown:
        system = flown.vehicle.system
        flown.upload(
            (TAKEOFF, (0, 0, 4.0), ()), (WAYPOINT, (20.0, 0, 4.0), (0, 3.0)), (WAYPOINT, (20.0, 40.0, 4.0), (5.0, 1.0))
        )
        flown.command(ARM, 1)
        flown.command(START)
        flown.until(lambda: 1 in flown.desk.reached)
        # taken as reached 3 m before the corner: straight to the next from there it would be 1.5 m off half-way
        assert system.state.position[0] == pytest.approx(17.0, abs=0.3)
        flown.until(lambda: system.state.position[1] > 20.0)
        assert system.state.position[0] == pytest.approx(20.0, abs=0.5)
        flown.until(lambda: flown.vehicle.modes.flight.complete)
        assert sum("at the goal" in text for text in flown.desk.texts) <= 2


def test_pause_go_on_and_speed() -> None:
    with flight() as flown:
        far = (60.0, 0.0, 3.0)
        flown.upload((TAKEOFF, (0, 0, 3.0), ()), (SPEED, None, (1, 2.5)), (WAYPOINT, far, (0, 1.0)), (RTL, None, ()))
        flown.command(ARM, 1)
        flown.command(START)
        system = flown.vehicle.system
        flown.until(lambda: system.state.position[0] > 15.0)
        assert system.state.velocity_world[0] == pytest.approx(2.5, abs=0.3)
        flown.command(193, 0)
        assert flown.mode == "hold"
        flown.until(lambda: abs(system.state.velocity_world[0]) < 0.05)
        stopped = system.state.position[0]
        assert stopped < 20.0
        flown.command(193, 1)
        assert flown.mode == "mission"
        flown.until(lambda: system.state.position[0] > 30.0)
        assert system.state.velocity_world[0] == pytest.approx(2.5, abs=0.3)
        flown.until(lambda: flown.mode == "rtl")
        flown.until(lambda: not system.port.status.armed, longest=120.0)
        # the mission's speed was the mission's
        assert system.port.limits.cruise_speed == 5.0


def test_a_gps_outage_interrupts_a_mission_and_no_more() -> None:
    sensors = {**SENSORS, "gnss": {**SENSORS["gnss"], "outages": [{"start": 10, "end": 24}]}}
    ekf = {"valid_position_sd": 0.5, "lost_position_sd": 0.6}
    with flight(state="ekf", ekf=ekf, sensors=sensors) as flown:
        system = flown.vehicle.system
        with pytest.raises(LinkError, match="400 was refused"):
            flown.command(ARM, 1)
        assert any("estimate is not valid" in text for text in flown.texts)
        flown.until(lambda: system.port.knows_where)
        flown.upload((TAKEOFF, (0, 0, 30.0), ()), (SPEED, None, (1, 2.0)), (WAYPOINT, (40.0, 0, 30.0), (0, 1.0)))
        flown.command(ARM, 1)
        flown.command(START)
        flown.until(lambda: system.port.overruled_by == "estimate lost")
        assert flown.mode == "land"
        with pytest.raises(LinkError, match="refused"):
            flown.command(176, 1, 4, 5)
        flown.until(lambda: not system.port.overruled_by)
        assert system.port.is_flying and flown.mode == "mission"
        flown.until(lambda: flown.vehicle.modes.flight.complete, longest=90.0)
        assert math.dist(flown.simulation.truth().position[:2], (40.0, 0.0)) < 3.0


def test_a_landing_by_failsafe_does_not_keep_it_on_the_ground() -> None:
    """The failsafe that made it land is past once it stands and knows where it is again."""
    sensors = {**SENSORS, "gnss": {**SENSORS["gnss"], "outages": [{"start": 6, "end": 26}]}}
    with flight(state="ekf", ekf={"valid_position_sd": 0.5, "lost_position_sd": 0.6}, sensors=sensors) as flown:
        system = flown.vehicle.system
        flown.until(lambda: system.port.knows_where)
        flown.command(ARM, 1)
        flown.command(22, 0, 0, 0, math.nan, math.nan, math.nan, math.nan)
        flown.until(lambda: flown.mode == "land")
        flown.until(lambda: not system.port.status.armed)
        assert system.port.status.failsafe == "estimate lost"
        flown.until(lambda: system.port.knows_where)
        flown.command(ARM, 1)
        assert system.port.status.armed


def test_a_low_battery_goes_before_the_client() -> None:
    with flight(charge=0.155) as flown:
        system = flown.vehicle.system
        flown.command(ARM, 1)
        flown.command(22, 0, 0, 0, math.nan, math.nan, math.nan, math.nan)
        flown.until(lambda: bool(system.port.overruled_by), longest=200.0)
        assert flown.mode == "land"
        with pytest.raises(SetpointError, match="battery low"):
            flown.vehicle.modes.choose("hold")
        flown.until(lambda: not system.port.status.armed)


def test_when_nobody_is_there_any_more_it_hovers_then_lands() -> None:
    with flight() as flown:
        system = flown.vehicle.system
        flown.upload((TAKEOFF, (0, 0, 3.0), ()), (WAYPOINT, (30.0, 0, 3.0), (0, 1.0)))
        flown.command(ARM, 1)
        flown.command(START)
        flown.until(lambda: system.state.position[0] > 3.0)
        flown.vehicle.channels.clear()
        flown.until(lambda: flown.vehicle.modes.flight.complete)  # a mission is flown to its end
        assert flown.mode == "hold"
        assert flown.until(lambda: flown.mode == "land") == pytest.approx(10.0, abs=0.1)
        flown.until(lambda: not system.port.status.armed)
        assert math.dist(system.state.position[:2], (30.0, 0.0)) < 0.7


def test_a_silent_script_is_not_taken_for_gone() -> None:
    """pymavlink's scripts over UDP send no heartbeats; only a client that did is missed."""
    with flight() as flown:
        system = flown.vehicle.system
        flown.desk.is_tcp = False
        flown.command(ARM, 1)
        flown.command(22, 0, 0, 0, math.nan, math.nan, math.nan, math.nan)
        flown.until(lambda: flown.mode == "hold")
        flown.vehicle._heard -= 100.0
        began = flown.simulation.now
        flown.until(lambda: flown.simulation.now > began + 15.0)
        assert flown.mode == "hold" and system.port.is_flying
        flown.desk.say(flown.vehicle, mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3))
        flown.vehicle._heard -= 100.0
        assert flown.until(lambda: flown.mode == "land") == pytest.approx(10.0, abs=0.1)


def test_a_watcher_who_leaves_ends_no_flight_of_others() -> None:
    with flight() as flown:
        flown.simulation.send(Arm(), TakeOff(3.0))
        flown.until(lambda: flown.vehicle.system.port.status.mode == "hover")
        flown.vehicle.channels.clear()
        began = flown.simulation.now
        flown.until(lambda: flown.simulation.now > began + 15.0)
        assert flown.vehicle.system.port.status.mode == "hover"


def test_fences_know_inside_from_outside() -> None:
    # a C, open to the east: even-odd has to get the notch right
    corners = np.array([[0, 0], [10, 0], [10, 3], [3, 3], [3, 7], [10, 7], [10, 10], [0, 10]], np.float64)
    for point, inside in (
        ((1, 5), True),
        ((6, 5), False),
        ((9, 8), True),
        ((9, 1), True),
        ((11, 5), False),
        ((-1, 5), False),
    ):
        assert contains(corners, np.array(point, np.float64)) is inside
    with flight() as flown:
        fence = PlannedFence(flown.vehicle.system)
        frame = LocalFrame(HOME)

        def item(command: int, place: tuple[float, float], param: float) -> Item:
            geodetic = frame.geodetic_array_from_enu([*place, 0.0])
            return Item(6, command, (param, 0.0, 0.0, 0.0), round(geodetic[0] * 1e7), round(geodetic[1] * 1e7), 0.0)

        square = [item(5001, corner, 4) for corner in ((-20, -10), (20, -10), (20, 10), (-20, 10))]
        fence.load([item(5004, (5, 0), 2.0), *square])

        def broken(x: float, y: float) -> list[str]:
            return list(fence.breaches(np.array([x, y, 5.0])))

        assert not broken(0, 0) and not broken(19, 9) and not broken(7.2, 0)
        assert "inside a circle" in broken(6.0, 1.0)[0]
        assert "outside a polygon" in broken(0.0, 11.0)[0] and "outside a polygon" in broken(21.0, 0.0)[0]
        with pytest.raises(SetpointError, match="corners"):
            fence.load(square[:3])
