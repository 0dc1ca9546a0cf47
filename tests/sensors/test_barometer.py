from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.sensors.barometer import Barometer, BarometerConfig

KEY = stream_key(5, "drone/barometer")


def pressures(sensor: Barometer, scene, kinematics, count: int, state: float = 0.0) -> np.ndarray:
    samples = []
    for index in range(count):
        sample, state = sensor.measure(kinematics, scene, state, KeyedRandom(KEY, index))
        samples.append(sample.pressure)
    return np.array(samples)


def test_a_hundred_metres_up_near_home(scene, at_rest) -> None:
    sensor = Barometer(BarometerConfig(preset="perfect"), 0.02)
    low, _ = sensor.measure(at_rest(), scene, 0.0, KeyedRandom(KEY, 0))
    high, _ = sensor.measure(at_rest(position=[0.0, 0.0, 100.0]), scene, 0.0, KeyedRandom(KEY, 0))
    assert low.pressure == pytest.approx(101325.0 * (1.0 - 0.0065 * 122.0 / 288.15) ** 5.25588, abs=0.5)
    assert high.pressure - low.pressure == pytest.approx(-1187.0, abs=9.0)
    assert high.altitude - low.altitude == pytest.approx(100.0, abs=0.01)
    assert low.altitude == pytest.approx(122.0, abs=0.01)
    assert low.temperature == pytest.approx(288.15 - 0.0065 * 122.0)


def test_the_tangent_plane_leaves_the_earth(scene, at_rest) -> None:
    sensor = Barometer(BarometerConfig(preset="perfect"), 0.02)
    far = at_rest(position=[3000.0, -4000.0, 20.0])
    sample, _ = sensor.measure(far, scene, 0.0, KeyedRandom(KEY, 0))
    assert sample.altitude == pytest.approx(scene.local_frame.geodetic_from_enu(far.position).altitude, abs=0.02)


@pytest.mark.parametrize(("preset", "sigma"), [("ms5611", 2.7), ("gazebo", 1.0)])
def test_white_noise_per_sample(preset: Any, sigma: float, scene, at_rest) -> None:
    steps = np.diff(pressures(Barometer(BarometerConfig(preset=preset), 0.02), scene, at_rest(), 3000))
    assert np.std(steps) / np.sqrt(2.0) == pytest.approx(sigma, rel=0.06)


@pytest.mark.parametrize(("preset", "accuracy_pa", "metres"), [("ms5611", 75.0, 0.18), ("airsim", 185.0, 1.4)])
def test_how_wrong_it_is_and_how_far_it_wanders_in_15_s(
    preset: Any, accuracy_pa: float, metres: float, scene, at_rest
) -> None:
    """The ms5611's data sheet says 1.5 mbar, taken as two sigma; a hover must not move by metres because of it."""
    sensor = Barometer(BarometerConfig(preset=preset), 15.0)
    keys = [stream_key(number, "baro") for number in range(2000)]
    start = np.array([sensor.initial_state(KeyedRandom(key, 0)) for key in keys])
    later = [
        sensor.measure(at_rest(), scene, state, KeyedRandom(key, 1))[1] for key, state in zip(keys, start, strict=True)
    ]
    assert np.std(start) * 101325.0 == pytest.approx(accuracy_pa, rel=0.05)
    assert np.std(later - start) * 101325.0 / 12.0 == pytest.approx(metres, rel=0.06)


def test_drift_adds_up(scene, at_rest) -> None:
    sensor = Barometer(BarometerConfig(preset="perfect", drift_rate=0.5), 0.02)
    start = pressures(sensor, scene, at_rest(), 1)[0]
    later = pressures(sensor, scene, at_rest(t_ns=20 * 10**9), 1)[0]
    assert later - start == pytest.approx(10.0)
