"""Points per second of the LiDAR, beside the rays per second of bare Embree: same world, same rays, same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.sensors.lidar import Lidar, LidarConfig
from skyloop.world.generation import generator
from skyloop.world.ground import Ground, place_terrain
from skyloop.world.mesh import box, ellipsoid, merged
from skyloop.world.model import Model, Shape
from skyloop.world.rays import RayHits, RayTracer
from skyloop.world.weather import Weather, WeatherConfig
from skyloop_client.messages import Kinematics
from skyloop_papers.benchmarks.measurement import RATIO, Measurement, Measurements, Rounds, seconds_each

RATE_HZ = 10
HEIGHT = 6.0
"""m above the middle of the world. Beams hit ground, blocks and balls, and some the sky."""
SPEED, YAW_RATE = 5.0, 0.5
"""m/s and rad/s of the sensor, for motion distortion."""


def lidar(rounds: int = 9, sweeps: int = 10, cells: int = 320, objects: int = 400) -> Measurements:
    """LiDAR points per second, beside bare Embree on the same rays.

    `sweeps`: of each LiDAR per round; `cells`: half-metre cells along a side of the ground, two triangles each."""
    scene = StandingScene(generated_world(cells, objects))
    timings: dict[str, Callable[[], float]] = {}
    for preset in ("airsim", "vlp16", "os1-64", "livox-mid40"):
        run = LidarRun(preset, scene)
        timings[preset] = partial(run.rays_per_second, run.sweep, sweeps)
        timings[f"raw {preset}"] = partial(run.rays_per_second, run.raw, sweeps)
    taken = Rounds(timings, rounds)
    world = f"one core, {scene.triangles} triangles that stand"
    what = "LiDAR points/s over rays/s of embreex's run() with the same rays"
    noisy = "with noise, weather and motion distortion"
    details = {
        "airsim": ("AirSim's default LiDAR; " + world, world),
        "vlp16": (f"VLP-16 {noisy}", f"{noisy}; {world}"),
        "os1-64": (f"OS1-64 {noisy}", f"{noisy}; {world}"),
        "livox-mid40": (f"Livox Mid-40 {noisy}", ""),
    }
    for preset, (note, _) in details.items():
        key, aim = ("vs_raw_embree", 0.8) if preset == "airsim" else (f"{_key(preset)}_vs_raw_embree", None)
        yield Measurement(key, taken.ratio(preset, f"raw {preset}"), RATIO, aim, f"{what}; {note}")
    for preset, (_, note) in list(details.items())[:3]:
        yield Measurement(
            f"{_key(preset)}_points_per_s", taken[preset], "1/s", None, f"firings, returned or not; {note}"
        )
    yield Measurement("raw_rays_per_s", taken["raw airsim"], "1/s", None, f"embreex's run(), the airsim rays; {world}")


def _key(preset: str) -> str:
    return preset.replace("-", "_")


def generated_world(cells: int, objects: int) -> Model:
    """Hills with blocks and balls on them."""
    half = 0.25 * cells
    ground = Ground.from_function(lambda x, y: 1.5 * np.sin(x / 9.0) * np.cos(y / 7.0), (-half, -half, half, half), 0.5)
    model = Model()
    place_terrain(model, ground)
    block = Shape("block", (box((2.0, 2.0, 5.0), material="brick"),))
    balls = [ellipsoid(1.5, rings=10, n=14, material="leaves").moved((0.0, 0.0, z)) for z in (1.0, 2.5)]
    tree = Shape("tree", (merged(balls),))
    chance = generator(1, "bench/lidar")
    for number, (x, y) in enumerate(chance.uniform(-half, half, (objects, 2))):
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
        self.tracer = RayTracer(model)
        self.asked: tuple[Any, Any] = (None, None)
        """The rays of the latest cast."""

    @property
    def triangles(self) -> int:
        rows = self.model.part_shape[: self.model.n_standing].tolist()
        return sum(len(self.model.shapes[number].lods[0].faces) for number in rows)

    def cast(self, origins: Any, directions: Any, max_range: float, t_ns: int | None = None) -> RayHits:
        self.asked = origins, directions
        return self.tracer.cast(origins, directions, max_range, None)


class LidarRun:
    """One LiDAR over the generated world, and its rays for bare Embree."""

    def __init__(self, preset: str, scene: StandingScene) -> None:
        self._scene: Any = scene
        self._sensor = Lidar(LidarConfig(preset=preset, rate_hz=RATE_HZ), 1.0 / RATE_HZ)  # type: ignore[arg-type]
        self._key = stream_key(1, f"bench/{preset}")
        level = np.array([1.0, 0.0, 0.0, 0.0])
        position, velocity, rate = np.array([[0.0, 0.0, HEIGHT], [SPEED, 0.0, 0.0], [0.0, 0.0, YAW_RATE]])
        self._kinematics = Kinematics(0, position, velocity, level, rate, np.zeros(3), np.zeros(3))
        self.sweep(0)
        self._rays = scene.asked

    def sweep(self, index: int) -> Any:
        return self._sensor.measure(self._kinematics, self._scene, (), KeyedRandom(self._key, index))[0]

    def raw(self, _: int) -> None:
        """Bare Embree."""
        self._scene.tracer.embree_scene().run(*self._rays)

    def rays_per_second(self, cast: Callable[[int], object], sweeps: int) -> float:
        """By processor time of the one thread, so that other programs do not count."""
        return len(self._rays[0]) / seconds_each(cast, range(sweeps), time.thread_time)
