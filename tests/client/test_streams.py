from __future__ import annotations

from fractions import Fraction

import pytest

from core_flights import resting
from skyloop_client.errors import ScenarioError
from skyloop_client.streams import NS_PER_S, Rate

RATES = [30, 29.97, "30000/1001", 333, 1200]


@pytest.mark.parametrize("hz", RATES)
def test_due_times_are_the_exact_fraction_rounded_down(hz: float | str) -> None:
    rate, exact = Rate.from_hz(hz), Fraction(str(hz))
    for k in [0, 1, 2, 3, 999, 1000, 10**6 + 1, 10**12]:
        assert rate.due_ns(k) == (k * NS_PER_S / exact).__floor__()
        assert rate.due_ns(k, 17) == rate.due_ns(k) + 17


def test_a_rate_is_read_exactly() -> None:
    assert Rate.from_hz(30) == Rate(30, 1)
    assert Rate.from_hz(29.97) == Rate(2997, 100)
    assert Rate.from_hz("30000/1001") == Rate(30000, 1001)
    assert Rate.from_hz("30000/1001").hz * Rate.from_hz("30000/1001").period_s == 1.0


@pytest.mark.parametrize("hz", RATES)
def test_count_until_counts_the_due_times_before(hz: float | str) -> None:
    rate = Rate.from_hz(hz)
    due = [rate.due_ns(k) for k in range(5000)]
    for t_ns in [-1, 0, 1, due[1], due[1] + 1, due[777] - 1, due[777], due[777] + 1, NS_PER_S, 3 * NS_PER_S]:
        assert rate.count_until(t_ns) == sum(each < t_ns for each in due)
        assert rate.count_until(t_ns + 5, 5) == rate.count_until(t_ns)


@pytest.mark.parametrize("hz", [0, -5, "-1/3"])
def test_a_rate_is_positive(hz: float | str) -> None:
    with pytest.raises(ScenarioError, match="positive"):
        Rate.from_hz(hz)


@pytest.mark.parametrize("seconds", [3, pytest.param(100, marks=pytest.mark.slow("100 s of flight"))])
def test_every_stream_delivers_exactly_its_count(seconds: int) -> None:
    rates = {"slow": 30, "double": 60, "medium": 200, "odd": 333, "fast": 1200}
    sensors = {name: {"kind": "imu", "preset": "perfect", "rate_hz": hz} for name, hz in rates.items()}
    simulation = resting(vehicles__drone__sensors=sensors, truth_rate_hz=1)
    slow, double = simulation.subscribe("drone/slow"), simulation.subscribe("drone/double")
    simulation.run_until(float(seconds))
    counts = {name: simulation.bus.counts[f"drone/{name}"] for name in rates}
    assert counts == {name: hz * seconds for name, hz in rates.items()}
    assert [m.t_ns for m in slow] == [m.t_ns for m in double][::2]
