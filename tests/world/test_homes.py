"""Homes by name: the places that scripts for other simulators take for granted."""

from __future__ import annotations

import pytest

from skyloop.world.earth import HOMES, EarthConfig, home_from
from skyloop_client.errors import ScenarioError


def test_the_usual_homes() -> None:
    earth = EarthConfig()
    default = HOMES["airsim-redmond"]
    assert (default.latitude_deg, default.longitude_deg, default.altitude) == (
        earth.latitude_deg,
        earth.longitude_deg,
        earth.altitude,
    )
    # the first waypoint of MAVSDK's mission.py is within a walk of PX4's home
    zurich = home_from("px4-zurich")
    assert abs(zurich.latitude_deg - 47.39804) < 1e-3 and abs(zurich.longitude_deg - 8.54557) < 1e-3
    assert home_from("ardupilot-canberra").latitude_deg < -35.0


def test_a_place_in_degrees() -> None:
    place = home_from("48.08,11.64,550")
    assert (place.latitude_deg, place.longitude_deg, place.altitude) == (48.08, 11.64, 550.0)
    assert home_from("-1.5,2").altitude == 0.0


@pytest.mark.parametrize(
    ("text", "why"),
    [("px4-zurch", "did you mean 'px4-zurich'"), ("1", "has 1 numbers"), ("95,3", "no place"), ("1,x", "LAT,LON")],
)
def test_what_is_no_place(text: str, why: str) -> None:
    with pytest.raises(ScenarioError, match=why):
        home_from(text)
