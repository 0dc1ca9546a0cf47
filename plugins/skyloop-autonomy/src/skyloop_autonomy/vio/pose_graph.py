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
    first, last = np.array([edge.first for edge in edges]), np.array([edge.last for edge in edges])
    steps = np.array([edge.step for edge in edges])
    weights = np.array([[1.0 / edge.place_sd] * 3 + [1.0 / edge.heading_sd] for edge in edges])
    recognised = np.array([edge.recognised for edge in edges])
    # the four rows of each edge have entries in the four columns of either of its nodes
    rows, entries = np.meshgrid(np.arange(4), np.arange(4), indexing="ij")
    row = 4 * np.arange(len(edges))[:, None, None] + rows
    places = [(row, 4 * node[:, None, None] + entries) for node in (first, last)]
    shape = (4 * len(edges), 4 * len(x))
    for _ in range(_ITERATIONS):
        error, blocks = _linearised(x[first], x[last], steps)
        size = np.linalg.norm(weights * error, axis=1)
        doubt = np.where(recognised, np.sqrt(np.minimum(1.0, _HUBER / np.maximum(size, 1e-9))), 1.0)
        weight = weights * doubt[:, None]
        parts = [
            coo_matrix(((weight[:, :, None] * block).ravel(), (r.ravel(), c.ravel())), shape=shape)
            for block, (r, c) in zip(blocks, places, strict=True)
        ]
        jacobian = (parts[0] + parts[1]).tocsc()[:, 4:]
        change = spsolve((jacobian.T @ jacobian).tocsc(), jacobian.T @ (weight * error).ravel())
        x[1:] += change.reshape(-1, 4)
        if np.abs(change).max() < 1e-6:
            break
    return x


def _linearised(a: Array, b: Array, steps: Array) -> tuple[Array, tuple[Array, Array]]:
    """Errors (n, 4) of steps from nodes a to nodes b, and the derivatives (n, 4, 4) of the steps by both."""
    c, s = np.cos(a[:, 3]), np.sin(a[:, 3])
    d = b - a
    ahead, aside = c * d[:, 0] + s * d[:, 1], -s * d[:, 0] + c * d[:, 1]
    error = steps - np.stack([ahead, aside, d[:, 2], d[:, 3]], axis=1)
    error[:, 3] = (error[:, 3] + np.pi) % (2.0 * np.pi) - np.pi
    by_last = np.zeros((len(a), 4, 4))
    by_last[:, 0, 0], by_last[:, 0, 1], by_last[:, 1, 0], by_last[:, 1, 1] = c, s, -s, c
    by_last[:, 2, 2] = by_last[:, 3, 3] = 1.0
    by_first = -by_last
    by_first[:, 0, 3], by_first[:, 1, 3] = aside, -ahead
    return error, (by_first, by_last)
