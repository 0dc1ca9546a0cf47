"""A queue from the threads that read sockets to the simulation's thread. A signal can interrupt the wait.

`queue.SimpleQueue` of CPython 3.11 waits forever when its timeout expires while a signal is handled, so Ctrl-C
sometimes froze a server."""

from __future__ import annotations

import threading
from collections import deque
from contextlib import suppress
from queue import Empty
from time import monotonic
from typing import Any

Item = tuple[Any, ...]


class Inbox:
    """Any thread may put; one thread gets."""

    def __init__(self) -> None:
        self._items: deque[Item] = deque()
        # locked while the queue may be empty
        self._news = threading.Lock()
        self._news.acquire()

    def put(self, item: Item) -> None:
        self._items.append(item)
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
        while True:
            with suppress(IndexError):
                return self._items.popleft()
            # the lock may have been released for an item that get_nowait took: then the queue is still empty
            if (left := until - monotonic()) <= 0.0 or not self._news.acquire(timeout=left):
                return self.get_nowait()

    def qsize(self) -> int:
        return len(self._items)
