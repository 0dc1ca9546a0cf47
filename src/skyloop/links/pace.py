"""Limits how fast simulated time passes in wall time while peers may send at any moment."""

from __future__ import annotations

import time

from skyloop_client.errors import LinkError
from skyloop_client.streams import NS_PER_S

LATE_S = 0.005
"""Wall s behind schedule from which an instant counts as missed."""
GIVE_UP_S = 1.0
"""Wall s behind schedule from which the lost time is not caught up, unless given otherwise."""


class Pace:
    """Allows at most `factor` simulated seconds per second of wall time. None means no limit.

    Time that was lost is caught up in a hurry, if it is less than `give_up_s` of wall time. Peers cannot send in that
    hurry, so it must be shorter than their timeouts."""

    def __init__(self, factor: float | None, *, give_up_s: float = GIVE_UP_S) -> None:
        if factor is not None and not 1e-3 <= factor <= 1e3:
            raise LinkError(f"pace {factor:g}: give 0.001 to 1000 simulated seconds per second")
        self.factor = factor
        self.give_up_s = give_up_s
        self.missed = 0
        self.worst_s = 0.0
        self._wall = 0.0
        self._t_ns: int | None = None

    def restart(self) -> None:
        """Start counting again, after a pause or a change of pace."""
        self._t_ns = None

    def left(self, t_ns: int, now_ns: int) -> float:
        """Wall s until `t_ns` may be reached. Negative when the schedule is late."""
        if self.factor is None:
            return 0.0
        if self._t_ns is None:
            self._wall, self._t_ns = time.perf_counter(), now_ns
        due = self._wall + (t_ns - self._t_ns) / NS_PER_S / self.factor
        return due - time.perf_counter()

    def reached(self, left: float) -> None:
        """Count an instant as missed if it was late. `left` is the value that `left()` returned for it."""
        if left >= -LATE_S or self.factor is None:
            return
        self.missed += 1
        self.worst_s = max(self.worst_s, -left)
        if -left > self.give_up_s:
            self._t_ns = None

    def now(self, low_ns: int, high_ns: int) -> int:
        """The simulated time that the schedule asks for at this moment, clipped to two instants."""
        if self.factor is None or self._t_ns is None:
            return low_ns
        passed = (time.perf_counter() - self._wall) * self.factor
        return min(max(self._t_ns + round(passed * NS_PER_S), low_ns), high_ns)
