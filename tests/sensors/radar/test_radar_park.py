"""In the park, flown at 3 m/s among people: the fast sum against eq. (4) in float64, on the very echoes."""

from __future__ import annotations

import numpy as np
import pytest
from radar_scans import park_scene

from skyloop.core.keyed_random import KeyedRandom
from skyloop.core.radar_waveform import LIGHT_SPEED
from skyloop.sensors.radar.config import RadarConfig
from skyloop.sensors.radar.radar import Radar
from skyloop_client.messages import Kinematics

pytestmark = pytest.mark.renders


def _direct(paths, rates, strengths, frequencies, times, bend):
    out = np.empty(frequencies.size, complex)
    for q in range(frequencies.size):
        turns = 2.0 / LIGHT_SPEED * frequencies[q] * (paths + rates * times[q]) - bend * paths * paths
        out[q] = np.exp(2.0j * np.pi * (turns - np.floor(turns))) @ strengths
    return out.view(float).reshape(-1, 2)


@pytest.mark.parametrize(
    "seed", [2, *(pytest.param(seed, marks=pytest.mark.slow("more seeds")) for seed in (1, *range(3, 11)))]
)
def test_fast_and_exact_agree(seed: int) -> None:
    sensor = Radar(RadarConfig(), 0.1)
    with park_scene(seed) as scene:
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
    # every 29th sample of one antenna
    m, n = np.divmod(np.arange(0, 4096, 29), 64)
    wanted = _direct(
        echoes.half_paths[:, 1].copy(), echoes.rates[:, 1].copy(), echoes.strengths.astype(complex),
        w.frequencies()[n], w.times()[m, n], 2.0 * w.slope / LIGHT_SPEED**2,
    )  # fmt: skip
    wanted = wanted @ [1.0, 1.0j]
    error = np.linalg.norm(got[1, m, n] - wanted) / np.linalg.norm(wanted)
    print(f"{len(echoes.strengths)} echoes, error {error:.1e}")
    assert error < 1e-3
