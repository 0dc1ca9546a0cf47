"""A queue from the threads that read sockets to the simulation's thread. A signal can interrupt the wait.

`queue.SimpleQueue` of CPython 3.11 waits forever when its timeout expires while a signal is handled, so Ctrl-C
sometimes froze a server."""

from __future__ import annotations

import threading
from collections import deque
from contextlib import suppress
from queue import Empty
from time import monotonic
from typing import Any, Protocol

Item = tuple[Any, ...]
"""An object with a method `taker`, which runs in the simulation's thread, and the arguments of that call."""


class Reader(Protocol):
    """Reads sockets in the thread that waits for an item, so that none has to be handed over."""

    def wait(self, seconds: float) -> None:
        """Read and put, until there is something, until `wake`, or for this time."""

    def wake(self) -> None:
        """End `wait`, because another thread has put an item."""


class Inbox:
    """Any thread may put; one thread gets."""

    def __init__(self) -> None:
        self.reader: Reader | None = None
        """Of the first listener; others have threads that read."""
        self._items: deque[Item] = deque()
        self._waiting = 0
        """The thread that reads while it waits."""
        # locked while the queue may be empty
        self._news = threading.Lock()
        self._news.acquire()

    def put(self, item: Item) -> None:
        self._items.append(item)
        if self._waiting:
            # what the waiting thread has read itself wakes nobody
            if self._waiting != threading.get_ident() and (reader := self.reader) is not None:
                reader.wake()
        elif self._news.locked():
            # another thread may have released it already
            with suppress(RuntimeError):
                self._news.release()

    def get_nowait(self) -> Item:
        try:
            return self._items.popleft()
        except IndexError:
            raise Empty from None

    def get(self, timeout: float) -> Item:
        """The oldest item. Raises Empty when none came within `timeout` seconds of wall time."""
        until = monotonic() + timeout
        while not self._items:
            left = until - monotonic()
            if left <= 0.0:
                raise Empty
            self._wait(left)
        return self._items.popleft()

    def _wait(self, seconds: float) -> None:
        """Until there may be an item."""
        reader = self.reader
        if reader is None:
            self._news.acquire(timeout=seconds)
            return
        self._waiting = threading.get_ident()
        try:
            # put looks at `_waiting` after it has appended, so one of both notices the other
            if not self._items:
                reader.wait(seconds)
        finally:
            self._waiting = 0

    def qsize(self) -> int:
        return len(self._items)
