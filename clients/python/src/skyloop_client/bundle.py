"""A pilot's view at one instant: the newest record of each stream, and a way to publish its own records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from skyloop_client.errors import StreamError, unknown_name
from skyloop_client.messages import Estimate, Event, Message, VehicleState
from skyloop_client.streams import StreamInfo

_RAISE = object()


@dataclass(frozen=True, slots=True, eq=False)
class Bundle:
    """The same for a pilot in the simulator's process, over a link and on a target."""

    t_ns: int
    """ns of simulated time: now."""
    vehicle: str
    """Name of the vehicle that the pilot flies."""
    latest: Mapping[str, Any]
    """By full stream name, the newest record. Streams without a message yet are missing."""
    state: VehicleState | Estimate
    """The state that the controller uses."""
    status: Any = None
    """VehicleStatus."""
    events: tuple[Event, ...] = ()
    """Events of the vehicle since the last bundle."""
    refused: tuple[str, ...] = ()
    """One line for each command or record that was refused since the last bundle, with the reason."""
    known: Mapping[str, StreamInfo] = field(default_factory=dict)
    """All existing streams by their full names."""
    arrived: tuple[Message, ...] = ()
    """All messages, in order of arrival, of the streams requested with `every`."""
    publisher: Callable[[str, object], None] | None = None
    """The function that `publish` calls."""
    battery: Any = None
    """BatteryState of the vehicle, which also feeds the program's computer. None in the simulator's own process."""
    computer_energy: float = 0.0
    """J used by the program's computer, by the simulator's power model."""

    def get(self, suffix: str, default: object = _RAISE) -> Any:
        """ "imu", "status"... of this vehicle, or a stream by its full name. None before the first message.

        For a stream that does not exist (yet) it returns `default`, if that is given."""
        if suffix == "state":
            return self.state
        own = f"{self.vehicle}/"
        if suffix in ("status", f"{own}status"):
            return self.status
        for name in (own + suffix, suffix):
            if name in self.latest:
                return self.latest[name]
        if own + suffix in self.known or suffix in self.known:
            return None
        if default is not _RAISE:
            return default
        raise unknown_name("stream", suffix, ["state", *(name.removeprefix(own) for name in self.known)])

    def info(self, suffix: str) -> StreamInfo:
        """What is known of a stream, named as for `get`: rate, mount, latency, and a camera's lens under `details`."""
        own = f"{self.vehicle}/"
        for name in (own + suffix, suffix):
            if name in self.known:
                return self.known[name]
        raise unknown_name("stream", suffix, [name.removeprefix(own) for name in self.known])

    def publish(self, name: str, record: object) -> None:
        """Put a record (see `skyloop_client.messages.products`) on the stream `<vehicle>/<name>`.

        The stream exists from its first record on. `refused` of the next bundle names refused records."""
        if self.publisher is None:
            raise StreamError(f"'{name}' cannot be published: this bundle belongs to no simulation")
        self.publisher(name, record)
