"""Whether an estimator's covariance tells how large its errors are: the normalised estimation error squared (NEES)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skyloop.core.frames import quat_conjugate, quat_multiply, rotvec_from_quat
from skyloop_client.messages import Array

STATES = 9
"""Position, velocity, attitude: the first nine of an `Estimate`'s covariance."""


@dataclass(frozen=True, slots=True)
class Band:
    low: float
    high: float

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


def state_errors(truth: Sequence[Array], estimate: Sequence[Array]) -> Array:
    """(n, 9) estimate minus truth; each is position (n, 3), velocity (n, 3), quat_wxyz (n, 4).

    The attitude error is a rotation vector in world axes, as `Estimate.attitude_sd` has it."""
    turn = rotvec_from_quat(quat_multiply(estimate[2], quat_conjugate(truth[2])))
    return np.concatenate([estimate[0] - truth[0], estimate[1] - truth[1], turn], axis=1)


def nees(errors: Array, covariances: Array) -> Array:
    """(n,) of n errors (n, k) with their covariances (n, k, k). Its mean is k if the covariances are right."""
    return np.asarray(np.einsum("ni,ni->n", errors, np.linalg.solve(covariances, errors[..., None])[..., 0]))


def band(runs: int, states: int = STATES, share: float = 0.95) -> Band:
    """Where the mean NEES over so many runs at one instant lies with this probability."""
    from scipy.stats import chi2

    tail = 0.5 * (1.0 - share)
    low, high = chi2.ppf([tail, 1.0 - tail], runs * states) / runs
    return Band(float(low), float(high))
