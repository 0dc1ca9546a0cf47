"""Points per second of the LiDAR, beside the rays per second of bare Embree: same world, same rays, same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skyloop.benchmarks.physics import interleaved
from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.core.results import Figure
from skyloop.sensors.lidar import Lidar, LidarConfig
from skyloop.world.generation import generator
from skyloop.world.ground import Ground, place_terrain
from skyloop.world.mesh import box, ellipsoid, merged
from skyloop.world.model import Model, Shape
from skyloop.world.rays import RayHits, RayTracer
from skyloop.world.weather import Weather, WeatherConfig
from skyloop_client.messages import Kinematics

RATE_HZ = 10
HEIGHT = 6.0
"""m above the middle of the world. Beams hit ground, blocks and balls, and some the sky."""
SPEED, YAW_RATE = 5.0, 0.5
"""m/s and rad/s of the sensor, for motion distortion."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The amount of measurement. The defaults give the figures in docs/explanations/benchmarks.md."""

    rounds: int = 9
    """Each round measures every timing once. Figures are medians over rounds."""
    sweeps: int = 10
    """Sweeps of each LiDAR per round."""
    cells: int = 320
    """Number of half-metre cells along a side of the ground. Each has two triangles."""
    things: int = 400


def measure(sizes: Sizes | None = None) -> list[Figure]:
    """All figures of `skyloop bench lidar`."""
    sizes = sizes or Sizes()
    scene = StandingScene(generated_world(sizes.cells, sizes.things))
    runs = {preset: Run(preset, scene) for preset in ("airsim", "vlp16", "os1-64", "livox-mid40")}
    timings: dict[str, Callable[[], float]] = {}
    for preset, run in runs.items():
        timings[preset] = lambda run=run: run.points_per_second(sizes.sweeps)  # type: ignore[misc]
        timings[f"raw {preset}"] = lambda run=run: run.raw_rays_per_second(sizes.sweeps)  # type: ignore[misc]
    return figures(interleaved(timings, sizes.rounds), scene.triangles)


def figures(taken: dict[str, np.ndarray[Any, Any]], triangles: int) -> list[Figure]:
    """Medians over rounds. A ratio is the median of the ratios within each round."""
    world = f"one core, {triangles} triangles that stand"
    mid = {name: float(np.median(values)) for name, values in taken.items()}

    def ratio(preset: str) -> float:
        return float(np.median(taken[preset] / taken[f"raw {preset}"]))

    what = "LiDAR points/s over rays/s of embreex's run() with the same rays"
    noisy = "with noise, weather and motion distortion"
    return [
        Figure("vs_raw_embree", ratio("airsim"), "1", 0.8, f"{what}; AirSim's default LiDAR; {world}"),
        Figure("vlp16_vs_raw_embree", ratio("vlp16"), "1", None, f"{what}; VLP-16 {noisy}"),
        Figure("os1_64_vs_raw_embree", ratio("os1-64"), "1", None, f"{what}; OS1-64 {noisy}"),
        Figure("livox_mid40_vs_raw_embree", ratio("livox-mid40"), "1", None, f"{what}; Livox Mid-40 {noisy}"),
        Figure("airsim_points_per_s", mid["airsim"], "1/s", None, f"firings, returned or not; {world}"),
        Figure("vlp16_points_per_s", mid["vlp16"], "1/s", None, f"firings, returned or not; {noisy}; {world}"),
        Figure("os1_64_points_per_s", mid["os1-64"], "1/s", None, f"firings, returned or not; {noisy}; {world}"),
        Figure("raw_rays_per_s", mid["raw airsim"], "1/s", None, f"embreex's run(), the airsim rays; {world}"),
    ]


def generated_world(cells: int, things: int) -> Model:
    """Hills with blocks and balls on them."""
    half = 0.25 * cells
    ground = Ground.from_function(lambda x, y: 1.5 * np.sin(x / 9.0) * np.cos(y / 7.0), (-half, -half, half, half), 0.5)
    model = Model()
    place_terrain(model, ground)
    block = Shape("block", (box((2.0, 2.0, 5.0), material="brick"),))
    balls = [ellipsoid(1.5, rings=10, n=14, material="leaves").moved((0.0, 0.0, z)) for z in (1.0, 2.5)]
    tree = Shape("tree", (merged(balls),))
    chance = generator(1, "bench/lidar")
    for number, (x, y) in enumerate(chance.uniform(-half, half, (things, 2))):
        if np.hypot(x, y) > 5.0:
            shape = (block, tree)[number % 2]
            model.place(shape, (x, y, ground.at(x, y)[0]), is_a="block" if shape is block else "tree")
    model.freeze()
    return model


class StandingScene:
    """A model in clear air, as a LiDAR sees it."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.weather = Weather(WeatherConfig(), np.array([0.0, 0.0, 1.0]))
        self._tracer = RayTracer(model)
        self.asked: tuple[Any, Any] = (None, None)
        """The rays of the latest cast."""

    @property
    def triangles(self) -> int:
        rows = self.model.row_shape[: self.model.n_standing].tolist()
        return sum(len(self.model.shapes[number].lods[0].faces) for number in rows)

    def cast(self, origins: Any, directions: Any, max_range: float, t_ns: int | None = None) -> RayHits:
        self.asked = origins, directions
        return self._tracer.cast(origins, directions, max_range, None)

    def raw(self, origins: Any, directions: Any) -> None:
        """Bare Embree."""
        self._tracer.embree_scene().run(origins, directions)


class Run:
    """One LiDAR over the generated world, and its rays for bare Embree."""

    def __init__(self, preset: str, scene: StandingScene) -> None:
        self._scene: Any = scene
        self._sensor = Lidar(LidarConfig(preset=preset, rate_hz=RATE_HZ), 1.0 / RATE_HZ)  # type: ignore[arg-type]
        self._key = stream_key(1, f"bench/{preset}")
        level = np.array([1.0, 0.0, 0.0, 0.0])
        place, velocity, rate = (
            np.array([0.0, 0.0, HEIGHT]),
            np.array([SPEED, 0.0, 0.0]),
            np.array([0.0, 0.0, YAW_RATE]),
        )
        self._kinematics = Kinematics(0, place, velocity, level, rate, np.zeros(3), np.zeros(3))
        self.sweep(0)
        self._rays = scene.asked

    def sweep(self, index: int) -> Any:
        return self._sensor.measure(self._kinematics, self._scene, (), KeyedRandom(self._key, index))[0]

    def points_per_second(self, sweeps: int) -> float:
        began = time.perf_counter()
        for index in range(sweeps):
            self.sweep(index)
        return sweeps * len(self._rays[0]) / (time.perf_counter() - began)

    def raw_rays_per_second(self, sweeps: int) -> float:
        began = time.perf_counter()
        for _ in range(sweeps):
            self._scene.raw(*self._rays)
        return sweeps * len(self._rays[0]) / (time.perf_counter() - began)
