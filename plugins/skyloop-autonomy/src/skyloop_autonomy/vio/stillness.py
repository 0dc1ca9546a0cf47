"""Whether the vehicle rests, by the IMU and the images together, and whether a pair is worth a step of the filter.

A hover is as calm as the ground to an IMU; only the images tell them apart. While hardly anything moves in the images,
their errors repeat from pair to pair, so most of those pairs are left out: taken as independent they would make the
filter far too sure of itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skyloop_autonomy.vio.calibration import ImuModel
from skyloop_autonomy.vio.samples import SampleBuffer
from skyloop_autonomy.vio.settings import VioSettings
from skyloop_autonomy.vio.starting import is_still, rest_limits
from skyloop_autonomy.vio.tracking import Tracks

_NEARLY_ALL = 0.9
_FEWEST = 10
"""Corners in common below which nothing is concluded from their motion."""
_NEAR = 0.15
"""1/m. Nearer corners decide, if there are enough: clouds drift over a vehicle at rest, and in a steady flight they
stand still."""


class _Reference:
    """Where the corners were at an earlier instant."""

    def __init__(self, t_ns: int, tracks: Tracks) -> None:
        self.t_ns = t_ns
        self.ids: NDArray[np.int64] = tracks.ids.copy()
        self.pixels = tracks.pixels.copy()

    def motion_px(self, tracks: Tracks, share: float = 0.5) -> float:
        """The motion since, which this share of the corners does not exceed; infinite if too few are left."""
        _, mine, theirs = np.intersect1d(self.ids, tracks.ids, assume_unique=True, return_indices=True)
        if len(mine) < _FEWEST:
            return float("inf")
        moved = np.linalg.norm(self.pixels[mine] - tracks.pixels[theirs], axis=1)
        near = tracks.inverse_depths[theirs] > _NEAR
        return float(np.quantile(moved[near] if near.sum() >= _FEWEST else moved, share))


class Stillness:
    def __init__(self, settings: VioSettings, imu: ImuModel) -> None:
        self._settings = settings
        self._limits = rest_limits(settings, imu)
        self._still: _Reference | None = None
        """Since when the corners have stayed where they were."""
        self._stepped: _Reference | None = None
        """At the filter's last step."""
        self._motion_px = float("inf")

    def see(self, t_ns: int, tracks: Tracks) -> None:
        # not half of the corners but nearly all: without near ones, most of a view may be far and stand still in flight
        if self._still is None or self._still.motion_px(tracks, _NEARLY_ALL) > self._settings.rest_px:
            self._still = _Reference(t_ns, tracks)
        self._motion_px = float("inf") if self._stepped is None else self._stepped.motion_px(tracks)

    def is_worth_a_step(self, t_ns: int) -> bool:
        s = self._settings
        if self._stepped is None or self._motion_px >= s.step_px:
            return True
        return (t_ns - self._stepped.t_ns) * 1e-9 >= s.step_time

    def images_rest(self, t_ns: int) -> bool:
        """Whether nothing has moved in the images for `rest_time`, or nearly."""
        return self._still is not None and (t_ns - self._still.t_ns) * 1e-9 >= 0.8 * self._settings.rest_time

    def rests(self, t_ns: int, samples: SampleBuffer) -> bool:
        return self.images_rest(t_ns) and samples.covers_rest() and is_still(samples.recent(), self._limits)

    def stepped(self, t_ns: int, tracks: Tracks) -> None:
        self._stepped = _Reference(t_ns, tracks)
