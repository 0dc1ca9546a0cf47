import sys
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError
from scipy.signal import welch
from scipy.special import gammainc

from skyloop.core.keyed_random import stream_key
from skyloop.world import atmosphere
from skyloop.world.atmosphere import DrydenWind, FieldWind, Wind
from skyloop_client import part
from skyloop_client.errors import ScenarioError

_advance, _initial, _velocity = atmosphere.advance_gust, atmosphere.initial_gust, atmosphere.gust_velocity
_scales, _gamma_tail = atmosphere.dryden_scales, atmosphere._gamma_tail
W20 = 7.0
"""m/s."""


@numba.njit
def record(gust, key, first_step, dt, airspeed, height, w20, out):
    for k in range(out.shape[0]):
        _advance(gust, key, first_step + k, dt, airspeed, height, w20)
        out[k, 0], out[k, 1], out[k, 2] = _velocity(gust, 0.0, 0.0, height, w20)


@numba.njit
def stationary(gust, key):
    _initial(gust, key)


@numba.njit
def velocity(gust, mean_x, mean_y, height, w20):
    return _velocity(gust, mean_x, mean_y, height, w20)


@numba.njit
def scales(height, w20):
    return _scales(height, w20)


@numba.njit
def gamma_tail(x, k):
    return _gamma_tail(x, k)


@numba.njit
def ensemble(keys, dt, airspeeds, heights, w20, out):
    """(member, step, axis) of velocities over intensity, the flight condition changing at every step."""
    gust = np.empty(5)
    for m in range(len(keys)):
        _initial(gust, keys[m])
        for k in range(len(heights)):
            _, _, _, su, sv, sw = _scales(heights[k], w20)
            u, v, w = _velocity(gust, 0.0, 0.0, heights[k], w20)
            out[m, k, 0], out[m, k, 1], out[m, k, 2] = u / su, v / sv, w / sw
            _advance(gust, keys[m], k, dt, airspeeds[k], heights[k], w20)


def flight(steps, *, name="gust", dt=0.5, airspeed=20.0, height=50.0, w20=W20):
    key = stream_key(11, name)
    gust, out = np.empty(5), np.empty((steps, 3))
    stationary(gust, key)
    record(gust, key, 0, dt, airspeed, height, w20, out)
    return out


@pytest.fixture(scope="module")
def long_flight():
    return flight(300_000)


def test_scales_at_200_feet_are_the_standards():
    lu, lv, lw, su, sv, sw = scales(200.0 * 0.3048, 10.0)
    profile = 0.177 + 0.1646
    assert lu == lv == pytest.approx(60.96 / profile**1.2)
    assert lw == pytest.approx(60.96)
    assert su == sv == pytest.approx(1.0 / profile**0.4)
    assert sw == pytest.approx(1.0)


def test_scales_are_continuous_clamped_and_end_at_1750_feet():
    for feet in (10.0, 1000.0, 2000.0):
        below, above = scales((feet - 1e-6) * 0.3048, W20), scales((feet + 1e-6) * 0.3048, W20)
        np.testing.assert_allclose(below, above, rtol=1e-6)
    assert scales(-5.0, W20) == scales(3.0, W20) == scales(3.048, W20)
    np.testing.assert_allclose(scales(1500.0 * 0.3048, W20)[:3], 1375.0 * 0.3048)
    np.testing.assert_allclose(scales(9000.0, W20)[:3], 1750.0 * 0.3048)
    np.testing.assert_allclose(scales(9000.0, W20)[3:], 0.1 * W20)


def test_gamma_tail_keeps_its_digits():
    for k in (2, 3):
        x = np.geomspace(1e-9, 40.0, 60)
        np.testing.assert_allclose([gamma_tail(value, k) for value in x], gammainc(k, x), rtol=1e-12)
        assert gamma_tail(0.0, k) == 0.0


def test_variances_and_independence(long_flight):
    np.testing.assert_allclose(long_flight.std(axis=0) ** 2, np.square(scales(50.0, W20)[3:]), rtol=0.05)
    np.testing.assert_allclose(np.corrcoef(long_flight.T) - np.eye(3), 0.0, atol=0.03)
    np.testing.assert_allclose(long_flight.mean(axis=0), 0.0, atol=0.03)


def test_autocorrelation_matches_the_closed_forms(long_flight):
    lengths = scales(50.0, W20)[:3]
    for axis in range(3):
        x = long_flight[:, axis] / long_flight[:, axis].std()
        for lag in (1, 3, 10, 25):
            ratio = lag * 0.5 * 20.0 / lengths[axis]
            # u: exp(-r). v and w: exp(-r)(1 - r/2), the transverse correlation of the same turbulence.
            expected = np.exp(-ratio) * (1.0 if axis == 0 else 1.0 - 0.5 * ratio)
            assert np.mean(x[lag:] * x[:-lag]) == pytest.approx(expected, abs=0.02)


def test_spectra_are_drydens():
    dt, airspeed = 0.02, 20.0
    out = flight(700_000, dt=dt)
    lengths, sigmas = scales(50.0, W20)[:3], scales(50.0, W20)[3:]
    frequency, spectrum = welch(out, fs=1.0 / dt, nperseg=16_384, axis=0)
    for axis in range(3):
        tau = lengths[axis] / airspeed
        x = 2.0 * np.pi * frequency * tau
        longitudinal, transverse = 2.0 / (1.0 + x**2), (1.0 + 3.0 * x**2) / (1.0 + x**2) ** 2
        expected = 2.0 * sigmas[axis] ** 2 * tau * (longitudinal if axis == 0 else transverse)
        for low, high in ((0.02, 0.1), (0.1, 0.5), (0.5, 2.0)):
            band = (frequency >= low) & (frequency < high)
            assert spectrum[band, axis].sum() == pytest.approx(expected[band].sum(), rel=0.12)


def test_stationary_from_the_first_sample_through_any_change_of_flight_condition():
    keys = np.array([stream_key(seed, "ensemble") for seed in range(8_000)])
    heights = np.array([1.0, 30.0, 30.0, 800.0, 5.0, 400.0])
    airspeeds = np.array([1.0, 60.0, 0.0, 15.0, 300.0, 2.0])
    out = np.empty((len(keys), len(heights), 3))
    ensemble(keys, 0.2, airspeeds, heights, W20, out)
    np.testing.assert_allclose(out.var(axis=0), 1.0, atol=0.05)
    np.testing.assert_allclose(out.mean(axis=0), 0.0, atol=0.03)
    # No airspeed, no change.
    np.testing.assert_allclose(out[:, 3], out[:, 2], rtol=1e-12)


def test_short_steps_and_long_steps_are_the_same_process():
    keys = np.array([stream_key(seed, "steps") for seed in range(4_000)])
    fine = np.empty((len(keys), 201, 3))
    ensemble(keys, 0.005, np.full(201, 20.0), np.full(201, 50.0), W20, fine)
    coarse = np.empty((len(keys), 3, 3))
    ensemble(keys, 0.5, np.full(3, 20.0), np.full(3, 50.0), W20, coarse)
    for axis in range(3):
        after_a_second = np.corrcoef(fine[:, 0, axis], fine[:, 200, axis])[0, 1]
        assert after_a_second == pytest.approx(np.corrcoef(coarse[:, 0, axis], coarse[:, 2, axis])[0, 1], abs=0.05)


def test_gusts_depend_on_key_and_step_alone():
    np.testing.assert_array_equal(flight(300), flight(300))
    assert not np.allclose(flight(300), flight(300, name="another"))
    whole = flight(300)
    key = stream_key(11, "gust")
    gust, out = np.empty(5), np.empty((150, 3))
    stationary(gust, key)
    record(gust, key, 0, 0.5, 20.0, 50.0, W20, out)
    resumed = gust.copy()
    record(resumed, key, 150, 0.5, 20.0, 50.0, W20, out)
    np.testing.assert_array_equal(out, whole[150:])


def test_w20_scales_the_gusts_and_a_slow_vehicle_sees_slow_ones():
    np.testing.assert_allclose(flight(200, w20=14.0), 2.0 * flight(200, w20=7.0), rtol=1e-12)
    assert not flight(200, w20=0.0).any()
    slow, fast = flight(2000, airspeed=1.0, dt=0.1), flight(2000, airspeed=30.0, dt=0.1)
    assert np.abs(np.diff(slow, axis=0)).mean() < 0.5 * np.abs(np.diff(fast, axis=0)).mean()


def test_gusts_turn_with_the_mean_wind():
    _, _, _, su, sv, sw = scales(50.0, W20)
    along = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    left = np.array([0.0, np.sqrt(2.0 / 3.0), 0.0, 0.0, 0.0])
    up = np.array([0.0, 0.0, 0.0, np.sqrt(2.0 / 3.0), 0.0])
    np.testing.assert_allclose(velocity(along, 3.0, 4.0, 50.0, W20), su * np.array([0.6, 0.8, 0.0]))
    np.testing.assert_allclose(velocity(left, 3.0, 4.0, 50.0, W20), sv * np.array([-0.8, 0.6, 0.0]), atol=1e-15)
    np.testing.assert_allclose(velocity(up, 3.0, 4.0, 50.0, W20), [0.0, 0.0, sw], atol=1e-15)
    np.testing.assert_allclose(velocity(along, 0.0, 0.0, 50.0, W20), [su, 0.0, 0.0])


def test_configs_are_told_apart_by_kind():
    adapter = TypeAdapter(Wind)
    assert adapter.validate_python({"kind": "calm"}) == atmosphere.Calm()
    assert adapter.validate_python({"kind": "constant", "velocity": [1, 2, 3]}).velocity == (1.0, 2.0, 3.0)
    dryden = adapter.validate_python({"kind": "dryden", "w20_kt": 30})
    assert isinstance(dryden, DrydenWind)
    assert dryden.w20 == pytest.approx(15.4333, abs=1e-4)
    for wrong in (
        {"kind": "breeze"},
        {"kind": "constant", "velocity": [1, 2]},
        {"kind": "dryden", "w20": 3},
        {"kind": "dryden", "airspeed_floor": 0},
        {"kind": "field", "source": "no_colon"},
    ):
        with pytest.raises(ValidationError):
            adapter.validate_python(wrong)


class Whirl:
    def __init__(self, rate: float) -> None:
        self.rate = rate

    def velocity(self, position, t_s):
        return self.rate * t_s * np.array([-position[1], position[0], 0.0])


def test_a_wind_field_is_made_from_its_source(monkeypatch):
    module = SimpleNamespace(Whirl=part(Whirl), Nothing=object)
    monkeypatch.setitem(sys.modules, "someones_winds", module)
    field = atmosphere.wind_field(FieldWind(source="someones_winds:Whirl", options={"rate": 0.5}))
    np.testing.assert_allclose(field.velocity(np.array([1.0, 2.0, 3.0]), 4.0), [-4.0, 2.0, 0.0])
    for source, options in (
        ("no_such_module:Whirl", {}),
        ("someones_winds:Missing", {}),
        ("someones_winds:Whirl", {"speed": 1.0}),
        ("someones_winds:Nothing", {}),
    ):
        with pytest.raises(ScenarioError, match=source.partition(":")[0]):
            atmosphere.wind_field(FieldWind(source=source, options=options))
