"""Ctrl-C as a wish that is granted between two steps, and children that end when, and only when, we end them."""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

from skyloop_client.errors import Interrupted

Handler = Callable[[int, FrameType | None], object] | int | None
"""Of a signal."""
STOPPED = "stopped by Ctrl-C"
PR_SET_PDEATHSIG = 1
_system = ctypes.CDLL(None)


class Interruption:
    """Within it the first Ctrl-C is noted, for `check` to raise; a second one interrupts at once, whatever is going on.

    Outside the main thread, and where Ctrl-C is ignored, nothing changes.
    """

    def __init__(self) -> None:
        self._noted = False
        self._before: Handler = None

    def check(self) -> None:
        if self._noted:
            raise Interrupted(STOPPED)

    def __enter__(self) -> Interruption:
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def _note(self, *_: object) -> None:
        if self._noted:
            raise KeyboardInterrupt
        self._noted = True


@contextmanager
def kept_from_children() -> Iterator[None]:
    """A terminal sends Ctrl-C to every process; one that is started in here never gets it, from its first moment on."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent() -> None:
    """Called in a new process: the kernel ends it when the process that started it has ended, however that was."""
    _system.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
