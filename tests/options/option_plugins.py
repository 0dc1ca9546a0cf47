"""What a user might bring: named in scenarios as option_plugins.py:Name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from skyloop.vehicle.airframe import Airframe
from skyloop.world.ground import Ground
from skyloop.world.mesh import box, ellipsoid
from skyloop.world.model import Model, Shape
from skyloop.world.worlds.blocks import Blocks
from skyloop_client.estimator import EstimatorSetup
from skyloop_client.messages import Arm, Array, Estimate, Hover, Kinematics, Message, TakeOff


class SwirlingWind:
    """Turns once in two seconds."""

    def __init__(self, speed: float = 4.0) -> None:
        self._speed = speed

    def velocity(self, position: Array, t_s: float) -> Array:
        return self._speed * np.array([np.cos(np.pi * t_s), np.sin(np.pi * t_s), 0.0])


class SteadyWind:
    def velocity(self, position: Array, t_s: float) -> Array:
        return np.array([2.0, 0.0, 0.0])


class MotionCapture:
    """A sensor that publishes estimates: the truth moved by `offset`, valid until `lost_at`."""

    message: ClassVar[str] = "Estimate"

    def __init__(self, offset: float = 0.0, lost_at: float = np.inf) -> None:
        self._offset = np.array([offset, 0.0, 0.0])
        self._lost_at = lost_at

    def initial_state(self, rng: Any) -> None:
        return None

    def measure(self, kinematics: Kinematics, scene: Any, state: None, rng: Any) -> tuple[Estimate, None]:
        k, sd = kinematics, np.full(3, 0.01)
        position = k.position + self._offset
        valid = k.t_ns * 1e-9 < self._lost_at
        return Estimate(k.t_ns, position, k.velocity_world, k.quat_wxyz, k.angular_velocity, sd, sd, sd, valid), None


class Follower:
    """An estimator that believes a motion capture, moved by `offset`."""

    def __init__(self, setup: EstimatorSetup, offset: float = 0.0) -> None:
        self._offset = np.array([offset, 0.0, 0.0])

    def on_message(self, message: Message) -> Estimate | None:
        seen = message.data
        return replace(seen, position=seen.position + self._offset) if isinstance(seen, Estimate) else None


class HoverThrottle:
    """A controller that knows one number."""

    def __init__(self, airframe: Airframe, period_s: float, *, share: float = 0.5) -> None:
        self._throttle = np.full(len(airframe.rotors), share)

    def throttle(self, state: Any, setpoint: Any, t_ns: int) -> Array:
        return self._throttle


class Climber:
    """A pilot that goes up when asked for the second time."""

    def __init__(self, altitude: float = 1.0) -> None:
        self._altitude = altitude
        self._calls = 0

    def __call__(self, bundle: Any) -> Any:
        self._calls += 1
        return [Arm(), TakeOff(self._altitude)] if self._calls == 2 else None


def stay(bundle: Any) -> Any:
    """A pilot that is a function."""
    return [Arm(), Hover()] if bundle.t_ns == 0 else None


class Plateau:
    def __init__(self, seed: int, *, height: float = 3.0) -> None:
        self.ground = Ground.flat(height)


class Barrier:
    """A wall 2 m ahead."""

    def __init__(self, seed: int) -> None:
        self.ground = Ground.flat(0.0)
        self.model = Model()
        self.model.place(Shape("wall", (box((0.4, 8.0, 20.0)),)), (2.2, 0.0, 10.0), is_a="wall", name="wall")


class Studio(Blocks):
    """Blocks close by, and a ball that has its full detail up to 6 m only."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, size=30.0, count=60)
        ball = Shape("ball", (ellipsoid(1.0, rings=24, n=32), ellipsoid(1.0, rings=3, n=5)), (6.0,))
        self.model.place(ball, (6.0, 1.0, 4.0), is_a="object", name="ball")


class RadarStudio(Studio):
    """With a pane of glass ahead on the right, a metal chest behind it, and tiles below."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        pane = Shape("pane", (box((0.01, 2.0, 3.0), material="glass"),))
        self.model.place(pane, (3.5, -1.5, 5.0), is_a="window", name="pane")
        chest = Shape("chest", (box((0.5, 1.0, 1.0), material="metal"),))
        self.model.place(chest, (6.0, -1.5, 5.0), is_a="target", name="chest")
        tiles = Shape("tiles", (box((6.0, 6.0, 0.02), material="tiles"),))
        self.model.place(tiles, (0.0, 0.0, 0.02), is_a="floor", name="tiles")
