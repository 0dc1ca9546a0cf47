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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

from skyloop.links.airsim.settings import read_settings
from skyloop.rendering.client import Renderer
from skyloop.sensors.external_camera import looking
from skyloop.sim.scenario import make_scenario
from skyloop.world.views import Pinhole, ViewPose, ViewRequest
from skyloop.world.weather import weather_at
from skyloop.world.world import build_world
from skyloop_client.errors import LinkError
from skyloop_papers.benchmarks.measurement import RATIO, SHARE, Measurement, Measurements, Rounds, lower, seconds_each

SCENE, DEPTH, SEGMENTATION = 0, 1, 5
REQUESTS = [
    {"camera_name": "0", "image_type": kind, "pixels_as_float": kind == DEPTH, "compress": False}
    for kind in (SCENE, DEPTH, SEGMENTATION)
]
PATIENCE_S = 120.0
BODY_M = 0.1
"""Height in m of the body of a vehicle on the ground."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The pictures on both sides."""

    width: int = 320
    height: int = 240
    world: str = "park"
    quality: str = "medium"

    @property
    def settings(self) -> str:
        size = {"Width": self.width, "Height": self.height}
        return json.dumps({"CameraDefaults": {"CaptureSettings": [{"ImageType": kind, **size} for kind in range(10)]}})


def airsim(rounds: int = 7, requests: int = 12, asked: Asked | None = None) -> Measurements:
    """Pictures per second for an AirSim client, beside the bare renderer.

    `requests`: per round, each of three images; the bare renderer gets the same number."""
    asked = asked or Asked()
    summary: dict[str, Any] = {}
    with contextlib.closing(RendererAlone(asked)) as renderer, served(asked, summary) as port:
        client = AirSimClient(port)

        def ask() -> float:
            client.call("simPause", False)
            rate = 1.0 / seconds_each(client.ask_images, range(requests))
            # time is paused while the renderer is measured
            client.call("simPause", True)
            return rate

        taken = Rounds({"client": ask, "renderer": lambda: 1.0 / seconds_each(renderer.paint, range(requests))}, rounds)
        client.close()
    link = summary["airsim"]
    own = (link["busy_s"] - link["painting_s"]) / ((rounds + 1) * requests) * taken["client"]
    what = f"scene, depth as floats and segmentation, {asked.width}x{asked.height}, {asked.world}, {asked.quality}"
    each = f"simGetImages by one client, 1 s simulated per s; {what}"
    ratio = taken.ratio("client", "renderer")
    yield Measurement("requests_per_s", taken["client"], "1/s", None, each)
    yield Measurement("vs_renderer", ratio, RATIO, 0.55, "that over the pictures per second of the renderer alone")
    yield lower("server_share", own, SHARE, 0.20, "of the time of a request, without painting")
    yield Measurement("renderer_pictures_per_s", taken["renderer"], "1/s", None, "one view holds all three")


class AirSimClient:
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

    def ask_images(self, _: int) -> None:
        """Simulated time passes, so that each call shows something new."""
        if len(self.call("simGetImages", REQUESTS, "", False)) != len(REQUESTS):
            raise LinkError("an image is missing")

    def close(self) -> None:
        self._socket.close()


@contextlib.contextmanager
def served(asked: Asked, summary: dict[str, Any]) -> Iterator[int]:
    """A server in its own process. Yields its port, and fills `summary` after its end."""
    with tempfile.TemporaryDirectory(prefix="skyloop-airsim-") as folder:
        file = Path(folder) / "settings.json"
        file.write_text(asked.settings, encoding="utf-8")
        options = {"settings": str(file), "world": asked.world, "port": "0", "quality": asked.quality}
        arguments = ["--json", *(word for name, value in options.items() for word in (f"--{name}", value))]
        # a background job ignores SIGINT, and so would its child processes
        process = subprocess.Popen(
            [sys.executable, "-c", "from skyloop.cli import main; main()", "serve", *arguments], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        try:
            yield _port(process)
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=PATIENCE_S)
            summary.update(json.loads(output))
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


class RendererAlone:
    """The bare renderer with the initial view of the server's first camera."""

    def __init__(self, asked: Asked) -> None:
        scenario = make_scenario(read_settings(asked.settings, world=asked.world).scenario)
        world = build_world(scenario.world, scenario.seed, None)
        world.model.freeze()
        self._renderer = Renderer(world.model)
        self._weather = weather_at(scenario.weather, scenario.earth.latitude_deg)
        # the vehicle is at the origin and faces north, its camera 0.46 m ahead
        eye = np.array([0.0, 0.46, float(world.ground.at(0.0, 0.0)[0]) + BODY_M])
        pose = ViewPose(0, eye, looking(eye, eye + np.array([0.0, 1.0, 0.0])))
        lens = Pinhole.from_fov(asked.width, asked.height, 0.5 * math.pi)
        self._request = ViewRequest(lens, pose, asked.quality)

    def paint(self, _: int) -> None:
        self._renderer.render([self._request], self._weather)

    def close(self) -> None:
        self._renderer.close()
