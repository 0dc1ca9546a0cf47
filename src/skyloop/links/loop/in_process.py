"""The session of software under test that runs in the simulator's own process.

After an answer, execution time (ET) continues from simulated time (ST) by the time that `clock` measures for the
software's computation. Without a clock the computer is infinitely fast. The rest follows docs/reference/protocol.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType

from skyloop.links.loop.task_deadlines import TaskDeadlines
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.bundle import Bundle
from skyloop_client.errors import LinkEnded, SetpointError, StreamError, unknown_name
from skyloop_client.messages import Message, Request, Setpoint
from skyloop_client.streams import NS_PER_S, StreamInfo

COMMANDER = "in process"


class InProcess:
    """Sends questions directly to a simulation and advances its time. It does not close the simulation."""

    def __init__(
        self,
        port: SimulationPort,
        vehicle: str = "",
        clock: Callable[[], int] | None = None,
        *,
        end_ns: int | None = None,
    ) -> None:
        """`clock` gives ns that pass while the software computes. At ST `end_ns` the flight is over."""
        self._port = port
        self._flown = port.vehicle(vehicle)
        self.vehicle = self._flown.name
        self._clock = clock or (lambda: 0)
        self._end_ns = end_ns
        self._is_open = True
        self._given: dict[str, int] = {}
        self._latest: dict[str, object] = {}
        self._every: dict[str, None] = {}
        self._held: list[Message] = []
        """Held messages of the streams requested with `every`."""
        self._unsent: list[tuple[str, object]] = []
        """Records published since the last question."""
        self.tasks = TaskDeadlines()
        """The tasks that it reports, and their missed deadlines."""
        self._events = port.bus.subscribe(f"{self.vehicle}/events")
        self._answer_ns, self._answer_clock = port.now_ns, self._clock()

    @property
    def infos(self) -> dict[str, StreamInfo]:
        return self._port.bus.infos

    def now(self) -> int:
        """Execution time, ns."""
        return self._answer_ns + max(0, self._clock() - self._answer_clock)

    def ask(
        self,
        *send: Setpoint | Request,
        want: Sequence[str] | None = (),
        fresh: Sequence[str] = (),
        until_ns: int | None = None,
        every: Sequence[str] = (),
        any_of: Sequence[str] = (),
    ) -> Bundle:
        """Like `skyloop_client.Session.ask`: send and publish at ET, then advance time until all samples exist."""
        if not self._is_open:
            raise LinkEnded("this session was closed")
        et_ns = self.now()
        awaited = [self._full_name(name) for name in fresh]
        wanted = self._own_streams() if want is None else [self._full_name(name) for name in want]
        for name in map(self._full_name, every):
            if name not in self._every:
                self._every[name] = None
                self._port.bus.on(name, self._held.append)
        one_of = [self._full_name(name) for name in any_of]
        self._pass_to(et_ns)
        refused = (*self._publish(), *self._send(send))
        if until_ns is not None:
            self._pass_to(until_ns)
        while any(self._news(name) is None for name in awaited) or (one_of and not self._has_one(one_of)):
            self._pass_to(self._port.next_ns)
        bundle = self._answer([*wanted, *awaited], refused)
        self._answer_ns, self._answer_clock = bundle.t_ns, self._clock()
        return bundle

    def send(self, *items: Setpoint | Request) -> Bundle:
        return self.ask(*items)

    def publish(self, name: str, record: object) -> None:
        """Like `skyloop_client.Session.publish`."""
        self._unsent.append((name, record))

    def begin_task(self, name: str, deadline: float | None = None) -> None:
        """Like `skyloop_client.Session.begin_task`."""
        now = self.now()
        self.tasks.take([["begin", name, None if deadline is None else round(deadline * NS_PER_S)]], now, now)

    def end_task(self, name: str) -> None:
        now = self.now()
        self.tasks.take([["end", name]], now, now)

    def sleep_until(self, t_ns: int) -> Bundle:
        return self.ask(until_ns=t_ns)

    def close(self) -> None:
        self._is_open = False

    def __enter__(self) -> InProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _pass_to(self, t_ns: int) -> None:
        """Advance through an instant, including all events due then."""
        last_ns = t_ns if self._end_ns is None else min(t_ns, self._end_ns)
        self._port.run_through(last_ns)
        if t_ns > last_ns:
            self.close()
            raise LinkEnded(f"the flight was over at {last_ns / 1e9:g} s")

    def _send(self, items: Sequence[Setpoint | Request]) -> tuple[str, ...]:
        refused = []
        for item in items:
            try:
                self._flown.send(item, by=COMMANDER)
            except (SetpointError, TypeError, ValueError) as error:
                refused.append(str(error))
        return tuple(refused)

    def _publish(self) -> tuple[str, ...]:
        refused = []
        unsent, self._unsent = self._unsent, []
        for name, record in unsent:
            try:
                self._flown.publish(name, record, sender="the session in the process")
            except StreamError as error:
                refused.append(str(error))
        return tuple(refused)

    def _has_one(self, streams: Sequence[str]) -> bool:
        held = {message.stream for message in self._held}
        return any(name in held if name in self._every else self._news(name) is not None for name in streams)

    def _answer(self, streams: Sequence[str], refused: tuple[str, ...]) -> Bundle:
        t_ns = self._port.now_ns
        arrived, self._held[:] = tuple(self._held), []
        for message in arrived:
            self._given[message.stream], self._latest[message.stream] = message.index, message.data
        for name in streams:
            if (newest := self._news(name)) is not None:
                self._given[name], self._latest[name] = newest.index, newest.data
        return Bundle(
            t_ns,
            self.vehicle,
            dict(self._latest),
            self._flown.belief,
            self._flown.status,
            tuple(message.data for message in self._events),
            refused,
            dict(self.infos),
            arrived,
            self.publish,
        )

    def _news(self, stream: str) -> Message | None:
        """The newest message of a stream, unless it was given already."""
        message = self._port.bus.newest(stream)
        return None if message is None or message.index <= self._given.get(stream, -1) else message

    def _own_streams(self) -> list[str]:
        return [
            name for name, info in self.infos.items() if info.vehicle == self.vehicle and not name.startswith("truth/")
        ]

    def _full_name(self, stream: str) -> str:
        for name in (f"{self.vehicle}/{stream}", stream):
            if name in self.infos:
                return name
        raise unknown_name("stream", stream, self.infos)
