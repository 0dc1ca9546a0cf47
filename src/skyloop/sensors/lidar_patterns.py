"""Scan patterns of a LiDAR: the directions and times of the firings of one sweep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyloop_client.messages import Array
from skyloop_client.streams import NS_PER_S

# The two prisms of a Livox Mid-40 turn at 7294 and -4664 rpm. The beam swings through the middle at half their sum,
# and the plane in which it swings turns at half their difference.
SWING_HZ = (7294 + 4664) / 2 / 60
TURN_HZ = (7294 - 4664) / 2 / 60


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """The firings of a sweep in order of time."""

    directions: NDArray[np.float32]
    """(n, 3) unit, sensor axes: forward, left, up."""
    rings: NDArray[np.uint16]
    """(n,) channel of each firing, 0 the lowest."""
    offsets_ns: NDArray[np.int64]
    """(n,) from the end of the sweep, negative."""
    turn_hz: float = 0.0
    """Turns per second about forward from one sweep to the next, so that a rosette never repeats."""

    def directions_at(self, t_ns: int) -> NDArray[np.float32]:
        """The directions of the sweep that ends at `t_ns`."""
        if self.turn_hz == 0.0:
            return self.directions
        angle = 2.0 * np.pi * (self.turn_hz * (t_ns / NS_PER_S) % 1.0)
        c, s = np.float32(np.cos(angle)), np.float32(np.sin(angle))
        turned = self.directions.copy()
        left, up = self.directions[:, 1], self.directions[:, 2]
        turned[:, 1], turned[:, 2] = c * left - s * up, s * left + c * up
        return turned


def elevations(channels: int, vertical_fov_deg: tuple[float, float]) -> Array:
    """(channels,) rad, evenly from the lowest to the highest; a single channel is in the middle."""
    lower, upper = np.radians(vertical_fov_deg)
    return np.linspace(lower, upper, channels) if channels > 1 else np.array([0.5 * (lower + upper)])


def spinning(
    channels: int,
    vertical_fov_deg: tuple[float, float],
    horizontal_fov_deg: tuple[float, float],
    points_per_second: float,
    sweep: float,
    staggered: bool,
) -> Pattern:
    """A head that turns once per sweep of `sweep` seconds, counter-clockwise, and fires a column of channels at a time.

    It fires `points_per_second` over the full circle. Firings outside the horizontal field are dropped, not moved into
    it.
    """
    start, end = np.radians(horizontal_fov_deg)
    columns = max(1, round(points_per_second * sweep / channels))
    column = np.repeat(np.arange(columns), channels)
    ring = np.tile(np.arange(channels), columns)
    turned = (column + (ring / channels if staggered else 0.0)) / columns
    kept = 2.0 * np.pi * turned <= end - start + 1e-9
    azimuth, elevation = start + 2.0 * np.pi * turned, elevations(channels, vertical_fov_deg)[ring]
    flat = np.cos(elevation)
    directions = np.stack([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)], 1)[kept]
    offsets = np.rint((turned[kept] - 1.0) * sweep * NS_PER_S)
    return Pattern(directions.astype(np.float32), ring[kept].astype(np.uint16), offsets.astype(np.int64))


def rosette(cone_deg: float, points_per_second: float, sweep: float) -> Pattern:
    """One beam that swings through the middle of a cone of `cone_deg` full width; the plane of its swing turns."""
    n = max(1, round(points_per_second * sweep))
    share = np.arange(n) / n
    # whole swings per sweep, so that the next sweep is this one turned
    swings = max(1, round(SWING_HZ * sweep))
    aside = 0.5 * np.radians(cone_deg) * np.cos(2.0 * np.pi * swings * share)
    # counted back from the end of the sweep, where `directions_at` adds the turn so far
    around = 2.0 * np.pi * TURN_HZ * sweep * (share - 1.0)
    directions = np.stack([np.cos(aside), np.sin(aside) * np.cos(around), np.sin(aside) * np.sin(around)], 1)
    offsets = np.rint((share - 1.0) * sweep * NS_PER_S)
    return Pattern(directions.astype(np.float32), np.zeros(n, np.uint16), offsets.astype(np.int64), TURN_HZ)
