"""Rao-Blackwellised particle filter: every particle has a trajectory, of which the last pose is kept, and a map.

A sweep is matched to the map of each particle, with the predicted motion and a satellite fix as priors. The particle's
new pose is drawn from the Gaussian around the match. Its weight is multiplied by the likelihood of the sweep under that
proposal (Laplace's approximation of the integral over the pose).
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skyloop.core.keyed_random import KeyedRandom
from skyloop.core.random_key import stream_key
from skyloop_autonomy.grid_slam.scan_matching import Matching, match_sweep, surface_normals
from skyloop_autonomy.grid_slam.tiled_maps import FilterSettings, TiledMaps
from skyloop_autonomy.grid_slam.tiled_maps import Snapshot as MapsSnapshot
from skyloop_client.messages import Array

CELL_SD = 0.3
"""Cells; a wall is somewhere in its cell, so no pose is better known than that."""
TURN_SD = 2e-3
"""rad, likewise."""
FIRST_SWEEPS = 5
"""Before these the map is too thin to judge a sweep by."""


@dataclass(frozen=True)
class PoseFix:
    """A position from a receiver, for the instant of a sweep."""

    position: Array
    """(2,) m, world, of the body origin."""
    sd: float
    """m, one sigma, after all that is known of its correlation."""


@dataclass(frozen=True)
class PoseBelief:
    """What the filter says after a sweep."""

    pose: Array
    """(3,) x, y in m and heading in rad; the weighted mean."""
    sd: Array
    """(3,) one sigma: spread of the particles, and of the match of each."""
    likelihood: float
    """0..1, how well the sweep lies on the map of the best particle."""
    effective: float
    """The effective number of particles, before they were resampled."""
    lost: bool = False
    """The sweep fits no map; the pose is what motion and fixes say, and the map was left as it is."""


@dataclass
class FilterMemory:
    poses: Array
    log_weights: Array
    sweeps: int = 0
    resamplings: int = 0
    last: PoseBelief | None = None


class GridParticleFilter:
    def __init__(self, settings: FilterSettings, start: Array) -> None:
        """start: (3,) x, y in m and heading in rad, world."""
        self.settings = settings
        n = settings.particles
        self.maps = TiledMaps(n, settings.grid, np.asarray(start, float)[:2])
        self._memory = FilterMemory(np.tile(np.asarray(start, float), (n, 1)), np.full(n, -math.log(n)))
        match, cell = settings.match, settings.grid.cell
        matching = Matching(
            match.residual_sd / cell,
            match.independent_points,
            match.search_below,
            match.search_distance / cell,
            match.search_turn,
            match.iterations,
        )
        self._matching = tuple(matching)
        self._judging = tuple(matching._replace(search_below=0.0, iterations=0))
        self._key = stream_key(settings.seed, "grid particle filter")

    @property
    def poses(self) -> Array:
        """(particles, 3)."""
        return self._memory.poses

    @property
    def best(self) -> int:
        """The particle with the largest weight."""
        return int(np.argmax(self._memory.log_weights))

    @property
    def resamplings(self) -> int:
        """How often the particles were resampled."""
        return self._memory.resamplings

    def sweep(
        self,
        points: Array,
        motion: Array,
        fix: PoseFix | None = None,
        *,
        lost_below: float = 0.0,
    ) -> PoseBelief:
        """Take one sweep in.

        points: (n, 2) m, level axes of the body, in order of direction.
        motion: (3,) since the last sweep, m and rad, in the body's level axes of then. lost_below: mean likelihood on
        the best map below which the sweep is not believed.
        """
        memory, maps = self._memory, self.maps
        priors, information = self._predict(np.asarray(motion, float), fix)
        cell = maps.settings.cell
        scale = np.array([cell, cell, 1.0])
        lowered = np.ascontiguousarray((priors - [*maps.origin, 0.0]) / scale)
        poses, found = np.empty_like(lowered), np.empty((len(priors), 11))
        matched = self._matched(np.ascontiguousarray(points, np.float64))
        match_sweep(maps.arrays, matched, lowered, information * scale**2, poses, self._matching, found)
        lost = memory.sweeps >= FIRST_SWEEPS and float(found[:, 1].max()) < lost_below
        if lost:
            covariances = np.array([np.diag(1.0 / row) for row in information])
            centres = priors
        else:
            covariances = np.linalg.inv(found[:, 2:].reshape(-1, 3, 3)) * np.outer(scale, scale)
            centres = poses * scale + [*maps.origin, 0.0]
            memory.log_weights += -found[:, 0] + 0.5 * np.linalg.slogdet(covariances)[1]
        self._move(centres, covariances)
        self._normalise()
        if not lost:
            self._draw(np.asarray(points, float))
        memory.last = replace(self._believe(covariances, found), lost=lost)
        self._resample(memory.last.effective)
        memory.sweeps += 1
        return memory.last

    def place(self, pose: Array, sd: Array, points: Array, *, lost_below: float = 0.0) -> PoseBelief:
        """Take in a sweep whose pose another localiser has found: it is drawn there.

        pose, sd: (3,) x, y in m and heading in rad. points, lost_below: as for `sweep`."""
        memory, n = self._memory, self.settings.particles
        memory.poses = np.tile(np.asarray(pose, float), (n, 1))
        likelihood = self._likelihood(np.ascontiguousarray(points, np.float64))
        lost = memory.sweeps >= FIRST_SWEEPS and likelihood < lost_below
        if not lost:
            self._draw(np.asarray(points, float))
        memory.last = PoseBelief(np.array(pose, float), np.array(sd, float), likelihood, float(n), lost)
        memory.sweeps += 1
        return memory.last

    def _likelihood(self, points: Array) -> float:
        """0..1, how well a sweep lies on the best map at the particles' own poses."""
        scale = np.array([self.maps.settings.cell, self.maps.settings.cell, 1.0])
        lowered = np.ascontiguousarray((self.poses - [*self.maps.origin, 0.0]) / scale)
        found, same = np.empty((len(lowered), 11)), np.empty_like(lowered)
        match_sweep(self.maps.arrays, self._matched(points), lowered, np.ones_like(lowered), same, self._judging, found)
        return float(found[:, 1].max())

    def _matched(self, points: Array) -> tuple[Array, Array]:
        """Those points of a sweep that are matched, in cells, and their normals."""
        normals = np.empty_like(points)
        surface_normals(points, normals)
        stride = max(1, math.ceil(len(points) / self.settings.match.most_points))
        return np.ascontiguousarray(points[::stride] / self.settings.grid.cell), np.ascontiguousarray(normals[::stride])

    def _move(self, centres: Array, covariances: Array) -> None:
        """Draw the new poses. The first sweep defines the map, and the start is known."""
        memory = self._memory
        drawn = KeyedRandom(self._key, memory.sweeps).normal(centres.size).reshape(-1, 3)
        spread = np.einsum("pij,pj->pi", np.linalg.cholesky(covariances), drawn)
        memory.poses = centres + spread if memory.sweeps else centres

    def _predict(self, motion: Array, fix: PoseFix | None) -> tuple[Array, Array]:
        """Means and inverse variances of the poses, from motion and fix."""
        poses, settings = self._memory.poses, self.settings
        c, s = np.cos(poses[:, 2]), np.sin(poses[:, 2])
        x, y, turn = motion
        priors = poses + np.stack([c * x - s * y, s * x + c * y, np.full(len(poses), turn)], axis=1)
        sd = np.array([settings.odometry_sd, settings.odometry_sd, settings.odometry_turn_sd])
        information = np.tile(1.0 / sd**2, (len(poses), 1))
        if fix is not None:
            weight = 1.0 / fix.sd**2
            apart = fix.position - priors[:, :2]
            # what the fix says against the prediction counts for the weight; the mean of both is the new prior
            share = weight / (weight + information[:, :2])
            self._memory.log_weights -= 0.5 * np.sum(share * information[:, :2] * apart**2, axis=1)
            priors[:, :2] += share * apart
            information[:, :2] += weight
        return priors, information

    def _normalise(self) -> None:
        weights = self._memory.log_weights
        weights -= weights.max()
        weights -= math.log(float(np.exp(weights).sum()))

    def _draw(self, rays: Array) -> None:
        """Every particle draws the sweep where it believes to be."""
        stride = self.settings.grid.ray_stride
        first = self._memory.sweeps % stride
        for p, (x, y, heading) in enumerate(self._memory.poses.tolist()):
            c, s = math.cos(heading), math.sin(heading)
            start = np.array([x, y])
            self.maps.add(p, start, start + rays @ np.array([[c, s], [-s, c]]), first=first, stride=stride)

    def _believe(self, covariances: Array, found: Array) -> PoseBelief:
        memory, cell = self._memory, self.settings.grid.cell
        weights = np.exp(memory.log_weights)
        poses = memory.poses
        reference = poses[self.best, 2]
        turns = np.remainder(poses[:, 2] - reference + math.pi, 2.0 * math.pi) - math.pi
        pose = np.array([*(weights @ poses[:, :2]), reference + weights @ turns])
        apart = np.column_stack([poses[:, :2] - pose[:2], turns - (pose[2] - reference)])
        variances = weights @ (apart**2 + np.diagonal(covariances, axis1=1, axis2=2))
        sd = np.sqrt(variances + np.square([CELL_SD * cell, CELL_SD * cell, TURN_SD]))
        return PoseBelief(pose, sd, float(found[self.best, 1]), 1.0 / float(np.sum(weights**2)))

    def _resample(self, effective: float) -> None:
        """Systematic resampling, if the weights have become too uneven."""
        memory, n = self._memory, self.settings.particles
        if n == 1 or effective >= self.settings.resample_below * n:
            return
        offset = float(KeyedRandom(stream_key(self.settings.seed, "grid resampling"), memory.sweeps).uniform(1)[0])
        cumulated = np.cumsum(np.exp(memory.log_weights))
        parents: NDArray[np.int64] = np.minimum(np.searchsorted(cumulated, (np.arange(n) + offset) / n), n - 1)
        self.maps.resample(parents)
        memory.poses = memory.poses[parents]
        memory.log_weights = np.full(n, -math.log(n))
        memory.resamplings += 1

    def snapshot(self) -> tuple[FilterMemory, MapsSnapshot]:
        return copy.deepcopy(self._memory), self.maps.snapshot()

    def restore(self, saved: tuple[FilterMemory, MapsSnapshot]) -> None:
        self._memory = copy.deepcopy(saved[0])
        self.maps.restore(saved[1])
