"""`skyloop bench maps`: processor time and memory of the maps, beside octomap on the same images."""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import SENSOR_FROM_CAMERA, Transform
from skyloop.core.jit import prepare
from skyloop.core.results import Figure
from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop_autonomy.evaluation.vio_flights import flight_scenario
from skyloop_autonomy.mapping import (
    CylinderMap,
    DepthLens,
    DistanceField,
    GrowingMap,
    PoseHistory,
    Sight,
    WorldVoxels,
    points_from_depth,
    projected,
)
from skyloop_client.errors import MissingExtra
from skyloop_client.messages import Array

MEGABYTE = 1e6
UNTIMED = 3
"""Images that are entered before the clock counts, to load the compiled code and the caches."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The amount of measurement."""

    images: int = 60
    rate_hz: float = 5.0
    from_s: float = 12.0
    """s of the flight, when the vehicle has taken off and moves."""


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    depth: NDArray[np.float32]
    world_from_camera: Transform
    body: Array


def shots(sizes: Sizes) -> tuple[list[Shot], DepthLens]:
    """Images of E2ES's depth camera, 640 x 360 with noise, on its flight through the room."""
    data = flight_scenario("room", 1).model_dump(mode="json")
    camera = {"kind": "depth_camera", "rate_hz": sizes.rate_hz, "preset": "d435-kim"}
    data["vehicles"][0]["sensors"] = {"depth": camera}
    taken: list[Any] = []
    poses = PoseHistory(10**15)
    with build(make_scenario(data)) as simulation:
        bus, info = simulation.bus, simulation.bus.infos["drone/depth"]
        bus.on("truth/drone", lambda m: _keep(poses, m.data))
        bus.on("drone/depth", lambda m: taken.append(m.data) if m.t_ns >= sizes.from_s * 1e9 else None)
        while len(taken) < sizes.images or poses.at(taken[-1].t_ns) is None:
            simulation.step()
    body_from_camera = Transform(np.array(info.mount.position), np.array(info.mount.quat_wxyz)) @ Transform(
        np.zeros(3), SENSOR_FROM_CAMERA
    )
    out = []
    for image in taken[: sizes.images]:
        pose = poses.at(image.t_ns)
        assert pose is not None
        out.append(Shot(image.depth, pose @ body_from_camera, pose.position))
    return out, DepthLens.from_details(info.details)


def _keep(poses: PoseHistory, state: Any) -> None:
    poses.add(state.t_ns, state.position, state.quat_wxyz)


def timed(task: Callable[[], Any]) -> float:
    """ms of processor time of this thread: what else runs on the machine is left out."""
    start = time.thread_time()
    task()
    return 1e3 * (time.thread_time() - start)


class _Times:
    """The times of one step over all images."""

    def __init__(self) -> None:
        self._all: list[float] = []

    def of(self, task: Callable[[], Any]) -> None:
        self._all.append(timed(task))

    def figure(self, key: str, aim: float | None, note: str) -> Figure:
        counted = sorted(self._all[UNTIMED:])
        p95 = counted[min(int(0.95 * len(counted)), len(counted) - 1)]
        text = f"{note}; median of {len(counted)} images, 95 % below {p95:.2f} ms"
        return Figure(key, statistics.median(counted), "ms", aim, text, lower_is_better=True)


def measure(sizes: Sizes | None = None) -> list[Figure]:
    """All figures of `skyloop bench maps`."""
    if importlib.util.find_spec("octomap") is None:
        raise MissingExtra("bench maps compares with octomap, which is not installed: pip install 'skyloop[bench]'")
    sizes = sizes or Sizes()
    prepare("skyloop_autonomy.mapping", when_called=True)
    seen, lens = shots(sizes)
    return [*own_figures(seen, lens), *octomap_figures(seen, lens)]


def own_figures(seen: list[Shot], lens: DepthLens) -> list[Figure]:
    voxels, near, growing = WorldVoxels(), CylinderMap(), GrowingMap()
    space = DistanceField(voxels.counters.shape, voxels.cell)
    ground = DistanceField(voxels.counters.shape[:2], voxels.cell)
    steps = {name: _Times() for name in ("global", "local", "esdf", "esdf_2d", "growing")}

    def update_ground() -> None:
        ground.update(projected(voxels.message(0).voxels, voxels.origin, voxels.cell).occupied)

    for shot in seen:
        pose = shot.world_from_camera
        steps["global"].of(lambda d=shot.depth, p=pose: voxels.add_depth(d, lens, p))  # type: ignore[misc]
        steps["local"].of(lambda d=shot.depth, p=pose, b=shot.body: near.add_depth(d, lens, p, b))  # type: ignore[misc]
        steps["esdf"].of(lambda: space.update(voxels.occupied))
        steps["esdf_2d"].of(update_ground)
        steps["growing"].of(lambda d=shot.depth, p=pose: growing.add_depth(d, lens, p))  # type: ignore[misc]
    h, w = seen[0].depth.shape
    return [
        steps["global"].figure("global_ms", 3.6, f"{w}x{h} depth into 110x110x15 voxels of 0.2 m, one thread"),
        steps["local"].figure("local_ms", 0.8, "the same into the cylinder of 20x120x20 cells, every fourth pixel"),
        steps["esdf"].figure("esdf_ms", 13.0, "signed 3-D distance field of all voxels, after each image"),
        steps["esdf_2d"].figure("esdf_2d_ms", None, "projection and its signed distance field"),
        steps["growing"].figure("growing_ms", None, "the map without bounds"),
        _megabytes("global_mb", voxels.memory_bytes, "counters and scratch"),
        _megabytes("local_mb", near.memory_bytes, "counters, points and scratch"),
        _megabytes("esdf_mb", space.memory_bytes, "field and scratch"),
        _megabytes("growing_mb", growing.memory_bytes, "blocks in use and scratch"),
    ]


def octomap_figures(seen: list[Shot], lens: DepthLens) -> list[Figure]:
    """octomap-python on the same images: same voxels, same range, its own defaults otherwise."""
    import octomap

    sight, cell = Sight(), 0.2
    tree, every = octomap.OcTree(cell), octomap.OcTree(cell)
    rough, exact, field = _Times(), _Times(), _Times()

    def insert(into: Any, shot: Shot, discretize: bool) -> None:
        points = points_from_depth(shot.depth, lens, shot.world_from_camera, sight).astype(np.float64)
        into.insertPointCloud(points, shot.world_from_camera.position, maxrange=sight.far, discretize=discretize)

    lower, upper = np.array([-11.0, -11.0, 0.5]), np.array([11.0, 11.0, 3.5])
    for number, shot in enumerate(seen):
        rough.of(lambda s=shot: insert(tree, s, True))  # type: ignore[misc]
        if number < UNTIMED + 10:
            exact.of(lambda s=shot: insert(every, s, False))  # type: ignore[misc]
        if number == 0:
            tree.dynamicEDT_generate(30.0, lower, upper, False)
        field.of(lambda: tree.dynamicEDT_update(True))
    return [
        rough.figure("octomap_ms", None, "octomap, one ray per voxel that was hit (discretize)"),
        exact.figure("octomap_every_pixel_ms", None, "octomap, one ray per pixel"),
        field.figure("octomap_esdf_ms", None, "its distance field, updated after each image, within the same box"),
        _megabytes("octomap_mb", tree.memoryUsage(), "its tree"),
    ]


def _megabytes(key: str, size: int, note: str) -> Figure:
    return Figure(key, size / MEGABYTE, "MB", None, note, lower_is_better=True)
