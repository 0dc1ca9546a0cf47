"""`skyloop reproduce unknown-city`: scores against hand-made truth, what is kept, and what counts as failed."""

from __future__ import annotations

import shlex
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from throws import by_name, keep_runs

from skyloop.cli.console import load
from skyloop.sim.assembly import build
from skyloop.world.worlds.urban_walls import UrbanWalls
from skyloop_client.messages import Contact, Event, EventKind, GridMap
from skyloop_papers.runner import reproduce
from skyloop_papers.runs import Job
from skyloop_papers.two_machines import why_not_apart
from skyloop_papers.unknown_city import experiment as unknown_city
from skyloop_papers.unknown_city.engine import fly_on, times_of
from skyloop_papers.unknown_city.flight import cause_of, fly
from skyloop_papers.unknown_city.plan import COMPUTERS, GOAL, LOOSE, TOUCHING, TROUBLES, CityPlan
from skyloop_papers.unknown_city.scores import CityFlight, TrueCity, map_score, true_cells, way_length
from skyloop_papers.unknown_city.stack import ClockedCityPilot

SMALL = CityPlan((101, 102), (101,), (101,), (), ())
FLIGHT: dict[str, Any] = {
    "optimum_m": 110.0, "off_m": 0.5, "way_m": 121.0, "way_over_optimum": 1.1, "clearance_m": 1.6, "error_rms_m": 0.03,
    "error_max_m": 0.06, "height_error_max_m": 0.1, "simulated_s": 60.0, "processor_s": 15.0, "factor": 4.0,
    "stages": {"LiDAR": 0.4, "planning": 0.6}, "iou": 0.9, "iou_loose": 0.95, "retreats": 0,
}  # fmt: skip


@pytest.fixture(scope="module")
def world() -> UrbanWalls:
    made = UrbanWalls(3)
    made.model.freeze()
    return made


def seen_map(world: UrbanWalls, shift: float = 0.0) -> GridMap:
    """The true cells between start and first crossing, drawn `shift` m too far east."""
    corner, shape = np.array([-10.0, -10.0]), (150, 100)
    truth, _ = true_cells(world.model, corner - [shift, 0.0], shape, 0.2, 0.0)
    cells = np.where(truth, 100, 0).astype(np.int8)
    return GridMap(0, np.ascontiguousarray(cells.T), 0.2, np.array([*corner, 10.0]))


def test_the_true_map_scores_one_and_a_shifted_one_less(world: UrbanWalls) -> None:
    assert map_score(world.model, seen_map(world)).iou > 0.999
    strict, loose = (true_cells(world.model, np.full(2, -10.0), (150, 100), 0.2, s)[1].sum() for s in (TOUCHING, LOOSE))
    assert loose > 3 * strict, "a larger slack leaves more cells out"
    off = map_score(world.model, seen_map(world, 0.3))
    assert off.iou < 0.99 and off.false_occupied > 50 and off.missed > 50


def test_the_insides_of_buildings_are_occupied_and_streets_are_not(world: UrbanWalls) -> None:
    city = TrueCity(world.model)
    at = lambda x, y: city.occupied[tuple(((np.array([x, y]) - city.corner) / city.cell).astype(int))]  # noqa: E731
    # the corner lot at the lower left has one box, 16 m deep
    assert at(-12.0, -12.0) and at(-16.0, -9.0)
    assert not at(0.0, 0.0) and not at(*GOAL)


def test_the_shortest_way_reaches_the_goal_and_keeps_off_walls(world: UrbanWalls) -> None:
    city = TrueCity(world.model)
    way = city.optimum()
    assert np.allclose(way[[0, -1]], [[0.0, 0.0], GOAL], atol=0.2)
    assert np.hypot(*GOAL) < way_length(way) < 200.0
    dense = np.concatenate([np.linspace(a, b, 200) for a, b in pairwise(way)])
    assert city.least_clearance(dense) > 1.3


def flown(*kinds: EventKind, end: tuple[float, float] = GOAL, reached: bool = True) -> CityFlight:
    events = [Event(10**9 * (k + 1), kind, "a wall") for k, kind in enumerate(kinds)]
    return CityFlight(
        truth=[(0, np.array([*end, 0.1]))], events=events, reached_ns=10**9 if reached else None, lasted=60.0
    )


def test_every_failure_has_its_cause() -> None:
    assert cause_of(flown(EventKind.DISARMED), "lands at the goal", 240.0) == ""
    assert "contact a wall at 1.0 s" in cause_of(flown(EventKind.CONTACT), "follows its way", 240.0)
    for normal, failed in (((0.0, 0.0, 1.0), False), ((1.0, 0.0, 0.0), True)):
        touch = Contact("legs", 3, "terrain", np.zeros(3), np.array(normal), 0.7, 0.7)
        landed = flown(EventKind.DISARMED)
        landed.events.append(Event(1, EventKind.CONTACT, "legs hit terrain", touch))
        assert bool(cause_of(landed, "lands at the goal", 240.0)) is failed
    assert "not at the goal after 60 s" in cause_of(flown(reached=False), "hovers without a map", 240.0)
    assert "not on the ground" in cause_of(flown(), "lands at the goal", 240.0)
    assert "landed 5.0 m from" in cause_of(flown(EventKind.DISARMED, end=(73.0, 64.0)), "lands at the goal", 240.0)


def write_runs(folder: Path, **changed: dict[str, Any]) -> None:
    def run_of(job: Job) -> dict[str, Any]:
        seed, group, *_ = job.arguments
        return {"seed": seed, "group": group, **FLIGHT, **changed.get(job.name.replace("-", "_"), {})}

    keep_runs(folder, SMALL, unknown_city.EXPERIMENT.jobs(SMALL, folder), run_of)


def test_flights_in_the_folder_are_not_flown_again(tmp_path: Path) -> None:
    hit = {"failed": "contact a wall at 3.0 s", "again": "skyloop run unknown-city --set 'seed=102'", "iou": 0.1}
    slower = {"iou": 0.7, "processor_s": 30.0}
    write_runs(tmp_path, gnss_102=hit, denied_101={"iou": 0.8}, kiss_101=slower)
    lines: list[str] = []
    results = reproduce(unknown_city.EXPERIMENT, folder=tmp_path, plan=SMALL, progress=lines.append)
    assert lines == []
    found = by_name(results)
    reached = found["with GNSS: goal reached"]
    assert (reached.ours, reached.n) == (1, 2)
    assert reached.conditions["failed"] == {"102": "contact a wall at 3.0 s"}
    assert found["with GNSS: collisions"].ours == 1
    assert found["with GNSS: map IoU"].ours == 0.9
    assert found["with GNSS: map IoU"].conditions["met"] == 1
    assert found["without GNSS: map IoU"].conditions["met"] == 0
    assert found["simulated per processor second"].ours == 4.0
    assert found["kiss-icp, without GNSS: simulated per processor second"].ours == 2.0
    assert found["kiss-icp, without GNSS: map IoU"].ours == 0.7
    blocks = unknown_city.EXPERIMENT.page(results)
    command = "`skyloop run unknown-city --set 'seed=102'`"
    assert f"| 102 | with GNSS | contact a wall at 3.0 s | `pictures/gnss-102.png` | {command} |" in blocks["failed"]
    assert "| goal reached | 1 flight | 1 of 2 (aim 20) | 1 of 1 (aim 18) | 1 of 1 |" in blocks["flights"]
    assert "| LiDAR | 40 % | 40 % |" in blocks["times"]


@pytest.mark.slow("a whole flight through the city")
@pytest.mark.parametrize("group", ["gnss", "denied", "kiss"])
def test_a_flight_reaches_the_goal_and_leaves_its_picture(group: str, tmp_path: Path) -> None:
    scored = fly(1, group, 240.0, str(tmp_path / "flight.png"))
    assert "failed" not in scored
    assert scored["way_over_optimum"] < 1.3 and scored["clearance_m"] > 1.0
    # the odometry of kiss-icp drifts with the distance flown, by 0.28 m in the mean of the twenty flights of the page
    assert scored["error_rms_m"] < (0.6 if group == "kiss" else 0.1)
    assert (tmp_path / "flight.png").stat().st_size > 20_000


def flown_by(command: str) -> Any:
    """The scenario that a command flies."""
    words = shlex.split(command)
    assert words[:3] == ["skyloop", "run", "unknown-city"]
    return load("unknown-city", [word for word in words[3:] if word != "--set"], None)


@pytest.mark.slow("a flight on LiDAR through the city")
def test_a_flight_that_is_cut_short_has_failed_and_says_how_to_fly_it_again(tmp_path: Path) -> None:
    scored = fly(1, "denied", 2.0, str(tmp_path / "flight.png"))
    assert scored["failed"].startswith("not at the goal after 2 s")
    assert scored["again"] == (
        "skyloop run unknown-city --set 'seed=1' --set 'duration=2' "
        "--set 'vehicles.0.estimators.slam.inputs=[imu, barometer, below, lidar]'"
    )
    assert (tmp_path / "flight.png").stat().st_size > 20_000
    # the command flies the same: what was clocked and what is not differ in nothing that moves the vehicle
    with build(flown_by(scored["again"])) as simulation:
        simulation.run_until(2.0)
        off = np.hypot(*(simulation.bus.newest("truth/drone").data.position[:2] - GOAL))
    assert off == pytest.approx(scored["off_m"], abs=1e-12)


class FailingPilot(ClockedCityPilot):
    """Breaks while it is in the air."""

    def _fly(self, bundle: Any) -> Any:
        raise ValueError("the planner broke")


@pytest.mark.slow("a flight on LiDAR")
def test_a_flight_that_ends_in_an_error_leaves_its_cause_a_picture_and_the_command(tmp_path: Path) -> None:
    kind = {"vehicles.0.pilot.kind": f"{Path(__file__)}:FailingPilot"}
    low = {"vehicles.0.pilot.options": {"height": 0.5}}
    scored = fly(2, "gnss", 10.0, str(tmp_path / "flight.png"), {**kind, **low})
    assert "the planner broke" in scored["failed"]
    assert scored["off_m"] > 90.0 and scored["simulated_s"] < 10.0
    assert "--set 'vehicles.0.pilot.options={height: 0.5}'" in scored["again"]
    assert flown_by(scored["again"]).vehicles[0].pilot.options == {"height": 0.5}
    assert (tmp_path / "flight.png").stat().st_size > 20_000


def test_a_scenario_that_cannot_be_built_is_a_failure_with_a_picture_of_the_city(tmp_path: Path) -> None:
    scored = fly(2, "gnss", 10.0, str(tmp_path / "flight.png"), {"vehicles.0.estimators.slam.inputs": ["lidar"]})
    assert "imu" in scored["failed"] and "add one" in scored["failed"]
    assert "inputs=[lidar]" in scored["again"] and (tmp_path / "flight.png").stat().st_size > 20_000


@pytest.mark.slow("a whole flight through the city")
@pytest.mark.parametrize("trouble", TROUBLES)
def test_in_trouble_it_hits_nothing(trouble: str) -> None:
    scored = fly(1, "gnss", 240.0, more=TROUBLES[trouble])
    assert not scored.get("failed", "").startswith(("contact", "crash"))
    assert scored["clearance_m"] > 0.5 and scored["error_max_m"] < 0.3


def test_the_times_of_a_sweep_are_those_of_its_setpoint() -> None:
    # s asked and answered, ns of execution time asked and answered, sends a setpoint, brings a sweep
    rows = [
        [1.0, 1.010, 0, 0, False, False],
        [1.011, 1.060, 1_000_000, 100_000_000, False, True],
        [1.070, 1.072, 109_000_000, 110_000_000, False, False],
        [1.080, 1.090, 118_000_000, 120_000_000, True, False],
        [1.091, 1.140, 121_000_000, 200_000_000, False, True],
    ]
    acted = {1: 1.001, 2: 1.020, 3: 1.071, 4: 1.0835, 5: 1.095}
    served = {number: {"wall_acted_ns": str(round(1e9 * (at - 0.5)))} for number, at in acted.items()}
    times = times_of(rows, served, 0.5)
    assert times["t1"] == pytest.approx([40.0]), "from the effect of the question that brought it"
    assert times["t2"] == pytest.approx([18.0]), "in its own time"
    assert times["t3"] == pytest.approx([3.5])


@pytest.mark.slow("flies with the stack at the other end of a link")
@pytest.mark.parametrize("name", [name for name, computer in COMPUTERS.items() if computer.linked])
def test_the_whole_stack_flies_at_the_other_end_of_the_link(name: str, tmp_path: Path) -> None:
    scored = fly_on(name, 1, 18.0, str(tmp_path / "flight.png"))
    assert scored["failed"].startswith("not at the goal after 18 s") and scored["violations"] == 0
    assert scored["way_m"] > 3.0 and scored["error_rms_m"] < 0.1 and scored["iou"] > 0.7
    assert all(len(values) > 20 and min(values) >= 0.0 for values in scored["times"].values())
    if COMPUTERS[name].apart and not why_not_apart():
        assert scored["network"] == "network namespaces joined by veth"
    cells = {result.name: result for result in unknown_city._on_computer(scored)}
    assert cells[f"{name}: t2, p50"].ours > 1.0
    assert (tmp_path / "flight.png").stat().st_size > 20_000
