"""Move or turn without a position to reach: velocities, sticks, attitudes, rates, yaw."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from skyloop.core.frames import quat_from_euler
from skyloop.vehicle.behaviours.behaviour import Behaviour, Order, Situation
from skyloop_client.messages import Array, Attitude, Estimate, Land, Position, Rates, Setpoint, VehicleState, Velocity
from skyloop_client.streams import NS_PER_S

CLIMB_GAIN = 1.0
"""1/s: vertical speed per m of height error."""
TURNS = 0.01
"""rad/s: below this a vehicle no longer turns. AirLib's value."""
QUIET_NS = 200_000_000
"""Time below that rate. The wait is needed because the rate also passes zero when the vehicle swings back."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The yaw during the flight. By default the heading is kept."""

    yaw: float | None = None
    """rad anticlockwise from east, or from the course if `ahead`."""
    rate: float = 0.0
    """rad/s about world up, where there is no `yaw`."""
    ahead: bool = False
    """The nose points along the course."""

    def along(self, velocity: Array) -> tuple[float | None, float]:
        """Yaw and yaw rate of a setpoint that moves at this world velocity."""
        if not self.ahead:
            return self.yaw, self.rate
        if math.hypot(velocity[0], velocity[1]) < 0.1:
            return None, 0.0
        return math.atan2(velocity[1], velocity[0]) + (self.yaw or 0.0), 0.0


class Hold(Behaviour):
    """Repeats one setpoint."""

    def __init__(self, setpoint: Setpoint) -> None:
        self.setpoint = setpoint

    def update(self, now: Situation) -> Order | None:
        return self.setpoint


class FlyVelocity(Behaviour):
    """Flies at a velocity. A `height` is held in place of its vertical part, and `lowest` is the least height."""

    def __init__(
        self, velocity: ArrayLike, heading: Heading | None = None, *,
        body: bool = False, height: float | None = None, lowest: float | None = None,
    ) -> None:  # fmt: skip
        """(3,) m/s, world, or forward, left and up if `body`; heights in m, world."""
        self.velocity = np.array(velocity, np.float64)
        """May be changed in flight."""
        self._heading, self._body = heading or Heading(), body
        self._height, self._lowest = height, lowest

    def update(self, now: Situation) -> Order | None:
        (x, y, climb), z = self.velocity.tolist(), float(now.state.position[2])
        if self._height is not None:
            climb = min(max(CLIMB_GAIN * (self._height - z), -3.0), 3.0)
        if self._lowest is not None:
            climb = max(climb, CLIMB_GAIN * (self._lowest - z))
        yaw = now.yaw if self._body else 0.0
        c, s = math.cos(yaw), math.sin(yaw)
        velocity = np.array([c * x - s * y, s * x + c * y, climb])
        return Velocity(velocity, "world", *self._heading.along(velocity))


@dataclass(frozen=True, slots=True)
class HeldHeight:
    """The thrust that holds a world height."""

    height: float
    """m."""
    mass: float
    """kg."""
    gravity: float
    """m/s²."""

    def thrust(self, state: VehicleState | Estimate) -> float:
        """N."""
        w, x, y, z = state.quat_wxyz.tolist()
        upright = max(w * w - x * x - y * y + z * z, 0.5)
        climb = 4.0 * (self.height - float(state.position[2])) - 3.0 * float(state.velocity_world[2])
        return float(self.mass * (self.gravity + min(max(climb, -4.0), 4.0)) / upright)


class HoldAttitude(Behaviour):
    """Leans by roll and pitch (rad, FLU) with a thrust in N, at a yaw from east, or turning at a rate."""

    def __init__(
        self, roll: float, pitch: float, yaw: float | None, thrust: float | HeldHeight, yaw_rate: float = 0.0
    ) -> None:
        self._lean, self._yaw, self._yaw_rate, self._thrust = (roll, pitch), yaw, yaw_rate, thrust

    def update(self, now: Situation) -> Order | None:
        thrust = self._thrust.thrust(now.state) if isinstance(self._thrust, HeldHeight) else self._thrust
        turn = quat_from_euler(*self._lean, now.yaw if self._yaw is None else self._yaw)
        return Attitude(turn, thrust, self._yaw_rate)


class HoldRates(Behaviour):
    """Turns at body rates, (3,) rad/s FLU, at a held height."""

    def __init__(self, rates: Array, height: HeldHeight) -> None:
        self._rates, self._height = rates, height

    def update(self, now: Situation) -> Order | None:
        return Rates(self._rates, self._height.thrust(now.state))


class TurnTo(Behaviour):
    """Turns on the spot to a yaw in rad from east. It is done when the vehicle no longer turns."""

    def __init__(self, yaw: float, margin: float = 0.1, position: ArrayLike | None = None) -> None:
        """rad; (3,) m, world: the spot; None: where it is."""
        self._yaw, self._margin = yaw, margin
        self._position = None if position is None else np.array(position, np.float64)
        self._turned_ns = -1

    def update(self, now: Situation) -> Order | None:
        self._position = np.array(now.state.position) if self._position is None else self._position
        turns = abs(float(now.state.angular_velocity_body[2])) > TURNS
        if turns or self._turned_ns < 0 or abs(math.remainder(now.yaw - self._yaw, 2.0 * math.pi)) > self._margin:
            self._turned_ns = now.t_ns
        self.done = now.t_ns - self._turned_ns >= QUIET_NS
        return Position(self._position, self._yaw)


STANDS = 0.1
"""m/s: a vehicle that sinks slower than this for a second, although commanded to sink, is on the ground."""
HEIGHT_HOLD = 0.6
"""m/s: with the climb stick in the middle, the height is kept from when the vehicle is slower than this, as in PX4."""
HEIGHT_PULL = 1.5
"""1/s: rate at which an error of that height is closed."""


class Sticks(Behaviour):
    """`wanted` is set before each update, to the velocity that the sticks ask for."""

    def __init__(self) -> None:
        self.wanted = Velocity(np.zeros(3), "body")
        self._moved_ns = self._stands_ns = -NS_PER_S
        """When the last input came, and since when sticks have asked it to sink without effect."""
        self._height: float | None = None
        """World z in m that is kept while the climb stick is in the middle."""

    def update(self, now: Situation) -> Order | None:
        climb, climbs = float(self.wanted.velocity[2]), float(now.state.velocity_world[2])
        begins = now.t_ns - self._moved_ns > NS_PER_S
        self._moved_ns = now.t_ns
        if begins or climb > -STANDS or climbs < -STANDS:
            self._stands_ns = now.t_ns
        if now.t_ns - self._stands_ns > NS_PER_S:
            return Land()
        # a vehicle that is only commanded to climb at 0 m/s sinks a little with each change of its tilt
        height = float(now.state.position[2])
        if begins or climb != 0.0 or not now.is_flying:
            self._height = None
        elif self._height is None and abs(climbs) < HEIGHT_HOLD:
            self._height = height
        if self._height is None:
            return self.wanted
        climb = min(max(HEIGHT_PULL * (self._height - height), -1.0), 1.0)
        return replace(self.wanted, velocity=np.array([*self.wanted.velocity[:2], climb]))
