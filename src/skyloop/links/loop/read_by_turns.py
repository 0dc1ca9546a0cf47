"""Sockets that two threads read by turns: the simulation's while it waits, the listener's while the simulation works.

To hand a message from one thread to another costs more than to read it. So while the simulation has nothing to do but
wait, it reads itself, and the listener's thread sleeps on. Nobody is woken for a change of turns: the listener's thread
waits for a set of events (epoll), and the set of readable sockets is put into it or taken out of it."""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import perf_counter

from skyloop_client.pipe import AWAKE_S

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
        """Not among the sockets: the listener's thread would take the news away from the one that waits."""
        self.number = self._sockets.fileno()
        """Its descriptor, under which `outer` tells that it is the turn of the listener's thread."""
        outer.register(self.number, select.EPOLLIN)
        self._both = (self.number, self._news)
        self._poll = select.poll()
        for number in self._both:
            self._poll.register(number, select.POLLIN)
        self._is_open = True
        self.stays_awake = False
        """Wait without sleeping for a moment, if the last wait was short."""
        self._was_short = False

    def add(self, number: int) -> None:
        self._sockets.register(number, select.EPOLLIN)

    def remove(self, number: int) -> None:
        self._sockets.unregister(number)

    def turn(self) -> None:
        """Read what can be read now."""
        for number, _ in self._sockets.poll(0.0):
            self._read(number)

    def wait(self, seconds: float) -> None:
        """Read for as long as nothing comes, at most `seconds`, or until `wake`. Called by the thread that waits."""
        # a listener that is closed meanwhile closes these
        with suppress(ValueError, OSError):
            self._outer.modify(self.number, 0)
            try:
                if self.number in self._ready(seconds):
                    self.turn()
            finally:
                # when all is read, because what is left wakes the other thread
                self._outer.modify(self.number, select.EPOLLIN)

    def _ready(self, seconds: float) -> Sequence[int]:
        """What has something to read after at most `seconds`: the sockets, the news, or both."""
        began = perf_counter()
        ready: Sequence[int] = ()
        if self.stays_awake and self._was_short:
            while not (ready := self._look(0.0)) and perf_counter() - began < AWAKE_S:
                # the other side may need this very processor
                os.sched_yield()
        ready = ready or self._look(seconds)
        self._was_short = bool(ready) and perf_counter() - began < AWAKE_S
        if self._news in ready:
            os.eventfd_read(self._news)
        return ready

    def _look(self, seconds: float) -> Sequence[int]:
        # poll counts in milliseconds, which is too coarse for the pace of simulated time
        if max(self._both) < SELECTABLE:
            return select.select(self._both, (), (), seconds)[0]
        return [number for number, _ in self._poll.poll(1e3 * seconds)]

    def wake(self) -> None:
        """End `wait`. Any thread may call it."""
        with suppress(OSError):
            os.eventfd_write(self._news, 1)

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._sockets.close()
            os.close(self._news)
