"""Prediction errors of both drag models, and the figures of the paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skyloop_client.messages import Array
from skyloop_papers.drag.flights import Flight, Truth
from skyloop_papers.drag.models import LinearDrag, RotorDrag

Models = dict[str, dict[str, LinearDrag | RotorDrag]]
"""By kind of measurement and name."""
PUBLISHED_RMSE = {(5.0, "linear"): 0.57, (5.0, "rotor"): 0.64, (10.0, "linear"): 1.48, (10.0, "rotor"): 0.98}
"""Table 2, m/s²."""
PUBLISHED_RATIO_AT_26 = 7.3
PUBLISHED_MEAN_RATIO = 4.58


@dataclass(frozen=True, slots=True)
class Score:
    """The errors on one flight in one truth."""

    flight: Flight
    samples: int
    mean_speed: float
    largest_tilt_deg: float
    errors: dict[str, dict[str, Array]]
    """(3,) m/s² along the body axes, by kind of measurement and model."""

    def rmse(self, force: str, model: str) -> float:
        """√mean|Δa|², m/s²: eq. (16) with the mean and the root it lacks."""
        return float(np.linalg.norm(self.errors[force][model]))

    def ratio(self, force: str) -> float:
        return self.rmse(force, "linear") / self.rmse(force, "rotor")


@dataclass(frozen=True, slots=True)
class TruthTrial:
    """All flights in one truth, and the models identified there."""

    truth: Truth
    models: Models
    scores: tuple[Score, ...]

    def of(self, table: str) -> list[Score]:
        return [score for score in self.scores if score.flight.table == table]

    def mean_ratio(self, force: str) -> float:
        return float(np.mean([score.ratio(force) for score in self.of("Fig. 16")]))
