"""Where the cameras of the people dataset are: around one person or object of a place at a time.

Each image has a subject whose height in pixels, position in the image and direction are drawn; the camera follows from
them. So sizes are spread evenly from far to near, and two images of a place are never nearly the same. The air and the
light are drawn for each image too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skyloop.core.frames import quat_from_euler
from skyloop.rendering.quality import QUALITIES
from skyloop.world.semantics import CLASS_ID
from skyloop.world.weather import WeatherConfig, weather_at
from skyloop_client.errors import DatasetError
from skyloop_client.messages import Array
from skyloop_client.streams import NS_PER_S
from skyloop_detect.training_data.people_places import PopulatedWorld

SIZES = ((320, 240), (320, 240), (640, 480))
"""px; two of three images are small ones."""
FOVS_DEG = (60.0, 75.0, 90.0, 90.0, 105.0)
SMALLEST_PX = 8.0
"""px, the least height of the subject, if it is a person."""
LARGEST_SHARE = 0.75
"""Of the image's height, the most that the subject takes."""
TALL = {"person": 1.75, "car": 1.5, "forklift": 2.2, "bench": 1.0, "marker": 1.2}
"""m that count as the subject's height; a marker lies flat and is seen at a slant."""
SHARES = {"person": 0.8, "car": 0.05, "forklift": 0.05, "bench": 0.05, "marker": 0.05}
LOWEST, CLEARANCE = 1.0, 0.35
"""m above the ground, and m around the camera, that are free."""
STEEPEST_DEG = 75.0
HIDDEN = 0.15
"""The share of images whose subject may be behind something."""
TRIES = 40
APART_S = 20.0
"""Simulated s from one image to the next."""
LATITUDE_DEG = 48.0
AIRS = ("clear", "clear", "clouds", "clouds", "haze", "fog", "fog", "rain", "rain", "snow", "dust", "leaves")
LIGHTS = ("day", "day", "day", "day", "day", "dusk", "dusk", "night")
BAD = (("fog", "day"), ("rain", "day"), ("clear", "dusk"))
"""Air and light of the bad-weather part."""
ELEVATIONS_DEG = {"day": (8.0, 90.0), "dusk": (-3.0, 5.0), "night": (-9.0, -3.0)}
"""Of the sun. At night the sky of a town is left, and the camera exposes longer."""
EXPOSURES = {"day": (0.7, 1.4), "dusk": (0.8, 2.5), "night": (2.0, 6.0)}


@dataclass(frozen=True, slots=True, eq=False)
class ImagePlan:
    """One image to be taken."""

    t_ns: int
    size: tuple[int, int]
    fov_deg: float
    quality: str
    position: Array
    """(3,) m."""
    quat_wxyz: Array
    """(4,) world_from_sensor."""
    exposure: float
    weather: WeatherConfig
    facts: dict[str, Any]
    """What the dataset says of the image."""


def draw_shots(
    place: PopulatedWorld, count: int, chance: np.random.Generator, *, bad_weather: bool = False
) -> list[ImagePlan]:
    """`count` images of a place; the same generator gives the same ones."""
    subjects = _subjects(place)
    if not subjects:
        raise DatasetError(f"world '{place.world}' with seed {place.seed} has nothing to look at")
    return [_shot(place, number, subjects, chance, bad_weather) for number in range(count)]


def _subjects(place: PopulatedWorld) -> dict[str, list[int]]:
    """Numbers of the objects of each class that is trained."""
    found: dict[str, list[int]] = {}
    for name in TALL:
        numbers = [n for n, thing in enumerate(place.model.objects) if thing.class_id == CLASS_ID[name] and thing.rows]
        inside = [n for n in numbers if _is_inside(place, _where(place, n, 0))]
        if inside:
            found[name] = inside
    return found


def _where(place: PopulatedWorld, number: int, t_ns: int) -> Array:
    """(3,) m, the origin of the object's first part."""
    model, row = place.model, place.model.objects[number].rows[0]
    moving = row - model.n_standing
    pose: Array = model.standing_poses[row] if moving < 0 else model.motion(t_ns).poses[moving]
    return pose[:, 3]


def _is_inside(place: PopulatedWorld, point: Array) -> bool:
    around = place.surroundings
    return bool(np.all(point[:2] > around.low) and np.all(point[:2] < around.high))


def _shot(
    place: PopulatedWorld, number: int, subjects: dict[str, list[int]], chance: np.random.Generator, bad_weather: bool
) -> ImagePlan:
    t_ns = round((number + float(chance.uniform(0.0, 0.8))) * APART_S * NS_PER_S)
    size = SIZES[int(chance.integers(len(SIZES)))]
    fov = float(chance.choice(FOVS_DEG))
    quality = str(chance.choice(list(QUALITIES)))
    air, light = BAD[number % len(BAD)] if bad_weather else (str(chance.choice(AIRS)), str(chance.choice(LIGHTS)))
    shares = np.array([SHARES[name] for name in subjects])
    subject = str(chance.choice(list(subjects), p=shares / shares.sum()))
    where = _where(place, int(chance.choice(subjects[subject])), t_ns)
    position, attitude = _view(place, where, TALL[subject], size, np.radians(fov), chance)
    weather = draw_weather(air, light, chance)
    facts = {"world": place.world, "quality": quality, "air": air, "light": light, "fov_deg": fov}
    exposure = float(np.exp(chance.uniform(*np.log(EXPOSURES[light]))))
    return ImagePlan(t_ns, size, fov, quality, position, attitude, exposure, weather, facts)


def _view(
    place: PopulatedWorld, where: Array, tall: float, size: tuple[int, int], fov: float, chance: np.random.Generator
) -> tuple[Array, Array]:
    """A free position of the camera, and its attitude; after many attempts the last one, free or not."""
    width, height = size
    focal = 0.5 * width / np.tan(0.5 * fov)
    target = np.array([*where[:2], place.ground.at(*where[:2])[0] + 0.5 * tall])
    may_hide = chance.random() < HIDDEN
    position = target
    for attempt in range(TRIES):
        px = np.exp(chance.uniform(np.log(SMALLEST_PX), np.log(LARGEST_SHARE * height)))
        distance = tall * focal / px
        # steep views are of near objects: a camera is at most `top` above the ground
        highest = min(place.surroundings.top, distance * np.sin(np.radians(STEEPEST_DEG)))
        rise = chance.uniform(LOWEST - 0.5 * tall, max(highest, LOWEST)) if attempt < TRIES // 2 else 0.5 * tall
        level = np.sqrt(max(distance**2 - rise**2, 0.04))
        heading = chance.uniform(0.0, 2.0 * np.pi)
        position = target + np.array([level * np.cos(heading), level * np.sin(heading), rise])
        if _is_free(place, position) and (may_hide or not _is_hidden(place, position, target)):
            break
    u, v = chance.uniform(-0.42, 0.42, 2) * size
    forward = target - position
    yaw = np.arctan2(forward[1], forward[0]) + np.arctan(u / focal)
    pitch = np.arctan2(-forward[2], np.hypot(forward[0], forward[1])) - np.arctan(v / focal)
    roll = np.radians(chance.normal(0.0, 4.0))
    return position, quat_from_euler(float(roll), float(pitch), float(yaw))


_AROUND = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if (x, y, z) != (0, 0, 0)])
_AROUND = _AROUND / np.linalg.norm(_AROUND, axis=1, keepdims=True)


def _is_free(place: PopulatedWorld, position: Array) -> bool:
    if not _is_inside(place, position) or position[2] - place.ground.at(*position[:2])[0] < LOWEST:
        return False
    if place.blocked(np.tile(position, (len(_AROUND), 1)), _AROUND, CLEARANCE).any():
        return False
    # under the open sky nothing is above a camera, or it is inside a closed building
    return not (place.surroundings.open_sky and place.blocked(position[None], np.array([[0.0, 0.0, 1.0]]), 80.0)[0])


def _is_hidden(place: PopulatedWorld, position: Array, target: Array) -> bool:
    ray = position - target
    distance = float(np.linalg.norm(ray))
    return bool(place.blocked(target[None], ray[None] / distance, distance)[0])


def draw_weather(air: str, light: str, chance: np.random.Generator) -> WeatherConfig:
    """A kind of air, and the sun at a height that gives this light."""
    fields: dict[str, float] = {"clouds": float(chance.uniform(0.0, 0.4))}
    match air:
        case "clouds":
            fields["clouds"] = float(chance.uniform(0.5, 1.0))
        case "haze":
            fields["visibility"] = float(10.0 ** chance.uniform(2.2, 3.3))
        case "fog":
            fields |= {"visibility": float(10.0 ** chance.uniform(1.4, 2.2)), "clouds": float(chance.uniform(0.3, 1.0))}
        case "rain":
            fields |= {"rain": float(chance.uniform(3.0, 50.0)), "clouds": float(chance.uniform(0.6, 1.0))}
            fields["visibility"] = float(10.0 ** chance.uniform(2.5, 4.0))
        case "snow":
            fields |= {"snow": float(chance.uniform(0.3, 5.0)), "clouds": float(chance.uniform(0.6, 1.0))}
        case "dust":
            fields["dust"] = float(chance.uniform(5.0, 90.0))
        case "leaves":
            fields["leaves"] = float(chance.uniform(0.2, 1.0))
    day = int(chance.integers(60, 300))
    low, high = np.sin(np.radians(ELEVATIONS_DEG[light]))
    hours = chance.uniform(0.0, 24.0, 400)
    heights = [weather_at(WeatherConfig(time_of_day=h, day_of_year=day), LATITUDE_DEG).sun_direction[2] for h in hours]
    fitting = [hour for hour, height in zip(hours, heights, strict=True) if low <= height <= high]
    return WeatherConfig(time_of_day=float(fitting[0]), day_of_year=day, **fields)
