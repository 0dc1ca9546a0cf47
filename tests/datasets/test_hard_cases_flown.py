"""Hard cases with the real odometry: on one recorded flight, and as scenarios."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from skyloop.datasets.hard_cases import CASES, SHORT, case_scenario, case_scores, on_recording
from skyloop.datasets.localising import Source, open_source
from skyloop.datasets.vio_flights import record_flight

ON_ONE = [name for name, case in CASES.items() if case.flight is None]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    folder = tmp_path_factory.mktemp("hard-cases") / "recording"
    record_flight(SHORT, 1, folder, workers=2)
    return open_source(folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", ON_ONE)
def test_a_case_ends_with_finite_numbers_and_a_valid_estimate(name: str, source: Source) -> None:
    localised = on_recording(name, source, source.messages())
    row = case_scores(name, localised)
    assert row["finite"]
    assert localised.estimates.valid[-1], localised.changes
    assert row["ape_m"] < 1.0
    if CASES[name].lasts:
        assert math.isfinite(row["recovered_s"]) and row["recovered_s"] < 3.0


@pytest.mark.slow
def test_a_case_gives_the_same_numbers_twice(source: Source) -> None:
    first, second = (on_recording("lights out", source, source.messages()).estimates for _ in range(2))
    np.testing.assert_array_equal(first.position, second.position)
    np.testing.assert_array_equal(first.covariance, second.covariance)


@pytest.mark.parametrize("name", ["lens covered", "60°/s turns"])
def test_a_case_is_a_scenario(name: str, tmp_path: Path) -> None:
    scenario = case_scenario(name)
    vehicle = scenario.vehicles[0]
    faults = vehicle.sensors["cam0"].faults
    if name == "lens covered":
        assert [(fault.kind, fault.start, fault.end) for fault in faults] == [("bias", 20.0, 22.0)]
    else:
        assert not faults
    turn_rate = vehicle.pilot.trajectory.turn_rate
    assert turn_rate == pytest.approx(math.radians(60.0) if name == "60°/s turns" else 0.5)
