"""A vehicle as simple as can be above a marker, to try the landing control without a simulator."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skyloop_landing.vision.control import (
    GIVEN_UP,
    LAND,
    STAGES,
    LandingCommand,
    LandingControlConfig,
    LandingMemory,
    advance,
    measured,
)
from skyloop_landing.vision.figures import SQUARE, Figure, SeenMarker

DT = 1.0 / 60.0
LAG = 0.5
"""s with which the velocity follows the command."""
ALTITUDE, AHEAD, RIGHT, HEADING = 8.0, 2.0, -1.5, 70.0


def marker_at(ahead: float, right: float, heading_deg: float, altitude: float, *, rectangle: bool = True) -> SeenMarker:
    """As seen by a camera that is level."""
    x = round(16.0 * (639.5 + 640.0 * right / altitude))
    y = round(16.0 * (359.5 - 640.0 * ahead / altitude))
    heading = round(heading_deg * 65536.0 / 360.0)
    square = Figure(0, SQUARE, 1000, x, y, 0, 0, 0, 0)
    return SeenMarker(x, y, heading, square, 0, -100, 100, 1 if rectangle else -1)


@dataclass
class Drop:
    """One landing; `ahead` and `right` are from the vehicle's middle to the marker's, in the vehicle's axes."""

    options: dict[str, Any] = field(default_factory=dict)
    altitude: float = ALTITUDE
    ahead: float = AHEAD
    right: float = RIGHT
    heading_deg: float = HEADING
    noise: float = 0.0
    """m, one sigma of each reading."""
    wind: float = 0.0
    """m/s by which the vehicle is carried forward."""
    hidden: tuple[float, float] = (1e9, 1e9)
    """s: from when to when the marker is not seen."""
    deaf: tuple[float, float] = (1e9, 1e9)
    """s: from when to when the rangefinder gives NaN."""
    spike: float = 0.0
    """m: what every 20th reading shows instead; 0: none."""
    camera_ahead: float = 0.5
    end: float = 60.0
    """s."""

    def __post_init__(self) -> None:
        self.config = LandingControlConfig(**self.options)
        self.memory = LandingMemory()
        self.velocity = np.zeros(3)
        self.commands: list[LandingCommand] = []
        self.altitudes: list[float] = []
        self.believed: list[float] = []
        self.t = 0.0
        random = np.random.default_rng(4)
        step = 0
        while self.t < self.end and self.memory.stage not in (LAND, GIVEN_UP):
            self._step(step, float(random.normal()))
            step += 1

    def _step(self, step: int, chance: float) -> None:
        self.t = step * DT
        reading = self.altitude + self.noise * chance
        if self.spike and step % 20 == 7:
            reading = self.spike
        if self.deaf[0] <= self.t < self.deaf[1]:
            reading = math.nan
        self.memory = measured(self.memory, reading, self.t, self.config)
        self.memory, command = advance(self.memory, self._seen(), self.t, self.config)
        self.commands.append(command)
        self.altitudes.append(self.altitude)
        self.believed.append(self.memory.altitude)
        wanted = np.array([command.vx, command.vy, command.vz])
        self.velocity += (wanted - self.velocity) * DT / LAG
        self.ahead -= (self.velocity[0] + self.wind) * DT
        self.right -= self.velocity[1] * DT
        self.altitude -= self.velocity[2] * DT
        turned = math.radians(command.yaw_rate_deg * DT)
        self.heading_deg = math.remainder(self.heading_deg - command.yaw_rate_deg * DT, 360.0)
        c, s = math.cos(turned), math.sin(turned)
        self.ahead, self.right = c * self.ahead + s * self.right, c * self.right - s * self.ahead

    def _seen(self) -> SeenMarker | None:
        if self.hidden[0] <= self.t < self.hidden[1]:
            return None
        ahead, right, altitude = self.ahead - self.camera_ahead, self.right, max(self.altitude, 0.05)
        if abs(ahead) > 0.5 * altitude + 0.3 or abs(right) > altitude:
            return None
        return marker_at(ahead, right, self.heading_deg, altitude)

    @property
    def distance(self) -> float:
        return math.hypot(self.ahead, self.right)

    @property
    def stage(self) -> str:
        return STAGES[self.memory.stage]

    @property
    def stages(self) -> list[str]:
        told = [STAGES[command.stage] for command in self.commands]
        return [stage for k, stage in enumerate(told) if k == 0 or told[k - 1] != stage]

    def at(self, t: float) -> int:
        return round(t / DT)

    def since(self, stage: str) -> float:
        """s at which a stage first began."""
        return next(k * DT for k, command in enumerate(self.commands) if STAGES[command.stage] == stage)
