"""Whether an estimate is valid, and why not."""

from __future__ import annotations

import math

from skyloop_autonomy.vio.backend import Backend
from skyloop_autonomy.vio.settings import VioSettings
from skyloop_client.messages import Array

_CONTRADICTIONS = 8
"""Steps in a row in which most points were refused, after which the window is thrown away."""


class Judge:
    def __init__(self, settings: VioSettings) -> None:
        self._settings = settings
        self._seen_ns = 0
        """The last instant at which enough corners fitted, or at rest."""
        self._contradictions = 0
        self._blind = "sees too few corners"

    def begin(self, t_ns: int) -> None:
        self._seen_ns = t_ns

    def rested(self, t_ns: int) -> None:
        self._seen_ns = t_ns
        self._contradictions = 0

    def looked(self, t_ns: int, backend: Backend) -> bool:
        """Takes note of a step; True if the window contradicts the images for so long that it must go."""
        if backend.taken >= self._settings.fewest:
            self._seen_ns = t_ns
        against = backend.refused > backend.taken and backend.refused >= self._settings.fewest
        self._contradictions = self._contradictions + 1 if against else 0
        self._blind = "the images contradict the IMU" if against else "sees too few corners"
        if self._contradictions < _CONTRADICTIONS:
            return False
        self._contradictions = 0
        return True

    def reason(self, t_ns: int, covariance: Array) -> str:
        """Why the estimate with this covariance (position, velocity, attitude, ...) is not valid; empty if it is."""
        s = self._settings
        blind = (t_ns - self._seen_ns) * 1e-9
        if blind > s.blind_time:
            return f"{self._blind} for {math.floor(blind)} s"
        # what comes from the heading alone turns the whole flight and does no harm to control
        by_heading = covariance[3:6, 8] ** 2 / max(covariance[8, 8], 1e-12)
        if (covariance.diagonal()[3:6] - by_heading).max() > s.valid_speed_sd**2:
            return "the velocity is too uncertain"
        if max(covariance[6, 6], covariance[7, 7]) > s.valid_tilt_sd**2:
            return "the tilt is too uncertain"
        return ""
