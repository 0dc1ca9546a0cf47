"""Noise, leakage, phase noise and the converter, each against its closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from radar_scans import radar, scanned

from painted_world import moving

pytestmark = pytest.mark.renders

EMPTY = moving(position=(0.0, -300.0, 0.0), rotation_deg=(0.0, 0.0, 180.0))


def volts(stages: Any, *, index: int = 0, kinematics: Any = EMPTY, **options: Any) -> np.ndarray:
    return scanned(radar(**options), stages, kinematics, index).volts


@pytest.mark.parametrize("iq", [False, True])
@pytest.mark.parametrize(("figure", "corner"), [(12.0, 100e3), (6.0, 40e3)])
def test_thermal_noise(stages: Any, iq: bool, figure: float, corner: float) -> None:
    """k·T·B·F through the gain, B the filter's noise bandwidth; white, and new in each scan."""
    options: dict[str, Any] = {"thermal_noise": True, "noise_figure_db": figure, "lowpass_corner_hz": corner, "iq": iq}
    got = volts(stages, **options)
    bandwidth = corner * (np.pi / 8.0) / np.sin(np.pi / 8.0)
    wanted = 1e6 * 50.0 * 1.380649e-23 * 290.0 * bandwidth * 10.0 ** (0.1 * figure)
    assert np.var(got.real) == pytest.approx(wanted, rel=0.05)
    if iq:
        assert np.var(got.imag) == pytest.approx(wanted, rel=0.05)
    spectrum = np.mean(np.abs(np.fft.fft(got, axis=2)) ** 2, axis=(0, 1))
    assert spectrum[1:32].max() < 2.0 * spectrum[1:32].min()
    assert not np.array_equal(got, volts(stages, index=1, **options))
    np.testing.assert_array_equal(got, volts(stages, **options))


def test_without_disturbances_an_empty_world_is_silent(stages: Any) -> None:
    assert not volts(stages).any()


def test_leakage_is_a_ridge_at_no_range_and_no_speed(stages: Any) -> None:
    got = volts(stages, leakage=True, leakage_db=-70.0)
    peak = 1e3 * np.sqrt(2.0 * 50.0 * 1e-3 * 10.0 ** (0.1 * (5.0 - 70.0)))
    assert np.abs(got).max() == pytest.approx(peak, rel=0.3)
    power = np.abs(np.fft.fft2(got[0] * np.hanning(64))) ** 2
    assert power[0, :3].sum() > 0.8 * power[:, :32].sum()
    stronger = volts(stages, leakage=True, leakage_db=-50.0)
    np.testing.assert_allclose(stronger, 10.0 * got, rtol=1e-4)
    farther = volts(stages, leakage=True, leakage_db=-70.0, leakage_path=2.0)
    power = np.abs(np.fft.fft2(farther[0] * np.hanning(64))) ** 2
    assert np.argmax(power[0, :32]) == round(1.0 / 0.3747)


@pytest.mark.parametrize("level", [-80.0, -70.0])
def test_phase_noise_grows_with_range(stages: Any, level: float) -> None:
    """Range correlation: its power against the echo's is (τ·ω)², ω the oscillator's unsteadiness in band."""
    shares = []
    for distance in (2.0, 8.0):
        target = {"position": (distance, -300.0, 0.0), "size": 1.0}
        still = moving(position=(0.0, -300.0, 0.0))
        options: dict[str, Any] = {"targets": (target,), "iq": True, "kinematics": still}
        clean = volts(stages, **options)
        noisy = volts(stages, phase_noise=True, phase_noise_dbc=level, **options)
        shares.append(np.var(noisy - clean) / np.var(clean))
        linewidth = 2.0 * np.pi * 1e10 * 10.0 ** (0.1 * level)
        band = 100e3 * (np.pi / 8.0) / np.sin(np.pi / 8.0)
        wanted = (2.0 * distance / 299792458.0) ** 2 * 2.0 * np.pi * linewidth * 2.0 * band
        assert shares[-1] == pytest.approx(wanted, rel=0.1)
    assert shares[1] / shares[0] == pytest.approx(16.0, rel=0.1)


@pytest.mark.parametrize("iq", [False, True])
def test_the_converter_has_codes_and_an_end(stages: Any, iq: bool) -> None:
    options: dict[str, Any] = {"adc": True, "adc_bits": 8, "adc_reference": 1.0, "thermal_noise": True, "iq": iq}
    calm = volts(stages, conversion_gain_db=110.0, **options)
    codes = np.real(calm) * 256.0
    np.testing.assert_allclose(codes, np.rint(codes), atol=1e-4)
    assert len(np.unique(codes)) > 20
    loud = volts(stages, conversion_gain_db=160.0, **options)
    assert np.real(loud).max() == pytest.approx(127 / 256)
    assert np.real(loud).min() == pytest.approx(-0.5)
    rough = volts(stages, conversion_gain_db=110.0, **{**options, "adc_bits": 3})
    assert len(np.unique(np.real(rough))) <= 8


def test_the_low_pass_takes_what_is_far(stages: Any) -> None:
    """An echo at the corner loses 3 dB, one at twice the corner 6 dB per order."""
    still = moving(position=(0.0, -300.0, 0.0))
    at = 299792458.0 * 60e3 / (2.0 * 0.4e9 / 390.975e-6)
    for order, distance, loss in ((2, at, 3.01), (2, 2.0 * at, 12.3), (5, 2.0 * at, 30.1)):
        target = {"position": (distance, -300.0, 0.0), "size": 1.0}
        options: dict[str, Any] = {"targets": (target,), "kinematics": still, "lowpass_order": order, "iq": True}
        open_wide = volts(stages, lowpass_corner_hz=1e9, **options)
        got = volts(stages, lowpass_corner_hz=60e3, **options)
        assert 20.0 * np.log10(np.std(open_wide) / np.std(got)) == pytest.approx(loss, abs=0.05)
