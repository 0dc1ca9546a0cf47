"""A stream of a recording that can be read at any instant, for players."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyloop_client.messages import Message
from skyloop_client.streams import StreamInfo


@dataclass(frozen=True, slots=True)
class IndexedStream:
    info: StreamInfo
    arrivals: NDArray[np.int64]
    """ns, rising."""
    at: Callable[[int], Message]
    """The message with this number, from 0 on."""

    def index_at(self, t_ns: int) -> int:
        """Of the newest message at an instant; -1 before the first."""
        return int(np.searchsorted(self.arrivals, t_ns, side="right")) - 1


class IndexedStreams:
    """All streams of one recording."""

    def __init__(self, streams: dict[str, IndexedStream]) -> None:
        self.streams = streams
        self.begin_ns = min(int(stream.arrivals[0]) for stream in streams.values())
        self.end_ns = max(int(stream.arrivals[-1]) for stream in streams.values())

    def events(self) -> list[Message]:
        """Of all vehicles and links, in order."""
        found = [
            stream.at(index)
            for stream in self.streams.values()
            if stream.info.message == "Event"
            for index in range(len(stream.arrivals))
        ]
        return sorted(found, key=lambda message: message.arrival_ns)
