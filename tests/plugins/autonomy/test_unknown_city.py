"""The pilot through an unknown city, on maps made by hand and a vehicle that does what it is told."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from skyloop_autonomy.pilots.unknown_city import CityPilot
from skyloop_autonomy.planning.clearance_grid import ClearanceGrid
from skyloop_client.bundle import Bundle
from skyloop_client.messages import Arm, Estimate, GridMap, Land, Path, TakeOff, Velocity
from skyloop_client.streams import StreamInfo

CELL = 0.25
CORNER = np.array([-10.0, -10.0])
GOAL = (25.0, 5.0)
STEP_NS = 100_000_000


def city(*boxes: tuple[float, float, float, float], unknown_from: float = 1e3) -> NDArray[np.int8]:
    """(160, 120) int8, first index along x, 40 m by 30 m; unknown from some x on."""
    cells = np.zeros((160, 120), np.int8)
    cells[round((unknown_from - CORNER[0]) / CELL) :] = -1
    for x0, y0, x1, y1 in boxes:
        low, high = ((np.array(p) - CORNER) / CELL for p in ((x0, y0), (x1, y1)))
        cells[int(low[0]) : int(high[0]) + 1, int(low[1]) : int(high[1]) + 1] = 100
    return cells


WALL = (8.0, -10.0, 9.0, 8.0)
SHUT = (8.0, -10.0, 9.0, 20.0)


class Flight:
    """A point that moves exactly as commanded, and publishes a map every half second."""

    def __init__(
        self, pilot: CityPilot, cells: NDArray[np.int8], start: tuple[float, float, float] = (0.0, 0.0, 10.0)
    ) -> None:
        self.pilot, self.cells = pilot, cells
        self.position, self.velocity = np.array(start), np.zeros(3)
        self.t_ns, self.maps, self.valid = 0, True, True
        self.published: list[tuple[str, Any]] = []
        self._latest: dict[str, Any] = {}
        self.track = [self.position.copy()]
        self.first_reply = self.call(armed=False)
        self.call(mode="climb")

    def call(self, armed: bool = True, mode: str = "hover") -> Any:
        if self.maps and self.t_ns % (5 * STEP_NS) == 0:
            origin = np.array([*CORNER, 10.0])
            self._latest["drone/slam_map"] = GridMap(self.t_ns, np.ascontiguousarray(self.cells.T), CELL, origin)
        none, level = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        state = Estimate(self.t_ns, self.position, self.velocity, level, none, none, none, none, valid=self.valid)
        status = SimpleNamespace(armed=armed, landed=not armed, mode=mode)
        publish = lambda name, record: self.published.append((name, record))  # noqa: E731
        known = {"drone/slam_map": StreamInfo("drone/slam_map", "GridMap")}
        bundle = Bundle(self.t_ns, "drone", self._latest, state, status, known=known, publisher=publish)
        self.t_ns += STEP_NS
        return self.pilot(bundle)

    def go(self, seconds: float) -> Any:
        """The reply that is no velocity, or the last one."""
        for _ in range(round(1e9 * seconds / STEP_NS)):
            reply = self.call()
            if not isinstance(reply, Velocity):
                return reply
            self.velocity = reply.velocity
            self.position = self.position + 1e-9 * STEP_NS * self.velocity
            self.track.append(self.position.copy())
        return reply


def test_it_arms_and_takes_off_to_its_height() -> None:
    flight = Flight(CityPilot(GOAL, height=12.0), city())
    arm, take_off = flight.first_reply
    assert isinstance(arm, Arm)
    assert take_off == TakeOff(12.0)


def test_around_a_wall_to_the_goal_at_the_speed_it_was_given() -> None:
    flight = Flight(CityPilot(GOAL, speed=3.0, band=1.5), city(WALL))
    assert isinstance(flight.go(60.0), Land)
    track = np.array(flight.track)
    assert np.hypot(*(track[-1, :2] - GOAL)) < 1.0
    assert flight.pilot.reached
    ways = ClearanceGrid(city(WALL) == 100, CORNER, CELL, 1.5)
    assert min(ways.clearance(point) for point in track) > 1.2
    speeds = np.hypot(*np.diff(track[:, :2], axis=0).T) / 0.1
    assert 2.9 < speeds.max() < 3.0 + 1e-6
    # nowhere does the command jump
    assert np.abs(np.diff(speeds)).max() < 0.16
    best = ways.way(np.zeros(2), np.array(GOAL))
    assert best is not None
    assert speeds.sum() * 0.1 < 1.15 * np.hypot(*np.diff(best, axis=0).T).sum()
    name, path = flight.published[0]
    assert name == "path"
    assert isinstance(path, Path)
    assert np.allclose(path.positions[-1], [*GOAL, 10.0])


def test_a_wall_that_appears_late_changes_the_way() -> None:
    flight = Flight(CityPilot(GOAL), city())
    # 2.4 m on the way, where it can still stop before the wall
    flight.go(1.8)
    flight.cells = city(WALL)
    assert isinstance(flight.go(60.0), Land)
    ways = ClearanceGrid(city(WALL) == 100, CORNER, CELL, 1.5)
    assert min(ways.clearance(point) for point in flight.track) > 0.8


def test_it_slows_down_before_what_it_does_not_know() -> None:
    open_flight, unknown = (Flight(CityPilot(GOAL), cells) for cells in (city(), city(unknown_from=8.0)))
    for flight in (open_flight, unknown):
        flight.go(2.6)
    assert np.hypot(*open_flight.velocity[:2]) > 2.9
    unknown.go(1.0)
    assert unknown.position[0] < 8.0
    assert np.hypot(*unknown.velocity[:2]) < 1.8


def test_in_the_band_it_retreats_at_a_right_angle_and_counts_it() -> None:
    flight = Flight(CityPilot(GOAL, band=1.5), city(WALL), start=(7.3, 0.0, 10.0))
    flight.go(0.6)
    assert flight.velocity[0] < -0.5
    assert abs(flight.velocity[1]) < 0.1
    flight.go(2.0)
    assert flight.pilot.retreats == 1
    assert flight.position[0] < 6.8


def test_without_a_way_it_hovers() -> None:
    flight = Flight(CityPilot(GOAL), city(SHUT))
    # the grid ends beside the wall; what is around it is unknown and counts as free, so it is walled in
    flight.cells = city((-6.0, -6.0, -5.0, 6.0), (5.0, -6.0, 6.0, 6.0), (-6.0, 5.0, 6.0, 6.0), (-6.0, -6.0, 6.0, -5.0))
    flight.go(10.0)
    assert np.hypot(*flight.position[:2]) < 1.0
    assert np.hypot(*flight.velocity[:2]) < 0.01


@pytest.mark.parametrize("fault", ["map", "estimate"])
def test_on_an_old_map_or_a_lost_estimate_it_stops(fault: str) -> None:
    flight = Flight(CityPilot(GOAL), city())
    flight.go(2.0)
    assert np.hypot(*flight.velocity[:2]) > 2.0
    flight.maps, flight.valid = fault != "map", fault != "estimate"
    flight.go(5.0)
    assert np.hypot(*flight.velocity[:2]) < 0.01
    flight.maps = flight.valid = True
    assert isinstance(flight.go(60.0), Land)


def test_the_height_is_held() -> None:
    flight = Flight(CityPilot(GOAL), city(), start=(0.0, 0.0, 8.5))
    flight.go(6.0)
    assert abs(flight.position[2] - 10.0) < 0.1


def test_it_publishes_what_it_does_about_its_goal() -> None:
    flight = Flight(CityPilot(GOAL), city(WALL))
    flight.go(3.0)
    flight.maps = False
    flight.go(4.0)
    flight.maps = True
    flight.go(60.0)
    found = [record for name, record in flight.published if name == "navigation/status"]
    assert all(np.allclose(status.goal, [*GOAL, 10.0]) for status in found)
    assert [found[0].state, found[-1].state] == ["flying", "reached"]
    assert [status.state for status in found].count("reached") == 1
    hovering = [status for status in found if status.mode == "hover"]
    assert hovering and {status.reason for status in hovering} == {"hovers without a map"}
    assert not any(status.reason for status in found if status.mode == "fly")
    # five times a second, and whenever it changes
    assert 0.15e9 < np.median(np.diff([status.t_ns for status in found])) < 0.35e9
