"""Every option of the weather shows in an image, and what is in the air in a LiDAR's scan too."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from option_flights import ALOFT, DRONE, Flight, Script, fields_of, fly, numbered

from skyloop.rendering.client import Renderer
from skyloop.world.model import Model
from skyloop.world.weather import WeatherConfig
from skyloop_client.messages import LidarScan

pytestmark = pytest.mark.renders

LIDAR = {"kind": "lidar", "points_per_second": 100_000, "min_reflectance": 0.0, "range_noise_sd": 0.0}
CAMERA = {"kind": "camera", "width": 64, "height": 48, "quality": "medium"}
# level, and down at blocks and their shadows
SENSORS = {"level": CAMERA, "down": {**CAMERA, "mount": {"rotation_deg": [0.0, 40.0, 0.0]}}, "lidar": LIDAR}
LOOK = Script((), 0.02, {**ALOFT, "world": "blocks", DRONE + "sensors": SENSORS})


def image(flight: Flight, name: str = "level") -> np.ndarray:
    return np.asarray(flight.records(name)[-1].colour, np.float64)


def scan(flight: Flight) -> LidarScan:
    found: LidarScan = flight.records("lidar")[-1]
    return found


def apart(plain: Flight, other: Flight) -> float:
    """Mean, of 255, over both images."""
    return float(np.mean([np.abs(image(other, n) - image(plain, n)).mean() for n in ("level", "down")]))


def brighter_ground(plain: Flight, other: Flight) -> float:
    return float((image(other, "down") - image(plain, "down")).mean())


def weaker_echoes(plain: Flight, other: Flight) -> float:
    """Share of the light of the returns from the ground that is gone."""
    mean = [scan(f).intensities[scan(f).classes > 0].mean() for f in (plain, other)]
    return float(1.0 - mean[1] / mean[0])


def echoes_of_air(plain: Flight, other: Flight) -> float:
    return float((scan(other).instances == 0).sum())


def flatter(plain: Flight, other: Flight) -> float:
    """Share of the image's contrast that is gone."""
    return float(1.0 - image(other).std() / image(plain).std())


Check = tuple[float, Callable[[Flight, Flight], float], float]
WEATHER: dict[str, list[Check]] = {
    "time_of_day": [(22.0, brighter_ground, -40.0), (17.0, apart, 3.0)],
    "day_of_year": [(355, apart, 3.0)],
    "clouds": [(1.0, apart, 5.0)],
    "visibility": [(30.0, flatter, 0.3), (30.0, weaker_echoes, 0.5)],
    "rain": [(50.0, apart, 1.0), (50.0, weaker_echoes, 0.01), (50.0, echoes_of_air, 3)],
    "snow": [(10.0, brighter_ground, 10.0), (10.0, weaker_echoes, 0.01), (10.0, echoes_of_air, 3)],
    "dust": [(100.0, flatter, 0.2), (100.0, weaker_echoes, 0.3), (100.0, echoes_of_air, 3)],
    "wetness": [(1.0, brighter_ground, -5.0)],
    "leaves": [(1.0, apart, 2.0)],
}


class KeptRenderer(Renderer):
    """Outlives the simulations that ask it: their worlds are alike, and starting one takes longer than the pictures."""

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def looked() -> Iterator[Callable[..., Flight]]:
    """A flight under the weather given."""
    kept: list[KeptRenderer] = []

    def renderer(model: Model, *, texture_seed: int) -> KeptRenderer:
        if not kept:
            kept.append(KeptRenderer(model, texture_seed=texture_seed))
        return kept[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skyloop.sim.assembly.Renderer", renderer)
        yield lambda **changes: fly(LOOK, {name.replace("__", "."): value for name, value in changes.items()})
    Renderer.close(kept[0])


def test_every_option_of_the_weather_has_a_case() -> None:
    assert set(WEATHER) == fields_of(WeatherConfig)


@pytest.mark.parametrize(("option", "number"), numbered(WEATHER))
def test_weather(looked: Callable[..., Flight], option: str, number: int) -> None:
    value, measure, least = WEATHER[option][number]
    found = measure(looked(), looked(**{f"weather__{option}": value}))
    assert found * np.sign(least) >= abs(least), f"{option} = {value}: {measure.__name__} {found:.4g}"


def test_the_sun_of_another_latitude_is_another(looked: Callable[..., Flight]) -> None:
    assert apart(looked(), looked(earth__latitude_deg=-40.0)) > 3.0
