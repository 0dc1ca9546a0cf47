"""Directions from the phases between antennas, and the positions of the antennas.

A direction is (y, z), its components to the left and up in sensor axes; x = sqrt(1 - y² - z²) points forward.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from skyloop.core.radar_waveform import LIGHT_SPEED
from skyloop.sensors.radar.processing.spectra import Complex
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

SCAN_STEPS = 33
"""Directions tried along each axis before the refinement."""
LOADING = 1e-3
"""The share of the mean power that is added to the diagonal of a covariance before it is inverted."""


@dataclass(frozen=True, slots=True, eq=False)
class Antennas:
    tx: Array
    """(3,) m, sensor axes."""
    rx: Array
    """(n_rx, 3) m, sensor axes."""

    @staticmethod
    def from_details(details: Mapping[str, Any]) -> Antennas:
        """Reads the antenna positions from the details of a radar's StreamInfo."""
        missing = [name for name in ("tx_position", "rx_positions") if name not in details]
        if missing:
            raise ScenarioError(f"radar parameters lack {', '.join(missing)}; give those of the radar's StreamInfo")
        tx, rx = np.asarray(details["tx_position"], np.float64), np.asarray(details["rx_positions"], np.float64)
        if tx.shape != (3,) or rx.ndim != 2 or rx.shape[1] != 3 or len(rx) == 0:
            raise ScenarioError(
                f"antenna positions have shapes {tx.shape} (tx) and {rx.shape} (rx); give (3,) and (n_rx, 3)"
            )
        return Antennas(tx, rx)

    def seen_axes(self) -> Array:
        """(0 to 2, 2) unit vectors in (y, z) along which the receivers are spread; only these can be measured."""
        _, spread, axes = np.linalg.svd(self.rx[:, 1:] - self.rx[:, 1:].mean(axis=0), full_matrices=False)
        return np.asarray(axes[spread > 1e-6])


def forward(direction: Array) -> Array:
    """(..., 3) unit vectors of (..., 2) directions; directions longer than 1 are shortened to 1."""
    length = np.linalg.norm(direction, axis=-1, keepdims=True)
    y_z = direction / np.maximum(length, 1.0)
    x = np.sqrt(np.maximum(1.0 - np.sum(y_z**2, axis=-1, keepdims=True), 0.0))
    return np.concatenate([x, y_z], axis=-1)


def azimuth_elevation(unit: Array) -> tuple[Array, Array]:
    """rad, positive to the left and upwards."""
    return np.arctan2(unit[..., 1], unit[..., 0]), np.arcsin(np.clip(unit[..., 2], -1.0, 1.0))


def paths(points: Array, antennas: Antennas) -> Array:
    """(n, n_rx) m from the transmitter to each point and back to each receiver."""
    out = np.linalg.norm(points - antennas.tx, axis=1)
    return np.asarray(out[:, None] + np.linalg.norm(points[:, None, :] - antennas.rx, axis=2))


def monopulse(amplitudes: Complex, half_paths: Array, antennas: Antennas, frequency: float) -> Array:
    """(n, 3) m: the points whose phases fit (n, n_rx) `amplitudes`, at (n,) m mean half path.

    A least-squares fit on the receivers' positions with spherical wave fronts. Components that the array cannot measure
    are 0, so all angles of a single receiver are 0.
    """
    direction = _lowest_on_grid(-_covariance(amplitudes[:, None, :]), antennas, frequency)
    wave_number = 2.0 * np.pi * frequency / LIGHT_SPEED
    solve = -np.linalg.pinv(antennas.rx[:, 1:] - antennas.rx[:, 1:].mean(axis=0), rcond=1e-4).T / wave_number
    points = half_paths[:, None] * forward(direction)
    for _ in range(3):
        flat = amplitudes * np.exp(-1j * wave_number * paths(points, antennas))
        residual = np.angle(flat * np.conj(flat.sum(axis=1, keepdims=True)))
        direction = direction + (residual - residual.mean(axis=1, keepdims=True)) @ solve
        points = _at_half_path(forward(direction), half_paths, antennas)
    return points


def capon(snapshots: Complex, half_paths: Array, antennas: Antennas, frequency: float) -> Array:
    """(n, 3) m: the points where the Capon spectrum of (n, n_snapshots, n_rx) is highest, at (n,) m mean half path."""
    direction = _lowest_on_grid(_inverse(_covariance(snapshots)), antennas, frequency)
    points = half_paths[:, None] * forward(direction)
    wave_number = 2.0 * np.pi * frequency / LIGHT_SPEED
    for _ in range(2):
        # Wave fronts are spherical. They are flattened with what is known of the point, so that Newton's method can
        # look for a plane wave.
        distance = np.linalg.norm(points, axis=1, keepdims=True)
        plane = points[:, 1:] @ antennas.rx[:, 1:].T / distance
        bulge = np.linalg.norm(points[:, None, :] - antennas.rx, axis=2) - distance + plane
        cost = _inverse(_covariance(snapshots * np.exp(-1j * wave_number * bulge)[:, None, :]))
        direction = _lowest_nearby(cost, direction, antennas, wave_number)
        points = _at_half_path(forward(direction), half_paths, antennas)
    return points


def _at_half_path(unit: Array, half_paths: Array, antennas: Antennas) -> Array:
    """Points along `unit` whose mean path out and back is twice `half_paths`."""
    distance = half_paths.copy()
    for _ in range(2):
        excess = 0.5 * paths(distance[:, None] * unit, antennas).mean(axis=1) - half_paths
        distance = np.maximum(distance - excess, 1e-6)
    return distance[:, None] * unit


def _covariance(snapshots: Complex) -> Complex:
    """(n, n_rx, n_rx) covariances of (n, n_snapshots, n_rx)."""
    return np.asarray(snapshots.transpose(0, 2, 1) @ np.conj(snapshots) / snapshots.shape[1])


def _inverse(covariance: Complex) -> Complex:
    n_rx = covariance.shape[-1]
    power = np.trace(covariance, axis1=-2, axis2=-1).real / n_rx
    loaded = covariance + (LOADING * power + np.finfo(np.float64).tiny)[:, None, None] * np.eye(n_rx)
    return np.asarray(np.linalg.inv(loaded / np.where(power > 0.0, power, 1.0)[:, None, None]))


def steering(unit: Array, antennas: Antennas, frequency: float) -> Complex:
    """(n, n_rx) phasors of plane waves from (n, 3) directions; antennas nearer to the source have the shorter path."""
    return np.asarray(np.exp(-2j * np.pi * frequency / LIGHT_SPEED * (unit @ antennas.rx.T)))


@lru_cache(maxsize=8)
def _scan(antennas: Antennas, frequency: float) -> tuple[Array, Complex]:
    """(g, 2) directions that the array can measure, and (n_rx², g) the products conj(a_k) a_l of their phasors."""
    axes = antennas.seen_axes()
    steps = np.linspace(-1.0, 1.0, SCAN_STEPS)
    along = np.array(list(itertools.product(steps, repeat=len(axes)))).reshape(SCAN_STEPS ** len(axes), len(axes))
    grid = along[np.linalg.norm(along, axis=1) <= 1.0] @ axes
    return grid, _pairs(steering(forward(grid), antennas, frequency))


def _pairs(steer: Complex) -> Complex:
    return np.asarray((np.conj(steer)[:, :, None] * steer[:, None, :]).reshape(len(steer), -1).T)


def _lowest_on_grid(cost: Complex, antennas: Antennas, frequency: float) -> Array:
    """(n, 2) the grid direction with the lowest a^H C a."""
    grid, pairs = _scan(antennas, frequency)
    # Not a matrix product, because BLAS would start threads for it.
    return np.asarray(grid[np.argmin(np.einsum("np,pg->ng", cost.reshape(len(cost), len(pairs)), pairs).real, axis=1)])


def _lowest_nearby(cost: Complex, direction: Array, antennas: Antennas, wave_number: float) -> Array:
    """(n, 2) the direction where a^H C a is lowest, found by Newton's method within one step of the grid."""
    apart = (antennas.rx[:, None, 1:] - antennas.rx[None, :, 1:]).reshape(-1, 2) * wave_number
    outer = apart[:, :, None] * apart[:, None, :]
    axes = antennas.seen_axes()
    start, flat = direction, cost.reshape(len(cost), len(apart))
    for _ in range(5 if len(axes) else 0):
        terms = flat * np.exp(1j * direction @ apart.T)
        slope = -(terms.imag @ apart) @ axes.T
        bend = axes @ -np.einsum("np,pij->nij", terms.real, outer) @ axes.T
        # No step is taken where the function is not convex.
        bowl = np.all(np.linalg.eigvalsh(bend) > 0.0, axis=1)
        step = np.linalg.solve(np.where(bowl[:, None, None], bend, np.eye(len(axes))), slope[:, :, None])[:, :, 0]
        direction = direction - np.where(bowl[:, None], step, 0.0) @ axes
        direction = start + np.clip(direction - start, -2.0 / SCAN_STEPS, 2.0 / SCAN_STEPS)
    return direction


def range_angle_image(
    spectrum: Complex,
    antennas: Antennas,
    frequency: float,
    azimuths: Array,
    method: Literal["beam", "capon"] = "capon",
    elevation: float = 0.0,
) -> Array:
    """(n_ranges, n_azimuths) V² from (n_rx, n_chirps, n_ranges) V of `range_spectrum`, mean over the chirps."""
    flat = np.full_like(azimuths, np.cos(elevation))
    unit = np.column_stack([flat * np.cos(azimuths), flat * np.sin(azimuths), np.full_like(flat, np.sin(elevation))])
    pairs = _pairs(steering(unit, antennas, frequency))
    covariance = _covariance(spectrum.transpose(2, 1, 0))
    n_ranges, n_rx, _ = covariance.shape
    if method == "beam":
        return np.asarray((covariance.reshape(n_ranges, -1) @ pairs).real / n_rx**2)
    power = np.trace(covariance, axis1=1, axis2=2).real[:, None] / n_rx
    return np.asarray(power / (_inverse(covariance).reshape(n_ranges, -1) @ pairs).real)
