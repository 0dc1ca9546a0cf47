"""The fast sum against eq. (4) in float64."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from radar_scans import radar, scanned

from radar_reference import RX, TABLE_2, TX, reference_volts
from skyloop.core.radar_waveform import LIGHT_SPEED, Waveform
from skyloop.sensors.radar.synthesis import CpuSum

WAVEFORMS = {
    "table 2": TABLE_2,
    "wide and fine": Waveform(57e9, 7e9, 150e-6, 400e-6, 1, 300),
    "few": Waveform(24e9, 0.2e9, 1e-3, 1.3e-3, 16, 32),
    "odd": Waveform(77e9, 1e9, 50e-6, 60e-6, 33, 101),
}


def direct(w: Waveform, paths: np.ndarray, rates: np.ndarray, strengths: np.ndarray) -> np.ndarray:
    """(n_rx, n_chirps, n_samples), term by term."""
    out = np.empty((paths.shape[1], w.n_chirps, w.n_samples), complex)
    for k in range(paths.shape[1]):
        still = strengths * np.exp(-4j * np.pi * w.slope * paths[:, k] ** 2 / LIGHT_SPEED**2)
        for n, (u, times) in enumerate(zip(w.frequencies(), w.times().T, strict=True)):
            phase = 4.0 * np.pi / LIGHT_SPEED * u * (paths[:, k] + np.outer(times, rates[:, k]))
            out[k, :, n] = np.exp(1j * phase) @ still
    return out


@pytest.mark.parametrize("name", WAVEFORMS)
@pytest.mark.parametrize("speed", [0.0, 25.0])
def test_against_the_sum_term_by_term(name: str, speed: float) -> None:
    w, random = WAVEFORMS[name], np.random.default_rng(0)
    apart = random.uniform(-2.5e-3, 2.5e-3, (40, 3))
    paths = random.uniform(0.02, 80.0, (40, 1)) + apart
    rates = speed * random.uniform(-1.0, 1.0, (40, 1)) + speed * apart
    strengths = (random.normal(size=(40, 2)) @ [1.0, 1.0j] / paths[:, 0]).astype(np.complex64)
    wanted = direct(w, paths, rates, strengths)
    got = CpuSum(w).burst(paths, rates, strengths)
    assert np.linalg.norm(got - wanted) < 3e-4 * np.linalg.norm(wanted)


@pytest.mark.parametrize("name", WAVEFORMS)
def test_the_sum_weighted_by_range(name: str) -> None:
    """Echoes beyond the period of R are weighted with what is left of them, so they are kept within it here."""
    w, random = WAVEFORMS[name], np.random.default_rng(5)
    period = w.range_resolution * w.n_samples
    paths = random.uniform(0.01, 0.99, (60, 1)) * period + random.uniform(-1e-3, 1e-3, (60, 3))
    rates = random.uniform(-3.0, 3.0, (60, 1)) + np.zeros(3)
    strengths = random.normal(size=(60, 2)).astype(np.float32).view(np.complex64)[:, 0]
    plain, weighted = CpuSum(w).burst_and_weighted(paths, rates, strengths)
    for got, factor in ((plain, np.ones(60)), (weighted, paths[:, 1])):
        wanted = direct(w, paths, rates, strengths * factor)
        assert np.linalg.norm(got - wanted) < 1e-3 * np.linalg.norm(wanted)


def test_a_faster_echo_after_a_slow_one() -> None:
    """The matrices grow as they are needed, and give the same as new ones."""
    used, slow, fast = CpuSum(TABLE_2), np.full((1, 3), 1.0), np.full((1, 3), -9.0)
    used.burst(np.full((1, 3), 4.0), slow, np.ones(1, np.complex64))
    arguments = (np.full((1, 3), 4.0), fast, np.ones(1, np.complex64))
    np.testing.assert_allclose(used.burst(*arguments), CpuSum(TABLE_2).burst(*arguments), atol=1e-5)


def test_nothing_gives_nothing() -> None:
    empty = np.empty((0, 2))
    got = CpuSum(TABLE_2).burst(empty, empty, np.empty(0, np.complex64))
    assert got.shape == (2, 64, 64)
    assert not got.any()


@pytest.mark.renders
@pytest.mark.parametrize("iq", [False, True])
def test_a_target_in_the_sensor_is_the_reference(stages: Any, iq: bool) -> None:
    """Geometry of each antenna, mount and motion included: the sensor turns and moves, the target moves too."""
    from painted_world import moving
    from skyloop.core.frames import matrix_from_quat

    place, speed = np.array([6.0, -297.0, 1.5]), np.array([0.7, -1.1, 0.4])
    target = {"position": tuple(place), "velocity": tuple(speed), "size": 2.0}
    sensor = radar(targets=(target,), iq=iq, specular=False)
    t_ns = 250_000_000
    kinematics = moving(t_ns, (0.5, -300.0, 0.2), (5.0, -8.0, 20.0), (1.5, 0.3, -0.2))
    turn = matrix_from_quat(kinematics.quat_wxyz)
    seen = (place + speed * 0.25 - kinematics.position) @ turn
    moves = (speed - kinematics.velocity_world) @ turn
    volts = scanned(sensor, stages, kinematics).volts
    wanted = reference_volts(replace(TABLE_2, iq=iq), TX, RX, seen, moves, [1.0])
    size = np.linalg.norm(volts) / np.linalg.norm(wanted)
    assert np.linalg.norm(volts - size * wanted) < 3e-4 * np.linalg.norm(volts)
