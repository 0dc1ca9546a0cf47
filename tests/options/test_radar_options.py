"""Every option of a radar shows in its volts."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from option_flights import fields_of, numbered
from option_views import DASH, EVERY, Pair, Seen, check_pair, more_samples

from skyloop.sensors.radar import radar
from skyloop.sensors.radar.config import (
    PRESETS,
    Beam,
    CsvPattern,
    Isotropic,
    PicturePattern,
    RadarConfig,
    RadarTarget,
    Vira,
    pattern_table,
)
from skyloop.sensors.radar.synthesis import CpuSum
from skyloop_client.errors import SetupError
from skyloop_client.messages import Array

pytestmark = pytest.mark.renders

REAL = "bgt60tr13c-real"
PLAIN = {"kind": "radar", "preset": "bgt60tr13c", "rate_hz": 1.0 / EVERY, "width": 64, "height": 48, "n_chirps": 16}
LAB = DASH.but({"world": {"name": "option_plugins.py:RadarStudio"}})


def volts(one: Seen) -> Array:
    return np.asarray(one.last.volts)


def change(before: Seen, after: Seen) -> float:
    """Of the volts, as a share of those before."""
    a, b = volts(before), volts(after)
    return float(np.linalg.norm(b - a) / np.linalg.norm(a))


def rms(one: Seen) -> float:
    return float(np.sqrt(np.mean(np.abs(volts(one)) ** 2)))


def louder(before: Seen, after: Seen) -> float:
    """dB."""
    return 20.0 * float(np.log10(rms(after) / rms(before)))


def error(before: Seen, after: Seen) -> float:
    """V rms between the two."""
    return float(np.sqrt(np.mean(np.abs(volts(after) - volts(before)) ** 2)))


def longer(axis: int) -> Any:
    def more(before: Seen, after: Seen) -> float:
        return float(volts(after).shape[axis] - volts(before).shape[axis])

    return more


def larger(key: str) -> Any:
    """By what share the stream says of itself; and the volts are others."""

    def growth(before: Seen, after: Seen) -> float:
        if volts(before).shape == volts(after).shape:
            assert change(before, after) > 0.1
        return float(after.details[key] / before.details[key]) - 1.0

    return growth


def later(before: Seen, after: Seen) -> float:
    """s."""
    return min(after.lateness) - max(before.lateness)


def complex_samples(before: Seen, after: Seen) -> float:
    assert not np.iscomplexobj(volts(before)) and np.iscomplexobj(volts(after))
    # the real part is what one mixer alone gives
    np.testing.assert_allclose(volts(after).real, volts(before), atol=1e-6 * rms(before))
    return float(after.details["d_max"] / before.details["d_max"])


def antennas_apart(before: Seen, after: Seen) -> float:
    """Change of the second antenna's volts; those of the others stay."""
    np.testing.assert_allclose(volts(after)[[0, 2]], volts(before)[[0, 2]], rtol=1e-4, atol=1e-4 * rms(before))
    return float(np.linalg.norm((volts(after) - volts(before))[1]) / np.linalg.norm(volts(before)[1]))


def steady(before: Seen, after: Seen) -> float:
    """Mean volts over the chirps, dB against those before: what stands still."""
    a, b = (np.sqrt(np.mean(np.mean(volts(one), axis=1) ** 2)) for one in (before, after))
    return 20.0 * float(np.log10(b / a))


def code(one: Seen) -> float:
    """V between two."""
    return float(np.diff(np.unique(volts(one))).min())


def whole_codes(before: Seen, after: Seen) -> float:
    """V of one."""
    assert np.abs(np.rint(volts(before) / code(after)) * code(after) - volts(before)).max() > 0.4 * code(after)
    return code(after)


def coarser(before: Seen, after: Seen) -> float:
    """By what share codes grew."""
    return code(after) / code(before) - 1.0


def clipped(before: Seen, after: Seen) -> float:
    """V by which the largest fell."""
    return float(np.abs(volts(after)).max() - np.abs(volts(before)).max())


def ridge(before: Seen, after: Seen) -> float:
    """How much larger that part of the real one's disturbances is which stands still; and it has whole codes."""
    real, perfect = volts(after), volts(before)
    codes = real / (1.2 / 4096)
    np.testing.assert_allclose(codes, np.rint(codes), atol=1e-3)
    still = (real - perfect).mean(axis=1, keepdims=True)
    return float(still.std() / (real - perfect - still).std())


LOUD = {"conversion_gain_db": 80.0}
NOISE = {"thermal_noise": True}
WANDER = {"phase_noise": True, "phase_noise_dbc": -60.0}
LEAK = {"leakage": True}
CODES = {"adc": True, "adc_bits": 6, **LOUD}
BALL = {"kind": "point", "position": [6.0, 0.5, 5.5], "size": 10.0}
PATTERN = [
    Pair({"kind": "isotropic"}, louder, 1.0),
    Pair({"kind": "vira"}, louder, 1.0),
    Pair({"kind": "csv", "file": "option_pattern.csv"}, change, 0.1),
    Pair({"kind": "picture", "file": "option_pattern.png"}, change, 0.1),
    Pair({"kind": "beam", "azimuth_deg": 20.0}, louder, -1.0),
    Pair({"kind": "beam", "elevation_deg": 10.0}, louder, -1.0),
    Pair(
        {"kind": "picture", "file": "option_pattern.png", "fov_deg": 30.0},
        louder,
        -0.5,
        {"pattern": {"kind": "picture", "file": "option_pattern.png"}},
    ),
]
TARGETS = [
    Pair([BALL], louder, 1.0),
    # a sphere of 10 m has 314 m², a corner of 10 m edges 1.7e9 m²; other echoes hide some of the rise
    Pair([{**BALL, "size": 1000.0}], louder, 15.0, {"targets": [BALL]}),
    Pair([{**BALL, "kind": "sphere"}], louder, 8.0, {"targets": [{**BALL, "size": 31.4}]}),
    Pair([{**BALL, "kind": "trihedral"}], louder, 30.0, {"targets": [BALL]}),
    Pair([{**BALL, "position": [9.0, 0.5, 5.5]}], change, 0.3, {"targets": [BALL]}),
    Pair([{**BALL, "velocity": [1.0, 0.0, 0.0]}], change, 0.3, {"targets": [BALL]}),
]
RADAR: dict[str, list[Pair]] = {
    "rate_hz": [Pair(8.0, more_samples, 3)],
    "latency": [
        Pair(0.1, later, 0.09),
        # until the end of its burst
        Pair(None, later, 0.5 * (15 * 390.975e-6 + 63 / 64 * 390.975e-6) - 1e-9, {"latency": 0.0}),
    ],
    "preset": [Pair(REAL, ridge, 0.3)],
    "mount": [Pair({"position": [0.0, 0.0, 1.0]}, change, 0.3), Pair({"rotation_deg": [0.0, 40.0, 0.0]}, change, 0.3)],
    "faults": [Pair([{"kind": "bias", "value": 0.5}], error, 0.499)],
    "width": [Pair(128, change, 0.05)],
    "height": [Pair(96, change, 0.05)],
    "horizontal_fov_deg": [Pair(30.0, change, 0.2)],
    "quality": [Pair("medium", change, 0.01)],
    "n_chirps": [Pair(32, longer(1), 16)],
    "n_samples": [Pair(128, longer(2), 64)],
    "bandwidth": [Pair(0.8e9, larger("d_res"), -0.499)],
    "chirp_duration": [Pair(200e-6, larger("v_max"), 0.95)],
    "chirp_repetition": [Pair(781.95e-6, larger("v_max"), -0.499)],
    "lower_frequency": [Pair(24e9, larger("wavelength"), 1.5)],
    "n_rx": [Pair(1, longer(0), -2)],
    "rx_positions": [Pair([[0, -0.0025, 0], [0, 0, 0.005], [0, 0, 0]], antennas_apart, 0.05)],
    "tx_position": [Pair([0.0, 0.02, 0.0], change, 0.1)],
    "tx_power_dbm": [Pair(15.0, louder, 9.999)],
    "tx_gain_dbi": [Pair(16.0, louder, 9.999)],
    "rx_gain_dbi": [Pair(16.0, louder, 9.999)],
    "conversion_gain_db": [Pair(70.0, louder, 9.999)],
    "impedance": [Pair(200.0, louder, 6.02)],
    "lowpass_order": [Pair(8, louder, -0.5, {"lowpass_corner_hz": 20e3})],
    "lowpass_corner_hz": [Pair(20e3, louder, -3.0)],
    "iq": [Pair(True, complex_samples, 1.999)],
    "classes": [Pair(["target"], louder, -1.0), Pair(["window"], change, 0.5)],
    "pattern": PATTERN,
    "specular": [Pair(False, change, 0.02)],
    "ground_bounce": [Pair(True, change, 0.001)],
    "see_through": [Pair(True, change, 0.05)],
    "targets": TARGETS,
    "thermal_noise": [Pair(True, error, 1e-4)],
    "noise_figure_db": [Pair(32.0, error, 1e-3, NOISE)],
    "phase_noise": [Pair(True, change, 1e-5)],
    "phase_noise_dbc": [Pair(-40.0, change, 1e-2, WANDER)],
    "leakage": [Pair(True, steady, 3.0)],
    "leakage_db": [Pair(-55.0, steady, 15.0, LEAK)],
    "leakage_path": [Pair(1.0, change, 0.1, LEAK)],
    "adc": [Pair(True, whole_codes, 0.999 * 1.2 / 4096, LOUD)],
    "adc_bits": [Pair(4, coarser, 2.99, CODES)],
    "adc_reference": [Pair(0.6, coarser, -0.499, CODES), Pair(1e-3, clipped, -1e-3, {"adc": True})],
}


def test_every_option_of_a_radar_has_a_case() -> None:
    assert {*RADAR, "backend"} == fields_of(RadarConfig, "kind")
    assert get_args(RadarConfig.model_fields["preset"].annotation) == tuple(PRESETS) == (PLAIN["preset"], REAL)
    tried = [pair.value for pair in PATTERN]
    for model in (Isotropic, Beam, Vira, CsvPattern, PicturePattern):
        assert fields_of(model) <= {key for value in tried if value["kind"] == kind_of(model) for key in value}
    assert fields_of(RadarTarget) <= {key for pair in TARGETS for target in pair.value for key in target}
    kinds = {target["kind"] for pair in TARGETS for target in pair.value}
    assert kinds == set(get_args(RadarTarget.model_fields["kind"].annotation))


def kind_of(model: Any) -> str:
    return str(model.model_fields["kind"].default)


@pytest.mark.parametrize(("option", "number"), numbered(RADAR))
def test_radar(option: str, number: int) -> None:
    check_pair(PLAIN, RADAR, option, number, LAB)


def test_the_picture_of_another_file_is_another_pattern(tmp_path: Any) -> None:
    (tmp_path / "flat.csv").write_text("deg,-90,90\n-90,0,0\n90,0,0\n")
    np.testing.assert_allclose(pattern_table(CsvPattern(file="flat.csv"), tmp_path), 1.0)


def test_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    waveform = RadarConfig().waveform()
    assert isinstance(radar.backend_on("cpu", waveform)[1], CpuSum)
    monkeypatch.setattr(radar, "_gpu", lambda: (None, "CuPy is not installed"))
    assert isinstance(radar.backend_on("auto", waveform)[1], CpuSum)
    with pytest.raises(SetupError, match="CuPy is not installed; install cupy"):
        radar.backend_on("gpu", waveform)
    monkeypatch.setattr(radar, "_gpu", lambda: ("a device", ""))
    monkeypatch.setattr(radar, "GpuSum", lambda _, cupy: f"sums on {cupy}")
    monkeypatch.setattr(radar, "GpuEchoes", lambda cupy: f"finds on {cupy}")
    made: list[Any] = [radar.backend_on(backend, waveform) for backend in ("auto", "gpu")]
    assert made == [("finds on a device", "sums on a device")] * 2
