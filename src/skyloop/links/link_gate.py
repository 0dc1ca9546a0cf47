"""The gate between the clock and all links: messages from outside are handled here, between two simulation events.

Threads that read sockets put messages into one inbox. The simulation's own thread takes each one out and hands it to
its link. So links need no locks, and several links can run at once. While it waits it reads the sockets of the first
listener itself, because to hand a message from thread to thread takes longer than to read it."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty
from typing import Any, Protocol

from skyloop.links.inbox import Inbox
from skyloop.links.pace import Pace
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.errors import Interrupted

SWITCH_S = 0.0005
"""Wall s until Python hands the interpreter lock to a thread that reads sockets. Python's own default is 5 ms."""
MEANWHILE_S = 0.0005
"""Wall s between two checks for a finished image. On average an image is noticed half of this late."""
POLL_S = 0.2
"""Wall s between two checks for Ctrl-C and hung peers. A link with `is_waiting` is checked every MEANWHILE_S."""


class Source(Protocol):
    """An object with a reading thread, which puts (itself, arguments...) into the inbox."""

    def taker(self, *arguments: Any) -> None:
        """Runs in the simulation's thread with the arguments from the inbox."""


class Link(Protocol):
    """A protocol as the link gate sees it."""

    @property
    def over(self) -> bool:
        """Whether this link agrees that the flight may end."""

    @property
    def leisurely(self) -> bool:
        """Whether no peer of this link waits for time to pass. If so for all links, real time is fast enough."""

    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        """Called once, when the simulation is built and nothing has been recorded."""

    def stop_at(self, t_ns: int) -> int:
        """`t_ns`, or the earlier instant at which this link has scheduled something."""

    def holds(self, t_ns: int) -> bool:
        """Whether time must not advance to `t_ns` yet."""

    def look_round(self) -> None:
        """Called often, before time advances, for housekeeping such as dropping hung peers."""

    def finish(self, why: str) -> None:
        """Tell all peers that the flight is over and free all resources. It may be called twice."""

    def summary(self) -> dict[str, Any]: ...


class LinkGate:
    """All links of one simulation."""

    def __init__(self, pace: Pace | None = None) -> None:
        self.inbox = Inbox()
        self.links: dict[str, Link] = {}
        """By the name used in the summary."""
        self.pace = pace or Pace(None)
        self._alone = Pace(1.0)
        self._paced = self.pace
        self._port: SimulationPort | None = None
        self._interrupted = False
        self._handler: Any = None
        self._worker: ThreadPoolExecutor | None = None
        self._switch_s = sys.getswitchinterval()

    def attach(self, port: SimulationPort, folder: Path | None = None) -> None:
        self._port = port
        self._switch_s = sys.getswitchinterval()
        sys.setswitchinterval(min(SWITCH_S, self._switch_s))
        # Ctrl-C in the middle of a step would leave a run without its end; a process that ignores SIGINT keeps ignoring
        # it
        if (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
        ):
            self._handler = signal.signal(signal.SIGINT, self._interrupt)
        for link in self.links.values():
            link.attach(port, folder, self)
        if all(getattr(link, "answers_at_once", False) for link in self.links.values()):
            port.editor.serve_meanwhile(self.serve_until)
        if all(getattr(link, "answers_beside", False) for link in self.links.values()):
            port.editor.measure_beside(self.serve_beside)

    def serve_until(self, ready: Callable[[], bool]) -> None:
        """While the simulation waits for images, handle messages of links that can answer at any moment."""
        self._answer_at_once()
        while not ready():
            if self._take(MEANWHILE_S):
                self._answer_at_once()

    def serve_beside(self, work: Callable[[], Any]) -> Any:
        """While another thread measures, handle messages of links that leave the world as it is."""
        if self._worker is None:
            self._worker = ThreadPoolExecutor(1, "skyloop sensing")
        done = self._worker.submit(work)
        done.add_done_callback(lambda _: self.inbox.put((self,)))
        # what came just before, for this instant, need not wait for its end
        self._answer_at_once()
        while not done.done():
            if self._take(POLL_S):
                self._answer_at_once()
        return done.result()

    def taker(self) -> None:
        """For `serve_beside`, which need not wait any longer."""

    def _answer_at_once(self) -> None:
        for link in self.links.values():
            link.answer_at_once()  # type: ignore[attr-defined]

    def pass_to(self, t_ns: int) -> int:
        """Handle messages until time may advance, then return `t_ns` or an earlier instant at which a link must act."""
        assert self._port is not None
        while True:
            if self._interrupted:
                raise Interrupted("stopped by Ctrl-C")
            while self.inbox.qsize():
                self._take(0.0)
            links = self.links.values()
            for link in links:
                link.look_round()
            stop = min([t_ns, *(link.stop_at(t_ns) for link in links)])
            patience = MEANWHILE_S if any(getattr(link, "is_waiting", False) for link in links) else POLL_S
            if any(link.holds(stop) for link in links):
                self._take(patience)
                continue
            pace = self._alone if all(link.leisurely for link in links) and self.pace.factor is None else self.pace
            if pace is not self._paced:
                self._paced = pace
                pace.restart()
            left = pace.left(stop, self._port.now_ns)
            if left > 0.0:
                self._take(min(left, patience))
                continue
            pace.reached(stop, left)
            return stop

    def _take(self, timeout: float) -> bool:
        try:
            source, *arguments = self.inbox.get(timeout=timeout) if timeout else self.inbox.get_nowait()
        except Empty:
            return False
        source.taker(*arguments)
        return True

    @property
    def over(self) -> bool:
        return all(link.over for link in self.links.values())

    @property
    def lasts(self) -> bool:
        """A link wants the flight to go on when the scenario's pilots are done."""
        return any(getattr(link, "lasts", False) for link in self.links.values())

    def _interrupt(self, *_: object) -> None:
        if self._interrupted:
            raise KeyboardInterrupt
        self._interrupted = True

    def finish(self, why: str) -> None:
        """Finish all links and restore the previous Ctrl-C handler."""
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            self._handler = None
        for link in self.links.values():
            link.finish(why)
        if self._worker is not None:
            self._worker.shutdown()
            self._worker = None
        sys.setswitchinterval(self._switch_s)

    def summary(self) -> dict[str, Any]:
        late = {"instants": self.pace.missed, "worst_s": self.pace.worst_s}
        return {"late": late, **{name: link.summary() for name, link in self.links.items()}}
