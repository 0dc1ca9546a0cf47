"""Targets followed from burst to burst: a Kalman filter of constant velocity for each, in sensor axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skyloop.messages import Array, RadarDetections
from skyloop.perception.radar_processing.config import TrackingConfig
from skyloop.streams import NS_PER_S

SMALLEST = 1e-6
"""m, so that angles of a target at the origin or straight above have a derivative."""


@dataclass(slots=True, eq=False)
class Track:
    number: int
    state: Array
    """(6,) position m and velocity m/s, sensor axes."""
    covariance: Array
    """(6, 6)."""
    bursts: int = 1
    """Since its birth, that one included."""
    hits: int = 1
    misses: int = 0
    """In a row."""
    confirmed: bool = False


class Tracker:
    """All that changes is in plain attributes: a copy of them is a snapshot."""

    def __init__(self, config: TrackingConfig | None = None, speed_span: float = np.inf) -> None:
        """`speed_span`: m/s after which measured speeds repeat."""
        self.config = config or TrackingConfig()
        self.speed_span = speed_span
        self.tracks: list[Track] = []
        self.next_number = 1
        self.t_ns: int | None = None

    def update(self, detections: RadarDetections) -> list[Track]:
        """Moves all tracks to the burst, feeds them its points, and gives the confirmed ones."""
        dt = 0.0 if self.t_ns is None else (detections.t_ns - self.t_ns) / NS_PER_S
        self.t_ns = detections.t_ns
        measured = clusters(detections, self.config.cluster_distance)
        for track in self.tracks:
            track.state, track.covariance = predicted(track.state, track.covariance, dt, self.config.acceleration_sd)
            track.bursts += 1
        fed = self._fed(measured)
        self._age({track for track, _ in fed})
        taken = {measurement for _, measurement in fed}
        for i, measurement in enumerate(measured):
            if i not in taken:
                self._perhaps_born(measurement)
        return [track for track in self.tracks if track.confirmed]

    def _noise(self) -> Array:
        c = self.config
        return np.diag(np.array([c.range_sd, c.speed_sd, c.angle_sd, c.angle_sd]) ** 2)

    def _fed(self, measured: Array) -> list[tuple[int, int]]:
        """Pairs (track, measurement), the nearest first; those tracks are updated."""
        pairs = []
        for t, track in enumerate(self.tracks):
            expected, slope = measurement_of(track.state)
            spread = slope @ track.covariance @ slope.T + self._noise()
            residual = self._residual(measured, expected)
            distance = np.sqrt(np.sum(residual * np.linalg.solve(spread, residual.T).T, axis=1))
            pairs += [(float(d), t, m) for m, d in enumerate(distance) if d <= self.config.gate]
        fed: list[tuple[int, int]] = []
        # Shown tracks choose first, so that a newborn does not take the point of an old one.
        for _, t, m in sorted(pairs, key=lambda pair: (not self.tracks[pair[1]].confirmed, *pair)):
            if all(t != other_t and m != other_m for other_t, other_m in fed):
                self._correct(self.tracks[t], measured[m])
                fed.append((t, m))
        return fed

    def _residual(self, measured: Array, expected: Array) -> Array:
        residual = measured - expected
        if np.isfinite(self.speed_span):
            residual[..., 1] -= self.speed_span * np.round(residual[..., 1] / self.speed_span)
        residual[..., 2] = np.angle(np.exp(1j * residual[..., 2]))
        return np.asarray(residual)

    def _correct(self, track: Track, measured: Array) -> None:
        expected, slope = measurement_of(track.state)
        spread = slope @ track.covariance @ slope.T + self._noise()
        gain = np.linalg.solve(spread, slope @ track.covariance).T
        keep = np.eye(6) - gain @ slope
        track.state = track.state + gain @ self._residual(measured, expected)
        # Joseph's form stays symmetric and positive.
        track.covariance = keep @ track.covariance @ keep.T + gain @ self._noise() @ gain.T

    def _age(self, seen: set[int]) -> None:
        """Counts hits and misses, shows tracks that were seen M of N times, and drops the lost."""
        c = self.config
        alive = []
        for t, track in enumerate(self.tracks):
            track.hits += t in seen
            track.misses = 0 if t in seen else track.misses + 1
            track.confirmed |= track.hits >= c.confirm_hits and track.bursts <= c.confirm_bursts
            can_still = track.hits + c.confirm_bursts - track.bursts >= c.confirm_hits
            if track.misses <= c.max_misses if track.confirmed else can_still:
                alive.append(track)
        self.tracks = alive

    def _perhaps_born(self, measurement: Array) -> None:
        distance, speed, azimuth, elevation = measurement
        c = self.config
        flat = np.cos(elevation)
        along = np.array([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)])
        place = distance * along
        near = (np.linalg.norm(track.state[:3] - place) < max(c.cluster_distance, SMALLEST) for track in self.tracks)
        if any(near):
            return
        radial, across = np.outer(along, along), np.eye(3) - np.outer(along, along)
        covariance = np.zeros((6, 6))
        covariance[:3, :3] = c.range_sd**2 * radial + (distance * c.angle_sd) ** 2 * across
        covariance[3:, 3:] = c.speed_sd**2 * radial + c.start_speed_sd**2 * across
        state = np.concatenate([place, speed * along])
        self.tracks.append(Track(self.next_number, state, covariance, confirmed=c.confirm_hits == 1))
        self.next_number += 1


def predicted(state: Array, covariance: Array, dt: float, acceleration_sd: float) -> tuple[Array, Array]:
    """`dt` s later, under an acceleration that is random but constant over `dt`."""
    step = np.eye(6)
    step[:3, 3:] = dt * np.eye(3)
    push = np.concatenate([0.5 * dt * dt * np.eye(3), dt * np.eye(3)])
    return step @ state, step @ covariance @ step.T + acceleration_sd**2 * push @ push.T


def measurement_of(state: Array) -> tuple[Array, Array]:
    """(4,) range, speed, azimuth and elevation of a state, and their (4, 6) derivatives."""
    p, v = state[:3], state[3:]
    distance = max(float(np.linalg.norm(p)), SMALLEST)
    level = max(float(np.hypot(p[0], p[1])), SMALLEST)
    along = p / distance
    speed = float(along @ v)
    slope = np.zeros((4, 6))
    slope[0, :3] = slope[1, 3:] = along
    slope[1, :3] = (v - speed * along) / distance
    slope[2, :2] = -p[1] / level**2, p[0] / level**2
    slope[3, :3] = np.array([-p[0] * p[2] / level, -p[1] * p[2] / level, level]) / distance**2
    angles = np.arctan2(p[1], p[0]), np.arctan2(p[2], level)
    return np.array([distance, speed, *angles]), slope


def clusters(detections: RadarDetections, distance: float) -> Array:
    """(n, 4) range, speed, azimuth, elevation: each strongest point with all within `distance` m, weighted by power."""
    columns = (detections.ranges, detections.speeds, detections.azimuths, detections.elevations)
    values = np.column_stack(columns)
    weight = 10.0 ** (detections.snr_db / 10.0)
    left = list(np.argsort(-weight, kind="stable"))
    merged = []
    while left:
        apart = np.linalg.norm(detections.points[left] - detections.points[left[0]], axis=1)
        members = [i for i, d in zip(left, apart, strict=True) if d <= distance]
        merged.append(np.average(values[members], axis=0, weights=weight[members]))
        left = [i for i in left if i not in members]
    return np.array(merged).reshape(-1, 4)
