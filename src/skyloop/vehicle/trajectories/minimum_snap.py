"""Piecewise polynomials of degree 7 through waypoints that minimise the integral of squared snap."""

from __future__ import annotations

import math
from bisect import bisect_right

import numpy as np
from numpy.typing import ArrayLike

from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array, Position

_ORDERS = 5  # position to snap
_COEFFICIENTS = 8
_SAMPLES_PER_SEGMENT = 64


def _derivative_matrices() -> Array:
    """(5, 8, 8): the coefficients of the k-th derivative from those of the polynomial, lowest power first."""
    first = np.diag(np.arange(1.0, _COEFFICIENTS), k=1)
    return np.stack([np.linalg.matrix_power(first, k) for k in range(_ORDERS)])


_DERIVATIVES = _derivative_matrices()
_POWERS = np.arange(_COEFFICIENTS)
# Position, velocity, acceleration and jerk at both ends of a segment of unit time, from its coefficients.
_COEFFICIENTS_FROM_ENDS = np.linalg.inv(np.vstack([_DERIVATIVES[:4, 0, :], np.ones(_COEFFICIENTS) @ _DERIVATIVES[:4]]))


def _unit_snap_cost() -> Array:
    """(8, 8): the integral of squared snap over a segment of unit time, as a quadratic form in its end values."""
    hilbert = 1.0 / (_POWERS[:, None] + _POWERS[None, :] + 1)
    in_coefficients = _DERIVATIVES[4].T @ hilbert @ _DERIVATIVES[4]
    return np.asarray(_COEFFICIENTS_FROM_ENDS.T @ in_coefficients @ _COEFFICIENTS_FROM_ENDS)


_UNIT_SNAP_COST = _unit_snap_cost()


class MinimumSnap:
    """Passes exactly through `waypoints`, starts and ends at rest, and is continuous to the sixth derivative.

    Give `segment_times` (one per segment) or `speed`. With `speed`, `speed` and `acceleration` are peak values, and the
    one reached first sets the pace. Without `yaws` the vehicle looks along its path at every waypoint.
    """

    def __init__(
        self,
        waypoints: ArrayLike,
        *,
        speed: float | None = None,
        segment_times: ArrayLike | None = None,
        acceleration: float = 5.0,
        yaws: ArrayLike | None = None,
        optimise_times: bool = False,
    ) -> None:
        points = _checked_waypoints(waypoints)
        if (speed is None) == (segment_times is None):
            raise ScenarioError("a minimum-snap trajectory takes either `speed` or `segment_times`; give one")
        if speed is None:
            times = _checked_times(segment_times, len(points) - 1)
        else:
            times = _allocate(points, speed, acceleration)
            if optimise_times:
                times = _with_least_snap(points, times)
        path = _solve(points, times)
        if speed is not None:
            times = times * _stretch(path, times, speed, acceleration)
        angles = _headings(points, path) if yaws is None else _checked_yaws(yaws, len(points))
        columns = np.concatenate([path, _solve(angles[:, None], times)], axis=2)
        scale = times[:, None] ** -np.arange(_ORDERS)
        # (segments, 5, 8, 4): derivatives by time, as polynomials in the segment's own time 0..1.
        self._table = np.einsum("kij,sjc->skic", _DERIVATIVES, columns) * scale[:, :, None, None]
        self.waypoint_times = np.concatenate([[0.0], np.cumsum(times)])
        self._starts: list[float] = self.waypoint_times[:-1].tolist()
        self._segment_times: list[float] = times.tolist()
        self.duration = float(self.waypoint_times[-1])

    def at(self, t: float) -> Position:
        index = max(bisect_right(self._starts, t) - 1, 0)
        x = min(max((t - self._starts[index]) / self._segment_times[index], 0.0), 1.0)
        rows = (x**_POWERS) @ self._table[index]
        if not 0.0 < t < self.duration:
            rows[1:] = 0.0
        p, v, a, j, s = rows[:, :3]
        return Position(p, float(rows[0, 3]), float(rows[1, 3]), v, a, j, s)


def _checked_waypoints(waypoints: ArrayLike) -> Array:
    points = np.array(waypoints, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < 2:
        raise ScenarioError(f"a trajectory needs at least two waypoints of (x, y, z), got shape {points.shape}")
    if not np.all(np.any(np.diff(points, axis=0), axis=1)):
        raise ScenarioError("two consecutive waypoints are the same; remove one")
    return points


def _checked_times(segment_times: ArrayLike | None, segments: int) -> Array:
    times = np.array(segment_times, dtype=np.float64)
    if times.shape != (segments,) or not np.all(times > 0):
        raise ScenarioError(f"`segment_times` must be {segments} positive durations, got {times.tolist()}")
    return times


def _checked_yaws(yaws: ArrayLike, count: int) -> Array:
    angles = np.array(yaws, dtype=np.float64)
    if angles.shape != (count,):
        raise ScenarioError(f"`yaws` must be one angle per waypoint ({count}), got shape {angles.shape}")
    return np.unwrap(angles)


def _allocate(points: Array, speed: float, acceleration: float) -> Array:
    """Distance over speed, plus time to speed up in the first segment and to slow down in the last."""
    if not (speed > 0 and acceleration > 0):
        raise ScenarioError(f"speed and acceleration must be positive, got {speed} and {acceleration}")
    times = np.linalg.norm(np.diff(points, axis=0), axis=1) / speed
    times[0] += speed / acceleration
    times[-1] += speed / acceleration
    return np.asarray(times)


def _assemble(times: Array) -> Array:
    """The snap cost as a quadratic form in (position, velocity, acceleration, jerk) of every waypoint."""
    nodes = len(times) + 1
    form = np.zeros((4 * nodes, 4 * nodes))
    for index, time in enumerate(times):
        scale = np.tile(time ** np.arange(4.0), 2)
        block = slice(4 * index, 4 * index + 8)
        form[block, block] += _UNIT_SNAP_COST * np.outer(scale, scale) / time**7
    return form


def _node_values(points: Array, form: Array) -> Array:
    """(4 n, c): the free derivatives that minimise the cost, with the given points and rest at both ends."""
    values = np.zeros((len(form), points.shape[1]))
    values[::4] = points
    free = np.setdiff1d(np.arange(4, len(form) - 4), np.arange(0, len(form), 4))
    if len(free):
        values[free] = np.linalg.solve(form[np.ix_(free, free)], -form[free] @ values)
    return values


def _solve(points: Array, times: Array) -> Array:
    """(segments, 8, c): coefficients in each segment's own time 0..1; they do not depend on the unit of time."""
    times = times / times.mean()
    values = _node_values(points, _assemble(times)).reshape(len(points), 4, -1)
    scale = (times[:, None] ** np.arange(4))[:, :, None]
    ends = np.concatenate([values[:-1] * scale, values[1:] * scale], axis=1)
    return np.asarray(_COEFFICIENTS_FROM_ENDS @ ends)


def _with_least_snap(points: Array, times: Array) -> Array:
    """Shifts time between the segments, with the same total, to minimise the snap cost."""
    count = len(times)
    # An entry of a segment's form scales with this power of its time.
    exponents = np.add.outer(np.tile(np.arange(4), 2), np.tile(np.arange(4), 2)) - 7.0

    def shared_out(logs: Array) -> Array:
        weights = np.exp(logs - logs.max())
        return np.asarray(weights * (count / weights.sum()))

    def log_cost(logs: Array) -> tuple[float, Array]:
        """The logarithm of the cost and its gradient. The node values are optimal, so their change does not count."""
        shares = shared_out(logs)
        values = _node_values(points, _assemble(shares)).reshape(count + 1, 4, -1)
        ends = np.concatenate([values[:-1], values[1:]], axis=1)
        terms = np.einsum("sic,sjc->sij", ends, ends) * _UNIT_SNAP_COST * shares[:, None, None] ** exponents
        by_log = np.sum(terms * exponents, axis=(1, 2))
        cost = float(terms.sum())
        return math.log(cost), (by_log - shares * by_log.sum() / count) / cost

    from scipy.optimize import minimize  # imported here, because it takes a third of a second

    best = minimize(log_cost, np.log(times), jac=True, method="L-BFGS-B", options={"maxiter": 30})
    return np.asarray(shared_out(best.x) * times.mean())


def _stretch(path: Array, times: Array, speed: float, acceleration: float) -> float:
    """The factor by which to slow the whole trajectory so that no peak exceeds its limit and one meets it."""
    x = np.linspace(0.0, 1.0, _SAMPLES_PER_SEGMENT + 1)
    powers = x[:, None] ** _POWERS
    rates = np.einsum("xi,kij,sjc->ksxc", powers, _DERIVATIVES[1:3], path)
    peak_speed = float(np.max(np.linalg.norm(rates[0], axis=-1) / times[:, None]))
    peak_acceleration = float(np.max(np.linalg.norm(rates[1], axis=-1) / times[:, None] ** 2))
    return max(peak_speed / speed, math.sqrt(peak_acceleration / acceleration))


def _headings(points: Array, path: Array) -> Array:
    """The direction of flight at every waypoint; where it is vertical, that of the waypoint before."""
    steps = np.diff(points, axis=0)
    directions = np.concatenate([steps[:1], path[1:, 1], steps[-1:]])[:, :2]
    level = np.linalg.norm(directions, axis=1) > 1e-6
    if not level.any():
        return np.zeros(len(points))
    known = np.unwrap(np.arctan2(directions[level, 1], directions[level, 0]))
    return np.asarray(known[np.maximum(np.cumsum(level) - 1, 0)])
