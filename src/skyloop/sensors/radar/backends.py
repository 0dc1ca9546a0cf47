"""Where echoes are found and summed: on the CPU, or on a GPU if there is one."""

from __future__ import annotations

import importlib.util
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from skyloop.core.fmcw import Waveform
from skyloop.sensors.radar.cpu_echoes import CpuEchoes
from skyloop.sensors.radar.echoes import Echoes, Energies, Labels, Picture, Things, Way
from skyloop.sensors.radar.gpu_echoes import GpuEchoes
from skyloop.sensors.radar.gpu_source import GpuSum
from skyloop.sensors.radar.specular import Mirrors
from skyloop.sensors.radar.synthesis import Synthesis
from skyloop_client.errors import SetupError
from skyloop_client.messages import Array


class BurstSum(Protocol):
    def burst(self, half_paths: Array, rates: Array, strengths: NDArray[np.complex64]) -> NDArray[np.complex64]: ...

    def burst_and_weighted(
        self, half_paths: Array, rates: Array, strengths: NDArray[np.complex64]
    ) -> tuple[NDArray[np.complex64], NDArray[np.complex64]]: ...


class EchoFinder(Protocol):
    """Finds the echoes of matt surfaces and of mirror points, where the sum wants them."""

    def found(
        self,
        pictures: list[Picture],
        things: Things,
        labels: Labels,
        ways: list[Way],
        mirrors: Mirrors | None,
        energies: Energies,
    ) -> list[Echoes]: ...

    def joined(self, parts: list[Echoes]) -> Echoes: ...


def backend_on(backend: str, waveform: Waveform) -> tuple[EchoFinder, BurstSum]:
    """`auto` uses a GPU that CuPy supports, else the CPU."""
    if backend != "cpu":
        cupy, reason = _gpu()
        if cupy is not None:
            return GpuEchoes(cupy), GpuSum(waveform, cupy)
        if backend == "gpu":
            raise SetupError(
                f"radar backend 'gpu': {reason}; install cupy for your CUDA, or choose backend auto or cpu"
            )
    return CpuEchoes(), Synthesis(waveform)


def _gpu() -> tuple[Any, str]:
    """CuPy, if it is installed and finds a device; else None and the reason."""
    if importlib.util.find_spec("cupy") is None:
        return None, "CuPy is not installed"
    try:
        import cupy

        cupy.zeros(1)
    except Exception as error:  # a broken driver or library can raise anything
        return None, f"CuPy finds no usable device ({type(error).__name__})"
    return cupy, ""
