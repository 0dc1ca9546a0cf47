"""On a machine with a GPU and CuPy: is the radar's sum right there, and how long does it take? Needs no other package.

PYTHONPATH=src python3 tools/check_gpu.py
"""

from __future__ import annotations

import sys
import time

import cupy
import numpy as np

from skyloop.core.fmcw import LIGHT_SPEED, Waveform
from skyloop.sensors.radar.gpu import GpuSum

N_ECHOES = 320 * 240
ALLOWED = 1e-4


def reference(waveform: Waveform, paths: np.ndarray, rates: np.ndarray, strengths: np.ndarray) -> np.ndarray:
    """(n_chirps, n_samples) of one antenna, eq. (4) in float64."""
    out = np.empty((waveform.n_chirps, waveform.n_samples), complex)
    bend = 4.0 * np.pi * waveform.slope / LIGHT_SPEED**2 * paths**2
    for n, (frequency, times) in enumerate(zip(waveform.frequencies(), waveform.times().T, strict=True)):
        for m, t in enumerate(times):
            phase = 4.0 * np.pi / LIGHT_SPEED * frequency * (paths + rates * t) - bend
            out[m, n] = np.sum(strengths * np.exp(1j * phase))
    return out


def best_ms(call: object, repeats: int = 30) -> float:
    times = []
    for _ in range(repeats):
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        call()  # type: ignore[operator]
        cupy.cuda.Device().synchronize()
        times.append(1e3 * (time.perf_counter() - start))
    return float(np.median(times))


def main() -> int:
    waveform = Waveform(60.8e9, 0.4e9, 390.975e-6, 390.975e-6, 64, 64)
    random = np.random.default_rng(0)
    apart = random.uniform(-1.25e-3, 1.25e-3, (N_ECHOES, 3))
    paths = random.uniform(1.0, 60.0, (N_ECHOES, 1)) + apart
    rates = random.uniform(-3.5, 3.5, (N_ECHOES, 1)) + apart
    strengths = (random.normal(size=(N_ECHOES, 2)) / paths[:, :1] ** 2).astype(np.float32).view(np.complex64)[:, 0]
    gpu = GpuSum(waveform, cupy)
    got = gpu.burst(paths, rates, strengths)
    same = np.array_equal(got, gpu.burst(paths, rates, strengths))
    wanted = reference(waveform, paths[:, 1], rates[:, 1], strengths)
    error = float(np.linalg.norm(got[1] - wanted) / np.linalg.norm(wanted))
    arrays = [cupy.asarray(array) for array in (paths, rates, strengths)]
    print(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())
    print(f"{N_ECHOES} echoes, 3 antennas, 64 x 64: error {error:.1e}, the same twice: {same}")
    print(f"median {best_ms(lambda: gpu.on_device(*arrays)):.2f} ms on the device, ", end="")
    print(f"{best_ms(lambda: gpu.burst(paths, rates, strengths)):.2f} ms from and to the host")
    return 0 if error < ALLOWED and same else 1


if __name__ == "__main__":
    sys.exit(main())
