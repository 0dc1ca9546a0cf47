"""Tapers, all symmetric about the middle of their samples.

The symmetry matters: a target that changes range during a burst still peaks at its range at mid burst.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np

from skyloop_client.messages import Array

WindowName = Literal["rectangular", "hann", "hamming", "blackman", "chebyshev"]

COSINES = {"rectangular": (1.0,), "hann": (0.5, 0.5), "hamming": (0.54, 0.46), "blackman": (0.42, 0.5, 0.08)}
CHEBYSHEV_DB = 60.0
"""dB by which the even sidelobes of "chebyshev" are below its main lobe."""


@lru_cache(maxsize=64)
def window(name: WindowName, n: int) -> Array:
    """(n,), read-only; cosine windows are sampled between their zeros."""
    if name == "chebyshev":
        taper = _chebyshev(n)
    else:
        phase = 2.0 * np.pi * ((np.arange(n) + 0.5) / n - 0.5)
        taper = sum((a * np.cos(k * phase) for k, a in enumerate(COSINES[name])), np.zeros(n))
    taper.setflags(write=False)
    return taper


def _chebyshev(n: int) -> Array:
    """Dolph's window: the inverse transform of a Chebyshev polynomial, taken about the middle."""
    if n == 1:
        return np.ones(1)
    order = n - 1
    ripple = 10.0 ** (CHEBYSHEV_DB / 20.0)
    x = np.cosh(np.arccosh(ripple) / order) * np.cos(np.pi * np.arange(n) / n)
    inside = np.cos(order * np.arccos(np.clip(x, -1.0, 1.0)))
    outside = np.cosh(order * np.arccosh(np.maximum(np.abs(x), 1.0))) * np.where(x < 0.0, (-1.0) ** order, 1.0)
    spectrum = np.where(np.abs(x) <= 1.0, inside, outside)
    k = np.arange(n)
    places = k - 0.5 * order
    taper = np.asarray(np.cos(2.0 * np.pi * np.outer(places, k) / n) @ spectrum)
    return np.asarray(taper / taper.max())


def correlation(name: WindowName, n: int) -> float:
    """The number of unpadded cells of white noise that count as one independent cell when their powers are averaged."""
    w = window(name, n)
    return float(n * np.sum(w**4) / np.sum(w**2) ** 2)


@lru_cache(maxsize=64)
def sidelobes(name: WindowName, n: int, padding: int) -> Array:
    """(n * padding,) the most power a tone leaves this many cells or more from the cell of its peak; cells wrap.

    Half a cell is added because a tone may lie anywhere in its cell: at whole cells most windows have their zeros.
    """
    cells, fine = n * padding, 8
    response = np.abs(np.fft.rfft(window(name, n), cells * fine)) ** 2
    envelope = np.maximum.accumulate(response[::-1])[::-1] / response[0]
    distance = np.minimum(np.arange(cells), cells - np.arange(cells))
    whole = np.asarray(envelope[np.maximum(distance * fine - fine // 2, 0)])
    whole.setflags(write=False)
    return whole
