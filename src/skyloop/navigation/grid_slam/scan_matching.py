"""Where a sweep lies best on the map of each particle: a window is searched, then Gauss-Newton on the likelihood field.

Cost of a pose, without units: κ/(2 σ²) Σ (1 - m(point))² + ½ (pose - prior)ᵀ Λ (pose - prior), where m is the
interpolated likelihood (0..1) and κ makes the points count as `independent_points`.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64, void

from skyloop.core.jit import inlined, kernel, record_type
from skyloop.navigation.grid_slam.tile_kernels import TILES, Tiles, likelihood_at

SEARCH_STRIDE = 3
"""Every third point is enough to search a window."""
LONGEST_STEP = 1.5
"""Cells that one Gauss-Newton step may move."""


class Matching(NamedTuple):
    """The numbers of MatchSettings that kernels need, lengths in cells."""

    residual_sd: float
    independent_points: float
    search_below: float
    search_distance: float
    search_turn: float
    iterations: int


MATCHING = record_type(
    Matching,
    residual_sd=float64,
    independent_points=float64,
    search_below=float64,
    search_distance=float64,
    search_turn=float64,
    iterations=int64,
)


class Problem(NamedTuple):
    """One sweep on the map of one particle."""

    tiles: Any
    particle: int
    points: Any
    """(n, 2) cells, level axes of the body."""
    weight: float
    """κ / σ²."""
    prior: Any
    information: Any
    """(3,) inverse variances of the prior."""


class Equations(NamedTuple):
    hessian: Any
    gradient: Any


@inlined
def _mean_likelihood(problem, pose, stride):
    """Of the cells in which the points lie, 0..1."""
    tiles, p, points = problem.tiles, problem.particle, problem.points
    c, s = np.cos(pose[2]), np.sin(pose[2])
    total, count = 0, 0
    for k in range(0, points.shape[0], stride):
        x = pose[0] + c * points[k, 0] - s * points[k, 1]
        y = pose[1] + s * points[k, 0] + c * points[k, 1]
        total += likelihood_at(tiles, p, int64(np.floor(x)), int64(np.floor(y)))
        count += 1
    return total / (255.0 * max(count, 1))


@inlined
def _search(problem, numbers):
    """The best pose of the window, one cell and a quarter of `search_turn` apart, by likelihood and prior."""
    reach = int64(np.ceil(numbers.search_distance))
    pose = problem.prior
    best = np.copy(pose)
    trial = np.copy(pose)
    weight = numbers.independent_points / (2.0 * numbers.residual_sd**2)
    lowest = np.inf
    for turn in range(-4, 5):
        trial[2] = pose[2] + 0.25 * turn * numbers.search_turn
        for a in range(-reach, reach + 1):
            trial[0] = pose[0] + a
            for b in range(-reach, reach + 1):
                trial[1] = pose[1] + b
                seen = _mean_likelihood(problem, trial, SEARCH_STRIDE)
                cost = weight * (1.0 - seen) + 0.5 * _distance(problem, trial)
                if cost < lowest:
                    lowest = cost
                    best[:] = trial
    return best


@inlined
def _distance(problem, pose):
    """From the prior; squared, in sigmas."""
    prior, information = problem.prior, problem.information
    d0, d1, d2 = pose[0] - prior[0], pose[1] - prior[1], pose[2] - prior[2]
    return information[0] * d0 * d0 + information[1] * d1 * d1 + information[2] * d2 * d2


@inlined
def _linearise(problem, pose, equations):
    """Adds the points to the normal equations; returns their part of the cost."""
    tiles, p, points, weight = problem.tiles, problem.particle, problem.points, problem.weight
    hessian, gradient = equations.hessian, equations.gradient
    c, s = np.cos(pose[2]), np.sin(pose[2])
    cost = 0.0
    for k in range(points.shape[0]):
        rx = c * points[k, 0] - s * points[k, 1]
        ry = s * points[k, 0] + c * points[k, 1]
        # the likelihood belongs to the middles of cells
        x, y = pose[0] + rx - 0.5, pose[1] + ry - 0.5
        i, j = int64(np.floor(x)), int64(np.floor(y))
        u, v = x - i, y - j
        m00, m10 = likelihood_at(tiles, p, i, j) / 255.0, likelihood_at(tiles, p, i + 1, j) / 255.0
        m01, m11 = likelihood_at(tiles, p, i, j + 1) / 255.0, likelihood_at(tiles, p, i + 1, j + 1) / 255.0
        low, high = m00 + u * (m10 - m00), m01 + u * (m11 - m01)
        residual = 1.0 - (low + v * (high - low))
        cost += 0.5 * weight * residual * residual
        gx = -((1.0 - v) * (m10 - m00) + v * (m11 - m01))
        gy = -(high - low)
        gt = -ry * gx + rx * gy
        gradient[0] += weight * gx * residual
        gradient[1] += weight * gy * residual
        gradient[2] += weight * gt * residual
        hessian[0, 0] += weight * gx * gx
        hessian[0, 1] += weight * gx * gy
        hessian[0, 2] += weight * gx * gt
        hessian[1, 1] += weight * gy * gy
        hessian[1, 2] += weight * gy * gt
        hessian[2, 2] += weight * gt * gt
    return cost


@inlined
def _set_up(problem, pose, equations):
    """Cost at a pose, with the normal equations there."""
    hessian, gradient = equations.hessian, equations.gradient
    prior, information = problem.prior, problem.information
    hessian[:] = 0.0
    gradient[:] = 0.0
    cost = _linearise(problem, pose, equations)
    for axis in range(3):
        hessian[axis, axis] += information[axis]
        gradient[axis] += information[axis] * (pose[axis] - prior[axis])
        for other in range(axis):
            hessian[axis, other] = hessian[other, axis]
    return cost + 0.5 * _distance(problem, pose)


@inlined
def _descend(problem, pose, iterations, equations):
    """Gauss-Newton with damping that grows when a step does not pay; returns the cost where it ends."""
    cost = _set_up(problem, pose, equations)
    tried_equations = Equations(np.empty((3, 3)), np.empty(3))
    damping = 0.0
    for _ in range(iterations):
        damped = np.copy(equations.hessian)
        for axis in range(3):
            damped[axis, axis] *= 1.0 + damping
        step = -np.linalg.solve(damped, equations.gradient)
        longest = max(abs(step[0]), abs(step[1]))
        if longest > LONGEST_STEP:
            step *= LONGEST_STEP / longest
        trial = pose + step
        tried = _set_up(problem, trial, tried_equations)
        if tried >= cost:
            if longest < 1e-3 or damping > 100.0:
                break
            damping = max(10.0 * damping, 1.0)
            continue
        gain = cost - tried
        pose[:] = trial
        equations.hessian[:] = tried_equations.hessian
        equations.gradient[:] = tried_equations.gradient
        cost = tried
        damping *= 0.1
        if gain < 1e-6:
            break
    return cost


@kernel(void(TILES, float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], MATCHING, float64[:, ::1]))
def match_sweep(given, points, priors, information, poses, told, found):
    """Lay a sweep on the map of each particle.

    points: (n, 2) cells, level axes of the body. priors, information: (particles, 3) x, y in cells, heading in rad, and
    the inverse variances. poses: the best ones go there. found: (particles, 11) cost, mean likelihood, and the 9
    numbers of the Hessian.
    """
    tiles, numbers = Tiles(*given), Matching(*told)
    weight = min(1.0, numbers.independent_points / max(points.shape[0], 1)) / numbers.residual_sd**2
    equations = Equations(np.empty((3, 3)), np.empty(3))
    for p in range(priors.shape[0]):
        problem = Problem(tiles, p, points, weight, priors[p], information[p])
        pose = np.copy(priors[p])
        if _mean_likelihood(problem, pose, 1) < numbers.search_below:
            pose = _search(problem, numbers)
        found[p, 0] = _descend(problem, pose, numbers.iterations, equations)
        found[p, 1] = _mean_likelihood(problem, pose, 1)
        found[p, 2:] = equations.hessian.ravel()
        poses[p] = pose
