"""Depth images for the tests of maps: plain ones that are computed, and rendered ones of a world."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from skyloop.core.frames import SENSOR_FROM_CAMERA, Transform, quat_from_yaw, quat_multiply
from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.rendering.client import Renderer
from skyloop.sensors.depth_camera import DepthCamera, DepthCameraConfig
from skyloop.world.model import Model
from skyloop.world.weather import Weather, WeatherConfig
from skyloop.world.world import WorldConfig, build_world
from skyloop_autonomy.mapping import DepthLens
from skyloop_client.messages import Kinematics

WIDTH, HEIGHT = 160, 90
LENS = DepthLens(87.0, 87.0, 79.5, 44.5)


class Shot(NamedTuple):
    depth: np.ndarray
    world_from_camera: Transform
    body_position: np.ndarray


def camera_at(x: float, y: float, z: float, yaw: float = 0.0) -> Transform:
    """world_from_camera of a level camera that looks along yaw."""
    return Transform(np.array([x, y, z], float), quat_multiply(quat_from_yaw(yaw), SENSOR_FROM_CAMERA))


def wall(distance: float) -> np.ndarray:
    """A wall across the whole view."""
    return np.full((HEIGHT, WIDTH), distance, np.float32)


def person(depth: np.ndarray, distance: float) -> np.ndarray:
    """The same view with somebody 0.5 m wide and 1.8 m high in the middle."""
    out = depth.copy()
    half_w, half_h = int(0.25 * LENS.fx / distance), int(0.9 * LENS.fx / distance)
    u, v = WIDTH // 2, HEIGHT // 2
    out[max(v - half_h, 0) : v + half_h, u - half_w : u + half_w] = distance
    return out


def frozen_world(name: str, seed: int = 1) -> Model:
    model = build_world(WorldConfig(name=name), seed, None).model
    model.freeze()
    return model


def rendered(model: Model, poses: Iterable[tuple[float, float, float]], preset: str, **options: Any) -> Iterator[Shot]:
    """What E2ES's depth camera sees from each (x, y, yaw), 1.5 m above the ground."""
    camera = DepthCamera(DepthCameraConfig(preset=preset, **options), 1.0 / 30.0)  # type: ignore[arg-type]
    weather = Weather(WeatherConfig(), np.array([0.0, 0.0, 1.0]))
    renderer = Renderer(model)
    scene: Any = SimpleNamespace(views=lambda requests: renderer.render(requests, weather), weather=weather)
    try:
        for number, (x, y, yaw) in enumerate(poses):
            body = np.array([x, y, 1.5])
            at = body + 0.12 * np.array([math.cos(yaw), math.sin(yaw), 0.0])
            zero = np.zeros(3)
            kinematics = Kinematics(number * 33_333_333, at, zero, quat_from_yaw(yaw), zero, zero, zero)
            image, _ = camera.measure(kinematics, scene, (), KeyedRandom(stream_key(1, "depth"), number))
            yield Shot(image.depth, camera_at(at[0], at[1], at[2], yaw), body)
    finally:
        renderer.close()


def depth_lens(**options: Any) -> DepthLens:
    return DepthLens.from_details(DepthCamera(DepthCameraConfig(**options), 1.0 / 30.0).details())
