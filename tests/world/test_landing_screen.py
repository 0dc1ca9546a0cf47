"""The screen of the landing world leaves half of the marker in the shade."""

from __future__ import annotations

import numpy as np
import pytest

from skyloop.world.rays import RayTracer
from skyloop.world.worlds.landing import Landing
from skyloop_client.errors import ScenarioError


@pytest.mark.parametrize(("bearing_deg", "elevation_deg"), [(20.0, 35.0), (-130.0, 60.0), (90.0, 15.0)])
def test_half_of_the_marker_is_in_its_shadow(bearing_deg: float, elevation_deg: float) -> None:
    bearing, elevation = np.radians([bearing_deg, elevation_deg])
    world = Landing(1, marker_xy=(6.0, 2.0), screen=(bearing_deg, elevation_deg))
    world.model.freeze()
    sun = np.array([np.cos(elevation) * np.cos(bearing), np.cos(elevation) * np.sin(bearing), np.sin(elevation)])
    towards, aside = np.array([np.cos(bearing), np.sin(bearing)]), np.array([-np.sin(bearing), np.cos(bearing)])
    steps = np.array([(a, b) for a in (-0.8, -0.4, -0.1, 0.1, 0.4, 0.8) for b in (-0.5, 0.0, 0.5)])
    places = np.array([6.0, 2.0]) + steps[:, :1] * towards + steps[:, 1:] * aside
    origins = np.column_stack([places, np.full(len(places), 0.031)])
    hits = RayTracer(world.model).cast(origins, np.tile(sun, (len(origins), 1)), 50.0, None)
    shaded = np.isfinite(hits.distance) & (hits.distance < 50.0)
    assert np.array_equal(shaded, steps[:, 0] > 0.0)


@pytest.mark.parametrize("screen", [3.0, (1.0,), ("a", 30.0), (0.0, 80.0), (np.nan, 30.0)])
def test_an_impossible_sun_is_refused(screen: object) -> None:
    with pytest.raises(ScenarioError, match=r"landing.*screen"):
        Landing(1, screen=screen)  # type: ignore[arg-type]
