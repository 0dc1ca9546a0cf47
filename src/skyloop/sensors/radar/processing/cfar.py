"""CFAR detection: finds the cells of a power image that stand out, at a constant rate of false alarms."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from skyloop_client.messages import Array

Cells: TypeAlias = tuple[int, int]
Indices: TypeAlias = NDArray[np.intp]


def averaged_noise(power: Array, cells: Indices, guard: Cells, training: Cells) -> Array:
    """(n,) V² around (n, 2) cells: the mean of the cells within guard + training but outside the guard.

    The speed axis wraps around. The range axis does not, so fewer cells are averaged near its ends.
    """
    outer = _box_sum(power, (guard[0] + training[0], guard[1] + training[1]))
    inner = _box_sum(power, guard)
    one = np.ones((power.shape[0], 1))
    rows_out = _box_sum(one, (guard[0] + training[0], 0)) * (2 * (guard[1] + training[1]) + 1)
    rows_in = _box_sum(one, (guard[0], 0)) * (2 * guard[1] + 1)
    # This is a difference of sums. Rounding may leave it below zero where a strong peak is all there is.
    return np.asarray((np.maximum(outer - inner, 0.0) / (rows_out - rows_in))[tuple(cells.T)])


def _box_sum(power: Array, half: Cells) -> Array:
    rows, columns = 2 * half[0] + 1, 2 * half[1] + 1
    # The first scan loads SciPy's modules: it takes a third of a second, which flights without a radar need not spend.
    from scipy.ndimage import uniform_filter1d

    along = uniform_filter1d(power, rows, axis=0, mode="constant") * rows
    return np.asarray(uniform_filter1d(along, columns, axis=1, mode="wrap") * columns)


def ordered_noise(power: Array, cells: Indices, guard: Cells, training: Cells, rank: float, n_rx: int) -> Array:
    """As `averaged_noise`, but from a quantile of the training cells, so that other targets among them do not raise it.

    The result is divided by that quantile of pure noise, so that it estimates the same mean. Ranges are mirrored at the
    edges.
    """
    reach = (guard[0] + training[0], guard[1] + training[1])
    rows, columns = np.mgrid[-reach[0] : reach[0] + 1, -reach[1] : reach[1] + 1]
    used = (np.abs(rows) > guard[0]) | (np.abs(columns) > guard[1])
    padded = np.pad(power, ((reach[0], reach[0]), (0, 0)), mode="reflect")
    padded = np.pad(padded, ((0, 0), (reach[1], reach[1])), mode="wrap")
    width = padded.shape[1]
    middles = (cells[:, :1] + reach[0]) * width + cells[:, 1:] + reach[1]
    around = padded.ravel().take(middles + (rows * width + columns)[used])
    place = min(int(rank * around.shape[1]), around.shape[1] - 1)
    quantile = np.partition(around, place, axis=1)[:, place]
    from scipy.special import gammaincinv

    return np.asarray(quantile / (gammaincinv(n_rx, rank) / n_rx))


def training_cells(guard: Cells, training: Cells) -> int:
    """The number of cells from which the noise is estimated, away from the edges."""
    whole = (2 * (guard[0] + training[0]) + 1) * (2 * (guard[1] + training[1]) + 1)
    return whole - (2 * guard[0] + 1) * (2 * guard[1] + 1)


def false_alarm_rate(kind: str, threshold_db: float, n_rx: int, independent_cells: float, rank: float = 0.75) -> float:
    """The false-alarm rate per cell of white noise, at this threshold."""
    from scipy.special import betaincinv, fdtrc, gammaincc, gammaincinv

    factor = 10.0 ** (threshold_db / 10.0)
    if kind == "cell_averaging":
        return float(fdtrc(2 * n_rx, 2 * n_rx * independent_cells, factor))
    # The quantile's position among independent cells is beta-distributed; this averages over 400 equal shares of it.
    shares = (np.arange(400) + 0.5) / 400
    place = betaincinv(rank * independent_cells, (1.0 - rank) * independent_cells + 1.0, shares)
    noise = gammaincinv(n_rx, place) / gammaincinv(n_rx, rank)
    return float(np.mean(gammaincc(n_rx, n_rx * factor * noise)))


def peaks(power: Array, dynamic_range_db: float, reach: Cells) -> Indices:
    """(n, 2) row and column of the cells that are the highest within `reach`, strongest first."""
    floor = max(float(power.max(initial=0.0)) * 10.0 ** (-dynamic_range_db / 10.0), np.finfo(np.float64).tiny)
    from scipy.ndimage import maximum_filter

    highest = maximum_filter(power, size=(2 * reach[0] + 1, 2 * reach[1] + 1), mode=("nearest", "wrap"))
    found = np.argwhere((power == highest) & (power > floor))
    return found[np.argsort(-power[tuple(found.T)], kind="stable")]


def unmasked(
    found: Indices, power: Array, range_sidelobes: Array, speed_sidelobes: Array, mirrored: bool
) -> NDArray[np.bool_]:
    """Marks those of `found` (strongest first) that are not explained by the window sidelobes of a stronger one.

    `mirrored`: samples are real, so each target has an image at minus its range and minus its speed.
    """
    level = power[tuple(found.T)]
    row, column = found[:, 0], found[:, 1] - power.shape[1] // 2

    def response(rows: Indices, columns: Indices) -> Array:
        return np.asarray(
            range_sidelobes[rows % len(range_sidelobes)] * speed_sidelobes[columns % len(speed_sidelobes)]
        )

    leaked = response(row[:, None] - row, column[:, None] - column)
    if mirrored:
        leaked = np.maximum(leaked, response(row[:, None] + row, column[:, None] + column))
    # A peak lies between cells and is up to 1.4 dB per axis above the value of its cell; 6 dB covers that.
    explained = 4.0 * leaked * level[None, :] > level[:, None]
    return np.asarray(~np.any(np.tril(explained, -1), axis=1))
