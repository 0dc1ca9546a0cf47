"""What threads that read sockets leave for the simulation's thread: a queue whose waiting a signal can end.

`queue.SimpleQueue` of CPython 3.11 takes a time limit that ran out while a signal was handled for "no limit", and waits
for ever: Ctrl-C then froze a server now and then.
"""

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
        # locked while there may be nothing to get
        self._news = threading.Lock()
        self._news.acquire()

    def put(self, item: Item) -> None:
        self._items.append(item)
        # somebody else may just have said so
        with suppress(RuntimeError):
            self._news.release()

    def get_nowait(self) -> Item:
        try:
            return self._items.popleft()
        except IndexError:
            raise Empty from None

    def get(self, timeout: float) -> Item:
        """The oldest item; Empty when none came within so many s of wall time."""
        until = monotonic() + timeout
        while True:
            with suppress(IndexError):
                return self._items.popleft()
            # news may be of items that were taken without waiting: then there is nothing yet
            if (left := until - monotonic()) <= 0.0 or not self._news.acquire(timeout=left):
                return self.get_nowait()

    def qsize(self) -> int:
        return len(self._items)
