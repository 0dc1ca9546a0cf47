"""Effects of the receiver on an IF signal: leakage, phase noise, thermal noise, and the converter's codes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.fmcw import Waveform
from skyloop.core.keyed_random import KeyedRandom
from skyloop.sensors.radar.config import RadarNumbers

BOLTZMANN = 1.380649e-23
ROOM_TEMPERATURE = 290.0
"""K, the reference of noise figures."""
OFFSET_HZ = 100e3
"""The offset from the carrier at which phase noise is given."""
FIELD = NDArray[np.complex64]


def noise_bandwidth(numbers: RadarNumbers) -> float:
    """Hz, the width of a rectangular filter that lets as much noise pass as the Butterworth filter."""
    angle = math.pi / (2.0 * numbers.lowpass_order)
    return numbers.lowpass_corner_hz * angle / math.sin(angle)


def thermal_volts(numbers: RadarNumbers) -> float:
    """V RMS of the receiver's noise at the converter; noise beyond half the sample rate folds into it."""
    density = BOLTZMANN * ROOM_TEMPERATURE * 10.0 ** (0.1 * numbers.noise_figure_db)
    power = density * noise_bandwidth(numbers) * numbers.impedance
    return math.pow(10.0, numbers.conversion_gain_db / 20.0) * math.sqrt(power)


def leakage_volts(numbers: RadarNumbers) -> float:
    """V, peak, of the signal that goes straight from transmitter to receiver."""
    power = 1e-3 * 10.0 ** (0.1 * (numbers.tx_power_dbm + numbers.leakage_db))
    return math.pow(10.0, numbers.conversion_gain_db / 20.0) * math.sqrt(2.0 * numbers.impedance * power)


def wander(numbers: RadarNumbers) -> float:
    """rad/s RMS of the oscillator's frequency within the filter's band.

    The phase is a random walk: L(f) = Δν/(2π·f²), and its rate is white with 2π·Δν rad²/s² per Hz on both sides. An
    echo is mixed with an oscillator that has drifted during the delay τ, so the rest is τ times that rate: range
    correlation.
    """
    linewidth = 2.0 * math.pi * OFFSET_HZ**2 * 10.0 ** (0.1 * numbers.phase_noise_dbc)
    return math.sqrt(2.0 * math.pi * linewidth * 2.0 * noise_bandwidth(numbers))


def received(signal: FIELD, numbers: RadarNumbers, waveform: Waveform, rng: KeyedRandom) -> NDArray[Any]:
    """Volts at the converter's output, real unless the waveform has quadrature; noise uses blocks from 0 upwards."""
    volts: NDArray[Any] = signal if waveform.iq else signal.real.astype(np.float64)
    if numbers.thermal_noise:
        spread = thermal_volts(numbers)
        count = volts.size * (2 if waveform.iq else 1)
        noise = spread * rng.normal(count)
        volts = volts + (noise.view(np.complex128) if waveform.iq else noise).reshape(volts.shape)
    if numbers.adc:
        if waveform.iq:
            volts = quantised(volts.real, numbers) + 1j * quantised(volts.imag, numbers)
        else:
            volts = quantised(volts, numbers)
    return np.ascontiguousarray(volts, np.complex64 if waveform.iq else np.float32)


def quantised(volts: NDArray[Any], numbers: RadarNumbers) -> NDArray[Any]:
    half = 2 ** (numbers.adc_bits - 1)
    step = numbers.adc_reference / (2 * half)
    return np.asarray(np.clip(np.rint(volts / step), -half, half - 1) * step)
