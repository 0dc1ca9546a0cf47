import re
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from skyloop.world.earth import HOMES, Earth, EarthConfig, home_from, normal_gravity
from skyloop_client.errors import ScenarioError

ROOT = Path(__file__).parents[2]


def test_magnetic_field_at_the_default_home():
    earth = Earth()
    assert np.linalg.norm(earth.magnetic_field_world) == pytest.approx(52.7e-6, abs=0.2e-6)
    assert np.degrees(earth.declination) == pytest.approx(14.94, abs=0.05)
    assert earth.magnetic_field_world[2] < 0.0  # into the ground, north of the magnetic equator


@pytest.mark.parametrize(
    ("latitude_deg", "longitude_deg", "north_east_down_nt"),
    [(80.0, 0.0, (6521.6, 145.9, 54791.5)), (0.0, 120.0, (39677.8, -109.6, -10580.2))],
)
def test_magnetic_field_matches_the_models_published_test_values(latitude_deg, longitude_deg, north_east_down_nt):
    config = EarthConfig(latitude_deg=latitude_deg, longitude_deg=longitude_deg, altitude=0.0, year=2025.0)
    north, east, down = north_east_down_nt
    np.testing.assert_allclose(Earth(config).magnetic_field_world * 1e9, [east, north, -down], atol=0.06)


@pytest.mark.parametrize("latitude_deg", [90.0, -90.0])
def test_the_poles_are_no_special_case(latitude_deg):
    earth = Earth(EarthConfig(latitude_deg=latitude_deg))
    assert np.isfinite(earth.magnetic_field_world).all()
    assert np.isfinite(earth.local_frame.geodetic_array_from_enu([1.0, 2.0, 3.0])).all()


def test_gravity_choices():
    assert Earth().gravity == 9.80665
    assert Earth(EarthConfig(gravity=1.62)).gravity == 1.62
    assert Earth(EarthConfig(gravity="normal")).gravity == pytest.approx(9.808, abs=1e-3)


def test_normal_gravity_known_values():
    assert normal_gravity(0.0, 0.0) == pytest.approx(9.7803253359, abs=1e-10)
    assert normal_gravity(90.0, 0.0) == pytest.approx(9.8321849378, abs=1e-9)
    assert normal_gravity(45.0, 0.0) == pytest.approx(9.8061977694, abs=1e-8)
    assert normal_gravity(45.0, 1000.0) - normal_gravity(45.0, 0.0) == pytest.approx(-3.086e-3, rel=1e-3)


def test_home_is_the_origin_of_the_local_frame():
    config = EarthConfig(latitude_deg=-33.9, longitude_deg=151.2, altitude=35.0)
    home = Earth(config).local_frame.geodetic_from_enu(np.zeros(3))
    np.testing.assert_allclose(home.array(), [-33.9, 151.2, 35.0], atol=1e-8)


@pytest.mark.parametrize(
    "wrong", [{"latitude_deg": 91.0}, {"gravity": "lunar"}, {"gravity": -1.0}, {"year": 2019.0}, {"lat": 3.0}]
)
def test_config_refuses_what_it_cannot_use(wrong):
    with pytest.raises(ValidationError):
        EarthConfig(**wrong)


def test_the_airsim_page_quotes_the_field_at_airsim_s_home():
    east, north, up = Earth().magnetic_field_world * 1e4
    dip = np.degrees(np.arctan2(-up, np.hypot(east, north)))
    page = re.sub(r"\s+", " ", (ROOT / "docs" / "how-to" / "airsim.md").read_text(encoding="utf-8"))
    assert (
        f"({north:.2f}, {east:.2f}, {-up:.2f}) G: {np.linalg.norm([east, north, up]):.2f} G, dipping {dip:.0f}°" in page
    )


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
