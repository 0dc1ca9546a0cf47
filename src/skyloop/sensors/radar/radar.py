"""The radar as a sensor: one view at the middle of a burst, its echoes, their sum, the receiver."""

from __future__ import annotations

import math
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from skyloop.core.fmcw import LIGHT_SPEED
from skyloop.core.frames import SENSOR_FROM_CAMERA, quat_multiply
from skyloop.core.keyed_random import KeyedRandom
from skyloop.sensors.radar.backends import backend_on
from skyloop.sensors.radar.config import PRESETS, RadarConfig
from skyloop.sensors.radar.echoes import Echoes
from skyloop.sensors.radar.paths import Paths
from skyloop.sensors.radar.pattern import pattern_table
from skyloop.sensors.radar.receiver import leakage_volts, received, thermal_volts, wander
from skyloop.sensors.sensor import Scene, Sensor, numbers_of, plain
from skyloop.world.views import Pinhole, ViewPose, ViewRequest
from skyloop_client.messages import Array, Kinematics, RadarScan


class Radar(Sensor[tuple[()]]):
    """Keeps no state between samples. Things in view move at constant velocity during a burst."""

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

    def details(self) -> dict[str, Any]:
        c, lens = self._config, self.lens
        return {
            "preset": c.preset,
            **plain(self.numbers),
            **self.waveform.details(),
            "rx_positions": [list(place) for place in self.numbers.rx_positions[: self.numbers.n_rx]],
            **{name: getattr(lens, name) for name in ("fx", "fy", "cx", "cy")},
            "wavelength": self.paths.wavelength,
            "volts_of_one_square_metre_at_one_metre": self.paths.scale,
            "thermal_noise_volts": thermal_volts(self.numbers),
            "pattern": c.pattern.model_dump(),
            "classes": None if c.classes is None else list(c.classes),
            **{name: getattr(c, name) for name in ("specular", "ground_bounce", "see_through")},
            "targets": [target.model_dump() for target in c.targets],
        }
