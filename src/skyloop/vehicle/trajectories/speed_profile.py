"""Motion along a path of known length, from rest to rest, smooth to the fourth derivative."""

from __future__ import annotations

import math
from typing import TypeAlias

from skyloop_client.errors import ScenarioError

Motion: TypeAlias = tuple[float, float, float, float, float]
"""Distance along the path and its first four time derivatives."""

PEAK_SLOPE = 35 / 16
"""The steepest slope of the septic smoothstep 35x⁴ - 84x⁵ + 70x⁶ - 20x⁷, at x = 1/2."""


class SpeedProfile:
    """A septic speed ramp up, a cruise, and the mirrored ramp down. A path too short for `speed` is flown slower."""

    def __init__(self, length: float, speed: float, acceleration: float) -> None:
        for name, value in (("length", length), ("speed", speed), ("acceleration", acceleration)):
            if not (math.isfinite(value) and value > 0):
                raise ScenarioError(f"a trajectory's {name} must be positive and finite, got {value}")
        self.length = length
        # Both ramps together cover the distance speed * ramp.
        self.speed = min(speed, math.sqrt(length * acceleration / PEAK_SLOPE))
        self.ramp = PEAK_SLOPE * self.speed / acceleration
        self.duration = self.ramp + length / self.speed

    def at(self, t: float) -> Motion:
        """The motion at `t`. Before 0 it is at rest at the start, after `duration` at rest at the end."""
        if t < self.ramp:
            return self._ramp_up(max(t, 0.0))
        remaining = self.duration - t
        if remaining < self.ramp:
            s, v, a, j, snap = self._ramp_up(max(remaining, 0.0))
            return self.length - s, v, -a, j, -snap
        return self.speed * (t - self.ramp / 2), self.speed, 0.0, 0.0, 0.0

    def _ramp_up(self, t: float) -> Motion:
        v, ramp = self.speed, self.ramp
        x = t / ramp
        q = x * (1 - x)
        x4 = x**4
        return (
            v * ramp * x4 * x * (7 + x * (-14 + x * (10 - 2.5 * x))),
            v * x4 * (35 + x * (-84 + x * (70 - 20 * x))),
            v / ramp * 140 * q**3,
            v / ramp**2 * 420 * q * q * (1 - 2 * x),
            v / ramp**3 * 840 * q * (1 - 5 * q),
        )
