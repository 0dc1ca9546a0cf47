"""`skyloop bench maps`: processor time and memory of the maps, beside octomap on the same images."""

from __future__ import annotations

import importlib.util
import math
import statistics
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import SENSOR_FROM_CAMERA, Transform
from skyloop.core.jit import prepare
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
from skyloop_client.messages import Array, Message
from skyloop_papers.benchmarks.measurement import RATIO, Measurement, Measurements, StepTimes, lower

UNTIMED = 3
"""Images that are entered before the clock counts, to load the compiled code and the caches."""


def maps(images: int = 60, rate_hz: float = 5.0, from_s: float = 12.0) -> Measurements:
    """Depth images into voxels, local map and distance fields, beside octomap in the same run.

    `from_s`: of the flight, when the vehicle has taken off and moves."""
    prepare("skyloop_autonomy.mapping", when_called=True)
    seen, lens = shots(images, rate_hz, from_s)
    own = {figure.key: figure for figure in own_maps(seen, lens)}
    yield from own.values()
    if importlib.util.find_spec("octomap") is None:
        yield Measurement("vs_octomap", math.nan, RATIO, None, "octomap is not installed: `make bench` installs it")
        return
    peer = {figure.key: figure for figure in octomap_maps(seen, lens)}
    yield from peer.values()
    ratio = peer["octomap_ms"].value / own["global_ms"].value
    yield Measurement("vs_octomap", ratio, RATIO, None, "octomap_ms over global_ms")


@dataclass(frozen=True, slots=True, eq=False)
class DepthShot:
    depth: NDArray[np.float32]
    world_from_camera: Transform
    body: Array


def shots(images: int, rate_hz: float, from_s: float) -> tuple[list[DepthShot], DepthLens]:
    """Images of E2ES's depth camera, 640 x 360 with noise, on its flight through the room."""
    data = flight_scenario("room", 1).model_dump(mode="json")
    camera = {"kind": "depth_camera", "rate_hz": rate_hz, "preset": "d435-kim"}
    data["vehicles"][0]["sensors"] = {"depth": camera}
    taken: list[Any] = []
    poses = PoseHistory(10**15)
    with build(make_scenario(data)) as simulation:
        bus, info = simulation.bus, simulation.bus.infos["drone/depth"]

        def keep(truth: Message) -> None:
            poses.add(truth.t_ns, truth.data.position, truth.data.quat_wxyz)

        bus.on("truth/drone", keep)
        bus.on("drone/depth", lambda m: taken.append(m.data) if m.t_ns >= from_s * 1e9 else None)
        while len(taken) < images or poses.at(taken[-1].t_ns) is None:
            simulation.step()
    body_from_camera = Transform(np.array(info.mount.position), np.array(info.mount.quat_wxyz)) @ Transform(
        np.zeros(3), SENSOR_FROM_CAMERA
    )
    out = []
    for image in taken[:images]:
        pose = poses.at(image.t_ns)
        assert pose is not None
        out.append(DepthShot(image.depth, pose @ body_from_camera, pose.position))
    return out, DepthLens.from_details(info.details)


def _time(times: StepTimes, step: str, key: str, aim: float | None, note: str) -> Measurement:
    counted = sorted(times.ms[step][UNTIMED:])
    p95 = counted[min(int(0.95 * len(counted)), len(counted) - 1)]
    text = f"{note}; median of {len(counted)} images, 95 % below {p95:.2f} ms"
    return lower(key, statistics.median(counted), "ms", aim, text)


def _megabytes(key: str, size: int, note: str) -> Measurement:
    return lower(key, size / 1e6, "MB", None, note)


def own_maps(seen: list[DepthShot], lens: DepthLens) -> Measurements:
    voxels, near, growing = WorldVoxels(), CylinderMap(), GrowingMap()
    space = DistanceField(voxels.counters.shape, voxels.cell)
    ground = DistanceField(voxels.counters.shape[:2], voxels.cell)
    times = StepTimes()

    def update_ground() -> None:
        ground.update(projected(voxels.message(0).voxels, voxels.origin, voxels.cell).occupied)

    for shot in seen:
        view = (shot.depth, lens, shot.world_from_camera)
        times.of("global", voxels.add_depth, *view)
        times.of("local", near.add_depth, *view, shot.body)
        times.of("esdf", lambda: space.update(voxels.occupied))
        times.of("esdf_2d", update_ground)
        times.of("growing", growing.add_depth, *view)
    h, w = seen[0].depth.shape
    yield _time(times, "global", "global_ms", 3.6, f"{w}x{h} depth into 110x110x15 voxels of 0.2 m, one thread")
    yield _time(times, "local", "local_ms", 0.8, "the same into the cylinder of 20x120x20 cells, every fourth pixel")
    yield _time(times, "esdf", "esdf_ms", 13.0, "signed 3-D distance field of all voxels, after each image")
    yield _time(times, "esdf_2d", "esdf_2d_ms", None, "projection and its signed distance field")
    yield _time(times, "growing", "growing_ms", None, "the map without bounds")
    yield _megabytes("global_mb", voxels.memory_bytes, "counters and scratch")
    yield _megabytes("local_mb", near.memory_bytes, "counters, points and scratch")
    yield _megabytes("esdf_mb", space.memory_bytes, "field and scratch")
    yield _megabytes("growing_mb", growing.memory_bytes, "blocks in use and scratch")


def octomap_maps(seen: list[DepthShot], lens: DepthLens) -> Measurements:
    """octomap-python on the same images: same voxels, same range, its own defaults otherwise."""
    import octomap

    sight, cell = Sight(), 0.2
    tree, every = octomap.OcTree(cell), octomap.OcTree(cell)
    times = StepTimes()

    def insert(into: Any, shot: DepthShot, discretize: bool) -> None:
        points = points_from_depth(shot.depth, lens, shot.world_from_camera, sight).astype(np.float64)
        into.insertPointCloud(points, shot.world_from_camera.position, maxrange=sight.far, discretize=discretize)

    lower_corner, upper_corner = np.array([-11.0, -11.0, 0.5]), np.array([11.0, 11.0, 3.5])
    for number, shot in enumerate(seen):
        times.of("hits", insert, tree, shot, True)
        if number < UNTIMED + 10:
            times.of("pixels", insert, every, shot, False)
        if number == 0:
            tree.dynamicEDT_generate(30.0, lower_corner, upper_corner, False)
        times.of("field", tree.dynamicEDT_update, True)
    yield _time(times, "hits", "octomap_ms", None, "octomap, one ray per voxel that was hit (discretize)")
    yield _time(times, "pixels", "octomap_every_pixel_ms", None, "octomap, one ray per pixel")
    field = "its distance field, updated after each image, within the same box"
    yield _time(times, "field", "octomap_esdf_ms", None, field)
    yield _megabytes("octomap_mb", tree.memoryUsage(), "its tree")
