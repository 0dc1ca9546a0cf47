"""The IMU samples that the filter has yet to use, and those of the last moments."""

from __future__ import annotations

import numpy as np

from skyloop_autonomy.vio.settings import VioSettings
from skyloop_client.messages import Array

_S = 1e-9
_MOST = np.array([100.0] * 3 + [1000.0] * 3)
"""rad/s and m/s²: no IMU of a small vehicle has such a range, 35 rad/s and 160 m/s² are usual."""


class SampleBuffer:
    def __init__(self, settings: VioSettings) -> None:
        self._settings = settings
        self._stamps: list[int] = []
        self._values: list[Array] = []
        self._recent: list[tuple[int, Array]] = []
        """Those of the last `rest_time`."""
        self.behind = 0
        """Samples in a row that were not newer than the newest."""

    @property
    def newest_ns(self) -> int:
        return self._stamps[-1] if self._stamps else -1

    @property
    def newest(self) -> Array:
        return self._values[-1]

    def add(self, t_ns: int, sample: Array) -> bool:
        """False for a sample out of order, or one that no IMU can have measured."""
        if t_ns <= self.newest_ns:
            self.behind += 1
            return False
        # a comparison with NaN is false
        if sample.shape != (6,) or not (np.abs(sample) < _MOST).all():
            return False
        self.behind = 0
        self._stamps.append(t_ns)
        self._values.append(sample)
        self._recent.append((t_ns, sample))
        while self._recent[0][0] < t_ns - self._settings.rest_time / _S:
            self._recent.pop(0)
        return True

    def newest_two(self) -> Array:
        """(2, 7) s, gyro, accelerometer."""
        start = self._stamps[-2]
        return np.array([[(t - start) * _S, *v] for t, v in zip(self._stamps[-2:], self._values[-2:], strict=True)])

    def between(self, start_ns: int, end_ns: int) -> Array:
        """(n, 7) samples with s from `start_ns` to `end_ns`; the values at both ends are interpolated."""
        stamps = np.array([t - start_ns for t in self._stamps], np.float64) * _S
        values = np.array(self._values)
        end = (end_ns - start_ns) * _S
        inner = (stamps > 0.0) & (stamps < end)
        times = np.concatenate([[0.0], stamps[inner], [end]])
        first, last = (_interpolated(t, stamps, values) for t in (0.0, end))
        return np.column_stack([times, np.vstack([first, values[inner], last])])

    def gap_noise(self, start_ns: int, end_ns: int) -> tuple[float, float]:
        """Variance of turn (rad²) and of velocity ((m/s)²) that gaps and jumps between samples add."""
        turn = speed = 0.0
        for k in range(len(self._stamps) - 1):
            shared = (min(self._stamps[k + 1], end_ns) - max(self._stamps[k], start_ns)) * _S
            if shared > 0.0:
                more = self._unseen(k, shared)
                turn, speed = turn + more[0], speed + more[1]
        return turn, speed

    def newest_gap_noise(self) -> tuple[float, float]:
        """The same of the newest two samples."""
        k = len(self._stamps) - 2
        return self._unseen(k, (self._stamps[k + 1] - self._stamps[k]) * _S)

    def _unseen(self, k: int, seconds: float) -> tuple[float, float]:
        """What may have gone unseen in so many seconds between sample k and the next."""
        s = self._settings
        turn = speed = 0.0
        if (self._stamps[k + 1] - self._stamps[k]) * _S > s.imu_gap:
            turn, speed = (s.imu_gap_rate_sd * seconds) ** 2, (s.imu_gap_accel_sd * seconds) ** 2
        # a blow, such as touching down: when between the two samples it came is not known
        jump = np.abs(self._values[k + 1] - self._values[k])
        rate, force = float(jump[:3].max()), float(jump[3:].max())
        if rate > s.imu_jump_rate:
            turn += (rate * seconds) ** 2
        if force > s.imu_jump_accel:
            speed += (force * seconds) ** 2
        return turn, speed

    def forget_before(self, t_ns: int) -> None:
        """Keeps the last sample at or before `t_ns`, from which the next step begins."""
        while len(self._stamps) > 1 and self._stamps[1] <= t_ns:
            del self._stamps[0], self._values[0]

    def recent(self) -> Array:
        """(n, 6) of the last `rest_time`."""
        return np.array([value for _, value in self._recent])

    def covers_rest(self) -> bool:
        """Whether the recent samples span `rest_time`, or nearly."""
        span = (self._recent[-1][0] - self._recent[0][0]) * _S if self._recent else 0.0
        return span > 0.9 * self._settings.rest_time

    def mean_gyro(self, t_ns: int) -> Array:
        return np.asarray(np.mean([value[:3] for stamp, value in self._recent if stamp <= t_ns], axis=0))


def _interpolated(t: float, stamps: Array, values: Array) -> Array:
    at = int(np.searchsorted(stamps, t))
    if at <= 0:
        return np.asarray(values[0])
    if at >= len(stamps):
        return np.asarray(values[-1])
    share = (t - stamps[at - 1]) / (stamps[at] - stamps[at - 1])
    return np.asarray((1.0 - share) * values[at - 1] + share * values[at])
