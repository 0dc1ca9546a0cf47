"""Where a vehicle was at the stamp of an image that arrives late."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import numpy as np
from numpy.typing import ArrayLike

from skyloop.core.frames import Transform, slerp

KEPT_NS = 5_000_000_000
"""Poses older than this are forgotten."""


class PoseHistory:
    """The poses of the last seconds, by their stamps."""

    def __init__(self, kept_ns: int = KEPT_NS) -> None:
        self._kept_ns = kept_ns
        self._stamps: list[int] = []
        self._poses: list[Transform] = []

    def add(self, t_ns: int, position: ArrayLike, quat_wxyz: ArrayLike) -> bool:
        """Enters world_from_body. A pose that is not finite is left out, and False is returned.

        A stamp that is already there gets the newer pose.
        """
        pose = Transform(np.array(position, float), np.array(quat_wxyz, float))
        if not (np.isfinite(pose.position).all() and np.isfinite(pose.quat_wxyz).all() and pose.quat_wxyz.any()):
            return False
        at = bisect_left(self._stamps, t_ns)
        if at < len(self._stamps) and self._stamps[at] == t_ns:
            self._poses[at] = pose
        else:
            self._stamps.insert(at, t_ns)
            self._poses.insert(at, pose)
        forgotten = bisect_left(self._stamps, self._stamps[-1] - self._kept_ns)
        del self._stamps[:forgotten], self._poses[:forgotten]
        return True

    def at(self, t_ns: int, widest_gap_ns: int = 200_000_000) -> Transform | None:
        """world_from_body at a stamp, between the pose before and the one after.

        None if one of them is not there (yet), or if they are more than widest_gap_ns apart: nothing is guessed.
        """
        after = bisect_left(self._stamps, t_ns)
        before = bisect_right(self._stamps, t_ns) - 1
        if before < 0 or after >= len(self._stamps):
            return None
        gap = self._stamps[after] - self._stamps[before]
        if gap == 0:
            return self._poses[before]
        if gap > widest_gap_ns:
            return None
        share = (t_ns - self._stamps[before]) / gap
        a, b = self._poses[before], self._poses[after]
        return Transform(a.position + share * (b.position - a.position), slerp(a.quat_wxyz, b.quat_wxyz, share))

    @property
    def newest_ns(self) -> int | None:
        return self._stamps[-1] if self._stamps else None
