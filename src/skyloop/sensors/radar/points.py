"""Echoes of points, such as calibration targets and mirror points, found on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyloop.sensors.radar.echoes import ALL, FOLDED, Antennas, Echoes, Receiver
from skyloop_client.messages import Array


def point_echoes(
    points: Array, velocities: Array, fields: Any, antennas: Antennas, receiver: Receiver, energies: Array
) -> Echoes:
    """Echoes of (n, 3) points in world axes from the sensor, with complex roots of cross sections, m."""
    out, out_rate, sent = _legs(points, velocities, antennas.tx, antennas.tx_velocity)
    legs = [_legs(points, velocities, rx, antennas.rx_velocity) for rx in antennas.rx]
    half_paths = np.stack([0.5 * (out + back) for back, _, _ in legs], 1)
    rates = np.stack([0.5 * (out_rate + rate) for _, rate, _ in legs], 1)
    for direction, mirrored in ((sent, antennas.tx_mirrored), (legs[-1][2], antennas.rx_mirrored)):
        if mirrored:
            fields = fields * antennas.mirror[np.rint(direction[:, 2] * (len(antennas.mirror) - 1)).astype(int)]
            direction[:, 2] *= -1.0
        fields = fields * _gain(antennas.pattern, direction @ antennas.sensor_from_world.T)
    beat = receiver.beat_per_m * half_paths[:, 0] + receiver.beat_per_m_s * rates[:, 0]
    kept = 1.0 / np.sqrt(1.0 + (beat / receiver.corner_hz) ** (2 * receiver.order))
    strengths = receiver.scale * fields * kept / (out * legs[-1][0])
    energy = np.abs(strengths) ** 2
    folds = (half_paths[:, 0] > receiver.max_range) | (np.abs(rates[:, 0]) > receiver.max_speed)
    energies[ALL] += energy.sum()
    energies[FOLDED] += energy[folds].sum()
    return Echoes(half_paths, rates, strengths.astype(np.complex64))


def _gain(pattern: Any, directions: Array) -> Array:
    """The gain of one antenna towards unit vectors, sensor axes."""
    last = pattern.shape[0] - 1
    a, b = 0.5 * (directions[:, 1:3].T + 1.0) * last
    i, j = (np.clip(x.astype(int), 0, last - 1) for x in (a, b))
    p, q, t = a - i, b - j, pattern
    near = (1.0 - p) * t[i, j] + p * t[i + 1, j]
    return np.asarray((1.0 - q) * near + q * ((1.0 - p) * t[i, j + 1] + p * t[i + 1, j + 1]))


def _legs(points: Array, velocities: Array, end: Array, velocity: Array) -> tuple[Array, Array, Array]:
    """Lengths, their rates, and unit directions from the antenna."""
    apart = points - end
    length = np.linalg.norm(apart, axis=1)
    direction = apart / length[:, None]
    return length, np.einsum("ij,ij->i", direction, velocities - velocity), direction
