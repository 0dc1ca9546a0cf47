"""Hundreds of IMU-hours, sampled by the code that flies, analysed by Allan variance."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import pytest
from scipy import stats

from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.sensors.imu import PRESETS, Imu, ImuConfig, axis_table, corrupt
from skyloop.sensors.noise import markov_step, walk_step
from skyloop_client.messages import Array

HOUR = 3600
G = 9.80665


@numba.njit(error_model="numpy")
def sample_many(axes, keys, first_index, truth, biases, out):
    """Writes `out` (n, samples, 6) for n IMUs with one `truth` (6,), rates then forces; advances `biases` (n, 6)."""
    normals = np.empty(12)
    for sensor in range(keys.shape[0]):
        for k in range(out.shape[1]):
            out[sensor, k] = truth
            corrupt(axes, keys[sensor], first_index + np.uint64(k), biases[sensor], normals, out[sensor, k])


def keys_of(count: int) -> Array:
    return np.array([stream_key(11, f"imu{i}") for i in range(count)])


def an_hour_at_rest(preset: Any, imus: int, rate_hz: int) -> tuple[Array, Array]:
    """(imus, 3600, 6) means over each second, and the (6,) white sigma per sample."""
    axes, keys = axis_table(PRESETS[preset], 1.0 / rate_hz), keys_of(imus)
    truth = np.array([0.0, 0.0, 0.0, 0.0, 0.0, G])
    biases, second = np.zeros((imus, 6)), np.empty((imus, rate_hz, 6))
    means, variances = np.empty((imus, HOUR, 6)), []
    for i in range(HOUR):
        sample_many(axes, keys, np.uint64(i * rate_hz), truth, biases, second)
        means[:, i] = np.full(rate_hz, 1.0 / rate_hz) @ second
        if i % 40 == 0:
            # Half the mean squared step between neighbours is the white variance; the bias hardly moves.
            variances.append(0.5 * np.mean(np.diff(second, axis=1) ** 2, axis=(0, 1)))
    return means, np.sqrt(np.mean(variances, axis=0))


def allan_variance(means: Array, seconds: int) -> Array:
    """(2,) overlapping Allan variance of gyro and accelerometer, over all IMUs and axes."""
    total = np.cumsum(np.pad(means, ((0, 0), (1, 0), (0, 0))), axis=1)
    clusters = (total[:, seconds:] - total[:, :-seconds]) / seconds
    steps = clusters[:, seconds:] - clusters[:, :-seconds]
    return 0.5 * np.mean(np.mean(steps**2, axis=1).reshape(-1, 2, 3), axis=(0, 2))


# The walk is read where it outweighs the white noise, and well below its own correlation time.
@pytest.mark.parametrize(
    ("preset", "imus", "rate_hz", "walk_seconds"),
    [
        pytest.param("mpu6000", 120, 10, (600, 900), marks=pytest.mark.slow("1500 s of 120 IMUs")),
        ("e2es", 10, 50, (10, 10)),
        ("adis16448", 10, 50, (60, 10)),
    ],
)
def test_densities_and_walks(preset: Any, imus: int, rate_hz: int, walk_seconds: tuple[int, int]) -> None:
    numbers = PRESETS[preset]
    means, white_sd = an_hour_at_rest(preset, imus, rate_hz)
    density = white_sd / math.sqrt(rate_hz)
    expected = np.repeat([numbers.gyro_noise_density, numbers.accel_noise_density], 3)
    assert density == pytest.approx(expected, rel=0.03)

    walks = [numbers.gyro_random_walk, numbers.accel_random_walk]
    for group, (seconds, walk) in enumerate(zip(walk_seconds, walks, strict=True)):
        # Allan variance = N²/τ + K²τ/3
        white = np.mean(density[3 * group : 3 * group + 3] ** 2) / seconds
        measured = math.sqrt(3.0 / seconds * (allan_variance(means, seconds)[group] - white))
        assert measured == pytest.approx(walk, rel=0.10)


@pytest.mark.parametrize("preset", ["mpu6000", "e2es", "adis16448", "perfect"])
def test_a_batch_gives_the_numbers_that_fly(preset: Any, scene, at_rest) -> None:
    samples, imus, period_s = 300, 3, 0.005
    rate, acceleration = [0.3, -0.2, 0.7], [1.0, -2.0, 3.0]
    kinematics = at_rest(angular_velocity=rate, acceleration_world=acceleration)
    sensor, keys = Imu(ImuConfig(preset=preset), period_s), keys_of(imus)

    biases = np.array([sensor.initial_state(KeyedRandom(key, 0)) for key in keys])
    flown_states, flown = list(biases.copy()), np.empty((imus, samples, 6))
    for i, key in enumerate(keys):
        for k in range(samples):
            sample, flown_states[i] = sensor.measure(kinematics, scene, flown_states[i], KeyedRandom(key, 50 + k))
            flown[i, k] = [*sample.angular_velocity, *sample.specific_force]

    batch = np.empty((imus, samples, 6))
    truth = np.array([*rate, *acceleration])
    truth[5] += scene.gravity
    sample_many(axis_table(PRESETS[preset], period_s), keys, np.uint64(50), truth, biases, batch)
    assert np.array_equal(batch, flown)
    assert np.array_equal(biases, flown_states)


def test_the_normals_are_normal_and_independent() -> None:
    # White sigma 1, no bias, no limits: the values are the normals themselves.
    axes = np.tile([1.0, 0.0, 0.0, math.inf, 0.0], (6, 1))
    values = np.empty((1, 250_000, 6))
    sample_many(axes, keys_of(1), np.uint64(0), np.zeros(6), np.zeros((1, 6)), values)
    draws = values[0]
    assert stats.kstest(draws[:, 4], "norm").pvalue > 0.01
    assert np.corrcoef(draws, rowvar=False) == pytest.approx(np.eye(6), abs=0.006)
    assert np.mean(draws[1:] * draws[:-1]) == pytest.approx(0.0, abs=0.003)
    moments = [np.mean(draws**order) for order in (1, 2, 3, 4, 6)]
    assert moments == pytest.approx([0.0, 1.0, 0.0, 3.0, 15.0], abs=0.15)
    for limit in (2.0, 3.0, 3.6541528853610088, 4.2):
        expected = draws.size * math.erfc(limit / math.sqrt(2.0))
        assert np.sum(np.abs(draws) > limit) == pytest.approx(expected, abs=4.0 * math.sqrt(expected))


def test_bias_steps_are_exact_at_any_rate() -> None:
    # Two steps of T must do what one step of 2T does.
    decay, step = walk_step(0.3, 7.0, 0.5)
    decay_double, step_double = walk_step(0.3, 7.0, 1.0)
    assert decay**2 == pytest.approx(decay_double)
    assert math.hypot(decay * step, step) == pytest.approx(step_double)
    assert step / math.sqrt(1.0 - decay**2) == pytest.approx(0.3 * math.sqrt(7.0 / 2.0))
    assert walk_step(0.3, math.inf, 0.25) == pytest.approx((1.0, 0.15))
    decay, step = markov_step(2.0, 7.0, 0.5)
    assert math.hypot(decay * 2.0, step) == pytest.approx(2.0)
