"""The paper's tasks, flown in the simulator's own process, against the truth."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from task_flights import Flight, flight

from skyloop_client.errors import TaskError, UnknownNameError
from skyloop_client.streams import NS_PER_S
from skyloop_client.tasks.sync_hil import TASKS, run_task

pytestmark = pytest.mark.renders
CHEAP = {"width": 160, "height": 120}


@pytest.fixture(scope="module")
def facing() -> Iterator[Flight]:
    with flight("face-anchor", **CHEAP) as flown:
        yield flown


def face(flown: Flight, yaw: float, seconds: float) -> tuple[int, float, float]:
    """From a heading: oscillations, s, and the angle to the anchor that is left."""
    session = flown.again(seconds)
    flown.put(flown.start, yaw)
    session.ask()
    record = run_task("face-anchor", session)
    flown.simulation.run_for(1.0)
    return record.result["oscillations"], record.seconds, flown.truth()[0]


@pytest.fixture(scope="module")
def closed() -> Iterator[Flight]:
    with flight("closed-path", rate_hz=2) as flown:
        yield flown


# ---- Algorithm 1


def test_sensor_characterisation_waits_for_every_sample(facing: Flight) -> None:
    record = run_task("sensor-characterisation", facing.again(), stream="imu", samples=20)
    assert record.loops == 20
    assert record.result["seconds_per_sample"] == pytest.approx(0.05, abs=0.003)
    slow = run_task("sensor-characterisation", facing.again(0.12), stream="range", samples=20)
    assert slow.result["seconds_per_sample"] == pytest.approx(0.12, abs=1e-9)
    assert run_task("sensor-characterisation", facing.again(), stream="imu", fresh=False).result["seconds"] == 0.0


# ---- Algorithm 2


def test_relative_position_at_random_poses(closed: Flight) -> None:
    """Within 1° and 0.1 m, from all sides."""
    random = np.random.default_rng(6)
    for _ in range(4):
        session = closed.again()
        x, y = random.uniform(1.0, 5.0), random.uniform(0.0, 2.0)
        bearing = math.atan2(closed.anchor[1] - y, closed.anchor[0] - x)
        closed.put([x, y, random.uniform(1.2, 2.0)], bearing + random.uniform(-0.5, 0.5))
        found = run_task("relative-position", session).result
        angle, distance = closed.truth()
        assert found["angle"] == pytest.approx(angle, abs=math.radians(1.0))
        assert found["distance"] == pytest.approx(distance, abs=0.1)


def test_without_an_anchor_it_gives_up(facing: Flight) -> None:
    session = facing.again()
    facing.put(facing.start, -math.pi / 2)
    session.ask()
    with pytest.raises(TaskError, match="no anchor in 3 images of 'front'"):
        run_task("relative-position", session, most_images=3)


# ---- Algorithm 3


def test_the_anchor_is_at_the_edge_of_the_view_at_the_start(facing: Flight) -> None:
    facing.again()
    assert math.radians(35.0) < facing.truth()[0] < math.radians(40.0)


@pytest.mark.parametrize("seed", range(2))
def test_a_quick_computer_faces_the_anchor_within_the_precision(facing: Flight, seed: int) -> None:
    yaw = float(np.random.default_rng(seed).uniform(-0.02, 0.15))
    oscillations, seconds, left = face(facing, yaw, 0.0)
    # 0.02 rad, a pixel of this camera's is 0.01 rad
    assert abs(left) <= 0.02 + 0.01
    assert oscillations == 0
    assert 1.2 < seconds < 3.0


@pytest.mark.slow("one more flight with a camera")
def test_it_turns_the_other_way_too(facing: Flight) -> None:
    assert abs(face(facing, 1.2, 0.0)[2]) <= 0.03


@pytest.mark.slow("two flights with a camera")
def test_a_slower_computer_oscillates_more_and_takes_longer(facing: Flight) -> None:
    runs = {s: [face(facing, yaw, s) for yaw in (0.0, 0.06)] for s in (0.0, 0.6)}
    oscillations = {s: sum(run[0] for run in many) for s, many in runs.items()}
    mean_seconds = [np.mean([run[1] for run in many]) for many in runs.values()]
    assert oscillations[0.0] == 0
    assert oscillations[0.0] < oscillations[0.6]
    assert mean_seconds[0] < mean_seconds[1]


def test_every_oscillation_is_a_change_of_direction(facing: Flight) -> None:
    """Looked at from outside: the vehicle itself turns to and fro as often as is counted."""
    session = facing.again(0.6)
    rates = facing.simulation.subscribe("truth/drone")
    record = run_task("face-anchor", session)
    end_ns = record.end_ns
    assert end_ns is not None
    turning = [m.data.angular_velocity_body[2] for m in rates if m.t_ns < end_ns]
    signs = [math.copysign(1.0, rate) for rate in turning if abs(rate) > 0.01]
    assert record.result["oscillations"] == sum(a != b for a, b in pairwise(signs)) > 0
    assert all(child.task == "relative-position" for child in record.children)


# ---- Algorithm 4


def moved_past(flown: Flight, seconds: float = 0.0, **options: float) -> float:
    """m beyond the place abeam of the anchor."""
    record = run_task("move-forward", flown.again(seconds), **options)
    flown.simulation.run_for(1.0)
    position = flown.simulation.truth().position
    assert record.result["turned"] >= math.pi / 2
    assert record.result["faced"] == sum(child.task == "face-anchor" for child in record.children)
    # straight on all the way
    assert abs(position[1] - flown.start[1]) < 0.1
    return float(position[0] - flown.anchor[0])


@pytest.mark.slow("a flight of half a minute with a camera")
def test_move_forward_stops_abeam_of_the_anchor() -> None:
    with flight("move-forward", rate_hz=5, **CHEAP) as flown:
        assert abs(moved_past(flown, speed=0.5)) < 0.15


@pytest.mark.slow("three flights at the shipped rate of images")
@pytest.mark.parametrize("seed", range(3))
def test_move_forward_as_shipped(seed: int) -> None:
    with flight("move-forward", seed=seed) as flown:
        assert abs(moved_past(flown)) < 0.1


# ---- Algorithm 5


def closed_path(flown: Flight, seconds: float = 0.0) -> tuple[float, float]:
    """m from the start in truth, and how far the task's own answer is off."""
    record = run_task("closed-path", flown.again(seconds))
    off = float(np.linalg.norm((flown.simulation.truth().position - flown.start)[:2]))
    assert record.loops == 4
    assert 22.0 < record.seconds < 30.0
    return off, abs(record.result["displacement"] - off)


def test_a_closed_path_comes_back(closed: Flight) -> None:
    off, error = closed_path(closed)
    assert off < 0.6
    assert error < 0.2


@pytest.mark.slow("a flight for each seed")
@pytest.mark.parametrize("seed", range(2, 11))
def test_a_closed_path_comes_back_with_other_seeds(seed: int) -> None:
    with flight("closed-path", seed=seed, rate_hz=2) as flown:
        test_a_closed_path_comes_back(flown)


@pytest.mark.slow("ten closed paths")
def test_a_closed_path_cares_little_for_the_computer() -> None:
    """40 ms for a question still keeps up with an IMU of 20 Hz."""
    ends = []
    for seed in range(1, 6):
        with flight("closed-path", seed=seed, rate_hz=2) as flown:
            ends.append([closed_path(flown, seconds)[0] for seconds in (0.0, 0.04)])
    quick, slow = np.mean(ends, axis=0)
    assert abs(quick - slow) < 0.2


# ---- names


def test_tasks_and_options_by_name(facing: Flight) -> None:
    assert set(TASKS) == {
        "ascend", "sensor-characterisation", "relative-position", "face-anchor", "move-forward", "closed-path"
    }  # fmt: skip
    with pytest.raises(UnknownNameError, match="did you mean 'face-anchor'"):
        run_task("face-ancor", facing.again())
    with pytest.raises(UnknownNameError, match="did you mean 'precision'"):
        run_task("face-anchor", facing.again(), precison=0.1)
    record = run_task("relative-position", facing.again(), anchor={"height": 1.0})
    assert record.options["anchor"]["height"] == 1.0


def test_a_task_that_flies_takes_off_first_and_hovers_last(facing: Flight) -> None:
    session = facing.again(standing=True)
    record = run_task("face-anchor", session, altitude=1.4)
    # the way up is not the task's
    assert record.start_ns > 2 * NS_PER_S
    assert record.seconds < 3.0
    assert session.ask().status.mode == "hover"
    assert facing.simulation.truth().position[2] == pytest.approx(0.12 + 1.4, abs=0.05)
