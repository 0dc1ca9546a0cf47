"""For tests of the radar: a sensor somewhere, and what it measures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from painted_world import moving
from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.rendering.client import Renderer
from skyloop.sensors.radar.config import RadarConfig
from skyloop.sensors.radar.echoes import Echoes
from skyloop.sensors.radar.radar import Radar
from skyloop.world.earth import Earth, EarthConfig
from skyloop.world.model import Model
from skyloop.world.scene import WorldScene
from skyloop.world.weather import WeatherConfig, weather_at
from skyloop.world.world import WorldConfig, build_world
from skyloop_client.messages import Kinematics, RadarScan

EVEN = {"kind": "isotropic"}
KEY = stream_key(3, "drone/radar/raw")


def radar(**options: Any) -> Radar:
    return Radar(RadarConfig(**{"pattern": EVEN, **options}), 0.1)


def scanned(sensor: Radar, scene: Any, kinematics: Kinematics, index: int = 0) -> RadarScan:
    scene.t_ns = kinematics.t_ns
    return sensor.measure(kinematics, scene, (), KeyedRandom(KEY, index))[0]


def echoes_of(sensor: Radar, scene: Any, kinematics: Kinematics) -> tuple[Echoes, float]:
    scene.t_ns = kinematics.t_ns
    view = scene.views(sensor.requests(kinematics, ()))[0]
    return sensor.paths.echoes(view, kinematics, scene)


def mean_square(scan: RadarScan) -> float:
    return float(np.mean(np.abs(scan.volts) ** 2))


def decibel(ratio: float) -> float:
    return float(10.0 * np.log10(ratio))


def before(setup: float, distance: float, x: float, **motion: Any) -> Kinematics:
    """A sensor `distance` m before a setup, looking at it."""
    return moving(position=(x - distance, setup, 0.0), **motion)


@cache
def _park(seed: int) -> Model:
    model = build_world(WorldConfig(name="park"), seed, None).model
    model.freeze()
    return model


@contextmanager
def park_scene(seed: int) -> Iterator[Any]:
    """The park at 2 s; it is built once for all tests."""
    scene = WorldScene(_park(seed), Earth(EarthConfig()), weather_at(WeatherConfig(), 47.0), Renderer)
    try:
        yield scene.at(2_000_000_000)
    finally:
        scene.close()
