"""A behaviour flies a vehicle for a while: at each update it sees the vehicle's situation and gives the next order.

It knows no protocol, no socket and no wall clock, and it is plain data, so `copy.deepcopy` takes a snapshot of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TypeAlias

from skyloop.core.frames import yaw_from_quat
from skyloop_client.messages import (
    Array,
    Estimate,
    GoHome,
    Hover,
    Land,
    Request,
    Setpoint,
    TakeOff,
    VehicleState,
    VehicleStatus,
)

Order: TypeAlias = Setpoint | Request
"""What a behaviour answers with."""


@dataclass(frozen=True, slots=True, eq=False)
class Situation:
    """What a behaviour may know of its vehicle at an instant."""

    t_ns: int
    state: VehicleState | Estimate
    """The state that the vehicle flies on: the truth or an estimate."""
    status: VehicleStatus
    touches: bool = False
    """Its legs or its body are on something."""
    home: Array | None = None
    """(3,) m, world; None until it was armed."""
    cruise_speed: float = 5.0
    """m/s, at which the vehicle flies to a goal."""
    max_speed: float = 12.0
    """m/s."""
    max_acceleration: float = 5.0
    """m/s²."""

    @property
    def is_flying(self) -> bool:
        """Armed and off the ground, or about to be."""
        return self.status.armed and not self.status.landed and self.status.mode != "idle"

    @property
    def yaw(self) -> float:
        return float(yaw_from_quat(self.state.quat_wxyz))


class Behaviour(ABC):
    """Something to fly, from records of the vehicle to orders; for links, pilots and Python."""

    done = False
    """It will give no more orders."""
    failed = False
    """It is done without having reached its end."""

    @abstractmethod
    def update(self, now: Situation) -> Order | None:
        """The order of this instant; None: the one before stands. The first update is the start."""


def seconds_between(start_ns: int, end_ns: int) -> float:
    return (end_ns - start_ns) * 1e-9


class Once(Behaviour):
    """Gives one order. A take-off, a landing or a return is done when the autopilot has carried it out."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self._given = False

    def update(self, now: Situation) -> Order | None:
        if not self._given:
            self._given = True
            self.done = not isinstance(self.order, TakeOff | Land | GoHome)
            return self.order
        if isinstance(self.order, TakeOff):
            self.done = now.status.mode != "takeoff"
            self.failed = self.done and not now.is_flying
        else:
            self.done = not now.is_flying
        return None


class Wait(Behaviour):
    """Hovers, or stays at the goal before, for so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._start_ns = -1

    def update(self, now: Situation) -> Order | None:
        begins = self._start_ns < 0
        self._start_ns = now.t_ns if begins else self._start_ns
        self.done = seconds_between(self._start_ns, now.t_ns) >= self.seconds
        return Hover() if begins and now.is_flying and now.status.mode not in ("hover", "goal") else None


class For(Behaviour):
    """Another behaviour, for a limited time."""

    def __init__(self, seconds: float, behaviour: Behaviour) -> None:
        self.seconds, self.behaviour = seconds, behaviour
        self._start_ns = -1

    def update(self, now: Situation) -> Order | None:
        self._start_ns = now.t_ns if self._start_ns < 0 else self._start_ns
        order = self.behaviour.update(now)
        self.failed = self.behaviour.failed
        self.done = self.behaviour.done or seconds_between(self._start_ns, now.t_ns) >= self.seconds
        return order


class Steps(Behaviour):
    """One after another; orders may stand between behaviours. It ends with the last one, or with one that fails."""

    def __init__(self, *steps: Behaviour | Order) -> None:
        self.steps = tuple(step if isinstance(step, Behaviour) else Once(step) for step in steps)
        self.number = 0
        """Of the step that is flown, from 0."""
        self.done = not steps

    def update(self, now: Situation) -> Order | None:
        while not self.done:
            step = self.steps[self.number]
            order = step.update(now)
            if step.done:
                self.failed = step.failed
                self.number += 1
                self.done = self.failed or self.number == len(self.steps)
            if order is not None or not step.done:
                return order
        return None
