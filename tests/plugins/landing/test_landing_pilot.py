"""Landings in the simulator. Without a renderer the marker's place in the image comes from the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from landing_flights import Flight

from skyloop.run import run_scenario
from skyloop.sim.outside_programs import pilot_outside
from skyloop.sim.scenario import load_scenario

pytestmark = pytest.mark.flights

NEAR: dict[str, Any] = {"start": {"position": (6.4, 0.3, 5.0), "yaw_deg": 30.0}, "settle": 0.2}


def test_it_lands_on_the_marker_with_the_marker_s_heading() -> None:
    flight = Flight(**NEAR)
    assert flight.landed and flight.stages[-3:] == ["over", "down", "land"]
    assert np.hypot(*flight.error) < 0.1
    assert abs(flight.askew) < 0.03
    assert flight.seconds < 15.0


@pytest.mark.slow("ten landings")
def test_starts_of_the_paper_end_within_a_tenth_of_a_metre_and_twenty_seconds() -> None:
    flights = [Flight(seed) for seed in range(1, 11)]
    assert all(flight.landed for flight in flights)
    errors = np.array([[*flight.error, flight.askew] for flight in flights])
    assert np.sqrt((errors**2).mean(axis=0)).max() < 0.1
    seconds = [flight.seconds for flight in flights]
    assert np.mean(seconds) < 20.0 and max(seconds) < 30.0


@pytest.mark.slow("two long flights")
def test_a_lost_marker_is_not_landed_beside() -> None:
    """It climbs, gives up, flies home and lands there, 6 m away."""
    flight = Flight(gone=(5.0, 1e9), **NEAR)
    assert flight.stages[-2:] == ["seek", "given up"]
    assert flight.landed
    np.testing.assert_allclose(flight.error, [-6.0, 0.0], atol=0.4)
    again = Flight(gone=(4.0, 6.0), **NEAR)
    assert "seek" in again.stages and again.stages[-1] == "land"
    assert np.hypot(*again.error) < 0.1


@pytest.mark.slow("two landings")
def test_wind_and_a_bad_rangefinder_are_borne() -> None:
    wind = {"wind": {"kind": "dryden", "mean": [4.0, 3.0, 0.0], "w20_kt": 15}}
    assert np.hypot(*Flight(3, more=wind, **NEAR).error) < 0.3
    faults = {"faults": [{"kind": "dropout", "probability": 0.2}]}
    assert np.hypot(*Flight(distance=faults, **NEAR).error) < 0.12


@pytest.mark.slow("two landings")
def test_as_published_the_heading_is_lost() -> None:
    """The ablation: the second stage begins on position alone, and the altitude is not filtered."""
    start: dict[str, Any] = {"start": {"position": (6.4, 0.3, 6.0), "yaw_deg": 120.0}, "settle": 0.2}
    published: dict[str, Any] = {"control": {"second_stage": "published", "altitude_filter": False}}
    assert abs(Flight(**start, **published).askew) > 0.5
    assert abs(Flight(**start).askew) < 0.03


def test_the_scenario_s_seed_draws_the_start_also_outside() -> None:
    scenario = load_scenario("landing").model_copy(update={"seed": 9})
    _, arguments = pilot_outside(scenario)
    assert '"start_seed": 9' in arguments[-1]


@pytest.mark.slow("a landing on rendered images")
def test_the_shipped_scenario_lands_on_rendered_images_and_leaves_a_sheet(tmp_path: Path) -> None:
    summary = run_scenario(load_scenario("landing"), tmp_path / "run")
    flown = summary["vehicles"]["drone"]
    assert flown["landed_on_marker"] and flown["landing_error_m"] < 0.1
    assert abs(flown["landing_heading_error_rad"]) < 0.05 and flown["landing_s"] < 20.0
    assert (tmp_path / "run" / "landing-drone.png").stat().st_size > 100_000
