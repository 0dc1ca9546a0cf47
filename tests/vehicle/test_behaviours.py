"""Behaviours flown from Python: what they reach, how they end, and that a snapshot holds them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import skyloop
from skyloop.sim.simulation import Simulation
from skyloop.sim.vehicle_port import VehiclePort
from skyloop.vehicle.behaviours import (
    Behaviour,
    Cubics,
    Fence,
    Fenced,
    FlyVelocity,
    Follow,
    FollowPath,
    For,
    GoTo,
    Heading,
    HeldHeight,
    HoldAttitude,
    Orbit,
    Order,
    Situation,
    Station,
    Track,
    TurnTo,
    Wait,
)
from skyloop_client.errors import PartError, SetpointError
from skyloop_client.messages import Arm, GoHome, Land, TakeOff

pytestmark = pytest.mark.flights


@pytest.fixture
def sim() -> Iterator[Simulation]:
    with skyloop.build(skyloop.make_scenario({"vehicles": [{"airframe": "iris"}]})) as sim:
        yield sim


def fly(sim: Simulation, *steps: Behaviour | Order, longest: float = 60.0) -> Any:
    drone = sim.port.vehicle()
    drone.fly(*steps)
    end = sim.now + longest
    while drone.behaviour is not None and not drone.behaviour.done:
        assert sim.now < end, drone.status
        sim.run_for(0.02)
    return drone.behaviour


def up(sim: Simulation) -> VehiclePort:
    assert not fly(sim, Arm(), TakeOff(3.0)).failed
    return sim.port.vehicle()


def test_steps_are_flown_to_the_end_and_home(sim: Simulation) -> None:
    drone = up(sim)
    assert not fly(sim, GoTo([6.0, -2.0, 4.0], yaw=1.0, speed=2.0)).failed
    assert drone.truth.position == pytest.approx([6.0, -2.0, 4.0], abs=0.6) and drone.status.mode == "hover"
    began = sim.now
    fly(sim, Wait(2.5))
    assert sim.now - began == pytest.approx(2.5, abs=0.05)
    fly(sim, TurnTo(-1.2))
    assert drone.situation.yaw == pytest.approx(-1.2, abs=0.12)
    assert not fly(sim, GoHome()).failed
    assert not drone.status.armed and np.hypot(*drone.truth.position[:2]) < 0.5


def test_a_velocity_ends_in_a_hover(sim: Simulation) -> None:
    drone = up(sim)
    fly(sim, For(3.0, FlyVelocity([2.0, 0.0, 0.0], Heading(ahead=True), height=5.0)))
    assert drone.truth.velocity_world[0] == pytest.approx(2.0, abs=0.2) and drone.status.mode == "hover"
    sim.run_for(3.0)
    assert np.linalg.norm(drone.truth.velocity_world) < 0.1
    before = drone.truth.position[2]
    lean = HoldAttitude(0.0, 0.1, None, HeldHeight(before, drone.geometry.mass, drone.geometry.gravity))
    fly(sim, For(1.0, lean))
    # nose down by 0.1 rad, for 1 s
    assert drone.truth.velocity_world[0] == pytest.approx(drone.geometry.gravity * 0.1, rel=0.3)
    assert drone.truth.position[2] == pytest.approx(before, abs=0.1)


def test_a_path_is_flown_through_its_corners_and_not_into_the_ground(sim: Simulation) -> None:
    drone = up(sim)
    track = sim.subscribe("truth/drone")
    corners = np.array([[5.0, 0.0, 3.0], [5.0, 5.0, 4.0], [0.0, 5.0, 4.0]])
    assert not fly(sim, FollowPath(list(corners), 1.5)).failed
    flown = np.array([message.data.position for message in track])
    for corner in corners:
        assert np.linalg.norm(flown - corner, axis=1).min() < 0.6
    assert fly(sim, FollowPath([[0.0, 5.0, -3.0]], 1.0)).failed
    assert drone.status.armed
    with pytest.raises(SetpointError, match="more than 0"):
        FollowPath([[0.0, 0.0, 1.0]], 0.0)


def test_a_trajectory_is_where_its_cubics_are(sim: Simulation) -> None:
    up(sim)
    start = sim.truth().position
    times, ends = np.array([0.0, 4.0]), np.array([start, start + np.array([4.0, 2.0, 1.0])])
    cubics = Cubics(times, ends, np.zeros((2, 3)), np.array([0.0, 0.5]))
    # 3 s² - 2 s³ at a quarter
    assert cubics.at(1.0).position == pytest.approx(start + 0.15625 * (ends[1] - start))
    step = 1e-4
    slope = (cubics.at(1.0 + step).position - cubics.at(1.0 - step).position) / (2.0 * step)
    assert cubics.at(1.0).velocity == pytest.approx(slope, abs=1e-6)
    fly(sim, Track(cubics))
    sim.run_for(2.0)
    assert sim.truth().position == pytest.approx(ends[1], abs=0.2)


def test_an_orbit_keeps_its_radius_and_its_limit(sim: Simulation) -> None:
    up(sim)
    centre = np.array([0.0, 6.0, 4.0])
    orbit = Orbit(centre, -4.0, 9.0, "course", turn=2.0 * math.pi)
    fly(sim, For(9.0, orbit))
    # sqrt(0.6 · 5 m/s² · 4 m)
    assert orbit.speed == pytest.approx(math.sqrt(12.0))
    away = sim.truth().position - centre
    assert np.hypot(*away[:2]) == pytest.approx(4.0, abs=0.4)
    with pytest.raises(SetpointError, match="give 1 to 1000 m"):
        Orbit(centre, 0.2)


def test_it_follows_a_target_that_is_told_only_positions(sim: Simulation) -> None:
    drone = up(sim)
    follow = Follow(Station(distance=4.0, height=5.0))
    drone.fly(follow)
    sim.run_for(1.0)
    assert follow.is_lost and drone.status.mode == "hover"
    for _ in range(60):
        walker = np.array([3.0, 1.2 * sim.now, 0.0])
        follow.see(sim.port.now_ns, walker)
        sim.run_for(0.25)
    assert drone.truth.position - walker == pytest.approx([0.0, -3.7, 5.1], abs=0.7)


def test_a_fence_stops_it(sim: Simulation) -> None:
    drone = up(sim)
    inside = Fence(circles=[([6.0, 0.0], 1.0, False)], polygons=[([[-9, -9], [20, -9], [20, 9], [-9, 9]], True)])
    assert list(inside.breaches(np.array([6.5, 0.0, 3.0]), None)) == ["inside a circle of 1 m"]
    assert list(inside.breaches(np.array([0.0, 10.0, 3.0]), None)) == ["outside a polygon of 4 corners"]
    fenced = Fenced(Fence(distance=5.0), GoTo([30.0, 0.0, 3.0], speed=2.0))
    assert fly(sim, fenced, Land()).failed and "5 m allowed" in fenced.breach
    sim.run_for(2.0)
    assert drone.status.mode == "hover" and 5.0 < drone.truth.position[0] < 7.0


def test_whoever_takes_command_ends_it(sim: Simulation) -> None:
    drone = up(sim)
    drone.fly(Orbit([0.0, 5.0, 3.0], 5.0))
    sim.run_for(2.0)
    drone.send(Land(), by="another")
    sim.run_for(0.1)
    assert drone.behaviour is not None and drone.behaviour.failed and drone.status.mode == "land"


def test_an_order_that_is_refused_ends_it(sim: Simulation) -> None:
    assert fly(sim, TakeOff(2.0), GoTo([1.0, 0.0, 2.0])).failed
    assert not sim.port.vehicle().status.armed


def test_a_snapshot_holds_what_is_flown(sim: Simulation) -> None:
    drone = up(sim)
    drone.fly(GoTo([4.0, 0.0, 3.0]), Orbit([4.0, 5.0, 3.0], 5.0, 2.0))
    sim.run_for(4.0)
    saved = sim.snapshot()
    sim.run_for(5.0)
    there = sim.truth()
    sim.restore(saved)
    sim.run_for(5.0)
    assert (sim.truth().position == there.position).all() and (sim.truth().quat_wxyz == there.quat_wxyz).all()


def test_the_scenarios_pilot_gives_way(sim: Simulation) -> None:
    with skyloop.build(skyloop.load_scenario("hover")) as flown:
        flown.run_for(4.0)
        assert not fly(flown, GoTo([3.0, 0.0, 2.0])).failed
        flown.run_for(1.0)
        assert flown.truth().position == pytest.approx([3.0, 0.0, 2.0], abs=0.3)


def test_a_behaviour_of_ones_own_that_breaks_says_so_in_one_line(sim: Simulation) -> None:
    class Broken(Behaviour):
        def update(self, now: Situation) -> Order | None:
            raise KeyError("way")

    with pytest.raises(PartError, match=r"behaviour Steps .*KeyError"):
        fly(sim, Broken())
