"""What a pilot sees at one instant: the newest record of each stream, and a way to publish records of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from skyloop_client.errors import StreamError, unknown_name
from skyloop_client.messages import Message

_RAISE = object()


@dataclass(frozen=True, slots=True, eq=False)
class Bundle:
    """The same for a pilot in the simulator's process, over a link, and on a target."""

    t_ns: int
    vehicle: str
    latest: Mapping[str, Any]
    """By full stream name, the newest record; streams that have given nothing yet are missing."""
    state: Any
    """What the controller flies on: VehicleState or Estimate."""
    status: Any = None
    """VehicleStatus."""
    events: tuple[Any, ...] = ()
    """What happened to the vehicle since the last bundle."""
    refused: tuple[str, ...] = ()
    """What the pilot sent or published and was not taken since the last bundle, and why: a line each."""
    known: Collection[str] = field(default_factory=frozenset)
    """Names of all streams there are."""
    arrived: tuple[Message, ...] = ()
    """Every message, in the order of arrival, of the streams a session asked for with `every`."""
    publisher: Callable[[str, Any], None] | None = None
    """Where `publish` passes records on to."""
    battery: Any = None
    """BatteryState of the vehicle, which feeds the program's computer too; None in the simulator's own process."""
    computer_energy: float = 0.0
    """J the program's computer has used, by the simulator's power model of it."""

    def get(self, suffix: str, default: Any = _RAISE) -> Any:
        """ "imu", "status"... of this vehicle, or a stream by its full name; None before the first message.

        For a stream that does not exist (yet) `default` is given, if there is one.
        """
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

    def publish(self, name: str, record: Any) -> None:
        """Put a record (see `skyloop_client.messages.products`) on the stream `<vehicle>/<name>`.

        The stream is there from its first record on. What cannot be taken is told in `refused` of the next bundle.
        """
        if self.publisher is None:
            raise StreamError(f"'{name}' cannot be published: this bundle belongs to no simulation")
        self.publisher(name, record)
