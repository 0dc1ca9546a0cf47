"""The built-in controller keeps to its aims: some on one seed always, all on twenty in the slow suite."""

from typing import Any

import pytest

from skyloop_papers.benchmarks.flight import FLIGHTS

QUICK = ["hover_mm", "step_overshoot_percent", "circle_rms_m", "wind_hover_p95_m"]
"""The others cost more and fly what these fly; the twenty seeds have all."""


def _errors(name, seeds):
    flight, scale, _, _ = FLIGHTS[name]
    return [flight(seed) * scale for seed in seeds]


@pytest.mark.parametrize("name", QUICK)
def test_aim_holds(name):
    assert max(_errors(name, [1])) <= FLIGHTS[name][3]


@pytest.mark.slow("twenty seeds of every flight")
@pytest.mark.parametrize("name", FLIGHTS)
def test_aim_holds_on_twenty_seeds(name):
    assert max(_errors(name, range(1, 21))) <= FLIGHTS[name][3]


@pytest.mark.slow("twenty missions on each IMU")
@pytest.mark.parametrize("imu", ["e2es", "adis16448"])
@pytest.mark.parametrize("name", [name for name in FLIGHTS if name.startswith("ekf")])
def test_the_ekf_flies_on_the_other_noisy_imus_too(name, imu):
    flight: Any
    flight, scale, _, most = FLIGHTS[name]
    assert max(flight(seed, imu) * scale for seed in range(1, 21)) <= most
