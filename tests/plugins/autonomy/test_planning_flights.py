"""Flights through halls with boxes, closed loop: a vehicle of mass and nothing else follows the setpoints."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from skyloop_autonomy.planning.global_planner import find_way
from skyloop_autonomy.planning.local_planner import NO_MOVERS
from skyloop_autonomy.planning.replanning import (
    FlightState,
    Memory,
    NavigationSetpoint,
    NavigatorConfig,
    Surroundings,
    advance,
)
from skyloop_papers.benchmarks.plan import CELL, BoxWorld, box_world

pytestmark = pytest.mark.flights

CONFIG = NavigatorConfig()
STEP = 0.02
BLADES = 0.38
"""m from the middle of the iris to its blade tips."""


@dataclass
class FlownTrack:
    """What came of a flight."""

    positions: list[np.ndarray] = field(default_factory=list)
    speeds: list[float] = field(default_factory=list)
    aims: list[NavigationSetpoint] = field(default_factory=list)

    @property
    def modes(self) -> list[str]:
        return [aim.mode for aim in self.aims]

    def clearance(self, world: BoxWorld) -> float:
        return min(world.clearance(position) for position in self.positions)


def seen_in(world: BoxWorld) -> Callable[[np.ndarray, float], Surroundings]:
    """All of the world on the map; of the cloud, what is within 4 m."""
    cells, cloud = world.occupied(), world.cloud()
    return lambda position, t: Surroundings(
        cells, (0.0, 0.0), CELL, cloud[np.linalg.norm(cloud - position, axis=1) < 4.0], NO_MOVERS
    )


def fly(
    see: Callable[[np.ndarray, float], Surroundings],
    start: np.ndarray,
    goal: Callable[[float], np.ndarray | None],
    duration: float,
    config: NavigatorConfig = CONFIG,
) -> FlownTrack:
    """A double integrator that follows the setpoints with a proportional-derivative controller."""
    position, velocity, memory, track, seen = start.copy(), np.zeros(3), Memory(), FlownTrack(), see(start, 0.0)
    for tick in range(round(duration / STEP)):
        if tick % 5 == 0:
            seen = see(position, tick * STEP)
        yaw = track.aims[-1].yaw if track.aims else 0.0
        memory, aim = advance(
            memory, seen, FlightState(position, velocity, yaw), goal(tick * STEP), tick * 20_000_000, config
        )
        push = aim.acceleration + 6.0 * (aim.position - position) + 4.5 * (aim.velocity - velocity)
        velocity = velocity + STEP * push
        position = position + STEP * velocity
        track.positions.append(position)
        track.speeds.append(float(np.linalg.norm(velocity)))
        track.aims.append(aim)
        if aim.mode == "arrived" and goal(tick * STEP + 1.0) is goal(tick * STEP):
            break
    return track


@pytest.mark.parametrize(
    "seed", [7, *(pytest.param(n, marks=pytest.mark.slow("more halls")) for n in (1, 2, 3, 4, 5, 6, 8, 9, 10))]
)
def test_it_arrives_slowly_enough_and_hits_nothing(seed: int) -> None:
    world = box_world(seed)
    goal = world.goal
    track = fly(seen_in(world), world.start, lambda t: goal, 80.0)
    assert track.modes[-1] == "arrived", track.aims[-1].why
    assert np.linalg.norm(track.positions[-1] - goal) < 0.5
    assert max(track.speeds) <= 1.0
    assert track.clearance(world) > BLADES
    steps = np.diff(np.array([aim.velocity for aim in track.aims]), axis=0) / STEP
    assert np.linalg.norm(steps, axis=1).max() <= 1.05 * CONFIG.motion.max_acceleration, "setpoints do not jump"
    flown = float(np.sum(track.speeds) * STEP)
    way = find_way(seen_in(world)(world.start, 0.0).grid(CONFIG.way.inflation), world.start, goal, CONFIG.way)
    assert flown < 1.15 * way.length
    assert flown / (len(track.speeds) * STEP) > 0.4, "m/s on average"


def test_the_same_inputs_give_the_same_setpoints_and_memory_is_never_changed() -> None:
    world = box_world(3)
    see, memory = seen_in(world), Memory()
    seen = see(world.start, 0.0)
    flight = FlightState(world.start, np.zeros(3), 0.5)
    for tick in range(40):
        before = copy.deepcopy(memory)
        after, aim = advance(memory, seen, flight, world.goal, tick * 20_000_000, CONFIG)
        _, again = advance(before, seen, flight, world.goal, tick * 20_000_000, CONFIG)
        assert np.array_equal(aim.position, again.position) and np.array_equal(aim.jerk, again.jerk)
        assert (aim.yaw, aim.mode) == (again.yaw, again.mode)
        assert repr(memory) == repr(before)
        memory = after


def empty_hall() -> BoxWorld:
    return BoxWorld(16.0, np.array([[12.0, 12.0, 12.5, 12.5]]))


def test_a_goal_behind_a_closed_wall_is_refused_and_it_hovers() -> None:
    world = BoxWorld(16.0, np.array([[8.0, 0.0, 8.4, 16.0]]))
    goal = world.goal
    track = fly(seen_in(world), world.start, lambda t: goal, 4.0)
    assert track.aims[-1].why.startswith("no path from") and track.modes[-1] == "hover"
    assert np.linalg.norm(track.positions[-1] - world.start) < 0.05


def test_a_new_goal_in_flight_is_flown_to_and_none_stops_it() -> None:
    world = empty_hall()
    first, second = np.array([10.0, 2.0, 1.5]), np.array([3.0, 9.0, 2.0])
    track = fly(seen_in(world), world.start, lambda t: first if t < 5.0 else second, 60.0)
    assert track.modes[-1] == "arrived" and np.linalg.norm(track.positions[-1] - second) < 0.5
    assert max(position[0] for position in track.positions) < 9.0
    stopped = fly(seen_in(world), world.start, lambda t: first if t < 5.0 else None, 12.0)
    assert stopped.modes[-1] == "idle" and stopped.speeds[-1] < 0.02 < stopped.speeds[240]


def test_it_flies_through_a_door_with_an_open_leaf_without_creeping() -> None:
    """The straight line to the sub-goal cuts the corner of the leaf, so it must aim at a nearer point of the way."""
    world = BoxWorld(12.0, np.array([[5.0, 0.0, 5.2, 3.0], [5.0, 4.1, 5.2, 12.0], [3.9, 2.9, 5.0, 3.0]]))
    goal = np.array([7.4, 1.6, 1.5])
    track = fly(seen_in(world), np.array([1.5, 6.0, 1.5]), lambda t: goal, 40.0)
    assert track.modes[-1] == "arrived", track.aims[-1].why
    assert len(track.speeds) * STEP < 25.0 and track.clearance(world) > BLADES


def test_from_rest_it_turns_before_it_flies() -> None:
    world = empty_hall()
    behind = np.array([1.4, 9.0, 1.5])
    track = fly(seen_in(world), world.start, lambda t: behind, 30.0)
    first_move = next(i for i, speed in enumerate(track.speeds) if speed > 0.05)
    assert "turn" in track.modes[:first_move] and abs(track.aims[first_move].yaw - np.pi / 2) < 0.35
    turns = np.abs(np.diff([aim.yaw for aim in track.aims])) / STEP
    assert turns.max() <= CONFIG.yaw_rate + 1e-6


def test_a_vehicle_that_was_blown_away_plans_from_where_it_is() -> None:
    world = empty_hall()
    see, goal, memory = seen_in(world), np.array([10.0, 2.0, 1.5]), Memory()
    for tick in range(100):
        memory, aim = advance(
            memory, see(world.start, 0.0), FlightState(world.start, np.zeros(3), 0.0), goal, tick * 20_000_000, CONFIG
        )
    blown = FlightState(world.start + np.array([0.0, 3.0, 0.0]), np.array([0.0, 0.5, 0.0]), 0.0)
    memory, aim = advance(memory, see(blown.position, 2.0), blown, goal, 2_000_000_000, CONFIG)
    assert np.allclose(aim.position, blown.position) and np.allclose(aim.velocity, blown.velocity)


@pytest.mark.parametrize("speed", [0.5, 1.0])
def test_walkers_who_cross_and_come_up_to_it_are_not_hit(speed: float) -> None:
    world = empty_hall()
    cells, cloud, goal = world.occupied(), world.cloud(), np.array([13.0, 3.0, 1.5])

    def walkers(t: float) -> np.ndarray:
        crossing = [6.0, 9.0 - speed * t, 0.9, 0.0, -speed, 0.0, 0.3, 0.9]
        coming = [16.0 - speed * t, 2.4, 0.9, -speed, 0.0, 0.0, 0.3, 0.9]
        return np.array([crossing, coming])

    track = fly(
        lambda position, t: Surroundings(cells, (0.0, 0.0), CELL, cloud, walkers(t)), world.start, lambda t: goal, 60.0
    )
    assert track.modes[-1] == "arrived"
    gaps = [
        np.linalg.norm(position[:2] - mover[:2]) - 0.3
        for i, position in enumerate(track.positions)
        for mover in walkers((i + 1) * STEP)
        if position[2] < 1.8 + BLADES
    ]
    assert min(gaps) > 0.35 and track.clearance(world) > BLADES
