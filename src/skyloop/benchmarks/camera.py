"""Images per second, beside PyBullet's and MuJoCo's off-screen renderers with the same triangles in the same run."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.benchmarks.drawn_triangles import drawn_parts, whole_parts
from skyloop.core.frames import quat_from_matrix
from skyloop.core.results import Figure
from skyloop.rendering.client import Renderer
from skyloop.world.mesh import Mesh
from skyloop.world.model import Model, Shape
from skyloop.world.views import Pinhole, View, ViewPose, ViewRequest
from skyloop.world.weather import WeatherConfig, weather_at
from skyloop.world.world import WORLDS
from skyloop_client.errors import SetupError

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
from skyloop.benchmarks.camera import WEATHER, PARK_LENS, looking
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

PINGER = """
import socket, sys, time
peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
end = time.perf_counter() + float(sys.argv[2])
while time.perf_counter() < end:
    began = time.perf_counter()
    peer.sendall(b"?" * 16)
    got = b""
    while len(got) < 16:
        got += peer.recv(16)
    print(1e6 * (time.perf_counter() - began))
    time.sleep(0.002)
"""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The amount of measurement. The defaults give the figures in docs/explanations/benchmarks.md."""

    park_images: int = 300
    rigs: int = 80
    peer_images: int = 12
    whole_world: bool = True
    ping_s: float = 6.0
    starts: bool = True


def measure(sizes: Sizes | None = None) -> list[Figure]:
    """All figures of `skyloop bench camera`."""
    sizes = sizes or Sizes()
    figures = _park(sizes) + _room(sizes) + _peers(sizes)
    if sizes.starts:
        figures += _starts()
    return figures


def looking(eye: Any, yaw: float, pitch: float = 0.0, t: float = 0.0) -> ViewPose:
    """A pose that looks along a heading, pitched down."""
    forward = np.array([np.cos(yaw) * np.cos(pitch), np.sin(yaw) * np.cos(pitch), -np.sin(pitch)])
    right = np.array([np.sin(yaw), -np.cos(yaw), 0.0])
    rotation = np.stack([right, np.cross(forward, right), forward], axis=1)
    return ViewPose(round(t * 1e9), np.asarray(eye, float), quat_from_matrix(rotation))


def everything(view: View) -> int:
    """Compute colour, depth, normals, classes and instances. The result depends on all of them."""
    return (
        int(view.colour[0, 0, 0])
        + int(view.depth.shape[0])
        + len(view.normals)
        + len(view.classes)
        + len(view.instances)
    )


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


def _pipelined(renderer: Renderer, requests: list[list[ViewRequest]]) -> tuple[float, list[View]]:
    """Seconds for all requests. While images are read, the next is rendered, and one more waits."""
    began = time.perf_counter()
    waiting = list(reversed(requests))
    reading: deque[Future[list[View]]] = deque()
    with ThreadPoolExecutor(READERS) as readers:
        for _ in requests:
            while waiting and renderer.has_room:
                renderer.submit(waiting.pop(), WEATHER)
            reading.append(readers.submit(_read, renderer.collect()))
            if len(reading) > READERS:
                reading.popleft().result()
        seen = [done.result() for done in reading][-1]
    return time.perf_counter() - began, seen


def _read(views: list[View]) -> list[View]:
    for view in views:
        everything(view)
    return views


def _park(sizes: Sizes) -> list[Figure]:
    world = WORLDS["park"](1)
    world.model.freeze()
    renderer = Renderer(world.model)
    try:
        requests = [[ViewRequest(PARK_LENS, pose)] for pose in _square(sizes.park_images)]
        _pipelined(renderer, requests[:: max(1, len(requests) // 12)])
        with _Echo() as echo:
            pings = echo.ping(sizes.ping_s)
            took, _ = _pipelined(renderer, requests)
            while pings.poll() is None:
                _pipelined(renderer, requests[:60])
            delays = np.array([float(line) for line in pings.communicate()[0].split()])
        quiet, _ = _pipelined(renderer, requests)
        triangles = [len(part.faces) for part in drawn_parts(world.model, requests[0][0])]
    finally:
        renderer.close()
    return [
        Figure("park_low_320_images_per_s", len(requests) / min(took, quiet), "images/s", 60.0,
               f"colour, depth, normals, classes, instances, read by {READERS} threads; {sum(triangles)} triangles in "
               "the first view"),
        Figure("ping_p99_us", float(np.percentile(delays, 99)), "µs", 2000.0,
               f"TCP round trips to this process while it has park painted at full rate; n = {len(delays)}",
               lower_is_better=True),
    ]  # fmt: skip


def _room(sizes: Sizes) -> list[Figure]:
    world = WORLDS["room"](1)
    world.model.freeze()
    renderer = Renderer(world.model)
    rigs = []
    for k in range(sizes.rigs):
        yaw = 2.0 * np.pi * k / sizes.rigs
        right = np.array([np.sin(yaw), -np.cos(yaw), 0.0])
        left = np.array([0.0, 0.0, 1.5])
        rigs.append(
            [
                ViewRequest(STEREO_LENS, looking(left, yaw)),
                ViewRequest(STEREO_LENS, looking(left + 0.05 * right, yaw)),
                ViewRequest(DEPTH_LENS, looking(left, yaw)),
            ]
        )
    try:
        _pipelined(renderer, rigs[:5])
        took = min(_pipelined(renderer, rigs)[0] for _ in range(2))
    finally:
        renderer.close()
    note = (
        "room, low: two images of 640x360 and a depth view of another angle, with normals and ids of all three, read "
    )
    note += f"by {READERS} threads"
    return [Figure("room_stereo_rigs_per_s", len(rigs) / took, "rigs/s", 25.0, note)]


def _peers(sizes: Sizes) -> list[Figure]:
    """Once with exactly the triangles of our low-quality view of park, once with the whole park."""
    world = WORLDS["park"](1)
    world.model.freeze()
    request = ViewRequest(PARK_LENS, looking((-10, -10, 5), 0.5, 0.1))
    drawn = drawn_parts(world.model, request)
    same = Model()
    for number, part in enumerate(drawn):
        same.place(Shape(f"part {number}", (part,)), is_a="object")
    same.freeze()
    figures = _beside_peers(same, drawn, request, sizes.peer_images, "vs_faster_peer", 8.0)
    if sizes.whole_world:
        whole = whole_parts(world.model)
        figures += _beside_peers(world.model, whole, request, sizes.peer_images, "whole_park_vs_faster_peer", None)
    return figures


def _beside_peers(
    model: Model, parts: list[Mesh], request: ViewRequest, images: int, key: str, aim: float | None
) -> list[Figure]:
    """Our rate with a model, beside the peers' rates with the same surfaces as meshes."""
    renderer = Renderer(model)
    try:
        same = [[request]] * (8 * images)
        _pipelined(renderer, same[:5])
        ours = len(same) / min(_pipelined(renderer, same)[0] for _ in range(2))
    finally:
        renderer.close()
    with tempfile.TemporaryDirectory() as folder:
        for number, part in enumerate(parts):
            _write_obj(part, Path(folder) / f"{number}.obj")
        # PyBullet has no wheels for newer Pythons
        names = ("mujoco", "pybullet") if sys.version_info < (3, 12) else ("mujoco",)
        rates = {peer: _peer_rate(peer, folder, len(parts), request, images) for peer in names}
    triangles = sum(len(part.faces) for part in parts)
    note = f"320x240, {triangles} triangles in {len(parts)} bodies; colour, depth, segmentation"
    figures = [Figure(f"{key}_ours", ours, "images/s", None, note)]
    figures += [Figure(f"{key}_{peer}", rate, "images/s", None, note) for peer, rate in rates.items()]
    return [*figures, Figure(key, ours / max(rates.values()), "times", aim, note)]


def _peer_rate(peer: str, folder: str, n_parts: int, request: ViewRequest, images: int) -> float:
    position = ",".join(map(str, request.pose.position))
    quat = ",".join(map(str, request.pose.quat_wxyz))
    command = [sys.executable, "-m", "skyloop.benchmarks.peer_renderers", peer, folder, str(n_parts), position, quat]
    done = subprocess.run([*command, str(images)], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise SetupError(f"bench camera: {peer} failed: {last}; install the peers with `pip install skyloop[bench]`")
    return float(done.stdout.split()[-1])


def _write_obj(mesh: Mesh, path: Path) -> None:
    lines = [f"v {x:.5f} {y:.5f} {z:.5f}" for x, y, z in mesh.positions]
    lines += [f"vn {x:.4f} {y:.4f} {z:.4f}" for x, y, z in mesh.normals]
    lines += [f"f {a}//{a} {b}//{b} {c}//{c}" for a, b, c in mesh.faces + 1]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _starts() -> list[Figure]:
    """Time to the first image and the first ray, in new processes. Kernels are compiled before."""
    aims = {"park": (12.0, 4.0), "room": (4.0, 2.0)}
    figures = []
    kernels = subprocess.run(
        [sys.executable, "-c", "import skyloop.core.jit, numba; print(numba.config.CACHE_DIR)"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    for name, (cold_aim, cached_aim) in aims.items():
        _start(name, {})
        with tempfile.TemporaryDirectory() as empty:
            changed = {"XDG_CACHE_HOME": empty, "NUMBA_CACHE_DIR": kernels}
            cold, _ = _start(name, changed)
            cached, memory = min(_start(name, changed) for _ in range(2))
        note = "world, rays, textures, renderer, first image; kernels compiled before"
        figures += [
            Figure(f"{name}_ready_cold_s", cold, "s", cold_aim, note, lower_is_better=True),
            Figure(f"{name}_ready_cached_s", cached, "s", cached_aim, note, lower_is_better=True),
            Figure(f"{name}_memory_gb", memory / 1e9, "GB", 1.5, "both processes", lower_is_better=True),
        ]
    return figures


def _start(name: str, changed: dict[str, str]) -> tuple[float, float]:
    done = subprocess.run(
        [sys.executable, "-c", READY, name], capture_output=True, text=True, check=True, env={**os.environ, **changed}
    )
    took, memory = done.stdout.split()
    return float(took), float(memory)


class _Echo:
    """Echoes every 16 bytes from a thread of this process, like a command server."""

    def __enter__(self) -> _Echo:
        self._server = socket.create_server(("127.0.0.1", 0))
        # otherwise Python hands its lock to another thread only every 5 ms
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(2e-4)
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()
        sys.setswitchinterval(self._interval)

    def _serve(self) -> None:
        try:
            peer, _ = self._server.accept()
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while data := peer.recv(16):
                peer.sendall(data)
        except OSError:
            return

    def ping(self, seconds: float) -> subprocess.Popen[str]:
        port = self._server.getsockname()[1]
        command = [sys.executable, "-c", PINGER, str(port), str(seconds)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
