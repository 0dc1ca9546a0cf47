"""Body measures of adults: statures, segment lengths and girths.

Lengths are shares of stature after Drillis and Contini (1966), as tabulated in Winter's Biomechanics. Statures, girths
and their slope over body-mass index are rounded from the means of the ANSUR II survey.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

STATURE: Final = {"male": (1.755, 0.071), "female": (1.62, 0.065)}
"""m: mean and standard deviation."""
BMI: Final = (18.5, 22.0, 26.0, 31.0)
"""kg/m², the body-mass indices for which bodies are made."""

HEIGHT: Final = {
    "ankle": 0.039,
    "knee": 0.285,
    "crotch": 0.470,
    "hip": 0.530,
    "lumbar": 0.590,
    "waist": 0.620,
    "chest": 0.722,
    "shoulder": 0.818,
    "neck": 0.845,
    "chin": 0.870,
}
"""Heights above the (bare) sole, as shares of stature."""
LENGTH: Final = {
    "upper arm": 0.186,
    "forearm": 0.146,
    "hand": 0.108,
    "thigh": HEIGHT["hip"] - HEIGHT["knee"],
    "shank": HEIGHT["knee"] - HEIGHT["ankle"],
    "foot": 0.152,
    "head": 1.0 - HEIGHT["chin"],
}
"""Segment lengths as shares of stature."""
SHOULDER_HALF: Final = {"male": 0.105, "female": 0.099}
HIP_HALF: Final = {"male": 0.050, "female": 0.054}
"""Distances of joint centres from the middle plane, as shares of stature."""
SOLE: Final = 0.022
"""m, the thickness of a shoe's sole."""

# girth in m at a body-mass index of 25, and its growth in m per unit of the index, at the mean stature
_GIRTH: Final = {
    "male": {
        "neck": (0.380, 0.006), "chest": (1.000, 0.021), "waist": (0.880, 0.026), "hip": (0.995, 0.018),
        "thigh": (0.575, 0.014), "knee": (0.385, 0.006), "calf": (0.378, 0.007), "ankle": (0.228, 0.002),
        "upper arm": (0.322, 0.009), "forearm": (0.285, 0.005), "wrist": (0.173, 0.001),
    },
    "female": {
        "neck": (0.328, 0.004), "chest": (0.935, 0.020), "waist": (0.800, 0.025), "hip": (1.005, 0.020),
        "thigh": (0.585, 0.015), "knee": (0.375, 0.007), "calf": (0.365, 0.008), "ankle": (0.216, 0.002),
        "upper arm": (0.288, 0.009), "forearm": (0.248, 0.005), "wrist": (0.153, 0.001),
    },
}  # fmt: skip


@dataclass(frozen=True)
class Build:
    """A body at the mean stature of its sex; a person is a scaled build."""

    sex: str
    bmi: float

    @property
    def stature(self) -> float:
        return STATURE[self.sex][0]

    def length(self, segment: str) -> float:
        return LENGTH[segment] * self.stature

    def height(self, landmark: str) -> float:
        return HEIGHT[landmark] * self.stature

    def girth(self, position: str) -> float:
        middle, slope = _GIRTH[self.sex][position]
        return middle + slope * (self.bmi - 25.0)

    def radius(self, position: str) -> float:
        """m, the radius of a circle with that girth."""
        return self.girth(position) / (2.0 * np.pi)

    @property
    def ankle(self) -> float:
        """m from the ankle joint to the ground, in shoes."""
        return self.height("ankle") + SOLE

    def joints(self) -> dict[str, NDArray[np.float64]]:
        """m from the ground between the feet (x forward, y left); for a pair, the left one."""
        shoulder, hip = SHOULDER_HALF[self.sex] * self.stature, HIP_HALF[self.sex] * self.stature
        return {
            "hip": np.array([0.0, hip, self.height("hip") + SOLE]),
            "lumbar": np.array([-0.01, 0.0, self.height("lumbar") + SOLE]),
            "shoulder": np.array([-0.015, shoulder, self.height("shoulder") + SOLE]),
            "neck": np.array([-0.02, 0.0, self.height("neck") + SOLE]),
        }
