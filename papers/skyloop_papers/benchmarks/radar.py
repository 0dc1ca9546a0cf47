"""Milliseconds per burst of the radar in park, beside the paper's sum of the same echoes in the same run."""

from __future__ import annotations

import math
import time
import tracemalloc
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numba
import numpy as np

from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.core.machine_info import gpu_name
from skyloop.core.radar_waveform import LIGHT_SPEED, Waveform
from skyloop.rendering.client import Renderer
from skyloop.sensors.radar.config import RadarConfig
from skyloop.sensors.radar.echoes import Echoes
from skyloop.sensors.radar.radar import Radar
from skyloop.world.views import View, ViewRequest
from skyloop.world.world import WORLDS
from skyloop_client.errors import SetupError
from skyloop_client.messages import Array, Kinematics, RadarScan
from skyloop_papers.benchmarks.camera import WEATHER
from skyloop_papers.benchmarks.measurement import RATIO, Measurement, Measurements, Rounds, lower, seconds_each

START, SPEED = np.array([-37.0, 43.0, 3.0]), 3.0
"""m and m/s of a straight flight to the east, which passes close to walking people."""
STEEP = 1.1
"""rad downwards, where no pixel shows the sky."""


@dataclass(frozen=True, slots=True)
class RadarPicture:
    """What the radar sees at each instant of the flight, which are a second apart."""

    instants: int = 5
    width: int = 320
    height: int = 240
    trees: int = 90


def radar(
    rounds: int = 9, repeats: int = 4, one_in: int = 64, compared: int = 2, picture: RadarPicture | None = None
) -> Measurements:
    """Radar bursts over park, beside the paper's sum over pixels in the same run.

    `repeats`: of every instant within a round; `one_in`: the paper's method is timed with one in so many echoes, to
    whose number its time is proportional; `compared`: the latest instants for which it also sums all echoes."""
    with closing(RadarFlight(picture or RadarPicture())) as flight:
        yield from measured_on(flight, rounds, repeats, one_in, compared)


def measured_on(flight: RadarFlight, rounds: int, repeats: int, one_in: int, compared: int) -> Measurements:
    bursts = Bursts(radar_of(flight.picture, "cpu"), flight.scenes)
    steep, painted = Bursts(bursts.radar, [flight.steep]), Bursts(bursts.radar, flight.painted)
    timings: dict[str, Callable[[], float]] = {
        "frame": lambda: bursts.frame_seconds(repeats),
        "cpu": lambda: bursts.frame_seconds(repeats, time.process_time),
        "echoes": lambda: bursts.echoes_seconds(repeats),
        "sum": lambda: bursts.sum_seconds(repeats),
        "steep": lambda: steep.frame_seconds(repeats),
        "painted": lambda: painted.frame_seconds(1),
        "paper": lambda: bursts.paper_seconds(one_in),
    }
    gpu, why_not = gpu_radar(flight.picture)
    if gpu is not None:
        on_gpu = Bursts(gpu, flight.scenes)
        timings |= {
            "gpu frame": lambda: on_gpu.frame_seconds(repeats),
            "gpu sum": lambda: on_gpu.sum_seconds(repeats),
        }
    taken = Rounds(timings, rounds)
    counts = [len(echoes.strengths) for echoes in bursts.echoes]
    burst = "3 antennas x 64 chirps x 64 samples"
    none = f"; no GPU figures: {why_not}" if why_not else ""
    view = f"{flight.picture.width}x{flight.picture.height} pixels"
    frame = f"from the renderer's buffers to volts; park at 3 m/s, {view}, {burst}; CPU, one thread{none}"
    alone = "processor time: frame_ms, on an idle machine and if there is one thread"
    down = f"as frame_ms, looking down so that there is no sky: {len(steep.echoes[0].strengths)} echoes"
    paper = f"every echo's cosine for {burst}, parallel Numba, {threads()} threads"
    scaled = f"processor time by threads; measured with one echo in {one_in}, times {one_in}"
    ratio = "paper_method_ms, a sum alone, over our whole frame_cpu_ms"
    yield lower("frame_ms", 1e3 * taken["frame"], "ms", 30.0, frame)
    yield Measurement("vs_paper_method", taken.ratio("paper", "cpu"), RATIO, 300.0, ratio)
    yield lower("frame_cpu_ms", 1e3 * taken["cpu"], "ms", None, alone)
    yield lower("echoes_ms", 1e3 * taken["echoes"], "ms", None, "of it, from buffers to echoes")
    yield lower("sum_ms", 1e3 * taken["sum"], "ms", None, "of it, from echoes to a burst")
    yield Measurement("echoes", float(np.mean(counts)), "1", None, f"mean of a burst; {min(counts)} to {max(counts)}")
    yield lower("every_pixel_ms", 1e3 * taken["steep"], "ms", None, down)
    rendered = "the picture painted first, by the renderer on all cores"
    yield lower("frame_with_rendering_ms", 1e3 * taken["painted"], "ms", None, rendered)
    yield lower("paper_method_ms", 1e3 * taken["paper"], "ms", None, f"{paper}; {scaled}")
    error, seconds = bursts.compared(compared)
    summed = f"paper_method_ms with every echo of {compared} bursts, nothing scaled"
    yield lower("paper_method_whole_ms", 1e3 * seconds, "ms", None, summed)
    reference = "the reference is eq. (4) term by term in float64"
    worst = f"relative L2 over all outputs of a burst, worst of {compared}; {reference}"
    yield lower("error_vs_reference", error, "relative L2", 1e-3, worst)
    most = "most that a radar's matrices, echoes and bursts take at once, without machine code and picture"
    yield lower("memory_mb", peak_memory(flight) / 1e6, "MB", 300.0, most)
    if gpu is not None:
        device = gpu_name() or "a GPU that nvidia-smi does not name"
        frame = f"as frame_ms: echoes and their sum on {device}, the receiver on one CPU thread"
        same = "relative L2 of a burst of the GPU's echoes to one of the CPU's, both summed on the GPU; worst instant"
        back = f"as sum_ms, of echoes on {device}, with the way back"
        yield lower("gpu_frame_ms", 1e3 * taken["gpu frame"], "ms", 1.0, frame)
        yield lower("gpu_sum_ms", 1e3 * taken["gpu sum"], "ms", None, back)
        yield lower("gpu_echoes_error", on_gpu.differs_from(bursts), "relative L2", 1e-5, same)


def gpu_radar(picture: RadarPicture) -> tuple[Radar | None, str]:
    """A radar that sums on the GPU, or None and the reason."""
    try:
        return radar_of(picture, "gpu"), ""
    except SetupError as error:
        return None, str(error)


def radar_of(picture: RadarPicture, backend: str) -> Radar:
    config = RadarConfig(preset="bgt60tr13c", width=picture.width, height=picture.height, backend=backend)  # type: ignore[arg-type]
    return Radar(config, 1.0 / 7.0)


def peak_memory(flight: RadarFlight) -> int:
    """Peak bytes held by a new radar and its bursts."""
    tracemalloc.start()
    try:
        Bursts(radar_of(flight.picture, "cpu"), flight.scenes).frame_seconds(1)
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


class RadarFlight:
    """Straight through park, with the radar's views on the way."""

    def __init__(self, picture: RadarPicture) -> None:
        self.picture = picture
        world = WORLDS["park"](1, trees=picture.trees)
        world.model.freeze()
        self._renderer = Renderer(world.model)
        self._radar = radar_of(picture, "cpu")
        poses = [flown(float(t)) for t in range(picture.instants)]
        self.painted = [Painted(pose, self._renderer) for pose in poses]
        self.scenes = [self._seen(pose) for pose in poses]
        self.steep = self._seen(flown(0.0, STEEP))

    def _seen(self, pose: Kinematics) -> Given:
        return Given(pose, self._renderer.render(self._radar.requests(pose, ()), WEATHER)[0])

    def close(self) -> None:
        self._renderer.close()


class Bursts:
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
        return seconds_each(self.scan, [*self._scenes] * repeats, clock)

    def echoes_seconds(self, repeats: int) -> float:
        paths = self.radar.paths
        return seconds_each(lambda s: paths.echoes(s.view, s.kinematics, s), [*self._scenes] * repeats)

    def sum_seconds(self, repeats: int) -> float:
        return seconds_each(self.summed, self.echoes * repeats)

    def summed(self, echoes: Echoes) -> Any:
        return self.radar.synthesis.burst(echoes.half_paths, echoes.rates, echoes.strengths)

    def paper_seconds(self, one_in: int) -> float:
        """For all echoes, extrapolated from the time of some of them."""
        some = [_every(echoes, one_in) for echoes in self.echoes]
        share = sum(len(e.strengths) for e in some) / sum(len(e.strengths) for e in self.echoes)
        return seconds_each(lambda echoes: paper_burst(self.radar.waveform, echoes), some, shared_clock) / share

    def differs_from(self, other: Bursts) -> float:
        """The relative L2 between bursts of these echoes and of another's, both summed by this radar."""
        pairs = [
            (self.summed(mine), self.summed(theirs)) for mine, theirs in zip(self.echoes, other.echoes, strict=True)
        ]
        return float(max(np.linalg.norm(mine - theirs) / np.linalg.norm(theirs) for mine, theirs in pairs))

    def compared(self, count: int) -> tuple[float, float]:
        """The fast sum's greatest relative L2 error over some instants, and the seconds of the paper's method."""
        some, wanted = self.echoes[-count:], []
        seconds = seconds_each(lambda each: wanted.append(paper_burst(self.radar.waveform, each)), some, shared_clock)
        errors = [
            np.linalg.norm(self.summed(echoes).real - volts) / np.linalg.norm(volts)
            for echoes, volts in zip(some, wanted, strict=True)
        ]
        return float(max(errors)), seconds


def _every(echoes: Echoes, one_in: int) -> Echoes:
    return Echoes(echoes.half_paths[::one_in].copy(), echoes.rates[::one_in].copy(), echoes.strengths[::one_in].copy())


def _sum(echoes, wavenumbers, times, bend, out):  # type: ignore[no-untyped-def]
    half_paths, rates, amplitudes, phases = echoes
    n_chirps, n_samples = times.shape
    for index in numba.prange(out.size):
        rx, m, n = index // (n_chirps * n_samples), index // n_samples % n_chirps, index % n_samples
        total = 0.0
        for s in range(half_paths.shape[0]):
            path = half_paths[s, rx]
            phase = wavenumbers[n] * (path + rates[s, rx] * times[m, n]) - bend * path * path
            total += amplitudes[s] * math.cos(phase + phases[s])
        out[rx, m, n] = total


# not a kernel of `core.jit`: those use one core and are compiled for every user
_compiled: Any = numba.njit(parallel=True, error_model="numpy")(_sum)


def paper_burst(waveform: Waveform, echoes: Echoes) -> Array:
    """(n_rx, n_chirps, n_samples) V, the real part of the result of `Synthesis.burst`, as "airloop" sums it.

    Every echo's term of eq. (4), for every antenna, chirp and sample, on all cores. It uses float64, because a phase of
    10⁵ rad has hardly a digit left in float32. So it also measures the error of the fast sum."""
    out = np.empty((echoes.half_paths.shape[1], waveform.n_chirps, waveform.n_samples))
    strengths = echoes.strengths.astype(np.complex128)
    wavenumbers = 4.0 * np.pi / LIGHT_SPEED * waveform.frequencies()
    bend = 4.0 * np.pi * waveform.slope / LIGHT_SPEED**2
    arrays = (echoes.half_paths, echoes.rates, np.abs(strengths), np.angle(strengths))
    _compiled(arrays, wavenumbers, waveform.times(), bend, out)
    return out


def threads() -> int:
    """Number of threads that share the outputs."""
    return int(numba.get_num_threads())


def shared_clock() -> float:
    """Seconds of processor time divided by the number of threads.

    On an idle machine this equals wall time. On a busy one all threads wait for the slowest, and wall time would make
    the paper's method look slower than it is."""
    return time.process_time() / threads()
