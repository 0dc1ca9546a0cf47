"""Milliseconds per burst of the radar in park, beside the paper's sum of the same echoes in the same run."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skyloop.benchmarks.camera import WEATHER
from skyloop.benchmarks.physics import interleaved
from skyloop.benchmarks.radar_paper_method import paper_burst, shared_clock, threads
from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.core.machine_info import gpu_name
from skyloop.core.results import Figure
from skyloop.rendering.client import Renderer
from skyloop.sensors.radar.config import RadarConfig
from skyloop.sensors.radar.echoes import Echoes
from skyloop.sensors.radar.radar import Radar
from skyloop.world.views import View, ViewRequest
from skyloop.world.world import WORLDS
from skyloop_client.errors import SetupError
from skyloop_client.messages import Kinematics, RadarScan

START, SPEED = np.array([-37.0, 43.0, 3.0]), 3.0
"""m and m/s of a straight flight to the east, which passes close to walking people."""
STEEP = 1.1
"""rad downwards, where no pixel shows the sky."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The amount of measurement. The defaults give the figures in docs/explanations/benchmarks.md."""

    rounds: int = 9
    """Each round measures every timing once. Figures are medians over rounds."""
    instants: int = 5
    """Instants of the flight, a second apart. A timing is the mean over them."""
    repeats: int = 4
    """Repetitions of every instant within a round."""
    one_in: int = 64
    """The paper's method is timed with one in so many echoes. Its time is proportional to their number."""
    compared: int = 2
    """Number of instants, the latest ones, for which the paper's method also sums all echoes."""
    width: int = 320
    height: int = 240
    trees: int = 90


def measure(sizes: Sizes | None = None) -> list[Figure]:
    """All figures of `skyloop bench radar`."""
    sizes = sizes or Sizes()
    flight = Flight(sizes)
    try:
        return measured_on(flight, sizes)
    finally:
        flight.close()


def measured_on(flight: Flight, sizes: Sizes) -> list[Figure]:
    bench = Bench(_radar(sizes, "cpu"), flight.scenes)
    steep = Bench(bench.radar, [flight.steep])
    painted = Bench(bench.radar, flight.painted)
    n, every = sizes.repeats, sizes.one_in
    timings: dict[str, Callable[[], float]] = {
        "frame": lambda: bench.frame_seconds(n),
        "cpu": lambda: bench.frame_seconds(n, time.process_time),
        "echoes": lambda: bench.echoes_seconds(n),
        "sum": lambda: bench.sum_seconds(n),
        "steep": lambda: steep.frame_seconds(n),
        "painted": lambda: painted.frame_seconds(1),
        "paper": lambda: bench.paper_seconds(every),
    }
    gpu, why_not = gpu_radar(sizes)
    if gpu is not None:
        on_gpu = Bench(gpu, flight.scenes)
        timings["gpu frame"] = lambda: on_gpu.frame_seconds(n)
        timings["gpu sum"] = lambda: on_gpu.sum_seconds(n)
    taken = interleaved(timings, sizes.rounds)
    error, whole = bench.compared(sizes.compared)
    figures = [
        *time_figures(taken, bench, len(steep.echoes[0].strengths), sizes, why_not),
        Figure("paper_method_whole_ms", 1e3 * whole, "ms", None, f"paper_method_ms with every echo of "
               f"{sizes.compared} bursts, nothing scaled", lower_is_better=True),
        Figure("error_vs_reference", error, "1", 1e-3, f"relative L2 over all outputs of a burst, worst of "
               f"{sizes.compared}; the reference is eq. (4) term by term in float64", lower_is_better=True),
        Figure("memory_mb", peak_memory(sizes, flight.scenes) / 1e6, "MB", 300.0,
               "most that a radar's matrices, echoes and bursts take at once, without machine code and picture",
               lower_is_better=True),
    ]  # fmt: skip
    return figures if gpu is None else figures + gpu_figures(taken, on_gpu.differs_from(bench))


def time_figures(
    taken: dict[str, np.ndarray[Any, Any]], bench: Bench, n_steep: int, sizes: Sizes, why_not_gpu: str
) -> list[Figure]:
    """Medians over rounds. A ratio is the median of the ratios within each round."""
    ms = {name: 1e3 * float(np.median(values)) for name, values in taken.items()}
    counts = [len(echoes.strengths) for echoes in bench.echoes]
    view = f"{sizes.width}x{sizes.height} pixels"
    burst = "3 antennas x 64 chirps x 64 samples"
    paper = f"every echo's cosine for {burst}, parallel Numba, {threads()} threads"
    scaled = f"processor time by threads; measured with one echo in {sizes.one_in}, times {sizes.one_in}"
    none = f"; no GPU figures: {why_not_gpu}" if why_not_gpu else ""
    ratio = float(np.median(taken["paper"] / taken["cpu"]))

    def lower(key: str, name: str, aim: float | None, note: str) -> Figure:
        return Figure(key, ms[name], "ms", aim, note, lower_is_better=True)

    return [
        lower("frame_ms", "frame", 30.0, f"from the renderer's buffers to volts; park at 3 m/s, {view}, {burst}; CPU, "
              f"one thread{none}"),
        Figure("vs_paper_method", ratio, "1", 300.0, "paper_method_ms, a sum alone, over our whole frame_cpu_ms"),
        lower("frame_cpu_ms", "cpu", None, "processor time: frame_ms, on an idle machine and if there is one thread"),
        lower("echoes_ms", "echoes", None, "of it, from buffers to echoes"),
        lower("sum_ms", "sum", None, "of it, from echoes to a burst"),
        Figure("echoes", float(np.mean(counts)), "1", None, f"mean of a burst; {min(counts)} to {max(counts)}"),
        lower("every_pixel_ms", "steep", None, f"as frame_ms, looking down so that there is no sky: {n_steep} echoes"),
        lower("frame_with_rendering_ms", "painted", None, "the picture painted first, by the renderer on all cores"),
        lower("paper_method_ms", "paper", None, f"{paper}; {scaled}"),
    ]  # fmt: skip


def gpu_figures(taken: dict[str, np.ndarray[Any, Any]], error: float) -> list[Figure]:
    device = gpu_name() or "a GPU that nvidia-smi does not name"
    frame, total = (1e3 * float(np.median(taken[name])) for name in ("gpu frame", "gpu sum"))
    return [
        Figure("gpu_frame_ms", frame, "ms", 1.0, f"as frame_ms: echoes and their sum on {device}, the receiver on "
               "one CPU thread", lower_is_better=True),
        Figure("gpu_sum_ms", total, "ms", None, f"as sum_ms, of echoes on {device}, with the way back",
               lower_is_better=True),
        Figure("gpu_echoes_error", error, "1", 1e-5, "relative L2 of a burst of the GPU's echoes to one of the CPU's, "
               "both summed on the GPU; worst instant", lower_is_better=True),
    ]  # fmt: skip


def gpu_radar(sizes: Sizes) -> tuple[Radar | None, str]:
    """A radar that sums on the GPU, or None and the reason."""
    try:
        return _radar(sizes, "gpu"), ""
    except SetupError as error:
        return None, str(error)


def _radar(sizes: Sizes, backend: str) -> Radar:
    config = RadarConfig(preset="bgt60tr13c", width=sizes.width, height=sizes.height, backend=backend)  # type: ignore[arg-type]
    return Radar(config, 1.0 / 7.0)


def peak_memory(sizes: Sizes, scenes: list[Given]) -> int:
    """Peak bytes held by a new radar and its bursts."""
    tracemalloc.start()
    try:
        Bench(_radar(sizes, "cpu"), scenes).frame_seconds(1)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def flown(t: float, pitch: float = 0.0) -> Kinematics:
    """The motion of a sensor that looks forward, or down by a pitch."""
    quat = np.array([np.cos(0.5 * pitch), 0.0, np.sin(0.5 * pitch), 0.0])
    velocity = np.array([SPEED, 0.0, 0.0])
    return Kinematics(round(t * 1e9), START + t * velocity, velocity, quat, np.zeros(3), np.zeros(3), np.zeros(3))


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """An instant of the flight whose image exists already."""

    kinematics: Kinematics
    view: View

    def views(self, requests: Sequence[ViewRequest]) -> list[View]:
        return [self.view]


@dataclass(frozen=True, slots=True, eq=False)
class Painted:
    """An instant whose image is rendered on request."""

    kinematics: Kinematics
    renderer: Renderer

    def views(self, requests: Sequence[ViewRequest]) -> list[View]:
        return self.renderer.render(requests, WEATHER)


class Flight:
    """Straight through park, with the radar's views on the way."""

    def __init__(self, sizes: Sizes) -> None:
        world = WORLDS["park"](1, trees=sizes.trees)
        world.model.freeze()
        self._renderer = Renderer(world.model)
        self._radar = _radar(sizes, "cpu")
        poses = [flown(float(t)) for t in range(sizes.instants)]
        self.painted = [Painted(pose, self._renderer) for pose in poses]
        self.scenes = [self._seen(pose) for pose in poses]
        self.steep = self._seen(flown(0.0, STEEP))

    def _seen(self, pose: Kinematics) -> Given:
        return Given(pose, self._renderer.render(self._radar.requests(pose, ()), WEATHER)[0])

    def close(self) -> None:
        self._renderer.close()


class Bench:
    """One radar at several instants. Seconds are per burst, as the mean over the instants."""

    def __init__(self, radar: Radar, scenes: Sequence[Any]) -> None:
        self.radar, self._scenes = radar, scenes
        self._key = stream_key(1, "bench/radar")

    @cached_property
    def echoes(self) -> list[Echoes]:
        return [self.radar.paths.echoes(s.view, s.kinematics, s)[0] for s in self._scenes]

    def scan(self, scene: Any) -> RadarScan:
        return self.radar.measure(scene.kinematics, scene, (), KeyedRandom(self._key, 0))[0]

    def frame_seconds(self, repeats: int, clock: Callable[[], float] = time.perf_counter) -> float:
        return _seconds(self.scan, self._scenes, repeats, clock)

    def echoes_seconds(self, repeats: int) -> float:
        paths = self.radar.paths
        return _seconds(lambda s: paths.echoes(s.view, s.kinematics, s), self._scenes, repeats)

    def sum_seconds(self, repeats: int) -> float:
        return _seconds(self.summed, self.echoes, repeats)

    def summed(self, echoes: Echoes) -> Any:
        return self.radar.synthesis.burst(echoes.half_paths, echoes.rates, echoes.strengths)

    def paper_seconds(self, one_in: int) -> float:
        """For all echoes, extrapolated from the time of some of them."""
        some = [_every(echoes, one_in) for echoes in self.echoes]
        share = sum(len(e.strengths) for e in some) / sum(len(e.strengths) for e in self.echoes)
        return _seconds(lambda echoes: paper_burst(self.radar.waveform, echoes), some, 1, shared_clock) / share

    def differs_from(self, other: Bench) -> float:
        """The relative L2 between bursts of these echoes and of another's, both summed by this radar."""
        pairs = [
            (self.summed(mine), self.summed(theirs)) for mine, theirs in zip(self.echoes, other.echoes, strict=True)
        ]
        return float(max(np.linalg.norm(mine - theirs) / np.linalg.norm(theirs) for mine, theirs in pairs))

    def compared(self, count: int) -> tuple[float, float]:
        """The fast sum's greatest relative L2 error over some instants, and the seconds of the paper's method."""
        errors = []
        began = shared_clock()
        wanted = [paper_burst(self.radar.waveform, echoes) for echoes in self.echoes[-count:]]
        took = (shared_clock() - began) / count
        for echoes, volts in zip(self.echoes[-count:], wanted, strict=True):
            errors.append(np.linalg.norm(self.summed(echoes).real - volts) / np.linalg.norm(volts))
        return float(max(errors)), took


def _every(echoes: Echoes, one_in: int) -> Echoes:
    return Echoes(echoes.half_paths[::one_in].copy(), echoes.rates[::one_in].copy(), echoes.strengths[::one_in].copy())


def _seconds(
    call: Callable[[Any], Any], things: Sequence[Any], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    began = clock()
    for _ in range(repeats):
        for thing in things:
            call(thing)
    return (clock() - began) / (repeats * len(things))
