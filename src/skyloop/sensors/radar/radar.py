"""The radar as a sensor: one view at the middle of a burst, its echoes, their sum, the receiver.

`Paths` finds all paths of a wave from transmitter to receivers: by matt patches, mirror points and calibration targets,
over the ground, and through materials that let it pass.
Echoes are found and summed on the CPU, or on a GPU if there is one.
"""

from __future__ import annotations

import importlib.util
import math
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import SENSOR_FROM_CAMERA, matrix_from_quat, quat_multiply
from skyloop.core.keyed_random import KeyedRandom
from skyloop.core.radar_waveform import LIGHT_SPEED, Waveform
from skyloop.sensors.radar.config import PRESETS, RadarConfig, RadarNumbers, pattern_table
from skyloop.sensors.radar.cpu_echoes import CpuEchoes, point_echoes
from skyloop.sensors.radar.echoes import (
    Echoes,
    Ends,
    Energies,
    Labels,
    ModelParts,
    Receiver,
    SurfaceView,
    WaveEnds,
    Way,
)
from skyloop.sensors.radar.gpu_echoes import GpuEchoes
from skyloop.sensors.radar.gpu_source import GpuSum
from skyloop.sensors.radar.specular import Mirrors
from skyloop.sensors.radar.synthesis import CpuSum
from skyloop.sensors.sensor import Details, Scene, Sensor, numbers_of, plain
from skyloop.world.materials import TRANSPARENCY, grazing_reflection, mirror_amplitudes, scattered_shares
from skyloop.world.semantics import CLASS_ID, CLASSES
from skyloop.world.views import MATERIAL_CLASS, Pinhole, View, ViewPose, ViewRequest
from skyloop_client.errors import SetupError
from skyloop_client.messages import Array, Kinematics, RadarScan
from skyloop_client.streams import NS_PER_S


class BurstSum(Protocol):
    def burst(self, half_paths: Array, rates: Array, strengths: NDArray[np.complex64]) -> NDArray[np.complex64]: ...

    def burst_and_weighted(
        self, half_paths: Array, rates: Array, strengths: NDArray[np.complex64]
    ) -> tuple[NDArray[np.complex64], NDArray[np.complex64]]: ...


class EchoFinder(Protocol):
    """Finds the echoes of matt surfaces and of mirror points, where the sum wants them."""

    def found(
        self,
        pictures: list[SurfaceView],
        objects: ModelParts,
        labels: Labels,
        ways: list[Way],
        mirrors: Mirrors | None,
        energies: Energies,
    ) -> list[Echoes]: ...

    def joined(self, parts: list[Echoes]) -> Echoes: ...


def backend_on(backend: str, waveform: Waveform) -> tuple[EchoFinder, BurstSum]:
    """`auto` uses a GPU that CuPy supports, else the CPU."""
    if backend != "cpu":
        cupy, reason = _gpu()
        if cupy is not None:
            return GpuEchoes(cupy), GpuSum(waveform, cupy)
        if backend == "gpu":
            raise SetupError(
                f"radar backend 'gpu': {reason}; install cupy for your CUDA, or choose backend auto or cpu"
            )
    return CpuEchoes(), CpuSum(waveform)


def _gpu() -> tuple[ModuleType | None, str]:
    """CuPy, if it is installed and finds a device; else None and the reason."""
    if importlib.util.find_spec("cupy") is None:
        return None, "CuPy is not installed"
    try:
        import cupy

        cupy.zeros(1)
    except Exception as error:  # a broken driver or library can raise anything
        return None, f"CuPy finds no usable device ({type(error).__name__})"
    return cupy, ""


BOLTZMANN = 1.380649e-23
ROOM_TEMPERATURE = 290.0
"""K, the reference of noise figures."""
OFFSET_HZ = 100e3
"""The offset from the carrier at which phase noise is given."""
FIELD = NDArray[np.complex64]


def noise_bandwidth(numbers: RadarNumbers) -> float:
    """Hz, the width of a rectangular filter that lets as much noise pass as the Butterworth filter."""
    angle = math.pi / (2.0 * numbers.lowpass_order)
    return numbers.lowpass_corner_hz * angle / math.sin(angle)


def thermal_volts(numbers: RadarNumbers) -> float:
    """V RMS of the receiver's noise at the converter; noise beyond half the sample rate folds into it."""
    density = BOLTZMANN * ROOM_TEMPERATURE * 10.0 ** (0.1 * numbers.noise_figure_db)
    power = density * noise_bandwidth(numbers) * numbers.impedance
    return math.pow(10.0, numbers.conversion_gain_db / 20.0) * math.sqrt(power)


def leakage_volts(numbers: RadarNumbers) -> float:
    """V, peak, of the signal that goes straight from transmitter to receiver."""
    power = 1e-3 * 10.0 ** (0.1 * (numbers.tx_power_dbm + numbers.leakage_db))
    return math.pow(10.0, numbers.conversion_gain_db / 20.0) * math.sqrt(2.0 * numbers.impedance * power)


def wander(numbers: RadarNumbers) -> float:
    """rad/s RMS of the oscillator's frequency within the filter's band.

    The phase is a random walk: L(f) = Δν/(2π·f²), and its rate is white with 2π·Δν rad²/s² per Hz on both sides. An
    echo is mixed with an oscillator that has drifted during the delay τ, so the rest is τ times that rate: range
    correlation.
    """
    linewidth = 2.0 * math.pi * OFFSET_HZ**2 * 10.0 ** (0.1 * numbers.phase_noise_dbc)
    return math.sqrt(2.0 * math.pi * linewidth * 2.0 * noise_bandwidth(numbers))


def received(signal: FIELD, numbers: RadarNumbers, waveform: Waveform, rng: KeyedRandom) -> NDArray[Any]:
    """Volts at the converter's output, real unless the waveform has quadrature; noise uses blocks from 0 upwards."""
    volts: NDArray[Any] = signal if waveform.iq else signal.real.astype(np.float64)
    if numbers.thermal_noise:
        spread = thermal_volts(numbers)
        count = volts.size * (2 if waveform.iq else 1)
        noise = spread * rng.normal(count)
        volts = volts + (noise.view(np.complex128) if waveform.iq else noise).reshape(volts.shape)
    if numbers.adc:
        if waveform.iq:
            volts = quantised(volts.real, numbers) + 1j * quantised(volts.imag, numbers)
        else:
            volts = quantised(volts, numbers)
    return np.ascontiguousarray(volts, np.complex64 if waveform.iq else np.float32)


def quantised(volts: NDArray[Any], numbers: RadarNumbers) -> NDArray[Any]:
    half = 2 ** (numbers.adc_bits - 1)
    step = numbers.adc_reference / (2 * half)
    return np.asarray(np.clip(np.rint(volts / step), -half, half - 1) * step)


MIRROR_TABLE = 257
CLEAR_OF_GROUND = 0.05
"""m above the ground; anything lower belongs to the ground that reflects."""
FARTHEST = 2000.0
"""m over which a wave is followed behind a material that lets it pass."""

MOST_FACES = 4
"""Faces of one object that a wave passes."""
CLEAR_OF_SURFACE = 2e-3
"""m behind a surface, where a wave continues."""

EVERYTHING = np.ones((1, 1), np.float32)
"""The amplitude that passes where nothing is in front."""

Surface = NDArray[np.uint32]


class Paths:
    """Finds the echoes of one radar."""

    def __init__(self, config: RadarConfig, pattern: NDArray[np.float32], finder: EchoFinder | None = None) -> None:
        self._config = config
        self._finder = finder or CpuEchoes()
        self.joined = self._finder.joined
        n = numbers_of(config, PRESETS)
        w = config.waveform()
        self._pattern = pattern
        self._tx = np.array(n.tx_position)
        self._rx = np.array(n.rx_positions[: n.n_rx])
        self.wavelength = LIGHT_SPEED / w.centre_frequency
        power = 1e-3 * 10.0 ** (0.1 * (n.tx_power_dbm + n.tx_gain_dbi + n.rx_gain_dbi))
        # peak volts of an echo of 1 m² are this divided by both distances: the radar equation with (4π)³
        received = power * self.wavelength**2 / (4.0 * np.pi) ** 3
        self.scale = float(10.0 ** (n.conversion_gain_db / 20.0) * np.sqrt(2.0 * n.impedance * received))
        self._beats = (2.0 * w.slope / LIGHT_SPEED, 2.0 * w.centre_frequency / LIGHT_SPEED)
        self._lowpass = (n.lowpass_corner_hz, n.lowpass_order)
        self._limits = (w.max_range, w.max_speed)
        self._shares = scattered_shares(self.wavelength)
        self._mirrors = Mirrors(mirror_amplitudes(self.wavelength), self.wavelength) if config.specular else None
        shown = CLASSES if config.classes is None else config.classes
        self._shown = np.zeros(256, np.bool_)
        self._shown[[CLASS_ID[name] for name in shown]] = True

    def echoes(self, view: View, kinematics: Kinematics, scene: Scene) -> tuple[Echoes, float]:
        """All echoes, and the share of their energy that folds."""
        echoes, energies = self.found(view, kinematics, scene)
        return echoes, energies.folded_share()

    def found(self, view: View, kinematics: Kinematics, scene: Scene) -> tuple[Echoes, Energies]:
        """All echoes and their energies, which a GPU may still work on."""
        energies = Energies()
        world_from_sensor = np.ascontiguousarray(matrix_from_quat(kinematics.quat_wxyz))
        speed = np.asarray(kinematics.velocity_world, np.float64)
        turned = np.ascontiguousarray(world_from_sensor.T)
        straight = Ends(turned, turned.T @ self._tx, self._rx @ turned, speed, speed)
        ends = [straight, *(self._over_ground(straight, view, scene) if self._config.ground_bounce else ())]
        ways = [self._way(end) for end in ends]
        layers = [(view.surface, EVERYTHING)]
        if self._config.see_through:
            layers.append(_behind(view, scene))
        lens, camera, place = _lens(view), _world_from_camera(view), np.array(view.pose.position)
        pictures = [SurfaceView(surface, lens, camera, place, through) for surface, through in layers]
        model, motion = view.model, view.motion
        objects = ModelParts(
            model.n_standing, model.standing_poses, motion.poses, motion.velocities, motion.angular_velocities
        )
        labels = Labels(model.part_object, model.object_class, MATERIAL_CLASS, self._shown)
        parts = self._finder.found(pictures, objects, labels, ways, self._mirrors, energies)
        if self._config.targets:
            parts += [self._targets(kinematics, way, energies.sums) for way in ways]
        return self.joined(parts), energies

    def _way(self, ends: Ends) -> Way:
        antennas = WaveEnds(
            self._pattern, ends.sensor_from_world, ends.tx, ends.rx, ends.tx_velocity, ends.rx_velocity, ends.mirror,
            ends.tx_mirrored, ends.rx_mirrored,
        )  # fmt: skip
        return antennas, Receiver(self._shares, self.scale, *self._beats, *self._lowpass, *self._limits, ends.lowest)

    def _over_ground(self, ends: Ends, view: View, scene: Scene) -> list[Ends]:
        """The paths over the ground below, taken as flat and endless: on the way there, on the way back, and both."""
        down = scene.cast(view.pose.position[None], np.array([[0.0, 0.0, -1.0]]), FARTHEST)
        height = float(down.distance[0])
        if not np.isfinite(height):
            return []
        sines = np.linspace(0.0, 1.0, MIRROR_TABLE)
        mirror = grazing_reflection(int(down.material[0]), sines, self.wavelength).astype(np.complex64)
        flip, below = np.array([1.0, 1.0, -1.0]), np.array([0.0, 0.0, -2.0 * height])
        clear = replace(ends, mirror=mirror, lowest=CLEAR_OF_GROUND - height)
        sender = {"tx": ends.tx * flip + below, "tx_velocity": ends.tx_velocity * flip, "tx_mirrored": True}
        receiver = {"rx": ends.rx * flip + below, "rx_velocity": ends.rx_velocity * flip, "rx_mirrored": True}
        return [replace(clear, **way) for way in (sender, receiver, {**sender, **receiver})]

    def _targets(self, kinematics: Kinematics, way: Way, energies: Array) -> Echoes:
        targets, (antennas, receiver) = self._config.targets, way
        velocities = np.array([target.velocity for target in targets])
        starts = np.array([target.position for target in targets])
        points = starts + velocities * kinematics.t_ns / NS_PER_S - kinematics.position
        fields = np.sqrt([target.cross_section(self.wavelength) for target in targets])
        ahead = (points @ antennas.sensor_from_world[0] > 0.0) & (points[:, 2] >= receiver.lowest)
        return point_echoes(points[ahead], velocities[ahead], fields[ahead], antennas, receiver, energies)


def _lens(view: View) -> Array:
    lens = view.lens
    return np.array([lens.fx, lens.fy, lens.cx, lens.cy])


def _world_from_camera(view: View) -> Array:
    return np.ascontiguousarray(matrix_from_quat(view.pose.quat_wxyz))


def _behind(view: View, scene: Scene) -> tuple[Surface, NDArray[np.float32]]:
    """A second surface buffer, of objects behind surfaces that let waves pass, and the amplitude that passes."""
    surface = np.zeros_like(view.surface)
    through = TRANSPARENCY.astype(np.float32)[view.materials]
    at = np.nonzero(through > 0.0)
    rays = view.lens.rays()[at]
    slant = np.linalg.norm(rays, axis=1)
    along = (rays / slant[:, None]) @ _world_from_camera(view).T
    rows = view.surface[..., 1][at].astype(np.int32) - 1
    words = np.zeros((len(rays), 4), np.uint32)
    # a pane has a back too: a wave must leave an object before it meets another
    reached, going = view.depth[at] * slant, np.arange(len(rays))
    for _ in range(MOST_FACES):
        start = reached[going] + CLEAR_OF_SURFACE
        hits = scene.cast(view.pose.position + along[going] * start[:, None], along[going], FARTHEST)
        reached[going] = start + hits.distance
        met = (hits.row >= 0) & (hits.row != rows[going])
        out = going[met]
        words[out, 0] = (reached[out] / slant[out]).astype(np.float32).view(np.uint32)
        words[out, 1] = hits.row[met] + 1
        words[out, 2] = _packed_normals(hits.normal[met]) | hits.material[met]
        going = going[hits.row == rows[going]]
    surface[at] = words
    return surface, through


def _packed_normals(normals: NDArray[np.floating]) -> Surface:
    """Packed as world.views describes; the material's byte is free."""
    flat = normals[:, :2] / np.maximum(np.abs(normals).sum(axis=1, keepdims=True), 1e-12)
    folded = (1.0 - np.abs(flat[:, ::-1])) * np.where(flat >= 0.0, 1.0, -1.0)
    steps = np.rint((np.where(normals[:, 2:] < 0.0, folded, flat) + 1.0) * 2047.0).astype(np.uint32)
    return np.asarray(steps[:, 0] << 8 | steps[:, 1] << 20, np.uint32)


class Radar(Sensor[tuple[()]]):
    """Keeps no state between samples. Objects in view move at constant velocity during a burst."""

    Config = RadarConfig
    needs_views = True
    kernels = ("skyloop.sensors.radar", "skyloop.world.rays")
    message = "RadarScan"
    independent = True
    stream = "raw"
    fault_fields = MappingProxyType({"volts": 1})

    def __init__(self, config: RadarConfig, period_s: float, folder: Path | None = None) -> None:
        self._config = config
        self.numbers = n = numbers_of(config, PRESETS)
        self.waveform = config.waveform()
        self.lens = Pinhole.from_fov(n.width, n.height, math.radians(n.horizontal_fov_deg))
        self.latency = 0.5 * self.waveform.duration if config.latency is None else config.latency
        finder, self.synthesis = backend_on(config.backend, self.waveform)
        self.paths = Paths(config, pattern_table(config.pattern, folder), finder)

    @classmethod
    def from_config(cls, config: RadarConfig, period_s: float, folder: Path | None) -> Radar:
        return cls(config, period_s, folder)

    def initial_state(self, rng: KeyedRandom) -> tuple[()]:
        return ()

    def requests(self, kinematics: Kinematics, state: tuple[()]) -> list[ViewRequest]:
        quat = quat_multiply(kinematics.quat_wxyz, SENSOR_FROM_CAMERA)
        return [ViewRequest(self.lens, ViewPose(kinematics.t_ns, kinematics.position, quat), self._config.quality)]

    def measure(
        self, kinematics: Kinematics, scene: Scene, state: tuple[()], rng: KeyedRandom
    ) -> tuple[RadarScan, tuple[()]]:
        view = scene.views(self.requests(kinematics, state))[0]
        echoes, energies = self.paths.found(view, kinematics, scene)
        n = self.numbers
        if n.leakage:
            echoes = self.paths.joined([echoes, self._leak()])
        what = (echoes.half_paths, echoes.rates, echoes.strengths)
        if n.phase_noise:
            signal, far = self.synthesis.burst_and_weighted(*what)
            # one oscillator for all antennas; the delay of an echo is twice its half path over c
            walk = wander(n) * rng.normal(far[0].size).reshape(far[0].shape)
            signal = (signal + 2j / LIGHT_SPEED * walk * far).astype(np.complex64)
        else:
            signal = self.synthesis.burst(*what)
        volts = received(signal, n, self.waveform, rng)
        return RadarScan(kinematics.t_ns, volts, energies.folded_share()), state

    def _leak(self) -> Echoes:
        shape = (1, self.numbers.n_rx)
        volts = np.full(1, leakage_volts(self.numbers), np.complex64)
        return Echoes(np.full(shape, 0.5 * self.numbers.leakage_path), np.zeros(shape), volts)

    def disturbed(self, sample: RadarScan, field: str, error: Array) -> RadarScan:
        """A fault shifts all voltages."""
        return RadarScan(sample.t_ns, sample.volts + sample.volts.dtype.type(error[0]), sample.folded_share)

    def details(self) -> Details:
        c, lens = self._config, self.lens
        return {
            "preset": c.preset,
            **plain(self.numbers),
            **self.waveform.details(),
            "rx_positions": [list(place) for place in self.numbers.rx_positions[: self.numbers.n_rx]],
            **lens.centre_and_focal(),
            "wavelength": self.paths.wavelength,
            "volts_of_one_square_metre_at_one_metre": self.paths.scale,
            "thermal_noise_volts": thermal_volts(self.numbers),
            "pattern": c.pattern.model_dump(),
            "classes": None if c.classes is None else list(c.classes),
            **c.model_dump(include={"specular", "ground_bounce", "see_through"}),
            "targets": [target.model_dump() for target in c.targets],
        }
