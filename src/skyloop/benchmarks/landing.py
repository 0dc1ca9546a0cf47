"""`skyloop bench landing`: the landing detector on rendered pictures, beside the same steps by OpenCV in floats."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import quat_from_matrix
from skyloop.core.jit import prepare
from skyloop.core.results import Figure
from skyloop.rendering.client import Renderer
from skyloop.world.views import Pinhole, ViewPose, ViewRequest
from skyloop.world.weather import WeatherConfig, weather_at
from skyloop.world.worlds.landing import Landing
from skyloop_autonomy.vio.opencv import cv2
from skyloop_landing.vision.figures import find_marker, min_area
from skyloop_landing.vision.object_list import HEIGHT, WIDTH, dark, grey, listed, smoothed, tiles_of
from skyloop_landing.vision.pixel_kernels import TILE

Pixels = NDArray[np.uint8]
STEPS = ("grey", "gauss", "tiles", "threshold", "components", "marker")


@dataclass(frozen=True, slots=True)
class Sizes:
    """The amount of measurement."""

    seeds: tuple[int, ...] = (1, 2, 3, 5, 8, 9)
    """Worlds: asphalt, gravel, paving, snow, grass and soil."""
    altitudes: tuple[float, ...] = (10.0, 7.0, 5.0, 3.0, 1.8)
    """m."""
    repeats: int = 5


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    colour: Pixels
    altitude: float


def pictures(sizes: Sizes) -> list[Picture]:
    """The marker from straight above, a little beside it, turned by half a radian."""
    lens = Pinhole.from_fov(WIDTH, HEIGHT, 0.5 * np.pi)
    c, s = np.cos(0.5), np.sin(0.5)
    # columns: image right, image down, viewing direction
    turn = quat_from_matrix(np.array([[s, -c, 0.0], [-c, -s, 0.0], [0.0, 0.0, -1.0]]))
    out = []
    for seed in sizes.seeds:
        world = Landing(seed)
        world.model.freeze()
        weather = weather_at(WeatherConfig(), 47.0)
        with closing(Renderer(world.model)) as renderer:
            for altitude in sizes.altitudes:
                eye = np.array([world.marker_xy[0] + 0.1, world.marker_xy[1], altitude + world.marker.thickness])
                request = ViewRequest(lens, ViewPose(0, eye, turn), "low", 1.0)
                out.append(Picture(np.ascontiguousarray(renderer.render([request], weather)[0].colour), altitude))
    return out


class _Clock:
    """ms of processor time of this thread by step: what else runs on the machine is left out."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {}

    def of(self, step: str, task: Callable[[], Any]) -> Any:
        start = time.thread_time()
        out = task()
        self.times.setdefault(step, []).append(1e3 * (time.thread_time() - start))
        return out

    def whole(self) -> float:
        """ms of an image."""
        return statistics.fmean(map(sum, zip(*self.times.values(), strict=True)))


def own_steps(clock: _Clock, picture: Picture) -> bool:
    """Whether the marker was found. The picture before it was the same."""
    altitude_cm = round(100.0 * picture.altitude)
    bright = clock.of("grey", lambda: grey(picture.colour))
    smooth = clock.of("gauss", lambda: smoothed(bright))
    tiles = clock.of("tiles", lambda: tiles_of(smooth))
    binary = clock.of("threshold", lambda: dark(smooth, tiles))
    objects = clock.of("components", lambda: listed(binary, 1, min_area(altitude_cm)))
    return clock.of("marker", lambda: find_marker(objects, altitude_cm)).marker is not None


def peer_steps(clock: _Clock, picture: Picture) -> int:
    """The same in OpenCV and numpy with floats, up to the components; the number of components."""
    bright = clock.of("grey", lambda: cv2.cvtColor(picture.colour, cv2.COLOR_RGB2GRAY))
    smooth = clock.of("gauss", lambda: cv2.GaussianBlur(bright, (5, 5), 0.65, borderType=cv2.BORDER_REPLICATE))
    tiles = clock.of("tiles", lambda: _peer_tiles(smooth))
    binary = clock.of("threshold", lambda: _peer_binary(smooth, tiles))
    return int(clock.of("components", lambda: cv2.connectedComponentsWithStats(binary, connectivity=8))[0])


def _peer_tiles(smooth: Pixels) -> NDArray[np.float32]:
    rows, columns = -(-HEIGHT // TILE), -(-WIDTH // TILE)
    tiles = np.empty((rows, columns), np.float32)
    for j in range(rows):
        for i in range(columns):
            low, high, _, _ = cv2.minMaxLoc(smooth[j * TILE : (j + 1) * TILE, i * TILE : (i + 1) * TILE])
            tiles[j, i] = low + 0.5 * (high - low)
    return tiles


def _peer_binary(smooth: Pixels, tiles: NDArray[np.float32]) -> Pixels:
    size = (TILE * tiles.shape[1], TILE * tiles.shape[0])
    limits: NDArray[np.float32] = cv2.resize(tiles, size, interpolation=cv2.INTER_LINEAR)
    return (smooth < limits[:HEIGHT, :WIDTH]).astype(np.uint8)


def measure(sizes: Sizes | None = None) -> list[Figure]:
    """All figures of `skyloop bench landing`."""
    sizes = sizes or Sizes()
    prepare("skyloop_landing.vision", when_called=True)
    seen = pictures(sizes)
    cv2.setNumThreads(1)
    for picture in seen[:2]:
        # loads code and caches before the clock counts
        own_steps(_Clock(), picture)
        peer_steps(_Clock(), picture)
    own, peer, found = _Clock(), _Clock(), 0
    for _ in range(sizes.repeats):
        for picture in seen:
            found += own_steps(own, picture)
            peer_steps(peer, picture)
    n = sizes.repeats * len(seen)
    note = f"{WIDTH}x{HEIGHT}, one thread, processor time, mean of {n} pictures; marker found in {found}"
    return [
        Figure("detector_images_per_s", 1e3 / own.whole(), "images/s", 60.0, note),
        *(_step(f"{step}_ms", own.times[step]) for step in STEPS),
        Figure("peer_images_per_s", 1e3 / peer.whole(), "images/s", None, "OpenCV and numpy in floats, without marker"),
        *(_step(f"peer_{step}_ms", peer.times[step]) for step in STEPS[:-1]),
    ]


def _step(key: str, times: list[float]) -> Figure:
    return Figure(key, statistics.median(times), "ms", None, "median", lower_is_better=True)
