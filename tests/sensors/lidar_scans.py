"""For tests of the LiDAR: what it looks at, and how it flies meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.sensors.lidar import Lidar, LidarConfig
from skyloop.world.mesh import box, quad
from skyloop.world.model import Model, Shape
from skyloop.world.rays import RayHits, RayTracer
from skyloop.world.weather import Weather, WeatherConfig
from skyloop_client.messages import Kinematics, LidarScan

KEY = stream_key(5, "drone/lidar")
PERIOD = 0.1
NO_ERRORS: dict[str, Any] = {
    "range_noise_sd": 0.0,
    "min_reflectance": 0.0,
    "min_range": 0.0,
    "weather": False,
    "motion_distortion": False,
}


@dataclass
class TracedScene:
    """A model seen through a RayTracer, as the simulation's scene sees it."""

    model: Model
    weather: Weather = field(default_factory=lambda: Weather(WeatherConfig(), np.array([0.0, 0.0, 1.0])))
    now_ns: int = 0
    asked: list[int | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.model.freeze()
        self.tracer = RayTracer(self.model)

    def cast(self, origins: Any, directions: Any, max_range: float, t_ns: int | None = None) -> RayHits:
        self.asked.append(t_ns)
        motion = self.model.motion(self.now_ns if t_ns is None else t_ns)
        return self.tracer.cast(origins, directions, max_range, motion)


def in_weather(scene: TracedScene, **config: Any) -> TracedScene:
    scene.weather = replace(scene.weather, config=WeatherConfig(**config))
    return scene


def wall_ahead(distance: float, material: str = "plaster") -> TracedScene:
    """One wall across the forward axis."""
    model = Model()
    d, h = distance, 500.0
    face = quad((d, h, -h), (d, -h, -h), (d, -h, h), (d, h, h), material=material)
    model.place(Shape("wall", (face,)), is_a="wall")
    return TracedScene(model)


def room(half: float = 10.0) -> TracedScene:
    """A closed box around the origin: every beam returns."""
    model = Model()
    model.place(Shape("room", (box((2 * half, 2 * half, 2 * half), material="plaster"),)), is_a="building")
    return TracedScene(model)


def still(**changes: Any) -> Kinematics:
    level = np.array([1.0, 0.0, 0.0, 0.0])
    rest = Kinematics(0, np.zeros(3), np.zeros(3), level, np.zeros(3), np.zeros(3), np.zeros(3))
    arrays: dict[str, Any] = {k: v if k == "t_ns" else np.array(v, float) for k, v in changes.items()}
    return replace(rest, **arrays)


def lidar(preset: Any = "perfect", period_s: float = PERIOD, **options: Any) -> Lidar:
    return Lidar(LidarConfig(preset=preset, **options), period_s)


def narrow(**options: Any) -> Lidar:
    """A thousand beams within half a degree of forward."""
    plane: dict[str, Any] = {"channels": 1, "vertical_fov_deg": (0.0, 0.0), "horizontal_fov_deg": (-0.5, 0.5)}
    return lidar(points_per_second=3.6e6, **plane, **options)


def close(values: np.ndarray, expected: Any, within: float) -> bool:
    """As pytest.approx, which takes a second for ten thousand values."""
    return len(values) > 0 and bool(np.abs(np.asarray(values, float) - expected).max() <= within)


def scan(sensor: Lidar, scene: Any, kinematics: Kinematics | None = None, index: int = 0) -> LidarScan:
    sample, _ = sensor.measure(kinematics or still(), scene, (), KeyedRandom(KEY, index))
    return sample


PLACE, VELOCITY, ACCELERATION = np.array([1.0, 2.0, 0.5]), np.array([12.0, 5.0, -1.0]), np.array([1.5, -2.0, 0.7])
RATE = np.array([0.3, -0.4, 2.5])
ATTITUDE = Rotation.from_euler("ZYX", [0.3, 0.1, -0.2])


def flying(spin: float = 1.0) -> Kinematics:
    return still(
        t_ns=3_000_000_000,
        position=PLACE,
        velocity_world=VELOCITY,
        acceleration_world=ACCELERATION,
        quat_wxyz=np.roll(ATTITUDE.as_quat(), 1),
        angular_velocity=spin * RATE,
    )
