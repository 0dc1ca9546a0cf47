"""Execution time (ET): how long the software under test has run, on the time line of the simulator."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress

from skyloop_client.errors import LinkError

Source = Callable[[], int]
"""Gives ns that pass while the software computes."""
WORTH_ASKING_NS = 1_000_000


def source_of(clock: str, speed: float) -> Source:
    """`wall`, as on a real board, or `cpu`: processor time of this process on a machine `speed` times as fast."""
    if not 1e-4 <= speed <= 1e3:
        raise LinkError(f"speed {speed:g}: give 0.0001 to 1000, 1 being this machine")
    if clock == "cpu":
        return lambda: round(time.process_time_ns() / speed)
    if clock != "wall":
        raise LinkError(f"no clock named '{clock}'; give wall or cpu")
    if speed != 1.0:
        raise LinkError("a speed factor needs the clock 'cpu'; the wall clock runs as it runs")
    return time.perf_counter_ns


class ExecutionTime:
    """Set by each answer. It runs while the software computes and stands still otherwise."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._et_ns = 0
        self._went_on: int | None = None
        self._sleep = SleepWatch()

    def now(self) -> int:
        # another thread may ask while an answer or a question changes both
        went_on, et_ns = self._went_on, self._et_ns
        return et_ns if went_on is None else et_ns + self._source() - went_on

    def stop(self) -> tuple[int, int]:
        """ET now, and the undeclared sleep in it."""
        self._et_ns, self._went_on = self.now(), None
        return self._et_ns, self._sleep.slept()

    def go(self, et_ns: int) -> None:
        self._sleep.begin()
        self._et_ns, self._went_on = et_ns, self._source()


class SleepWatch:
    """Distinguishes sleep from work and from waiting for a core, if the system supports it (Linux)."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self._began, self._wall_ns = self._mark(), time.perf_counter_ns()

    def slept(self) -> int:
        """ns since `begin`. Short sleeps are ignored, because the query costs more."""
        if time.perf_counter_ns() - self._wall_ns < WORTH_ASKING_NS:
            return 0
        return max(0, self._mark() - self._began)

    @staticmethod
    def _mark() -> int:
        """Wall time minus the time in which this thread ran or waited for a core."""
        with suppress(OSError, ValueError):
            file = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
            try:
                _, delay, _ = map(int, os.read(file, 100).split())
            finally:
                os.close(file)
            return time.perf_counter_ns() - time.thread_time_ns() - delay
        return 0
