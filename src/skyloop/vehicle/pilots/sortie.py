"""The frame of a mission: take off, fly the part that a pilot defines, land."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol, Self, TypeAlias

from pydantic import BaseModel, ConfigDict

from skyloop.core.quantities import Hertz
from skyloop.vehicle.trajectories.drawn import Survey
from skyloop_client import part
from skyloop_client.bundle import Bundle
from skyloop_client.messages import Arm, Estimate, GoHome, Land, Request, Setpoint, TakeOff, VehicleStatus

Reply: TypeAlias = Setpoint | Request | list[Setpoint | Request] | None
"""What a pilot answers with when it is called."""


class PilotConfig(BaseModel):
    """The fields that every pilot has. Each adds `kind`, a Literal of its name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str
    """The kind of pilot."""
    rate_hz: Hertz
    """Calls per second of simulated time."""

    def drawn(self, survey: Survey) -> Self:
        """For a pilot that leaves something to the seed: with all of it drawn, once, before the flight."""
        return self


class Pilot(Protocol):
    done: bool
    """The pilot will send nothing more."""

    def __call__(self, bundle: Bundle) -> Reply: ...


@part
class Sortie(ABC):
    """Arms, takes off, flies the part that a subclass defines, and lands. It is done once landed and disarmed."""

    def __init__(self, altitude: float, *, land: bool = True, home: bool = False, stand: float = 0.0) -> None:
        """stand: s on the ground before it arms."""
        self.done = False
        self._altitude = altitude
        self._stand_ns = round(1e9 * stand)
        self.lands = land
        self._home = home
        self._phase = "ground"
        self._was_armed = False

    def __call__(self, bundle: Bundle) -> Reply:
        status: VehicleStatus | None = bundle.get("status")
        if self._phase == "ground":
            if bundle.t_ns < self._stand_ns:
                return None
            if status is None or not status.armed:
                # the vehicle refuses to arm until the estimate has converged
                state = bundle.get("state")
                ready = not isinstance(state, Estimate) or state.valid
                return [Arm(), TakeOff(self._altitude)] if ready else None
            self._phase = "climb"
        if status is None or self.done:
            return None
        # This also ends a sortie that a failsafe or a crash has cut short.
        self.done = self._was_armed and status.landed and not status.armed
        self._was_armed = self._was_armed or status.armed
        if self.done:
            return None
        if self._phase == "climb" and status.mode == "hover":
            self._phase = "fly"
        if self._phase == "fly":
            return self._fly(bundle)
        return None

    @abstractmethod
    def _fly(self, bundle: Bundle) -> Reply:
        """Called from the first hover on, until it returns `_finish()`."""

    def _finish(self) -> Reply:
        """The reply that a subclass returns when its part of the flight is over."""
        self._phase = "down"
        if self._home:
            return GoHome()
        self.done = not self.lands
        return Land() if self.lands else None
