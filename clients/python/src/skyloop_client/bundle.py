"""What an answer brings: the newest record of each stream at one instant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from skyloop_client.errors import unknown_name


@dataclass(frozen=True, slots=True, eq=False)
class Bundle:
    """The same for a pilot on a target as `skyloop.core.bus.Bundle` is for one in the simulator's own process."""

    t_ns: int
    vehicle: str
    latest: Mapping[str, Any]
    """By full stream name; what was given once stays until something newer comes."""
    state: Any
    """What the controller flies on: VehicleState or Estimate."""
    status: Any
    """VehicleStatus."""
    events: tuple[Any, ...] = ()
    """What happened to the vehicle since the last answer."""
    refused: tuple[str, ...] = ()
    """What of the question was not obeyed, and why."""
    known: frozenset[str] = field(default_factory=frozenset)
    """Names of all streams there are."""

    def get(self, suffix: str) -> Any:
        """ "imu", "status"... of this vehicle, or a stream by its full name; None before the first message."""
        if suffix == "state":
            return self.state
        own = f"{self.vehicle}/{suffix}"
        if own == f"{self.vehicle}/status":
            return self.status
        for name in (own, suffix):
            if name in self.latest:
                return self.latest[name]
        if own in self.known or suffix in self.known:
            return None
        raise unknown_name("stream", suffix, ["state", *(name.removeprefix(f"{self.vehicle}/") for name in self.known)])
