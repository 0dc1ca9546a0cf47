"""The gate of the clock behind which all links stand: what comes in from outside is taken here, between two events.

Threads that read sockets put what they get into one inbox; the simulation's own thread takes it out and has the link
it belongs to look at it. So no link needs a lock, and several can be at work at once.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from queue import Empty
from typing import Any, Protocol

from skyloop.links.inbox import Inbox
from skyloop.links.pace import Pace
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.errors import Interrupted

SWITCH_S = 0.0005
"""Wall s after which Python hands its lock to a thread that reads sockets; 5 ms without this."""
MEANWHILE_S = 0.0005
"""Wall s after which is looked for a picture that may have come; it is later by half of it on average."""
POLL_S = 0.2
"""Wall s after which Ctrl-C and peers that hang are looked for; a link with `is_waiting` looks round much sooner."""


class Source(Protocol):
    """Something with a thread that reads; it puts (itself, arguments...) into the inbox."""

    def taker(self, *arguments: Any) -> None:
        """Called with the arguments in the simulation's thread."""


class Link(Protocol):
    """A foreign protocol, as the link_gate sees it."""

    @property
    def over(self) -> bool:
        """For all this link cares, the flight may end."""

    @property
    def leisurely(self) -> bool:
        """Nobody waits: real time is fast enough, and gives people the time to come (back)."""

    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        """The simulation is built, and nothing was recorded yet."""

    def stop_at(self, t_ns: int) -> int:
        """`t_ns`, or an earlier instant at which this link has entered something into the schedule."""

    def holds(self, t_ns: int) -> bool:
        """Time may not come to `t_ns` yet."""

    def look_round(self) -> None:
        """Called often, before time passes: whom to give up, what else to see to."""

    def finish(self, why: str) -> None:
        """Tell everybody that the flight is over, and free everything; may be called twice."""

    def summary(self) -> dict[str, Any]: ...


class LinkGate:
    """All links of one simulation."""

    def __init__(self, pace: Pace | None = None) -> None:
        self.inbox = Inbox()
        self.links: dict[str, Link] = {}
        """By the name they have in the summary."""
        self.pace = pace or Pace(None)
        self._alone = Pace(1.0)
        self._paced = self.pace
        self._port: SimulationPort | None = None
        self._interrupted = False
        self._handler: Any = None
        self._switch_s = sys.getswitchinterval()

    def attach(self, port: SimulationPort, folder: Path | None = None) -> None:
        self._port = port
        self._switch_s = sys.getswitchinterval()
        sys.setswitchinterval(min(SWITCH_S, self._switch_s))
        # Ctrl-C in the middle of a step would leave a run without its end; whoever ignores it, goes on doing so
        if (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
        ):
            self._handler = signal.signal(signal.SIGINT, self._interrupt)
        for link in self.links.values():
            link.attach(port, folder, self)
        if all(getattr(link, "answers_at_once", False) for link in self.links.values()):
            port.editor.serve_meanwhile(self.serve_until)

    def serve_until(self, ready: Callable[[], bool]) -> None:
        """The simulation waits for pictures: take what comes in meanwhile, for links that answer at any moment."""
        while not ready():
            if self._take(MEANWHILE_S):
                for link in self.links.values():
                    link.answer_at_once()  # type: ignore[attr-defined]

    def pass_to(self, t_ns: int) -> int:
        """Take what comes in, until time may pass to `t_ns` or to where a link has something to do before."""
        assert self._port is not None
        while True:
            if self._interrupted:
                raise Interrupted("stopped by Ctrl-C")
            while self._take(0.0):
                pass
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

    def _interrupt(self, *_: object) -> None:
        if self._interrupted:
            raise KeyboardInterrupt
        self._interrupted = True

    def finish(self, why: str) -> None:
        """Tell all links; Ctrl-C is the program's own again."""
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            self._handler = None
        for link in self.links.values():
            link.finish(why)
        sys.setswitchinterval(self._switch_s)

    def summary(self) -> dict[str, Any]:
        late = {"instants": self.pace.missed, "worst_s": self.pace.worst_s}
        return {"late": late, **{name: link.summary() for name, link in self.links.items()}}
