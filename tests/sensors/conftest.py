from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from skyloop.core.frames import GeoPoint, LocalFrame
from skyloop_client.messages import Array, Kinematics


@dataclass
class FlatScene:
    """Level ground at `ground` m, seen by rays; a field that differs along every axis."""

    gravity: float = 9.80665
    local_frame: LocalFrame = field(default_factory=lambda: LocalFrame(GeoPoint(47.3, 8.5, 122.0)))
    magnetic_field_world: Array = field(default_factory=lambda: np.array([1.1e-6, 21.5e-6, -42.3e-6]))
    ground: float = 0.0

    def rays(self, origins: Array, directions: Array, max_range: float) -> Array:
        with np.errstate(divide="ignore"):
            distance = (self.ground - origins[:, 2]) / directions[:, 2]
        return np.where((distance >= 0.0) & (distance <= max_range), distance, np.inf)


@pytest.fixture
def scene() -> FlatScene:
    return FlatScene()


@pytest.fixture
def at_rest() -> Callable[..., Kinematics]:
    """Kinematics at rest at home, with whatever is given in its place."""

    def build(**changes: Any) -> Kinematics:
        level = np.array([1.0, 0.0, 0.0, 0.0])
        still = Kinematics(0, np.zeros(3), np.zeros(3), level, np.zeros(3), np.zeros(3), np.zeros(3))
        return replace(still, **{k: np.array(v) if k != "t_ns" else v for k, v in changes.items()})

    return build
