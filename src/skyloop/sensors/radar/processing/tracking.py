"""Tracks targets from burst to burst, each with a Kalman filter of constant velocity in sensor axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyloop.core.tracking import assigned, constant_velocity, kalman_gain
from skyloop.sensors.radar.processing.config import TrackingConfig
from skyloop_client.messages import Array, RadarDetections
from skyloop_client.streams import NS_PER_S

SMALLEST = 1e-6
"""m. It keeps the derivative of the angles finite for a target at the origin or straight above."""


@dataclass(slots=True, eq=False)
class Track:
    number: int
    state: Array
    """(6,) position m and velocity m/s, sensor axes."""
    covariance: Array
    """(6, 6)."""
    bursts: int = 1
    """Bursts since the track began, the first one included."""
    hits: int = 1
    misses: int = 0
    """Bursts in a row without a detection."""
    confirmed: bool = False


class Tracker:
    """All state is in plain attributes: a copy of them is a snapshot."""

    def __init__(self, config: TrackingConfig | None = None, speed_span: float = np.inf) -> None:
        """`speed_span`: m/s after which measured speeds repeat."""
        self.config = config or TrackingConfig()
        self.speed_span = speed_span
        self.tracks: list[Track] = []
        self.next_number = 1
        self.t_ns: int | None = None

    def update(self, detections: RadarDetections) -> list[Track]:
        """Predicts all tracks to the burst's time, updates them with its points, and returns the confirmed ones."""
        dt = 0.0 if self.t_ns is None else (detections.t_ns - self.t_ns) / NS_PER_S
        self.t_ns = detections.t_ns
        measured = np.array([row for _, row in clusters(detections, self.config.cluster_distance)]).reshape(-1, 4)
        if self.tracks:
            states = np.stack([track.state for track in self.tracks])
            covariances = np.stack([track.covariance for track in self.tracks])
            states, covariances = predicted(states, covariances, dt, self.config.acceleration_sd)
            for track, state, covariance in zip(self.tracks, states, covariances, strict=True):
                track.state, track.covariance, track.bursts = state, covariance, track.bursts + 1
            fed = self._fed(states, covariances, measured)
        else:
            fed = {}
        self._age(set(fed))
        for i, measurement in enumerate(measured):
            if i not in fed.values():
                self._perhaps_born(measurement)
        return [track for track in self.tracks if track.confirmed]

    def _fed(self, states: Array, covariances: Array, measured: Array) -> dict[int, int]:
        """Assigns measurements to tracks, the nearest pair first, and updates those tracks."""
        c = self.config
        noise = np.diag(np.array([c.range_sd, c.speed_sd, c.angle_sd, c.angle_sd]) ** 2)
        expected, slopes = measurement_of(states)
        spreads = slopes @ covariances @ slopes.transpose(0, 2, 1) + noise
        residuals = self._residuals(measured[None] - expected[:, None])
        weighted = np.linalg.solve(spreads, residuals.transpose(0, 2, 1)).transpose(0, 2, 1)
        distances = np.sqrt(np.sum(residuals * weighted, axis=2))
        pairs = [(float(distances[t, m]), int(t), int(m)) for t, m in np.argwhere(distances <= c.gate)]
        # Confirmed tracks choose first, so that a new track does not take the point of an old one.
        pairs.sort(key=lambda pair: (not self.tracks[pair[1]].confirmed, *pair))
        fed = assigned((t, m) for _, t, m in pairs)
        for t, m in fed.items():
            gain = kalman_gain(spreads[t], slopes[t], covariances[t])
            keep = np.eye(6) - gain @ slopes[t]
            self.tracks[t].state = states[t] + gain @ residuals[t, m]
            # Joseph's form keeps the covariance symmetric and positive.
            self.tracks[t].covariance = keep @ covariances[t] @ keep.T + gain @ noise @ gain.T
        return fed

    def _residuals(self, difference: Array) -> Array:
        if np.isfinite(self.speed_span):
            difference[..., 1] -= self.speed_span * np.round(difference[..., 1] / self.speed_span)
        difference[..., 2] = (difference[..., 2] + np.pi) % (2.0 * np.pi) - np.pi
        return difference

    def _age(self, seen: set[int]) -> None:
        """Counts hits and misses, confirms tracks that were seen M of N times, and drops lost tracks."""
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


def predicted(states: Array, covariances: Array, dt: float, acceleration_sd: float) -> tuple[Array, Array]:
    """(n, 6) and (n, 6, 6) `dt` s later, with an acceleration that is random but constant over `dt`."""
    step = constant_velocity(dt)
    push = np.concatenate([0.5 * dt * dt * np.eye(3), dt * np.eye(3)])
    return states @ step.T, step @ covariances @ step.T + acceleration_sd**2 * push @ push.T


def measurement_of(states: Array) -> tuple[Array, Array]:
    """(n, 4) range, speed, azimuth and elevation of (n, 6) states, and their (n, 4, 6) derivatives."""
    p, v = states[:, :3], states[:, 3:]
    distance = np.maximum(np.linalg.norm(p, axis=1, keepdims=True), SMALLEST)
    level = np.maximum(np.hypot(p[:, :1], p[:, 1:2]), SMALLEST)
    along = p / distance
    speed = np.sum(along * v, axis=1, keepdims=True)
    slopes = np.zeros((len(states), 4, 6))
    slopes[:, 0, :3] = slopes[:, 1, 3:] = along
    slopes[:, 1, :3] = (v - speed * along) / distance
    slopes[:, 2, :2] = np.column_stack([-p[:, 1], p[:, 0]]) / level**2
    slopes[:, 3, :3] = np.column_stack([-p[:, :2] * p[:, 2:] / level, level]) / distance**2
    azimuth, elevation = np.arctan2(p[:, 1], p[:, 0]), np.arctan2(p[:, 2], level[:, 0])
    return np.column_stack([distance, speed, azimuth, elevation]), slopes


def clusters(
    detections: RadarDetections, distance: float, chosen: NDArray[np.intp] | None = None
) -> list[tuple[int, Array]]:
    """Each strongest point with all within `distance` m of it: its index, and the mean range, speed, azimuth and
    elevation (4,), weighted by power. Points that are not `chosen` are left out."""
    columns = (detections.ranges, detections.speeds, detections.azimuths, detections.elevations)
    values = np.column_stack(columns)
    weight = 10.0 ** (detections.snr_db / 10.0)
    left = np.arange(len(weight)) if chosen is None else chosen
    left = left[np.argsort(-weight[left], kind="stable")]
    merged = []
    while len(left):
        near = np.linalg.norm(detections.points[left] - detections.points[left[0]], axis=1) <= distance
        members = left[near]
        merged.append((int(left[0]), weight[members] @ values[members] / weight[members].sum()))
        left = left[~near]
    return merged
