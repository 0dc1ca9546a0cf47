"""The gate between the clock and all links: messages from outside are handled here, between two simulation events.

Threads that read sockets put messages into one inbox. The simulation's own thread takes each one out and hands it to
its link. So links need no locks, and several links can run at once. While it waits it reads the sockets of the first
listener itself, because to hand a message from thread to thread takes longer than to read it."""

from __future__ import annotations

import logging
import math
import signal
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, count
from pathlib import Path
from queue import Empty
from types import FrameType
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from skyloop.core.frames import GeoPoint
from skyloop.links.inbox import Inbox
from skyloop.links.pace import GIVE_UP_S, Pace
from skyloop.sim.scenario import Scenario
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.errors import Interrupted, LinkError

log = logging.getLogger(__name__)
Factor = Annotated[float | None, BeforeValidator(lambda value: None if value == "max" else value)]
"""Simulated s per s of wall time. None, or `max` on the command line: no limit."""
Summary = dict[str, Any]
"""Plain data for JSON."""
T = TypeVar("T")

SWITCH_S = 0.0005
"""Wall s until Python hands the interpreter lock to a thread that reads sockets. Python's own default is 5 ms."""
MEANWHILE_S = 0.0005
"""Wall s between two checks for a finished image. On average an image is noticed half of this late."""
POLL_S = 0.2
"""Wall s between two checks for Ctrl-C and hung peers. A link with `is_waiting` is checked every MEANWHILE_S."""


class Link(ABC):
    """A protocol to programs outside, as the link gate sees it. A link overrides what it needs.

    Where a property is None, the link has no say: the others decide."""

    name = "link"
    """In the summary."""

    @property
    def over(self) -> bool | None:
        """Whether nothing is left to do for its peers. The flight ends when all links with a say agree."""
        return None

    @property
    def lasts(self) -> bool:
        """Whether the flight goes on when the scenario's pilots are done."""
        return False

    @property
    def allows_realtime(self) -> bool | None:
        """Whether no peer waits for time to pass. If all links with a say agree, real time is fast enough."""
        return None

    @property
    def answers_at_once(self) -> bool | None:
        """Whether messages may be handled in the middle of an instant, while images are drawn.

        None: none come in."""
        return False

    @property
    def answers_beside(self) -> bool | None:
        """The same while another thread measures: no message may change the world."""
        return False

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for something that no message tells of, so that `poll` must be called again soon."""
        return False

    @abstractmethod
    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        """Called when the simulation is built and nothing has been recorded."""

    def detach(self) -> None:  # noqa: B027
        """Let go of this simulation: another one takes its place, and `attach` is called again with it."""

    def stop_at(self, t_ns: int) -> int:
        """`t_ns`, or the earlier instant at which this link has scheduled something."""
        return t_ns

    def blocks_time(self, t_ns: int) -> bool:
        """Whether time must not advance to `t_ns` yet."""
        return False

    def poll(self) -> None:  # noqa: B027
        """Called often, before time advances, for housekeeping such as dropping hung peers."""

    def answer_at_once(self) -> None:  # noqa: B027
        """Called in the middle of an instant, after messages were handled."""

    def execution_times(self) -> Mapping[str, float]:
        """s of execution time, by name, of programs that this link keeps in step with simulated time."""
        return {}

    def finish(self, why: str) -> None:  # noqa: B027
        """Tell all peers that the flight is over. It may be called twice."""

    def close(self) -> None:  # noqa: B027
        """Free all resources, also if it was never attached. It may be called twice."""

    def summary(self) -> Summary:
        """The link's part of the run's summary. If it is empty, the link is not mentioned there."""
        return {}


class Onlooker(Link):
    """A link that only sends, without input."""

    answers_at_once = None
    answers_beside = None


class LinkConfig(BaseModel, ABC):
    """What `--link KIND:OPTIONS` names: the options of one kind of link, and how to open it."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    kind: ClassVar[str] = "link"
    """For messages: its name in `--link`."""
    bare: ClassVar[str] = ""
    """The option that a value without a name sets."""
    shares_command: ClassVar[bool] = True
    """Other links may command the vehicles that its peers fly."""
    feeds_estimators: ClassVar[bool] = False
    """Estimators of kind `link` may connect through it."""
    may_repeat: ClassVar[bool] = False
    """There may be several on one flight."""
    most_hurry_s: ClassVar[float] = math.inf
    """Most simulated s that may pass in a hurry after the computer was busy."""
    invitation: ClassVar[str] = "peers may connect to %s"
    """For people, with the address."""

    pace: Factor = None
    """What its peers bear at most. One that is given counts before the defaults of other links."""
    opened: Callable[[str], None] | None = Field(default=None, exclude=True, repr=False)
    """Called with the address that peers connect to. None: it is logged."""

    def flown(self, scenario: Scenario) -> frozenset[str]:
        """Vehicles that its peers fly: the scenario's own pilots do not fly these."""
        return frozenset()

    def prepared(self, scenario: Scenario) -> Scenario:
        """The scenario with what the link needs, such as sensors."""
        return scenario

    @abstractmethod
    def open(self, scenario: Scenario, inbox: Inbox) -> Sequence[Link]:
        """Bind ports before the world is built, so that one in use is reported at once."""

    def announce(self, address: str) -> None:
        if self.opened is not None:
            self.opened(address)
        else:
            log.info(self.invitation, address)


def all_vehicles(scenario: Scenario) -> frozenset[str]:
    """The names of all vehicles of a scenario."""
    return frozenset(vehicle.name for vehicle in scenario.vehicles)


def home_of(scenario: Scenario) -> GeoPoint:
    earth = scenario.earth
    return GeoPoint(earth.latitude_deg, earth.longitude_deg, earth.altitude)


def without_pilots(scenario: Scenario, flown: Collection[str] | None = None) -> Scenario:
    """The scenario for peers that fly these vehicles, or all."""
    vehicles = [
        vehicle.model_copy(update={"pilot": None}) if flown is None or vehicle.name in flown else vehicle
        for vehicle in scenario.vehicles
    ]
    return scenario.model_copy(update={"vehicles": vehicles})


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
        self._attached: list[Link] = []
        self._interrupted = self._stopped = False
        self._handler: Callable[[int, FrameType | None], object] | int | signal.Handlers | None = None
        self._worker: ThreadPoolExecutor | None = None
        self._switch_s = sys.getswitchinterval()

    def open(self, links: Sequence[Link | LinkConfig], scenario: Scenario) -> Scenario:
        """Open all, and return the scenario as they need it. After an error, `close` frees what was opened."""
        configs = [link for link in links if isinstance(link, LinkConfig)]
        _check_together(configs, scenario)
        self.pace = self._paced = _pace_of(configs)
        for config in configs:
            scenario = without_pilots(config.prepared(scenario), config.flown(scenario))
        for each in links:
            for link in [each] if isinstance(each, Link) else each.open(scenario, self.inbox):
                names = (f"{link.name}-{number}" if number else link.name for number in count())
                self.links[next(name for name in names if name not in self.links)] = link
        return scenario

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
            self._attached.append(link)
        if _agreed(link.answers_at_once for link in self.links.values()):
            port.editor.serve_meanwhile(self.serve_until)
        if _agreed(link.answers_beside for link in self.links.values()):
            port.editor.measure_beside(self.serve_beside)

    def detach(self) -> None:
        """Let go of this simulation, because another one takes its place."""
        self._restore()
        for link in self._attached:
            link.detach()
        self._attached.clear()
        self.pace.restart()

    def serve_until(self, ready: Callable[[], bool]) -> None:
        """While the simulation waits for images, handle messages of links that can answer at any moment."""
        self._answer_at_once()
        while not ready():
            if self._take(MEANWHILE_S):
                self._answer_at_once()

    def serve_beside(self, work: Callable[[], T]) -> T:
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
            link.answer_at_once()

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
                link.poll()
            stop = min([t_ns, *(link.stop_at(t_ns) for link in links)])
            patience = MEANWHILE_S if any(link.is_waiting for link in links) else POLL_S
            if any(link.blocks_time(stop) for link in links):
                self._take(patience)
                continue
            pace = self.pace
            if pace.factor is None and _agreed(link.allows_realtime for link in links):
                pace = self._alone
            if pace is not self._paced:
                self._paced = pace
                pace.restart()
            left = pace.left(stop, self._port.now_ns)
            if left > 0.0:
                self._take(min(left, patience))
                continue
            pace.reached(left)
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
        return self._stopped or _agreed(link.over for link in self.links.values())

    def stop(self) -> None:
        """A person or a program ends the flight, whatever the other links say."""
        self._stopped = True

    @property
    def lasts(self) -> bool:
        """A link wants the flight to go on when the scenario's pilots are done."""
        return any(link.lasts for link in self.links.values())

    def _interrupt(self, *_: object) -> None:
        if self._interrupted:
            raise KeyboardInterrupt
        self._interrupted = True

    def finish(self, why: str) -> None:
        """Tell the peers of all links, and restore the previous Ctrl-C handler. It may be called twice."""
        self._restore()
        for link in self._attached:
            link.finish(why)

    def close(self) -> None:
        """Free everything, also if it was never attached. It may be called twice."""
        self._restore()
        for link in self.links.values():
            link.close()

    def _restore(self) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            self._handler = None
        if self._worker is not None:
            self._worker.shutdown()
            self._worker = None
        sys.setswitchinterval(self._switch_s)

    def summary(self) -> Summary:
        """By the links' names; empty if none has anything to tell."""
        summaries = {name: summary for name, link in self.links.items() if (summary := link.summary())}
        late = {"instants": self.pace.missed, "worst_s": self.pace.worst_s}
        return {"late": late, **summaries} if summaries else {}


def _agreed(says: Iterable[bool | None]) -> bool:
    """All who have a say agree, and there is one."""
    voices = [say for say in says if say is not None]
    return bool(voices) and all(voices)


def _check_together(configs: Sequence[LinkConfig], scenario: Scenario) -> None:
    """Raise an error of one line if two of these links cannot be on one flight."""
    for one, other in combinations(configs, 2):
        if type(one) is type(other) and not one.may_repeat:
            raise LinkError(f"the link {one.kind} is given twice; give it once")
        both = one.flown(scenario) & other.flown(scenario)
        if both and not (one.shares_command and other.shares_command):
            alone, further = (other, one) if one.shares_command else (one, other)
            raise LinkError(f"'{min(both)}' is flown by {alone.kind} alone; leave out the link {further.kind}")


def _pace_of(configs: Sequence[LinkConfig]) -> Pace:
    """What the user has set, or else what the slowest bears."""
    given = [config for config in configs if config.pace is not None and "pace" in config.model_fields_set]
    for other in given[1:]:
        if other.pace != given[0].pace:
            raise LinkError(
                f"the link {given[0].kind} sets the pace to {given[0].pace:g} and {other.kind} to {other.pace:g}; "
                "give both the same"
            )
    factor = min((config.pace for config in given or configs if config.pace is not None), default=None)
    hurry_s = min((config.most_hurry_s for config in configs), default=math.inf)
    return Pace(factor, give_up_s=min(GIVE_UP_S, hurry_s / max(factor or 1.0, 1.0)))
