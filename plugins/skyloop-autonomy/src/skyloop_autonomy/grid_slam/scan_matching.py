"""Where a sweep lies best on the map of each particle: a window is searched, then Gauss-Newton from points to walls.

Cost of a pose, without units: κ Σ ρ(r / σ) + ½ (pose - prior)ᵀ Λ (pose - prior). Here r is the distance of a point from
the mean position of the returns in the nearest occupied cell, across the surface on which the point lies. Distances
along the surface do not count: on a bare wall the points move with the vehicle, and would hold it back. ρ is
Cauchy's, and κ makes the points count as `independent_points`.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, int64, void
from numba.types import UniTuple

from skyloop.core.jit import inlined, kernel, record_type
from skyloop_autonomy.grid_slam.tile_kernels import SIDE, TILES, Tiles, likelihood_at
from skyloop_client.messages import Array

SEARCH_STRIDE = 3
"""Every third point is enough to search a window."""
SEARCH_SD = 0.3
"""Of 1 - likelihood of a point that is where it should be, when a window is searched."""
LONGEST_STEP = 1.5
"""Cells that one Gauss-Newton step may move."""
CAUCHY = 2.0
"""Standard deviations from which on a point counts less."""
ALONE = 1.5
"""Cost of a point with no occupied cell nearby: it may be the first on a new wall."""
NEIGHBOURS = 2
"""Points on each side of a point that must lie on one line with it."""
STRAIGHT = 0.06
"""m, the most that they may scatter around it."""


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

    tiles: Tiles
    particle: int
    points: Array
    """(n, 2) cells, level axes of the body."""
    normals: Array
    """(n, 2) unit vectors across the surfaces of the points, level axes; (0, 0) where there is no clear surface."""
    weight: float
    """κ."""
    sd: float
    """σ, cells."""
    prior: Array
    information: Array
    """(3,) inverse variances of the prior."""


class Equations(NamedTuple):
    hessian: Array
    gradient: Array


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
    weight = numbers.independent_points / (2.0 * SEARCH_SD**2)
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
def _nearest_position(tiles, p, x, y):
    """Mean position of the returns of that cell around (x, y), 3 by 3, whose mean is nearest; NaN if none has."""
    n = tiles.tables.shape[1] * SIDE
    i, j = int64(np.floor(x)), int64(np.floor(y))
    best, best_x, best_y = np.inf, np.nan, np.nan
    for a in range(max(i - 1, 0), min(i + 2, n)):
        for b in range(max(j - 1, 0), min(j + 2, n)):
            tile = tiles.tables[p, a // SIDE, b // SIDE]
            if tile < 0 or tiles.hits[tile, a % SIDE, b % SIDE] == 0:
                continue
            at_x = a + (tiles.positions[tile, a % SIDE, b % SIDE, 0] + 0.5) / 256.0
            at_y = b + (tiles.positions[tile, a % SIDE, b % SIDE, 1] + 0.5) / 256.0
            apart = (at_x - x) ** 2 + (at_y - y) ** 2
            if apart < best:
                best, best_x, best_y = apart, at_x, at_y
    return best_x, best_y


@inlined
def _linearise(problem, pose, equations):
    """Adds the points to the normal equations; returns their part of the cost."""
    points, normals, weight = problem.points, problem.normals, problem.weight
    hessian, gradient = equations.hessian, equations.gradient
    c, s = np.cos(pose[2]), np.sin(pose[2])
    cost = 0.0
    for k in range(points.shape[0]):
        if normals[k, 0] == 0.0 and normals[k, 1] == 0.0:
            continue
        rx = c * points[k, 0] - s * points[k, 1]
        ry = s * points[k, 0] + c * points[k, 1]
        x, y = _nearest_position(problem.tiles, problem.particle, pose[0] + rx, pose[1] + ry)
        if np.isnan(x):
            cost += weight * ALONE
            continue
        nx = c * normals[k, 0] - s * normals[k, 1]
        ny = s * normals[k, 0] + c * normals[k, 1]
        residual = (nx * (pose[0] + rx - x) + ny * (pose[1] + ry - y)) / problem.sd
        scaled = (residual / CAUCHY) ** 2
        cost += weight * 0.5 * CAUCHY**2 * np.log1p(scaled)
        counts = weight / (1.0 + scaled)
        gx, gy = nx / problem.sd, ny / problem.sd
        gt = -ry * gx + rx * gy
        gradient[0] += counts * gx * residual
        gradient[1] += counts * gy * residual
        gradient[2] += counts * gt * residual
        hessian[0, 0] += counts * gx * gx
        hessian[0, 1] += counts * gx * gy
        hessian[0, 2] += counts * gx * gt
        hessian[1, 1] += counts * gy * gy
        hessian[1, 2] += counts * gy * gt
        hessian[2, 2] += counts * gt * gt
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


@kernel(void(float64[:, ::1], float64[:, ::1]))
def surface_normals(points, normals):
    """For points in order of direction: (n, 2) unit vectors across the line through each one's neighbours, or (0, 0).

    points: (n, 2) m. Where the distances between neighbours differ much there is an edge, and no normal."""
    n = points.shape[0]
    for k in range(n):
        normals[k] = 0.0
        if n < 2 * NEIGHBOURS + 1:
            continue
        shortest, longest = np.inf, 0.0
        mx, my = 0.0, 0.0
        for d in range(-NEIGHBOURS, NEIGHBOURS + 1):
            a, b = points[(k + d) % n], points[(k + d + 1) % n]
            mx += a[0] / (2 * NEIGHBOURS + 1)
            my += a[1] / (2 * NEIGHBOURS + 1)
            if d < NEIGHBOURS:
                gap = np.hypot(b[0] - a[0], b[1] - a[1])
                shortest, longest = min(shortest, gap), max(longest, gap)
        if longest > 3.0 * shortest + 2.0 * STRAIGHT:
            continue
        xx, xy, yy = 0.0, 0.0, 0.0
        for d in range(-NEIGHBOURS, NEIGHBOURS + 1):
            dx, dy = points[(k + d) % n, 0] - mx, points[(k + d) % n, 1] - my
            xx, xy, yy = xx + dx * dx, xy + dx * dy, yy + dy * dy
        turn = 0.5 * np.arctan2(2.0 * xy, xx - yy)
        nx, ny = -np.sin(turn), np.cos(turn)
        across = nx * nx * xx + 2.0 * nx * ny * xy + ny * ny * yy
        if across <= (2 * NEIGHBOURS + 1) * STRAIGHT**2 and xx + yy > 10.0 * across:
            normals[k, 0], normals[k, 1] = nx, ny


@kernel(
    void(
        TILES,
        UniTuple(float64[:, ::1], 2),
        float64[:, ::1],
        float64[:, ::1],
        float64[:, ::1],
        MATCHING,
        float64[:, ::1],
    )
)
def match_sweep(given, sweep, priors, information, poses, settings, found):
    """Lay a sweep on the map of each particle.

    sweep: points, (n, 2) cells, level axes of the body, and the normals of their surfaces. priors, information:
    (particles, 3) x, y in cells, heading in rad, and the inverse variances. poses: the best ones go there. found:
    (particles, 11) cost, mean likelihood, and the 9 numbers of the Hessian.
    """
    tiles, numbers = Tiles(*given), Matching(*settings)
    points, normals = sweep
    clear = 0
    for k in range(points.shape[0]):
        clear += normals[k, 0] != 0.0 or normals[k, 1] != 0.0
    weight = min(1.0, numbers.independent_points / max(clear, 1))
    equations = Equations(np.empty((3, 3)), np.empty(3))
    for p in range(priors.shape[0]):
        problem = Problem(tiles, p, points, normals, weight, numbers.residual_sd, priors[p], information[p])
        pose = np.copy(priors[p])
        if _mean_likelihood(problem, pose, 1) < numbers.search_below:
            pose = _search(problem, numbers)
        found[p, 0] = _descend(problem, pose, numbers.iterations, equations)
        found[p, 1] = _mean_likelihood(problem, pose, 1)
        found[p, 2:] = equations.hessian.ravel()
        poses[p] = pose
