"""The landing detector, its logic for a chip, and the people detector."""

from __future__ import annotations

import math
import statistics
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import quat_from_matrix
from skyloop.core.jit import prepare
from skyloop.core.machine_info import usable_cores
from skyloop.rendering.client import Renderer
from skyloop.world.views import Pinhole, ViewPose, ViewRequest
from skyloop.world.weather import WeatherConfig, weather_at
from skyloop.world.worlds.landing import Landing
from skyloop_autonomy.vio.lens import cv2
from skyloop_detect.commands.train import PARTS, score_model
from skyloop_detect.dataset_reader import read_samples
from skyloop_detect.detector import Detector, load_detector, model_file
from skyloop_detect.samples import read_image
from skyloop_detect.training_data.people_set import make_people, plan_tests
from skyloop_landing.vision.components import TILE
from skyloop_landing.vision.figures import find_marker, min_area
from skyloop_landing.vision.object_list import HEIGHT, WIDTH, dark, grey, listed, smoothed, tiles_of
from skyloop_papers.benchmarks.measurement import (
    RATIO,
    Measurement,
    Measurements,
    StepTimes,
    lower,
    peer_or_why,
    seconds_each,
)

Pixels = NDArray[np.uint8]
STEPS = ("grey", "gauss", "tiles", "threshold", "components", "marker")
GROUNDS = (1, 2, 3, 5, 8, 9)
"""Seeds of asphalt, gravel, paving, snow, grass and soil."""
RESOURCES = {"lut": "look-up tables", "ff": "flip-flops", "bram36": "memory blocks of 36 kbit", "dsp": "multipliers"}
PER_PLACE = 10
PRECISION_AIMS = {
    "ap50_person": (0.90, "places of the five worlds that were not trained on"),
    "ap50_new_world": (0.80, "corridor and blocks, worlds that were not trained on"),
    "ap50_bad_weather": (0.60, "the five worlds in fog, rain and dusk"),
}


@dataclass(frozen=True, slots=True, eq=False)
class LandingPicture:
    colour: Pixels
    altitude: float


def landing(
    seeds: tuple[int, ...] = GROUNDS, altitudes: tuple[float, ...] = (10.0, 7.0, 5.0, 3.0, 1.8), repeats: int = 5
) -> Measurements:
    """The landing detector on rendered pictures, beside OpenCV in floats in the same run."""
    prepare("skyloop_landing.vision", when_called=True)
    pictures = landing_pictures(seeds, altitudes)
    cv2.setNumThreads(1)
    for picture in pictures[:2]:
        # loads code and caches before the clock counts
        find_in_steps(StepTimes(), picture)
        peer_steps(StepTimes(), picture)
    own, peer, found = StepTimes(), StepTimes(), 0
    for _ in range(repeats):
        for picture in pictures:
            found += find_in_steps(own, picture)
            peer_steps(peer, picture)
    n = repeats * len(pictures)
    note = f"{WIDTH}x{HEIGHT}, one thread, processor time, mean of {n} pictures; marker found in {found}"
    yield Measurement("detector_images_per_s", 1e3 / own.total(), "images/s", 60.0, note)
    for step in STEPS:
        yield lower(f"{step}_ms", statistics.median(own.ms[step]), "ms", None, "median")
    without = "OpenCV and numpy in floats, without marker"
    yield Measurement("peer_images_per_s", 1e3 / peer.total(), "images/s", None, without)
    yield Measurement("vs_opencv", peer.total() / own.total(), RATIO, None, "the first over the second")
    for step in STEPS[:-1]:
        yield lower(f"peer_{step}_ms", statistics.median(peer.ms[step]), "ms", None, "median")


def landing_pictures(seeds: tuple[int, ...], altitudes: tuple[float, ...]) -> list[LandingPicture]:
    """The marker from straight above, a little beside it, turned by half a radian."""
    lens = Pinhole.from_fov(WIDTH, HEIGHT, 0.5 * np.pi)
    c, s = np.cos(0.5), np.sin(0.5)
    # columns: image right, image down, viewing direction
    turn = quat_from_matrix(np.array([[s, -c, 0.0], [-c, -s, 0.0], [0.0, 0.0, -1.0]]))
    weather = weather_at(WeatherConfig(), 47.0)
    out = []
    for seed in seeds:
        world = Landing(seed)
        world.model.freeze()
        with closing(Renderer(world.model)) as renderer:
            for altitude in altitudes:
                eye = np.array([world.marker_xy[0] + 0.1, world.marker_xy[1], altitude + world.marker.thickness])
                request = ViewRequest(lens, ViewPose(0, eye, turn), "low", 1.0)
                out.append(
                    LandingPicture(np.ascontiguousarray(renderer.render([request], weather)[0].colour), altitude)
                )
    return out


def find_in_steps(times: StepTimes, picture: LandingPicture) -> bool:
    """Whether the marker was found. The picture before it was the same."""
    altitude_cm = round(100.0 * picture.altitude)
    bright = times.of("grey", grey, picture.colour)
    smooth = times.of("gauss", smoothed, bright)
    tiles = times.of("tiles", tiles_of, smooth)
    binary = times.of("threshold", dark, smooth, tiles)
    objects = times.of("components", lambda: listed(binary, 1, min_area(altitude_cm)))
    return times.of("marker", find_marker, objects, altitude_cm).marker is not None


def peer_steps(times: StepTimes, picture: LandingPicture) -> None:
    """The same in OpenCV and numpy with floats, up to the components."""
    bright = times.of("grey", cv2.cvtColor, picture.colour, cv2.COLOR_RGB2GRAY)
    smooth = times.of("gauss", lambda: cv2.GaussianBlur(bright, (5, 5), 0.65, borderType=cv2.BORDER_REPLICATE))
    tiles = times.of("tiles", _peer_tiles, smooth)
    binary = times.of("threshold", _peer_binary, smooth, tiles)
    times.of("components", lambda: cv2.connectedComponentsWithStats(binary, connectivity=8))


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


def fabric(images: int = 6) -> Measurements:
    """The landing detector's logic: its share of a Zynq-7020, images per second simulated.

    `images`: 0 leaves the simulation out, which a C++ compiler builds."""
    from skyloop_landing.fpga.config import PIXEL_CLOCK_HZ, FabricConfig
    from skyloop_landing.fpga.simulated import SimulatedFabric
    from skyloop_landing.fpga.synthesis import XC7Z020, synthesise
    from skyloop_landing.fpga.timing import WIRE_NS

    synthesis = synthesise()
    used, shares = synthesis.used, synthesis.used.percent_of(XC7Z020)
    for key, name in RESOURCES.items():
        note = f"{getattr(used, key):g} {name} of the XC7Z020's {getattr(XC7Z020, key):,.0f}, by yosys, not placed"
        yield lower(f"fabric_{key}_percent", getattr(shares, key), "%", 60.0, note)
    cells = " ".join(synthesis.path.cells)
    path = f"longest way between registers, an estimate with {WIRE_NS:g} ns per wire: {cells}"
    yield lower("fabric_path_ns", synthesis.path.ns, "ns", 1e9 / PIXEL_CLOCK_HZ, path)
    if not images:
        return
    config = FabricConfig()
    random = np.random.default_rng(1)
    tiles = random.integers(0, 256, (images, config.height // 8, config.width // 8), dtype=np.uint8)
    with SimulatedFabric(config) as simulated:
        latencies = []

        def look(tile: Pixels) -> None:
            simulated.objects_of(np.kron(tile, np.ones((8, 8), np.uint8)))
            latencies.append(simulated.latency_clocks)

        look(tiles[0])
        seconds = seconds_each(look, tiles, time.process_time)
    noise = f"1280 x 720 px of noise in squares of 8 px; {config.clocks_per_image:,} clocks each, processor time"
    yield Measurement("fabric_simulated_images_per_s", 1.0 / seconds, "1/s", None, noise)
    latest = max(latencies)
    after = f"from the last pixel of these images to their list, {latest} clocks of 74.25 MHz"
    yield lower("fabric_list_after_us", 1e6 * latest / PIXEL_CLOCK_HZ, "µs", None, after)


def detect(per_part: int = 150, looks: int = 200) -> Measurements:
    """The people detector: images per second on one core, beside torch in the same run, and average precision.

    The images are some of the test images of the people dataset, rendered again: places that were not trained on.
    `per_part`: of each of its parts; 0 measures speeds alone, on noise."""
    usual, slow = load_detector(), peer_or_why(lambda: load_detector(runtime="torch"))
    if not per_part:
        noise = np.random.default_rng(1).integers(0, 256, (10, 240, 320, 3), np.uint8)
        yield from _detector_speeds(usual, slow, list(noise), looks)
        return
    with tempfile.TemporaryDirectory(prefix="skyloop-bench-") as scratch:
        folder = Path(scratch) / "people"
        plan_tests(folder, per_part, PER_PLACE)
        make_people(folder, usable_cores())
        samples = [sample for sample in read_samples(folder, "test") if sample.size == (320, 240)]
        yield from _detector_speeds(usual, slow, [read_image(sample.path) for sample in samples[:50]], looks)
        yield from _detector_scores(folder, per_part)


def _detector_speeds(
    usual: Detector, peer: tuple[Detector | None, str], images: list[Pixels], looks: int
) -> Measurements:
    slow, why_missing = peer

    def per_second(detector: Detector, looks: int) -> float:
        """By processor time, so that other programs do not count."""
        for image in images[:3]:
            detector.find(image)
        return 1.0 / seconds_each(lambda k: detector.find(images[k % len(images)]), range(looks), time.process_time)

    fast = per_second(usual, looks)
    what = f"320 x 240 px, {usual.runtime}, one thread, processor time, from pixels to boxes"
    yield Measurement("images_per_s", fast, "1/s", 100.0, what)
    if slow is None:
        yield Measurement("optimised_vs_torch", math.nan, RATIO, 3.0, why_missing)
    else:
        torch = per_second(slow, max(10, looks // 5))
        beside = f"torch looks at {torch:.1f} images per second with the same weights and one thread"
        yield Measurement("optimised_vs_torch", fast / torch, RATIO, 3.0, beside)
    for model, runtime in (("people", "onnxruntime"), ("people-fp16", "openvino"), ("people-fp16", "onnxruntime")):
        key = f"images_per_s_{runtime}" + ("_fp16" if model.endswith("fp16") else "")
        value = per_second(load_detector(model, runtime), looks)
        yield Measurement(key, value, "1/s", None, f"the same with {model} on {runtime}")


def _detector_scores(folder: Path, per_part: int) -> Measurements:
    coarse, exact = score_model(model_file("people"), folder), score_model(model_file("people-fp16"), folder)
    for key in PARTS:
        aim, where = PRECISION_AIMS[key]
        note = f"AP50 of persons >= 16 px, at most half hidden; {per_part} images of {where}"
        yield Measurement(key, coarse[key], "", aim, note)
    lost = exact["ap50_person"] - coarse["ap50_person"]
    note = f"AP50 that 8 bits cost on the same images as ap50_person; {exact['ap50_person']:.3f} without them"
    yield lower("ap50_lost_by_int8", lost, "", 0.02, note)
