"""Rate at which an AirSim client gets scene, depth and segmentation, beside the bare renderer in the same run."""

from __future__ import annotations

import contextlib
import json
import math
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

from skyloop.benchmarks.physics import interleaved
from skyloop.core.results import Figure
from skyloop.links.airsim.settings import read_settings
from skyloop.rendering.client import Renderer
from skyloop.sensors.observer import looking
from skyloop.sim.scenario import make_scenario
from skyloop.world.views import Pinhole, ViewPose, ViewRequest
from skyloop.world.weather import weather_at
from skyloop.world.world import build_world
from skyloop_client.errors import LinkError

SCENE, DEPTH, SEGMENTATION = 0, 1, 5
REQUESTS = [
    {"camera_name": "0", "image_type": kind, "pixels_as_float": kind == DEPTH, "compress": False}
    for kind in (SCENE, DEPTH, SEGMENTATION)
]
PATIENCE_S = 120.0
BODY_M = 0.1
"""Height in m of the body of a vehicle on the ground."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The amount of measurement. The defaults give the figures in docs/explanations/benchmarks.md."""

    rounds: int = 7
    requests: int = 12
    """Per round, each of three images; the bare renderer gets the same number."""
    width: int = 320
    height: int = 240
    world: str = "park"
    quality: str = "medium"


class Client:
    """A minimal msgpack-RPC client."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self._unpacker = msgpack.Unpacker(raw=False, max_buffer_size=1 << 28)

    def call(self, method: str, *params: Any) -> Any:
        self._socket.sendall(msgpack.packb([0, 1, method, list(params)]))
        while True:
            data = self._socket.recv(1 << 20)
            if not data:
                raise LinkError("the server closed the connection")
            self._unpacker.feed(data)
            for _, _, error, result in self._unpacker:
                if error is not None:
                    raise LinkError(error)
                return result

    def images_per_second(self, requests: int) -> float:
        """Calls of simGetImages per second. Simulated time passes, so that each call shows something new."""
        began = time.perf_counter()
        for _ in range(requests):
            answers = self.call("simGetImages", REQUESTS, "", False)
            if len(answers) != len(REQUESTS):
                raise LinkError("an image is missing")
        return requests / (time.perf_counter() - began)

    def close(self) -> None:
        self._socket.close()


def settings(sizes: Sizes) -> str:
    size = {"Width": sizes.width, "Height": sizes.height}
    return json.dumps({"CameraDefaults": {"CaptureSettings": [{"ImageType": kind, **size} for kind in range(10)]}})


@contextlib.contextmanager
def served(sizes: Sizes, summary: dict[str, Any]) -> Iterator[int]:
    """A server in its own process. Yields its port, and fills `summary` after its end."""
    with tempfile.TemporaryDirectory(prefix="skyloop-airsim-") as made:
        file = Path(made) / "settings.json"
        file.write_text(settings(sizes), encoding="utf-8")
        arguments = [
            "--settings",
            str(file),
            "--world",
            sizes.world,
            "--port",
            "0",
            "--quality",
            sizes.quality,
            "--json",
        ]
        # a background job ignores SIGINT, and so would its child processes
        process = subprocess.Popen(
            [sys.executable, "-c", "from skyloop.cli import main; main()", "serve", *arguments], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        try:
            yield _port(process)
            process.send_signal(signal.SIGINT)
            told, _ = process.communicate(timeout=PATIENCE_S)
            summary.update(json.loads(told))
        finally:
            process.kill()
            process.wait()


def _port(process: subprocess.Popen[str]) -> int:
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line.strip())
        if "may connect to" in line:
            return int(line.rpartition(":")[2])
    raise LinkError(f"the server did not start: {' '.join(said[-3:])}")


class PainterAlone:
    """The bare renderer with the initial view of the server's first camera."""

    def __init__(self, sizes: Sizes) -> None:
        scenario = make_scenario(read_settings(settings(sizes), world=sizes.world).scenario)
        world = build_world(scenario.world, scenario.seed, None)
        world.model.freeze()
        self._renderer = Renderer(world.model)
        self._weather = weather_at(scenario.weather, scenario.earth.latitude_deg)
        # the vehicle is at the origin and faces north, its camera 0.46 m ahead
        eye = np.array([0.0, 0.46, float(world.ground.at(0.0, 0.0)[0]) + BODY_M])
        pose = ViewPose(0, eye, looking(eye, eye + np.array([0.0, 1.0, 0.0])))
        lens = Pinhole.from_fov(sizes.width, sizes.height, 0.5 * math.pi)
        self._request = ViewRequest(lens, pose, sizes.quality)

    def per_second(self, pictures: int) -> float:
        began = time.perf_counter()
        for _ in range(pictures):
            self._renderer.render([self._request], self._weather)
        return pictures / (time.perf_counter() - began)

    def close(self) -> None:
        self._renderer.close()


def measure(sizes: Sizes | None = None) -> list[Figure]:
    """All figures of `skyloop bench airsim`."""
    sizes = sizes or Sizes()
    summary: dict[str, Any] = {}
    with contextlib.closing(PainterAlone(sizes)) as painter, served(sizes, summary) as port:
        client = Client(port)

        def asked() -> float:
            client.call("simPause", False)
            rate = client.images_per_second(sizes.requests)
            # time is paused while the renderer is measured
            client.call("simPause", True)
            return rate

        taken = interleaved({"client": asked, "renderer": lambda: painter.per_second(sizes.requests)}, sizes.rounds)
        client.close()
    return figures(taken, summary["airsim"], sizes)


def figures(taken: dict[str, np.ndarray[Any, Any]], link: dict[str, Any], sizes: Sizes) -> list[Figure]:
    """Medians over rounds; the ratio is the median of the ratios within each round."""
    rate, alone = (float(np.median(taken[name])) for name in ("client", "renderer"))
    requests = (sizes.rounds + 1) * sizes.requests
    own = (link["busy_s"] - link["painting_s"]) / requests
    what = f"scene, depth as floats and segmentation, {sizes.width}x{sizes.height}, {sizes.world}, {sizes.quality}"
    ratio = float(np.median(taken["client"] / taken["renderer"]))
    return [
        Figure("requests_per_s", rate, "1/s", None, f"simGetImages by one client, 1 s simulated per s; {what}"),
        Figure("vs_renderer", ratio, "1", 0.55, "that over the pictures per second of the renderer alone"),
        Figure("server_share", own * rate, "1", 0.20, "of the time of a request, without painting", True),
        Figure("renderer_pictures_per_s", alone, "1/s", None, "one view holds all three"),
    ]
