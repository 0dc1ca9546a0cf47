"""The bus carries every stream to its readers: the latest value, all values, or a callback for each message."""

from __future__ import annotations

import dataclasses
import hashlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from skyloop_client.errors import ScenarioError, unknown_name
from skyloop_client.messages import Message
from skyloop_client.streams import StreamInfo

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

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
    """A stream must be advertised before its first message. Callbacks run in the order in which they subscribed."""

    def __init__(self) -> None:
        self.infos: dict[str, StreamInfo] = {}
        self.counts: dict[str, int] = {}
        self.messages: dict[str, Message] = {}
        """By stream, the newest message."""
        self._callbacks: dict[str, list[Callback]] = {}
        self._every: list[Callback] = []
        self._newcomers: list[Callable[[StreamInfo], None]] = []

    def advertise(self, info: StreamInfo) -> None:
        if info.name in self.infos:
            raise ScenarioError(f"two streams are named '{info.name}'; rename the sensor or vehicle")
        self.infos[info.name] = info
        self.counts.setdefault(info.name, 0)
        self._callbacks[info.name] = list(self._every)
        for tell in self._newcomers:
            tell(info)

    def publish(self, message: Message) -> None:
        self.messages[message.stream] = message
        self.counts[message.stream] += 1
        for callback in self._callbacks[message.stream]:
            callback(message)

    def on(self, stream: str, callback: Callback) -> None:
        self._known(stream)
        self._callbacks[stream].append(callback)

    def on_every(self, callback: Callback) -> None:
        """Call back with the messages of all streams, including streams that are advertised later."""
        self._every.append(callback)
        for callbacks in self._callbacks.values():
            callbacks.append(callback)

    def on_new(self, tell: Callable[[StreamInfo], None]) -> None:
        """Call back once for each stream: now for existing ones, before the first message for later ones."""
        for info in list(self.infos.values()):
            tell(info)
        self._newcomers.append(tell)

    def subscribe(self, stream: str, limit: int | None = None) -> Subscription:
        """Collect all messages from now on. With a `limit`, only the newest ones are kept."""
        subscription = Subscription(limit)
        self.on(stream, subscription.put)
        return subscription

    def latest(self, stream: str) -> Any:
        """The newest record on a stream, or None."""
        message = self.newest(stream)
        return None if message is None else message.data

    def newest(self, stream: str) -> Message | None:
        """The newest message on a stream, with its number and times."""
        self._known(stream)
        return self.messages.get(stream)

    def snapshot(self) -> tuple[dict[str, Message], dict[str, int]]:
        return dict(self.messages), dict(self.counts)

    def restore(self, saved: tuple[dict[str, Message], dict[str, int]]) -> None:
        """Streams that were advertised after the snapshot stay, with nothing on them."""
        messages, counts = saved
        # in place, because readers may hold references to these
        self.messages.clear()
        self.messages.update(messages)
        self.counts = {**dict.fromkeys(self.infos, 0), **counts}

    def _known(self, stream: str) -> None:
        if stream not in self.infos:
            raise unknown_name("stream", stream, self.infos)


class LatestRecords(Mapping[str, Any]):
    """The newest record of each stream by its full name. It is a live view: it changes as messages arrive."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    def __getitem__(self, stream: str) -> Any:
        return self._bus.messages[stream].data

    def __contains__(self, stream: object) -> bool:
        return stream in self._bus.messages

    def __iter__(self) -> Iterator[str]:
        return iter(self._bus.messages)

    def __len__(self) -> int:
        return len(self._bus.messages)


class Fingerprint:
    """A hash per stream over everything published on it, for proofs that two runs are the same."""

    def __init__(self, bus: Bus) -> None:
        self._hashes = {name: hashlib.blake2b(digest_size=16) for name in bus.infos}
        bus.on_every(self._add)

    def _add(self, message: Message) -> None:
        digest = self._hashes.setdefault(message.stream, hashlib.blake2b(digest_size=16))
        digest.update(f"{message.index},{message.t_ns},{message.arrival_ns};".encode())
        digest.update(record_bytes(message.data))

    def hexdigests(self) -> dict[str, str]:
        return {name: digest.hexdigest() for name, digest in self._hashes.items()}


def record_bytes(record: DataclassInstance) -> bytes:
    """Every field of a record, bit for bit."""
    return b"|".join(_value_bytes(getattr(record, field.name)) for field in dataclasses.fields(record))


def _value_bytes(value: object) -> bytes:
    if isinstance(value, np.ndarray):
        return value.tobytes()
    if isinstance(value, tuple):
        return b";".join(map(_value_bytes, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return record_bytes(value)
    return repr(value).encode()
