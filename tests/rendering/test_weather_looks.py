"""Sun, fog, rain, snow, dust, clouds and exposure, as images show them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from photography import difference, light_of, number_of, places, shot, weather
from skyloop.rendering.client import Renderer
from skyloop.world.model import Model
from skyloop.world.views import View

pytestmark = pytest.mark.renders

X = 200.0
STAGE: Any = {"eye": (X - 6.0, -4.0, 9.0), "target": (X, 0.0, 0.2)}
"""Down on the pillar and the white floor around it."""


def brightness(view: View) -> float:
    return float(light_of(view.colour).mean())


def test_the_day_brightens_and_darkens(renderer: Renderer) -> None:
    hours = (1.0, 4.6, 6.0, 9.0, 12.0, 16.0, 19.5, 23.0)
    light = [brightness(shot(renderer, **STAGE, time_of_day=hour, exposure=0.3)) for hour in hours]
    assert light[0] < light[1] < light[2] < light[3] < light[4]
    assert light[4] > light[5] > light[6] > light[7]
    assert light[4] > 20.0 * light[0]


def test_night_is_dark_but_not_black(renderer: Renderer) -> None:
    for hour in (0.0, 2.0, 23.0):
        view = shot(renderer, (0.0, 0.0, 2.0), (10.0, 3.0, 2.0), "medium", time_of_day=hour)
        grey = view.colour.mean(axis=-1)
        assert 8.0 < np.median(grey) < 70.0
        assert grey.max() < 110.0
        # objects still stand out
        assert np.std(grey) > 4.0


@pytest.mark.parametrize("hour", [8.0, 12.0, 16.0])
def test_shadows_point_away_from_the_sun(renderer: Renderer, model: Model, hour: float) -> None:
    view = shot(renderer, **STAGE, quality="medium", size=(240, 180), time_of_day=hour, exposure=0.4)
    points = view.pose.position + places(view)
    floor = (view.instances == number_of(model, "stage")) & (np.hypot(points[..., 0] - X, points[..., 1]) < 2.5)
    light = light_of(view.colour)[..., 1]
    shade = floor & (light < 0.75 * np.median(light[floor]))
    assert shade.sum() > 50
    away = points[shade][:, :2].mean(axis=0) - [X, 0.0]
    expected = -weather(time_of_day=hour).sun_direction[:2]
    cosine = away @ expected / np.linalg.norm(away) / np.linalg.norm(expected)
    assert cosine > np.cos(np.radians(12.0))


@pytest.mark.parametrize("visibility", [30.0, 60.0])
def test_contrast_falls_as_koschmieder_says(renderer: Renderer, model: Model, visibility: float) -> None:
    """A black board before the fog's own light: contrast exp(-3.912·distance/visibility), 2 % at the visibility."""
    number = number_of(model, "black")
    for distance in (0.3 * visibility, 0.6 * visibility, visibility):
        eye = (X - 20.0 - distance, 0.0, 1.7)
        view = shot(renderer, eye, (X, 0.0, 1.7), fov=0.2, visibility=visibility, size=(96, 72))
        board = light_of(view.colour[view.instances == number]).mean(axis=0)
        far = shot(renderer, eye, (X, 0.0, 1.7 + 0.2 * X), fov=0.2, visibility=visibility, size=(96, 72))
        air = light_of(far.colour[far.instances == 0]).mean(axis=0)
        contrast = float(((air - board) / air).mean())
        assert contrast == pytest.approx(np.exp(-3.912 * distance / visibility), abs=0.02)


def test_clear_air_changes_nothing_nearby(renderer: Renderer) -> None:
    clear, hazy = (shot(renderer, (0, 0, 2), (10, 3, 1), visibility=v) for v in (100_000.0, 20_000.0))
    assert difference(clear, hazy) < 2.0


@pytest.mark.parametrize(("kind", "amount"), [("rain", 30.0), ("snow", 2.0), ("dust", 100.0)])
def test_what_falls_moves_and_is_a_function_of_time(renderer: Renderer, kind: str, amount: float) -> None:
    options: dict[str, Any] = {"clouds": 0.0, kind: amount}

    def at(t: float) -> View:
        return shot(renderer, (0.0, 0.0, 4.0), (10.0, 3.0, 4.5), t=t, **options)

    first, later, again, hours_later = at(2.0), at(2.05), at(2.0), at(7202.0)
    assert first.colour.tobytes() == again.colour.tobytes()
    for other in (later, hours_later):
        changed = np.abs(first.colour.astype(int) - other.colour).max(axis=-1) > 3
        assert 0.001 < changed.mean() < 0.4
    # cameras of depth and labels see through it
    same_place = (first.instances == later.instances).mean()
    assert same_place > 0.99


def test_drops_stay_put_when_the_camera_does_not(renderer: Renderer) -> None:
    """Particles belong to the world: a step of the camera moves them by parallax only, not with it."""
    still = shot(renderer, (0.0, 0.0, 4.0), (1.0, 0.0, 4.0), snow=3.0, t=1.0)
    around = shot(renderer, (12.0, 24.0, 4.0), (13.0, 24.0, 4.0), snow=3.0, t=1.0)
    dry = shot(renderer, (0.0, 0.0, 4.0), (1.0, 0.0, 4.0), snow=0.0, t=1.0)
    sky = (still.instances == 0) & (around.instances == 0) & (dry.instances == 0)
    # the cube of flakes repeats every 12 m, so the flakes before the sky are the same
    flakes = np.abs(still.colour.astype(int) - around.colour).max(axis=-1)[sky]
    assert np.mean(flakes > 6) < 0.02


def test_snow_lies_on_what_faces_up(renderer: Renderer, model: Model) -> None:
    dry, snowy = (shot(renderer, (-30.0, -30.0, 6.0), (0.0, 0.0, 0.0), snow=s, clouds=0.8) for s in (0.0, 4.0))
    up = (dry.normals[..., 2] > 0.9) & (dry.distance < 25.0)
    upright = (np.abs(dry.normals[..., 2]) < 0.1) & (dry.instances > 0) & (dry.distance < 40.0)
    white = snowy.colour[up].astype(float)
    assert white.mean() > 1.4 * dry.colour[up].mean()
    assert np.ptp(white.mean(axis=0)) < 30.0
    assert np.median(np.abs(snowy.colour[upright].astype(float) - dry.colour[upright])) < 25.0


def test_under_a_roof_it_stays_dry(renderer: Renderer) -> None:
    eye, target = (-60.0, -71.0, 2.2), (-60.0, -60.0, 0.6)
    dry, snowy = (shot(renderer, eye, target, snow=s, clouds=0.8) for s in (0.0, 4.0))
    ground = view_points(dry)
    sheltered = np.abs(ground - [-60.0, -60.0, 0.0]).max(axis=-1) < 4.5
    in_the_open = (np.abs(ground - [-60.0, -60.0, 0.0]).max(axis=-1) > 5.5) & (dry.distance < 15.0)
    grass = dry.normals[..., 2] > 0.9
    change = np.abs(snowy.colour.astype(float) - dry.colour).mean(axis=-1)
    assert (sheltered & grass).sum() > 100 and (in_the_open & grass).sum() > 100
    assert np.median(change[sheltered & grass]) < 12.0
    assert np.median(change[in_the_open & grass]) > 50.0
    # and no flakes fall there
    inside = (-60.0, -62.0, 1.5), (-60.0, -60.0, 1.4)
    now, later = (shot(renderer, *inside, snow=4.0, t=t, fov=0.8) for t in (1.0, 1.1))
    near = now.distance < 6.0
    assert near.any()
    assert np.array_equal(now.colour[near], later.colour[near])


def view_points(view: View) -> np.ndarray:
    return view.pose.position + places(view)


def test_rain_darkens_and_dust_browns(renderer: Renderer) -> None:
    def ground(**options: Any) -> np.ndarray:
        view = shot(renderer, (-30.0, -30.0, 6.0), (-20.0, -20.0, 0.0), clouds=0.9, **options)
        return light_of(view.colour[view.distance < 15.0]).mean(axis=0)

    assert ground(rain=15.0).mean() < 0.85 * ground().mean()
    sky = {
        dust: light_of(shot(renderer, (0, 0, 2), (10, 0, 6), dust=dust).colour[:20]).mean(axis=(0, 1))
        for dust in (0.0, 80.0)
    }
    assert sky[0.0][2] > 1.2 * sky[0.0][0]
    assert sky[80.0][0] > 1.2 * sky[80.0][2]


def test_clouds_cover_the_sky_and_take_the_sun(renderer: Renderer) -> None:
    up: Any = {"eye": (0.0, 0.0, 2.0), "target": (10.0, 0.5, 14.0), "fov": 1.4}
    skies = [shot(renderer, **up, clouds=c).colour.astype(float) for c in (0.0, 0.5, 1.0)]
    blue = [float(np.mean(sky[..., 2] > 1.25 * sky[..., 0])) for sky in skies]
    assert blue[0] > 0.95
    assert 0.15 < blue[1] < 0.85
    assert blue[2] < 0.05
    floor = [brightness(shot(renderer, **STAGE, clouds=c, exposure=0.3)) for c in (0.0, 1.0)]
    assert floor[1] < 0.6 * floor[0]


def test_exposure_multiplies_the_light(renderer: Renderer) -> None:
    half, full = (shot(renderer, (0, 0, 2), (10, 3, 1), exposure=e).colour for e in (0.4, 0.8))
    fair = (full.max(axis=-1) < 235) & (half.min(axis=-1) > 30)
    assert fair.mean() > 0.5
    ratio = light_of(full[fair]) / light_of(half[fair])
    assert np.median(ratio) == pytest.approx(2.0, abs=0.05)
    assert np.percentile(ratio, [2, 98]) == pytest.approx([2.0, 2.0], abs=0.25)


def test_a_smooth_sky_has_no_bands(renderer: Renderer) -> None:
    """Where a band would end, all pixels of a row would change at once."""
    view = shot(renderer, (0, 0, 2), (10.0, 0.0, 12.0), fov=0.5, clouds=0.0, time_of_day=15.0)
    rows = view.colour[..., 0].astype(int)
    alike = (np.diff(rows, axis=0) == 0).mean(axis=1)
    assert alike.max() < 0.98
