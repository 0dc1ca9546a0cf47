"""Reads bursts that a user recorded with a real sensor."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from skyloop.core.radar_waveform import Waveform
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import RadarScan
from skyloop_client.regular_files import checked
from skyloop_client.streams import Rate


def read_recording(
    path: str | Path,
    waveform: Waveform,
    *,
    n_rx: int = 3,
    rate_hz: float | str = 13,
    adc_bits: int = 12,
    reference_volts: float = 1.2,
) -> list[RadarScan]:
    """Reads a `.npy` of shape (bursts, n_rx, n_chirps, n_samples): volts, or the converter's codes as uint16.

    Codes become volts about mid scale: (code - 2^(bits-1)) reference / 2^bits. Stamps start at 0 and follow `rate_hz`.
    """
    try:
        data = np.load(checked(path), allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ScenarioError(f"cannot read radar recording {path}: {reason}; save it with numpy.save") from error
    if not isinstance(data, np.ndarray):
        raise ScenarioError(f"radar recording {path} is an archive of arrays; save one array with numpy.save")
    wanted = (n_rx, waveform.n_chirps, waveform.n_samples)
    if data.ndim != 4 or data.shape[1:] != wanted or len(data) == 0:
        raise ScenarioError(
            f"radar recording {path} has shape {data.shape}, the radar gives (bursts, {n_rx}, {waveform.n_chirps}, "
            f"{waveform.n_samples}) for (bursts, n_rx, n_chirps, n_samples); reorder its axes or change the waveform"
        )
    if data.dtype == np.uint16:
        data = _volts_of_codes(data, path, adc_bits, reference_volts)
    kind = "c" if waveform.iq else "f"
    if data.dtype.kind != kind:
        asked = "complex" if waveform.iq else "float or uint16"
        raise ScenarioError(f"radar recording {path} holds {data.dtype}, the waveform needs {asked}; convert it")
    if not np.all(np.isfinite(data)):
        raise ScenarioError(f"radar recording {path} holds NaN or infinity; remove those bursts")
    rate = Rate.from_hz(rate_hz)
    precision = np.complex64 if waveform.iq else np.float32
    return [RadarScan(rate.due_ns(i), burst.astype(precision), 0.0) for i, burst in enumerate(data)]


def _volts_of_codes(codes: np.ndarray, path: str | Path, adc_bits: int, reference_volts: float) -> np.ndarray:
    top = int(codes.max())
    if top >= 1 << adc_bits:
        raise ScenarioError(f"radar recording {path} holds code {top}, beyond {adc_bits} bits; give its adc_bits")
    return (codes.astype(np.float64) - (1 << (adc_bits - 1))) * (reference_volts / (1 << adc_bits))
