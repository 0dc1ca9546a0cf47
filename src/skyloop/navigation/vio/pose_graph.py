"""A graph of key pictures: the odometry's steps between them and the recognitions, fitted by least squares.

The IMU observes roll and pitch, so a node has four numbers: x, y, z and heading."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import spsolve

from skyloop_client.messages import Array

_ITERATIONS = 4
_HUBER = 3.0
"""The sigmas beyond which a recognition counts less and less."""


@dataclass(frozen=True, slots=True)
class Edge:
    """Where node `last` is, seen from `first`: x, y, z in the heading of `first`, and the difference of heading."""

    first: int
    last: int
    step: tuple[float, float, float, float]
    place_sd: float
    heading_sd: float
    recognised: bool = False


def step_between(a: Array, b: Array) -> tuple[float, float, float, float]:
    """From two nodes (x, y, z, heading)."""
    c, s = np.cos(a[3]), np.sin(a[3])
    dx, dy = b[0] - a[0], b[1] - a[1]
    return (
        float(c * dx + s * dy), float(-s * dx + c * dy), float(b[2] - a[2]), float(_wrapped(b[3] - a[3])),
    )  # fmt: skip


def _wrapped(angle: float) -> float:
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi)


def fitted(nodes: Array, edges: list[Edge]) -> Array:
    """(n, 4) nodes that fit the edges best; the first stays where it is."""
    x = nodes.copy()
    for _ in range(_ITERATIONS):
        rows, columns, values, residuals = [], [], [], []
        for number, edge in enumerate(edges):
            a, b = x[edge.first], x[edge.last]
            weight = np.array([1.0 / edge.place_sd] * 3 + [1.0 / edge.heading_sd])
            error = np.array(edge.step) - step_between(a, b)
            error[3] = _wrapped(error[3])
            if edge.recognised:
                size = float(np.linalg.norm(weight * error))
                weight = weight * min(1.0, np.sqrt(_HUBER / max(size, 1e-9)))
            c, s = np.cos(a[3]), np.sin(a[3])
            turn = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
            by_heading = np.array([-s * (b[0] - a[0]) + c * (b[1] - a[1]), -c * (b[0] - a[0]) - s * (b[1] - a[1]), 0.0])
            by_first, by_last = np.zeros((4, 4)), np.zeros((4, 4))
            by_first[:3, :3], by_last[:3, :3] = -turn, turn
            by_first[:3, 3], by_first[3, 3], by_last[3, 3] = by_heading, -1.0, 1.0
            for node, block in ((edge.first, by_first), (edge.last, by_last)):
                r, q = np.meshgrid(4 * number + np.arange(4), 4 * node + np.arange(4), indexing="ij")
                rows.append(r.ravel())
                columns.append(q.ravel())
                values.append((weight[:, None] * block).ravel())
            residuals.append(weight * error)
        shape = (4 * len(edges), 4 * len(x))
        jacobian = coo_matrix(
            (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=shape
        ).tocsc()[:, 4:]
        change = spsolve((jacobian.T @ jacobian).tocsc(), jacobian.T @ np.concatenate(residuals))
        x[1:] += change.reshape(-1, 4)
        if np.abs(change).max() < 1e-6:
            break
    return x
