"""The pages that look on. Each has room for the newest frame of every stream: who reads slowly loses frames."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Iterable

MOST_VIEWERS = 32
MOST_WANTED = 1000
"""Streams that one viewer may ask for."""
MOST_WAITING = 2000
"""Events and answers that wait for one viewer; beyond, the oldest are lost."""


class Viewer:
    def __init__(self) -> None:
        self.id = secrets.token_urlsafe(12)
        self.wants: frozenset[str] = frozenset()
        self.lost = 0
        """Frames that were replaced by newer ones before they were sent."""
        self._newest: dict[str, bytes] = {}
        self._each: deque[bytes] = deque(maxlen=MOST_WAITING)
        self._news = asyncio.Event()

    def put_newest(self, name: str, data: bytes) -> None:
        """Replaces what waits under this name."""
        if self._newest.pop(name, None) is not None:
            self.lost += 1
        self._newest[name] = data
        self._news.set()

    def put_each(self, data: bytes) -> None:
        self._each.append(data)
        self._news.set()

    async def next(self) -> bytes:
        while True:
            if self._each:
                return self._each.popleft()
            if self._newest:
                return self._newest.pop(next(iter(self._newest)))
            self._news.clear()
            await self._news.wait()


class Seat:
    """One viewer may steer; the others watch."""

    def __init__(self) -> None:
        self.pilot = ""
        """Id of the viewer who steers; empty: nobody."""

    def take(self, viewer: str) -> bool:
        if self.pilot in ("", viewer):
            self.pilot = viewer
            return True
        return False

    def leave(self, viewer: str) -> bool:
        """Whether it was this one who steered."""
        if not viewer or self.pilot != viewer:
            return False
        self.pilot = ""
        return True


def wanted(viewers: Iterable[Viewer]) -> frozenset[str]:
    """By anybody."""
    return frozenset().union(*(viewer.wants for viewer in viewers))
