"""Watches whether the renderer answers: logs when it takes long, and ends it when it takes too long.

A thread checks now and then whether the client still waits for the same answer, so waiting itself costs nothing. The
thread counts its checks, not the time: while this process is stopped, the renderer is not counted as late.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

log = logging.getLogger(__name__)

LOOK_S = 1.0
"""s of wall time between two checks."""
SLOW_LOOKS, MOST_LOOKS = 20, 120
"""Checks during the same wait: after SLOW_LOOKS the log says so, after MOST_LOOKS the renderer is ended."""


class Patience:
    def __init__(self, process_id: int, end: Callable[[], None]) -> None:
        self.is_over = False
        self._process_id, self._end = process_id, end
        self._question = 0
        self._waits = self._tells = self._asked_in_vain = False
        self._closed = threading.Event()
        threading.Thread(target=self._watch, name="skyloop renderer's patience", daemon=True).start()

    @contextmanager
    def waiting(self, *, tells: bool = True) -> Iterator[None]:
        """Marks the time in which the client waits for an answer; `tells` says whether a long wait is logged."""
        self._question += 1
        self._waits, self._tells = True, tells
        try:
            yield
        finally:
            self._waits = False

    def asked_in_vain(self) -> None:
        """For a client that does other work and asks now and then whether the answer is there: it was not."""
        self._asked_in_vain = self._tells = True

    def close(self) -> None:
        self._closed.set()

    def _watch(self) -> None:
        looks, question = 0, 0
        while not self._closed.wait(LOOK_S):
            late = self._waits or self._asked_in_vain
            looks = looks + 1 if late and self._question == question else 0
            # a client that stopped asking may have an answer by now
            question, self._asked_in_vain = self._question, False
            if looks == SLOW_LOOKS and self._tells:
                log.warning(
                    "the renderer (process %d) has given no picture for %.0f s; after %.0f s it is ended",
                    self._process_id, looks * LOOK_S, MOST_LOOKS * LOOK_S,
                )  # fmt: skip
            if looks == MOST_LOOKS:
                self.is_over = True
                log.error("the renderer (process %d) was ended: there are no pictures any more", self._process_id)
                self._end()
                return
