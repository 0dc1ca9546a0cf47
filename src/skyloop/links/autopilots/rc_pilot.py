"""Flies a vehicle through the sticks of an RC transmitter: an outer loop for autopilots that only hold an attitude."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from skyloop.core.frames import yaw_from_quat
from skyloop.links.autopilots.betaflight_wire import HIGH, LOW, MIDDLE, stick, stick_for_rate
from skyloop_client.messages import VehicleState

GRAVITY = 9.80665
STANDING_M = 0.03
"""m above the start below which it may drop."""
ARM_PERIOD_S = 2.0
"""s: the arm switch is off for half of it and on for the other half, until the rotors turn."""


@dataclass(frozen=True, slots=True)
class Leg:
    """The goal from `start` on."""

    start: float
    """Simulated s since the rotors began to turn."""
    east: float = 0.0
    """m from the start of the vehicle."""
    north: float = 0.0
    height: float = 2.0
    """m above the start."""
    turn: float = 0.0
    """rad anticlockwise from the initial heading."""
    land: bool = False
    """Land here, and disarm on the ground."""


@dataclass(frozen=True, slots=True)
class RcGains:
    """The gains are low, because the response from stick to motion is not known well."""

    position: float = 0.8
    """1/s, m to m/s."""
    velocity: float = 1.6
    """1/s, m/s to m/s²."""
    most_speed: float = 1.5
    """m/s."""
    most_tilt: float = math.radians(15.0)
    climb: float = 0.12
    """Throttle per m/s of climb error."""
    climb_integral: float = 0.08
    """Throttle per m of integrated climb error."""
    most_climb: float = 0.8
    """m/s."""
    heading: float = 1.5
    """1/s."""
    most_turn: float = math.radians(60.0)
    """rad/s."""
    angle_limit: float = math.radians(60.0)
    """rad of tilt at full stick, Betaflight's default."""
    fastest_turn: float = math.radians(670.0)
    """rad/s at full stick, Betaflight's default."""


class RcPilot:
    """Arms, with retries until the rotors turn; follows the legs; lands; disarms."""

    def __init__(self, legs: Sequence[Leg], hover_throttle: float = 0.6, gains: RcGains | None = None) -> None:
        self.legs = sorted(legs, key=lambda leg: leg.start)
        self.done = False
        self.armed_at: float | None = None
        """Simulated s."""
        self._gains = gains or RcGains()
        self._home: tuple[float, float, float, float] | None = None
        self._integral = hover_throttle
        self._last_s = 0.0
        self._low_since: float | None = None

    def __call__(self, t_s: float, truth: VehicleState) -> list[int]:
        if self._home is None:
            x, y, z = truth.position.tolist()
            self._home = (x, y, z, float(yaw_from_quat(truth.quat_wxyz)))
        dt, self._last_s = max(0.0, t_s - self._last_s), t_s
        if self.armed_at is None and truth.rotor_speeds.any():
            self.armed_at = t_s
        if self.done or self.armed_at is None:
            # a switch that was on too early must go off before it counts
            wants = not self.done and t_s % ARM_PERIOD_S > 0.5 * ARM_PERIOD_S
            return [MIDDLE, MIDDLE, LOW, MIDDLE, HIGH if wants else LOW, HIGH]
        switches = [HIGH, HIGH]
        leg = next((leg for leg in reversed(self.legs) if t_s - self.armed_at >= leg.start), None)
        if leg is None:
            return [MIDDLE, MIDDLE, LOW, MIDDLE, *switches]
        throttle = self._throttle(leg, truth, t_s, dt)
        roll, pitch = self._tilts(leg, truth)
        return [stick(roll), stick(pitch), round(LOW + 1000.0 * throttle), stick(self._turn(leg, truth)), *switches]

    def _throttle(self, leg: Leg, truth: VehicleState, t_s: float, dt: float) -> float:
        gains = self._gains
        assert self._home is not None
        height, climb = float(truth.position[2]) - self._home[2], float(truth.velocity_world[2])
        wanted = -0.5 if leg.land else min(max(leg.height - height, -gains.most_climb), gains.most_climb)
        if leg.land and height < STANDING_M:
            # on the ground: remove the thrust, then disarm
            self._low_since = t_s if self._low_since is None else self._low_since
            self.done = t_s - self._low_since > 0.5
            return 0.0
        lack = wanted - climb
        self._integral = min(max(self._integral + gains.climb_integral * lack * dt, 0.1), 0.9)
        return min(max(self._integral + gains.climb * lack, 0.06), 0.95)

    def _tilts(self, leg: Leg, truth: VehicleState) -> tuple[float, float]:
        """Stick shares: roll to the right, pitch forward."""
        gains = self._gains
        assert self._home is not None
        wanted = []
        for goal, at, speed in zip(
            (self._home[0] + leg.east, self._home[1] + leg.north),
            truth.position.tolist()[:2],
            truth.velocity_world.tolist()[:2],
            strict=True,
        ):
            velocity = min(max(gains.position * (goal - at), -gains.most_speed), gains.most_speed)
            wanted.append(gains.velocity * (velocity - speed))
        yaw = float(yaw_from_quat(truth.quat_wxyz))
        forward = math.cos(yaw) * wanted[0] + math.sin(yaw) * wanted[1]
        right = math.sin(yaw) * wanted[0] - math.cos(yaw) * wanted[1]
        most = gains.most_tilt
        tilts = [min(max(math.atan(push / GRAVITY), -most), most) for push in (right, forward)]
        roll, pitch = (stick_for_rate(tilt / gains.angle_limit) for tilt in tilts)
        return roll, pitch

    def _turn(self, leg: Leg, truth: VehicleState) -> float:
        """Yaw stick share, to the right."""
        gains = self._gains
        assert self._home is not None
        error = self._home[3] + leg.turn - float(yaw_from_quat(truth.quat_wxyz))
        error = math.remainder(error, 2.0 * math.pi)
        rate = min(max(gains.heading * error, -gains.most_turn), gains.most_turn)
        return -stick_for_rate(rate / gains.fastest_turn)
