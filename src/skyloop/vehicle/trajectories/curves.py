"""Level closed curves flown at constant ground speed: circle and lemniscate, from rest to rest."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from skyloop.vehicle.trajectories.speed_profile import PEAK_SLOPE, SpeedProfile
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Position

Yaw: TypeAlias = Literal["forward"] | float
"""The heading: along the ground track (unwrapped, so it is continuous), or a fixed angle."""

PathPoint: TypeAlias = tuple[float, float, float, float, float, float]
"""x, y from the centre, heading, curvature and its first two derivatives by arc length."""

DEFAULT_ACCELERATION = 3.0
"""m/s², the peak acceleration along the track while the speed ramps up and down."""


class LevelCurve(ABC):
    """A level curve given by its arc length; a subclass computes the points."""

    def __init__(self, centre: ArrayLike, length: float, speed: float, ramp: float | None, yaw: Yaw) -> None:
        acceleration = DEFAULT_ACCELERATION if ramp is None else PEAK_SLOPE * speed / ramp
        self._profile = SpeedProfile(length, speed, acceleration)
        if self._profile.speed < speed:
            raise ScenarioError(
                f"a curve of {length:.1f} m is too short to ramp up to {speed} m/s and down again "
                f"(at most {self._profile.speed:.2f} m/s); fly more laps, slower, or set a shorter `ramp`"
            )
        self._centre = np.array(centre, dtype=np.float64)
        self._yaw = yaw
        self.duration = self._profile.duration

    def at(self, t: float) -> Position:
        s, v, a, j, snap = self._profile.at(t)
        x, y, heading, k, dk, ddk = self._path_point(s)
        # By arc length: p' = T, p'' = kN, p''' = k'N - k²T, p'''' = (k'' - k³)N - 3kk'T.
        v2 = v * v
        forward_left = (
            (v, 0.0),
            (a, k * v2),
            (j - k * k * v2 * v, 3 * k * v * a + dk * v2 * v),
            (
                snap - 6 * k * k * v2 * a - 3 * k * dk * v2 * v2,
                k * (3 * a * a + 4 * v * j) + 6 * dk * v2 * a + (ddk - k**3) * v2 * v2,
            ),
        )
        tx, ty = math.cos(heading), math.sin(heading)
        turned = [(f * tx - n * ty, f * ty + n * tx, 0.0) for f, n in forward_left]
        rows = np.array([(x, y, 0.0), *turned])
        yaw, yaw_rate = (heading, k * v) if self._yaw == "forward" else (self._yaw, 0.0)
        return Position(self._centre + rows[0], yaw, yaw_rate, rows[1], rows[2], rows[3], rows[4])

    @abstractmethod
    def _path_point(self, s: float) -> PathPoint:
        """The point of the curve `s` metres from its start."""


class Circle(LevelCurve):
    """A counter-clockwise circle that starts at `start_angle` from east."""

    def __init__(
        self,
        centre: ArrayLike,
        radius: float,
        speed: float,
        *,
        laps: float = 1.0,
        ramp: float | None = None,
        yaw: Yaw = "forward",
        start_angle: float = 0.0,
    ) -> None:
        super().__init__(centre, 2 * math.pi * radius * laps, speed, ramp, yaw)
        self._radius = radius
        self._start_angle = start_angle

    def _path_point(self, s: float) -> PathPoint:
        r = self._radius
        angle = self._start_angle + s / r
        return r * math.cos(angle), r * math.sin(angle), angle + math.pi / 2, 1 / r, 0.0, 0.0


class Lemniscate(LevelCurve):
    """Bernoulli's figure of eight. It starts at its crossing, and its curvature is largest at the tips.

    With half-width A the arc-length form is exact in Jacobi's functions of w = √2 s / A, m = 1/2: x = A cn dn, y = A sn
    cn / √2, curvature 3 cn / A. So the smallest radius of curvature is A / 3.
    """

    def __init__(
        self,
        centre: ArrayLike,
        minimum_radius: float,
        speed: float,
        *,
        laps: float = 1.0,
        ramp: float | None = None,
        yaw: Yaw = "forward",
        axis_angle: float = 0.0,
    ) -> None:
        # SciPy takes a fifth of a second to import, and few flights need it
        from scipy.special import ellipk

        quarter = float(ellipk(0.5))
        self.half_width = 3 * minimum_radius
        lap_length = 4 * quarter * self.half_width / math.sqrt(2)
        super().__init__(centre, lap_length * laps, speed, ramp, yaw)
        self._quarter = quarter
        self._axis_angle = axis_angle

    def _path_point(self, s: float) -> PathPoint:
        from scipy.special import ellipj

        width, axis = self.half_width, self._axis_angle
        sn, cn, dn, _ = map(float, ellipj(math.sqrt(2) * s / width - self._quarter, 0.5))
        x, y = width * cn * dn, width * sn * cn / math.sqrt(2)
        # The heading is π/2 plus three times the polar angle, whose tangent is sn / (√2 dn).
        heading = axis + math.pi / 2 + 3 * math.atan(sn / (math.sqrt(2) * dn))
        return (
            x * math.cos(axis) - y * math.sin(axis),
            x * math.sin(axis) + y * math.cos(axis),
            heading,
            3 * cn / width,
            -3 * math.sqrt(2) * sn * dn / width**2,
            -6 * cn**3 / width**3,
        )
