"""Results of the two checks of depth noise in front of one wall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skyloop.world.materials import MATERIAL_ID, MATERIALS
from skyloop_client.messages import Array
from skyloop_papers.depth_noise.fits import Laws, fit_laws, kim_sigma, r_squared
from skyloop_papers.depth_noise.walls import MATERIAL_NAMES

GROWTH = {name: MATERIALS[MATERIAL_ID[name]].depth_noise for name in MATERIAL_NAMES}
"""1/m, from Table 1."""
DISTANCES = np.round(0.5 + 0.01 * np.arange(751), 2)
"""m, section 2.2."""
PUBLISHED_R2 = {"plastic": 0.26049, "cement": 0.7126, "formboard": 0.5438}
"""Table 1: a real D435 against eq. (4)."""
PUBLISHED_MEAN_R2 = {3.0: 0.92, 6.0: 0.73, 8.0: 0.6204}
"""Mean of the three materials from 0.5 m to this distance in m."""
PUBLISHED_TIME = 12.1
"""ms."""
PUBLISHED_ZEROS = 0.01
RENDER_EVERY = 10
"""Only every so many positions are rendered. In between, the image gets the new distance."""
STEREO_DISTANCES = np.arange(0.5, 8.1, 0.25)
QUICK_STEREO_DISTANCES = np.array([0.5, 1.25, 2.0, 2.75, 3.5, 5.0, 6.5, 8.0])


@dataclass(frozen=True, slots=True, eq=False)
class SelfCheck:
    """Results of our depth camera in front of one wall."""

    material: str
    distance: Array
    sigma: Array
    """m, standard deviation of the errors of each image."""
    zeros: Array
    """Share of pixels without a value."""
    render_error: float
    """m, the largest error of any rendered pixel."""
    rendered: int


@dataclass(frozen=True, slots=True, eq=False)
class StereoCheck:
    """Results of the synthetic IR pair in front of one wall."""

    material: str
    distance: Array
    sigma: Array
    """m, standard deviation of the errors of each image, including mismatches."""
    core: Array
    """m, without mismatches."""
    filled: Array
    """Share of pixels with a match."""

    @property
    def laws(self) -> Laws:
        return fit_laws(self.distance, self.sigma)

    @property
    def core_laws(self) -> Laws:
        """Fitted where most pixels match. Farther away there is no core."""
        return fit_laws(self.distance[self.has_core], self.core[self.has_core])

    @property
    def has_core(self) -> Any:
        return self.filled >= 0.5

    def r2_of_table_1(self, farthest: float) -> float:
        """R² of eq. (4) with the published m as a prediction of this σ."""
        near = self.distance <= farthest + 1e-9
        return r_squared(self.sigma[near], kim_sigma(GROWTH[self.material], self.distance[near]))
