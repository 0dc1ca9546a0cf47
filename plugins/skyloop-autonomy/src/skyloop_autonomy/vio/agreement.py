"""Do images and IMU agree? Two tests over the last second, and whether the estimate is valid."""

from __future__ import annotations

import math

import numpy as np

from skyloop_autonomy.vio.backend import Backend
from skyloop_autonomy.vio.settings import VioSettings
from skyloop_autonomy.vio.update_kernels import gate_limit
from skyloop_client.messages import Array

_S = 1e-9
_WITHIN_S = 1.0
_SIGMAS = 5.0
"""What normal errors exceed once in three million seconds."""
CONTRADICTION = "the images contradict the IMU"


class EstimateCheck:
    """Each step of the filter is evidence. Over a second, two things must hold:

    - The corrections are as large as the filter expects: the sum of their squared sizes, in the sigmas that are
      published, is below the limit of χ². The filter's own sigmas are smaller than its errors where corners keep an
      error for many pairs, as in a warehouse. One step counts at most as much as a single one may, because one blow is
      no disagreement.
    - More corners fit than not, of those that the filter tests."""

    def __init__(self, settings: VioSettings) -> None:
        self._settings = settings
        self._seen_ns = 0
        """The last instant at which enough corners fitted, or at rest."""
        self._evidence: list[tuple[int, float, float, int, int]] = []
        """ns, size of the corrections and its degrees of freedom, corners that fitted and that did not."""
        self._against_ns: int | None = None
        """The last instant at which images and IMU disagreed."""

    def begin(self, t_ns: int) -> None:
        self._seen_ns, self._evidence, self._against_ns = t_ns, [], None

    def rested(self, t_ns: int, surprise: Array) -> float:
        self._seen_ns = t_ns
        return self._weighed(t_ns, surprise, 0, 0)

    def looked(self, t_ns: int, surprise: Array, backend: Backend) -> float:
        """Takes note of a step. Returns for how many s images and IMU have disagreed; 0: they agree."""
        if backend.taken >= self._settings.fewest:
            self._seen_ns = t_ns
        taken, refused = backend.taken + backend.tracks_taken, backend.refused + backend.tracks_refused
        return self._weighed(t_ns, surprise, taken, refused)

    def _weighed(self, t_ns: int, surprise: Array, taken: int, refused: int) -> float:
        size, freedom = surprise.tolist()
        size = min(size / self._settings.sigma_scale**2, gate_limit(freedom, _SIGMAS)) if freedom else 0.0
        begin_ns = t_ns - round(_WITHIN_S / _S)
        self._evidence = [each for each in self._evidence if each[0] > begin_ns]
        self._evidence.append((t_ns, size, freedom, taken, refused))
        _, size, freedom, taken, refused = np.sum(self._evidence, axis=0).tolist()
        surprised = freedom > 0 and size > gate_limit(freedom, _SIGMAS)
        if not surprised and not (refused > taken and refused >= self._settings.fewest):
            return 0.0
        since_ns = begin_ns if self._against_ns is None or not self._in_doubt(t_ns) else self._against_ns
        self._against_ns, self._evidence = t_ns, []
        return (t_ns - since_ns) * _S

    def _in_doubt(self, t_ns: int) -> bool:
        return self._against_ns is not None and (t_ns - self._against_ns) * _S < self._settings.blind_time

    def reason(self, t_ns: int, covariance: Array) -> str:
        """Why the estimate with this covariance (position, velocity, attitude, ...) is not valid; empty if it is."""
        s = self._settings
        if self._in_doubt(t_ns):
            return CONTRADICTION
        blind = (t_ns - self._seen_ns) * _S
        if blind > s.blind_time:
            return f"sees too few corners for {math.floor(blind)} s"
        # what comes from the heading alone turns the whole flight and does no harm to control
        by_heading = covariance[3:6, 8] ** 2 / max(covariance[8, 8], 1e-12)
        if (covariance.diagonal()[3:6] - by_heading).max() > s.valid_speed_sd**2:
            return "the velocity is too uncertain"
        if max(covariance[6, 6], covariance[7, 7]) > s.valid_tilt_sd**2:
            return "the tilt is too uncertain"
        return ""
