"""Radar points of people: those of the ground, of its folded echoes and of the same person are taken out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skyloop_autonomy.people.carrier import Carrier
from skyloop_autonomy.people.config import RadarModel
from skyloop_autonomy.people.sightings import RadarEye
from skyloop_client.messages import Array, RadarDetections


def moving_points(found: RadarDetections, eye: RadarEye, carrier: Carrier, model: RadarModel) -> Array:
    """(n, 4) range, speed, azimuth, elevation of what moves over ground, one row for each cluster.

    Seen from a vehicle that flies, the ground moves. A sampler without a quadrature channel also shows what lies beyond
    the greatest range: mirrored, so that its speed has the other sign.
    """
    if not len(found.ranges):
        return np.zeros((0, 4))
    directions = found.points / np.maximum(np.linalg.norm(found.points, axis=1, keepdims=True), 1e-6)
    ground = eye.ground_speeds(directions, carrier)
    stands = np.abs(wrapped(found.speeds - ground, eye.span)) < model.still
    folded = np.abs(wrapped(found.speeds + ground, eye.span)) < model.folded_still
    # of a vehicle that hovers both say the same, and a person who walks slowly must not be lost
    folded &= np.abs(ground) > model.folded_still
    chosen = ~stands & ~folded & (found.ranges <= model.max_range)
    return _clusters(found, np.flatnonzero(chosen), model.cluster_distance)


def wrapped(values: Array, span: float) -> Array:
    return values - span * np.round(values / span) if np.isfinite(span) else values


def _clusters(found: RadarDetections, chosen: NDArray[np.intp], distance: float) -> Array:
    """Each strongest point with all within `distance` m of it, weighted by power. Speeds are those of the strongest
    point: limbs swing around it."""
    weight = 10.0 ** (found.snr_db / 10.0)
    left = sorted(chosen.tolist(), key=lambda i: (-weight[i], i))
    columns = np.column_stack([found.ranges, found.speeds, found.azimuths, found.elevations])
    merged = []
    while left:
        apart = np.linalg.norm(found.points[left] - found.points[left[0]], axis=1)
        members = [i for i, d in zip(left, apart.tolist(), strict=True) if d <= distance]
        row = weight[members] @ columns[members] / weight[members].sum()
        row[1] = columns[left[0], 1]
        merged.append(row)
        left = [i for i in left if i not in members]
    return np.array(merged).reshape(-1, 4)
