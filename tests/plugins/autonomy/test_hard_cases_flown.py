"""Hard cases with the real odometry: on one recorded flight, and as scenarios."""

from __future__ import annotations

import math

import numpy as np
import pytest

from skyloop.sensors.faults import Fault
from skyloop_autonomy.evaluation.hard_cases import (
    CAMERAS,
    CASES,
    SHORT,
    WHITE_WALL,
    case_changes,
    case_scenario,
    case_scores,
    on_recording,
)
from skyloop_autonomy.evaluation.localising import MessageSource, localise, open_source
from skyloop_autonomy.evaluation.vio_flights import corners_of, flight_scenario, flown, record_flight

ON_ONE = [name for name, case in CASES.items() if case.flight is None]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> MessageSource:
    folder = tmp_path_factory.mktemp("hard-cases") / "recording"
    record_flight(SHORT, 1, folder, workers=2)
    return open_source(folder)


@pytest.mark.slow("localises a recorded flight once for each case")
@pytest.mark.parametrize("name", ON_ONE)
def test_a_case_ends_with_finite_numbers_and_a_valid_estimate(name: str, source: MessageSource) -> None:
    localised = on_recording(name, source, source.messages())
    row = case_scores(name, localised)
    assert row["finite"]
    assert localised.estimates.valid[-1], localised.changes
    assert row["ape_m"] < 1.0
    if CASES[name].lasts:
        assert math.isfinite(row["recovered_s"]) and row["recovered_s"] < 3.0


@pytest.mark.slow("localises a recorded flight twice")
def test_a_case_gives_the_same_numbers_twice(source: MessageSource) -> None:
    first, second = (on_recording("lights out", source, source.messages()).estimates for _ in range(2))
    np.testing.assert_array_equal(first.position, second.position)
    np.testing.assert_array_equal(first.covariance, second.covariance)


@pytest.mark.parametrize("name", CASES)
def test_a_case_is_a_scenario(name: str) -> None:
    """The dry flight that looks for collisions is left out here; it is tested with the flights."""
    case = CASES[name]
    vehicle = flight_scenario(case.flight or SHORT, 1, case_changes(name)).vehicles[0]
    for sensor in ("imu0", *CAMERAS):
        found = [Fault(**fault) for fault in case.faults.get(sensor, [])]
        assert list(vehicle.sensors[sensor].faults) == found, sensor
    trajectory = vehicle.pilot.trajectory
    assert trajectory.turn_rate == pytest.approx(math.radians(60.0) if name == "60°/s turns" else 0.5)
    assert trajectory.speed == (3.0 if name == "3 m/s" else 1.0)
    assert (vehicle.sensors["cam0"].exposure_time > 0.0) == (name == "dusk")
    assert (vehicle.sensors["cam1"].full_well > 0.0) == (name in ("dusk", "white wall"))


@pytest.mark.slow("builds the worlds of all hard cases")
def test_the_way_along_the_white_wall_is_free() -> None:
    scenario = case_scenario("white wall")
    assert scenario.world.options == {"white_wall": WHITE_WALL}
    assert corners_of(scenario)[:, 1].min() == -8.6


@pytest.mark.slow("flies each case")
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.flight is not None])
def test_a_flown_case_ends_with_finite_numbers_and_a_valid_estimate(name: str) -> None:
    with flown(case_scenario(name)) as source:
        localised = localise(source, source.messages())
    row = case_scores(name, localised)
    assert row["finite"] and localised.estimates.valid[-1], localised.changes
    assert row["ape_m"] < 0.5
