"""Sockets that two threads read by turns: the simulation's while it waits, the listener's while the simulation works.

To hand a message from one thread to another costs more than to read it. So while the simulation has nothing to do but
wait, it reads itself, and the listener's thread sleeps on. Nobody is woken for a change of turns: the listener's thread
waits for a set of events (epoll), and the set of readable sockets is put into it or taken out of it."""

from __future__ import annotations

import os
import select
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter

from skyloop_client.pipe import AWAKE_S

SHORT_S = 0.02
"""Wall s. Longer waits may end a millisecond late, which saves a system call."""
SELECTABLE = 1024
"""`select` takes only descriptors below this number."""


class ReadByTurns:
    """All sockets of a listener."""

    def __init__(self, outer: select.epoll, read: Callable[[int], None]) -> None:
        """`outer`: what the listener's thread waits for. `read`: called with the number of each readable socket."""
        self._outer = outer
        self._read = read
        self._sockets = select.epoll()
        self._news = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._sockets.register(self._news, select.EPOLLIN)
        self.number = self._sockets.fileno()
        """Its descriptor, under which `outer` tells that it is the turn of the listener's thread."""
        outer.register(self.number, select.EPOLLIN)
        self._is_open = True
        self._was_short = False
        """The last wait ended within AWAKE_S."""

    def add(self, number: int) -> None:
        self._sockets.register(number, select.EPOLLIN)

    def remove(self, number: int) -> None:
        self._sockets.unregister(number)

    def turn(self) -> None:
        """Read what can be read now. Called by the listener's thread."""
        self._attend(self._sockets.poll(0.0))

    def wait(self, seconds: float) -> None:
        """Read for as long as nothing comes, at most `seconds`, or until `wake`. Called by the thread that waits."""
        # a listener that is closed meanwhile closes these
        with suppress(ValueError, OSError):
            self._outer.modify(self.number, 0)
            try:
                self._attend(self._ready(seconds))
            finally:
                # when all is read, because what is left wakes the other thread
                self._outer.modify(self.number, select.EPOLLIN)

    def _ready(self, seconds: float) -> list[tuple[int, int]]:
        """The readable sockets. None after `seconds`."""
        began = perf_counter()
        awake_until = began + min(AWAKE_S, seconds) if self._was_short else began
        while not (ready := self._sockets.poll(0.0)) and perf_counter() < awake_until:
            pass
        # epoll counts in milliseconds, which is too coarse for the pace of simulated time
        if not ready and seconds < SHORT_S and self.number < SELECTABLE:
            select.select([self.number], [], [], seconds)
            ready = self._sockets.poll(0.0)
        elif not ready:
            ready = self._sockets.poll(seconds)
        self._was_short = perf_counter() - began < AWAKE_S
        return ready

    def wake(self) -> None:
        """End `wait`. Any thread may call it."""
        with suppress(OSError):
            os.eventfd_write(self._news, 1)

    def _attend(self, ready: list[tuple[int, int]]) -> None:
        for number, _ in ready:
            if number == self._news:
                with suppress(BlockingIOError):
                    os.eventfd_read(self._news)
            else:
                self._read(number)

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._sockets.close()
            os.close(self._news)
