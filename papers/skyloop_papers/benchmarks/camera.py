"""Images per second, beside PyBullet's and MuJoCo's off-screen renderers with the same triangles in the same run."""

from __future__ import annotations

import math
import socket
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from skyloop.core.frames import matrix_from_quat, quat_from_matrix
from skyloop.rendering.buffers import pack_model
from skyloop.rendering.client import Renderer
from skyloop.rendering.painter import projection
from skyloop.rendering.quality import QUALITIES
from skyloop.rendering.shadows import Culler
from skyloop.rendering.wire import ViewJob
from skyloop.world.mesh import Mesh
from skyloop.world.model import Model, Shape
from skyloop.world.views import Pinhole, View, ViewPose, ViewRequest
from skyloop.world.weather import WeatherConfig, weather_at
from skyloop.world.world import WORLDS
from skyloop_client.messages import Array
from skyloop_papers.benchmarks import peers
from skyloop_papers.benchmarks.measurement import RATIO, Measurement, Measurements, lower, peer_or_why
from skyloop_papers.processes import child, output_of, result_of

PARK_LENS = Pinhole.from_fov(320, 240, np.pi / 2)
STEREO_LENS = Pinhole.from_fov(640, 360, 1.5)
DEPTH_LENS = Pinhole.from_fov(640, 360, 1.48702)
WEATHER = weather_at(WeatherConfig(), 47.6)
READERS = 2
"""Threads that turn pixels into quantities, which they do without Python's lock."""

READY = """
import sys, time
began = time.perf_counter()
import numpy as np
from numpy.typing import ArrayLike
from skyloop_papers.benchmarks.camera import WEATHER, PARK_LENS, looking
from skyloop.rendering.client import Renderer
from skyloop.world.rays import RayTracer
from skyloop.world.views import ViewRequest
from skyloop.world.world import WORLDS
world = WORLDS[sys.argv[1]](1)
world.model.freeze()
renderer = Renderer(world.model)
tracer = RayTracer(world.model)
up = np.array([[0.0, 0.0, 1.0]])
tracer.cast(up, -up, 10.0, world.model.motion(0))
renderer.render([ViewRequest(PARK_LENS, looking((0, 0, 2), 0.0))], WEATHER)
took = time.perf_counter() - began
def resident(pid):
    pages = int(open(f"/proc/{pid}/statm").read().split()[1])
    return pages * 4096
print(took, resident("self") + resident(renderer.process_id))
renderer.close()
"""


def camera(
    park_images: int = 300,
    rigs: int = 80,
    peer_images: int = 12,
    ping_s: float = 6.0,
    *,
    whole_world: bool = True,
    starts: bool = True,
) -> Measurements:
    """Pictures of park and room, beside PyBullet and MuJoCo in the same run."""
    yield from _park(park_images, ping_s)
    yield from room(rigs)
    yield from _peers(peer_images, whole_world)
    if starts:
        yield from _starts()


def looking(eye: ArrayLike, yaw: float, pitch: float = 0.0, t: float = 0.0) -> ViewPose:
    """A pose that looks along a heading, pitched down."""
    forward = np.array([np.cos(yaw) * np.cos(pitch), np.sin(yaw) * np.cos(pitch), -np.sin(pitch)])
    right = np.array([np.sin(yaw), -np.cos(yaw), 0.0])
    rotation = np.stack([right, np.cross(forward, right), forward], axis=1)
    return ViewPose(round(t * 1e9), np.asarray(eye, float), quat_from_matrix(rotation))


def _square(n: int) -> list[ViewPose]:
    """A flight at 3 m/s around a square of 20 m, 5 m high, at 20 images a second."""
    poses = []
    for k in range(n):
        along = (3.0 * k / 20.0) % 80.0
        side, rest = divmod(along, 20.0)
        corner = np.array([(-10, -10), (10, -10), (10, 10), (-10, 10)][int(side)], float)
        way = np.array([(1, 0), (0, 1), (-1, 0), (0, -1)][int(side)], float)
        poses.append(looking((*(corner + rest * way), 5.0), 0.5 * np.pi * side, 0.1, k / 20.0))
    return poses


def _pipelined(renderer: Renderer, requests: list[list[ViewRequest]]) -> float:
    """Seconds for all requests. While images are read, the next is rendered, and one more waits."""
    began = time.perf_counter()
    waiting = list(reversed(requests))
    reading: deque[Future[None]] = deque()
    with ThreadPoolExecutor(READERS) as readers:
        for _ in requests:
            while waiting and renderer.has_room:
                renderer.submit(waiting.pop(), WEATHER)
            reading.append(readers.submit(_read, renderer.collect()))
            if len(reading) > READERS:
                reading.popleft().result()
        for last in reading:
            last.result()
    return time.perf_counter() - began


def _read(views: list[View]) -> None:
    """Colour, depth, normals, classes and instances are computed when they are asked for."""
    for view in views:
        _ = view.colour, view.depth, view.normals, view.classes, view.instances


def _model(world: str) -> Model:
    model: Model = WORLDS[world](1).model
    model.freeze()
    return model


def _park(images: int, ping_s: float) -> Measurements:
    model = _model("park")
    requests = [[ViewRequest(PARK_LENS, pose)] for pose in _square(images)]
    with closing(Renderer(model)) as renderer:
        _pipelined(renderer, requests[:: max(1, len(requests) // 12)])
        with _echo() as port, child(peers.ping, port, ping_s) as pings:
            took = _pipelined(renderer, requests)
            while pings.poll() is None:
                _pipelined(renderer, requests[:60])
            delays = result_of(pings, "bench camera: the pings")
        took = min(took, _pipelined(renderer, requests))
    triangles = sum(len(part.faces) for part in drawn_parts(model, requests[0][0]))
    read = f"colour, depth, normals, classes, instances, read by {READERS} threads; {triangles} triangles in"
    rate = len(requests) / took
    yield Measurement("park_low_320_images_per_s", rate, "images/s", 60.0, f"{read} the first view")
    trips = f"TCP round trips to this process while it has park painted at full rate; n = {len(delays)}"
    yield lower("ping_p99_us", np.percentile(delays, 99), "µs", 2000.0, trips)


@contextmanager
def _echo() -> Iterator[int]:
    """A port where a thread of this process echoes, like a command server."""
    # otherwise Python hands its lock to another thread only every 5 ms
    interval = sys.getswitchinterval()
    sys.setswitchinterval(2e-4)
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            threading.Thread(target=peers.serve_echo, args=(server,), daemon=True).start()
            yield server.getsockname()[1]
    finally:
        sys.setswitchinterval(interval)


def room(rigs: int) -> Measurements:
    requests = []
    for k in range(rigs):
        yaw = 2.0 * np.pi * k / rigs
        left, right = np.array([0.0, 0.0, 1.5]), np.array([np.sin(yaw), -np.cos(yaw), 0.0])
        views = ((STEREO_LENS, left), (STEREO_LENS, left + 0.05 * right), (DEPTH_LENS, left))
        requests.append([ViewRequest(lens, looking(eye, yaw)) for lens, eye in views])
    with closing(Renderer(_model("room"))) as renderer:
        _pipelined(renderer, requests[:5])
        took = min(_pipelined(renderer, requests) for _ in range(2))
    what = "room, low: two images of 640x360 and a depth view of another angle, with normals and ids of all three"
    yield Measurement("room_stereo_rigs_per_s", rigs / took, "rigs/s", 25.0, f"{what}, read by {READERS} threads")


def _peers(images: int, whole_world: bool) -> Measurements:
    """Once with exactly the triangles of our low-quality view of park, once with the whole park."""
    model = _model("park")
    request = ViewRequest(PARK_LENS, looking((-10, -10, 5), 0.5, 0.1))
    drawn = drawn_parts(model, request)
    same = Model()
    for number, part in enumerate(drawn):
        same.place(Shape(f"part {number}", (part,)), is_a="object")
    same.freeze()
    yield from _beside_peers(same, drawn, request, images, "vs_faster_peer", 8.0)
    if whole_world:
        yield from _beside_peers(model, whole_parts(model), request, images, "whole_park_vs_faster_peer", None)


def _beside_peers(
    model: Model, parts: list[Mesh], request: ViewRequest, images: int, key: str, aim: float | None
) -> Measurements:
    """Our rate with a model, beside the peers' rates with the same surfaces as meshes."""
    with closing(Renderer(model)) as renderer:
        same = [[request]] * (8 * images)
        _pipelined(renderer, same[:5])
        ours = len(same) / min(_pipelined(renderer, same) for _ in range(2))
    triangles = sum(len(part.faces) for part in parts)
    note = f"320x240, {triangles} triangles in {len(parts)} bodies; colour, depth, segmentation"
    yield Measurement(f"{key}_ours", ours, "images/s", None, note)
    rates = peer_rates(parts, request, images)
    for peer, (rate, why) in rates.items():
        yield Measurement(f"{key}_{peer}", math.nan if rate is None else rate, "images/s", None, why or note)
    # without the faster peer the ratio would be too good
    lacking = "; ".join(why for _, why in rates.values() if why)
    ratio = math.nan if lacking else ours / max(rate for rate, _ in rates.values() if rate is not None)
    yield Measurement(key, ratio, RATIO, aim, lacking or note)


def peer_rates(parts: list[Mesh], request: ViewRequest, images: int) -> dict[str, tuple[float | None, str]]:
    """Images per second of each peer, or why there are none."""
    pose = request.pose
    view = pose.position.tolist(), matrix_from_quat(pose.quat_wxyz).tolist()
    # PyBullet has no wheels for newer Pythons
    chosen = (peers.mujoco, peers.pybullet) if sys.version_info < (3, 12) else (peers.mujoco,)
    with tempfile.TemporaryDirectory() as folder:
        for number, part in enumerate(parts):
            _write_obj(part, Path(folder) / f"{number}.obj")

        def rate_of(peer: Callable[..., float]) -> float:
            with child(peer, folder, len(parts), *view, images) as process:
                what, advice = f"bench camera: {peer.__name__}", "`make bench` installs the peers"
                return float(result_of(process, what, advice, timeout=300.0))

        return {peer.__name__: peer_or_why(partial(rate_of, peer)) for peer in chosen}


def _write_obj(mesh: Mesh, path: Path) -> None:
    lines = [f"v {x:.5f} {y:.5f} {z:.5f}" for x, y, z in mesh.positions]
    lines += [f"vn {x:.4f} {y:.4f} {z:.4f}" for x, y, z in mesh.normals]
    lines += [f"f {a}//{a} {b}//{b} {c}//{c}" for a, b, c in mesh.faces + 1]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def drawn_parts(model: Model, request: ViewRequest) -> list[Mesh]:
    """What the renderer draws for a view: a mesh per visible object, at its level of detail there, in world axes."""
    packed = pack_model(model)
    lens, pose = request.lens, request.pose
    moving = model.motion(pose.t_ns).poses
    shot = ViewJob(lens.width, lens.height, lens.fx, lens.fy, lens.cx, lens.cy, request.quality, pose.position,
                matrix_from_quat(pose.quat_wxyz), moving, request.hidden_parts, {}, 1.0, 0.0, True, True)  # fmt: skip
    _, planes = projection(shot)
    quality = QUALITIES[request.quality]
    instances, commands = Culler(packed).visible(pose.position, planes, lens.fx, quality, moving, request.hidden_parts)
    lods = [mesh for shape in model.shapes for mesh in shape.lods]
    first_index = {int(first): k for k, first in enumerate(packed["lods"][:, 0])}
    parts = []
    for command in commands:
        mesh = lods[first_index[int(command["first"])]]
        for k in range(command["base_instance"], command["base_instance"] + command["instances"]):
            parts.append(_moved(mesh, instances["pose"][k].astype(np.float64), pose.position))
    return parts


def whole_parts(model: Model) -> list[Mesh]:
    """The whole model at time 0, at full detail."""
    poses = np.concatenate([model.standing_poses, model.motion(0).poses])
    return [_moved(model.shapes[s].lods[0], pose, np.zeros(3)) for s, pose in zip(model.part_shape, poses, strict=True)]


def _moved(mesh: Mesh, pose: Array, origin: Array) -> Mesh:
    scales = np.linalg.norm(pose[:, :3], axis=0)
    return mesh.moved(pose[:, 3] + origin, rotation=pose[:, :3] / scales, scale=scales)


def _starts() -> Measurements:
    """Time to the first image and the first ray, in new processes. Kernels are compiled before."""
    where = "import skyloop.core.jit, numba; print(numba.config.CACHE_DIR)"
    kernels = output_of(where, "bench camera: the kernels' cache is not known")
    note = "world, rays, textures, renderer, first image; kernels compiled before"
    for name, cold_aim, cached_aim in (("park", 12.0, 4.0), ("room", 4.0, 2.0)):
        _start(name)
        with tempfile.TemporaryDirectory() as empty:
            changed = {"XDG_CACHE_HOME": empty, "NUMBA_CACHE_DIR": kernels}
            cold, _ = _start(name, **changed)
            cached, memory = min(_start(name, **changed) for _ in range(2))
        yield lower(f"{name}_ready_cold_s", cold, "s", cold_aim, note)
        yield lower(f"{name}_ready_cached_s", cached, "s", cached_aim, note)
        yield lower(f"{name}_memory_gb", memory / 1e9, "GB", 1.5, "both processes")


def _start(name: str, **changed: str) -> tuple[float, float]:
    took, memory = output_of(READY, f"bench camera: the start in '{name}' failed", name, **changed).split()
    return float(took), float(memory)
