"""In the park, flown at 3 m/s among people: the fast sum against eq. (4) in float64, on the very echoes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit, prange

from skyloop.core.fmcw import LIGHT_SPEED
from skyloop.core.keyed_random import KeyedRandom
from skyloop.sensors.radar.config import RadarConfig
from skyloop.sensors.radar.radar import Radar
from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop_client.messages import Kinematics


@njit(parallel=True)
def _direct(paths, rates, strengths, frequencies, times, bend):
    out = np.zeros((frequencies.size, 2))
    for q in prange(frequencies.size):
        re = im = 0.0
        for s in range(paths.size):
            r = paths[s]
            turns = 2.0 / LIGHT_SPEED * frequencies[q] * (r + rates[s] * times[q]) - bend * r * r
            angle = 2.0 * np.pi * (turns - np.floor(turns))
            c, d = np.cos(angle), np.sin(angle)
            re += strengths[s].real * c - strengths[s].imag * d
            im += strengths[s].real * d + strengths[s].imag * c
        out[q, 0], out[q, 1] = re, im
    return out


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 11))])
def test_fast_and_exact_agree(seed: int) -> None:
    vehicle = {"airframe": "iris", "position": [0.0, 0.0], "state": "truth"}
    sensor = Radar(RadarConfig(), 0.1)
    with build(make_scenario({"seed": seed, "world": {"name": "park"}, "vehicles": [vehicle]})) as simulation:
        part: Any = simulation.parts[0]
        scene = part.scene.at(2_000_000_000, 0)
        level = np.array([1.0, 0.0, 0.0, 0.0])
        speed = np.array([3.0, 0.2, -0.1])
        kinematics = Kinematics(scene.t_ns, np.array([-8.0, 3.0, 2.0]), speed, level, *np.zeros((3, 3)))
        view = scene.views(sensor.requests(kinematics, ()))[0]
        echoes, folded = sensor.paths.echoes(view, kinematics, scene)
        again = sensor.measure(kinematics, scene, (), KeyedRandom(np.uint64(1), 0))[0]
    assert len(echoes.strengths) > 20_000
    assert 0.0 < folded < 1.0
    w = sensor.waveform
    got = sensor.synthesis.burst(echoes.half_paths, echoes.rates, echoes.strengths)
    np.testing.assert_array_equal(again.volts, got.real)
    # every seventh sample of one antenna
    m, n = np.divmod(np.arange(0, 4096, 7), 64)
    wanted = _direct(
        echoes.half_paths[:, 1].copy(), echoes.rates[:, 1].copy(), echoes.strengths.astype(complex),
        w.frequencies()[n], w.times()[m, n], 2.0 * w.slope / LIGHT_SPEED**2,
    )  # fmt: skip
    wanted = wanted @ [1.0, 1.0j]
    error = np.linalg.norm(got[1, m, n] - wanted) / np.linalg.norm(wanted)
    print(f"{len(echoes.strengths)} echoes, error {error:.1e}")
    assert error < 1e-3
