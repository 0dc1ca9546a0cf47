"""Where streams meet their readers: latest value, all values, or a callback the moment a message arrives."""

from __future__ import annotations

import dataclasses
import hashlib
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from skyloop_client.errors import ScenarioError, unknown_name
from skyloop_client.messages import Message
from skyloop_client.streams import StreamInfo

Callback = Callable[[Message], None]


class Subscription:
    """Every message of a stream since it was last read; iterate to take them."""

    def __init__(self, limit: int | None) -> None:
        self._messages: deque[Message] = deque(maxlen=limit)

    def put(self, message: Message) -> None:
        self._messages.append(message)

    def __len__(self) -> int:
        return len(self._messages)

    def __iter__(self) -> Iterator[Message]:
        while self._messages:
            yield self._messages.popleft()


class Bus:
    """Streams are advertised once, before the first message; callbacks run in the order they subscribed."""

    def __init__(self) -> None:
        self.infos: dict[str, StreamInfo] = {}
        self.counts: dict[str, int] = {}
        self._latest: dict[str, Message] = {}
        self._callbacks: dict[str, list[Callback]] = {}

    def advertise(self, info: StreamInfo) -> None:
        if info.name in self.infos:
            raise ScenarioError(f"two streams are named '{info.name}'; rename the sensor or vehicle")
        self.infos[info.name] = info
        self.counts[info.name] = 0
        self._callbacks.setdefault(info.name, [])

    def publish(self, message: Message) -> None:
        self._latest[message.stream] = message
        self.counts[message.stream] += 1
        for callback in self._callbacks[message.stream]:
            callback(message)

    def on(self, stream: str, callback: Callback) -> None:
        self._known(stream)
        self._callbacks[stream].append(callback)

    def subscribe(self, stream: str, limit: int | None = None) -> Subscription:
        """All messages from now on; `limit` keeps only the newest so many."""
        subscription = Subscription(limit)
        self.on(stream, subscription.put)
        return subscription

    def latest(self, stream: str) -> Any:
        """The newest record on a stream, or None."""
        self._known(stream)
        message = self._latest.get(stream)
        return None if message is None else message.data

    def newest(self, stream: str) -> Message | None:
        """The newest message on a stream, with its number and times."""
        self._known(stream)
        return self._latest.get(stream)

    def snapshot(self) -> tuple[dict[str, Message], dict[str, int]]:
        return dict(self._latest), dict(self.counts)

    def restore(self, saved: tuple[dict[str, Message], dict[str, int]]) -> None:
        self._latest, self.counts = dict(saved[0]), dict(saved[1])

    def _known(self, stream: str) -> None:
        if stream not in self.infos:
            raise unknown_name("stream", stream, self.infos)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Bundle:
    """What a pilot sees: the newest record of each of its vehicle's streams at one instant."""

    t_ns: int
    vehicle: str
    bus: Bus
    state: Any
    """What the controller flies on: VehicleState or Estimate."""

    def get(self, suffix: str) -> Any:
        """ "imu", "status"... of this vehicle, or a stream by its full name; None before the first message."""
        if suffix == "state":
            return self.state
        own = f"{self.vehicle}/"
        for name in (own + suffix, suffix):
            if name in self.bus.infos:
                return self.bus.latest(name)
        raise unknown_name("stream", suffix, ["state", *(name.removeprefix(own) for name in self.bus.infos)])


class Fingerprint:
    """A hash per stream over everything published on it, for proofs that two runs are the same."""

    def __init__(self, bus: Bus) -> None:
        self._hashes = {name: hashlib.blake2b(digest_size=16) for name in bus.infos}
        for name in bus.infos:
            bus.on(name, self._add)

    def _add(self, message: Message) -> None:
        digest = self._hashes[message.stream]
        digest.update(f"{message.index},{message.t_ns},{message.arrival_ns};".encode())
        digest.update(record_bytes(message.data))

    def hexdigests(self) -> dict[str, str]:
        return {name: digest.hexdigest() for name, digest in self._hashes.items()}


def record_bytes(record: Any) -> bytes:
    """Every field of a record, bit for bit."""
    parts = []
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if dataclasses.is_dataclass(value):
            parts.append(record_bytes(value))
        else:
            parts.append(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
    return b"|".join(parts)
