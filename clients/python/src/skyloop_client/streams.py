"""The description of a stream: its name, its rate, and all that a reader of its data must know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

NS_PER_S = 1_000_000_000
"""Nanoseconds in a second."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate in samples per second as an exact fraction, so that due times never drift."""

    num: int
    den: int = 1

    @staticmethod
    def from_hz(hz: float | int | str) -> Rate:
        """Accepts 30, 29.97, "30000/1001"."""
        fraction = Fraction(str(hz))
        if fraction <= 0:
            raise ScenarioError(f"a rate must be positive, got {hz}")
        return Rate(fraction.numerator, fraction.denominator)

    def due_ns(self, index: int, t0_ns: int = 0) -> int:
        """The time of sample `index`. Floor division keeps every stamp on the same side of the exact time."""
        return t0_ns + index * NS_PER_S * self.den // self.num

    def count_until(self, t_ns: int, t0_ns: int = 0) -> int:
        """The number of samples due before `t_ns` (exclusive)."""
        if t_ns <= t0_ns:
            return 0
        index = (t_ns - t0_ns) * self.num // (NS_PER_S * self.den)
        while self.due_ns(index, t0_ns) < t_ns:
            index += 1
        while index > 0 and self.due_ns(index - 1, t0_ns) >= t_ns:
            index -= 1
        return index

    @property
    def hz(self) -> float:
        return self.num / self.den

    @property
    def period_s(self) -> float:
        return self.den / self.num


def _origin() -> Array:
    return np.zeros(3)


def _identity() -> Array:
    return np.array([1.0, 0.0, 0.0, 0.0])


@dataclass(frozen=True, slots=True, eq=False)
class Mount:
    """The mount of a sensor: body_from_sensor."""

    position: Array = field(default_factory=_origin)
    """(3,) m, body axes."""
    quat_wxyz: Array = field(default_factory=_identity)
    """(4,) body_from_sensor."""


@dataclass(frozen=True, slots=True, eq=False)
class StreamInfo:
    """Accompanies a stream everywhere: live, recorded, replayed, over a link."""

    name: str
    """For example "drone/imu" or "truth/drone"."""
    message: str
    """Name of the record class in `skyloop_client.messages`."""
    rate: Rate | None = None
    """None for streams without a fixed rate, such as events."""
    vehicle: str = ""
    """Name of the vehicle; empty for a stream of the world."""
    latency_ns: int = 0
    """ns from the instant a message describes to its arrival."""
    mount: Mount = field(default_factory=Mount)
    """Pose of the sensor on the vehicle, body axes."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Plain data: noise densities, intrinsics, class maps."""
