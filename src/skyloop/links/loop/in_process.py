"""The session of a software under test that runs in the simulator's own process.

Execution time (ET) goes on from the simulated time (ST) of the last answer by what `clock` says the software has
computed since; without a clock the computer is infinitely fast. All else is as docs/reference/protocol.md has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.bundle import Bundle
from skyloop_client.errors import LinkEnded, SetpointError, unknown_name
from skyloop_client.streams import StreamInfo

COMMANDER = "in process"


class InProcess:
    """Asks a simulation directly, and moves its time. It does not close the simulation: whoever built it does."""

    def __init__(
        self,
        port: SimulationPort,
        vehicle: str = "",
        clock: Callable[[], int] | None = None,
        *,
        end_ns: int | None = None,
    ) -> None:
        """`clock` gives ns that pass while the software computes; at ST `end_ns` the flight is over."""
        self._port = port
        self._flown = port.vehicle(vehicle)
        self.vehicle = self._flown.name
        self._clock = clock or (lambda: 0)
        self._end_ns = end_ns
        self._is_open = True
        self._given: dict[str, int] = {}
        self._latest: dict[str, Any] = {}
        self._events = port.bus.subscribe(f"{self.vehicle}/events")
        self._answer_ns, self._answer_clock = port.now_ns, self._clock()

    @property
    def infos(self) -> dict[str, StreamInfo]:
        return self._port.bus.infos

    def now(self) -> int:
        """Execution time, ns."""
        return self._answer_ns + max(0, self._clock() - self._answer_clock)

    def ask(
        self, *send: Any, want: Sequence[str] | None = (), fresh: Sequence[str] = (), until_ns: int | None = None
    ) -> Bundle:
        """Send at ET, then let time pass until `until_ns` and until each of `fresh` has something new."""
        if not self._is_open:
            raise LinkEnded("this session was closed")
        et_ns = self.now()
        awaited = [self._full_name(name) for name in fresh]
        wanted = self._own_streams() if want is None else [self._full_name(name) for name in want]
        self._pass_to(et_ns)
        refused = self._send(send)
        if until_ns is not None:
            self._pass_to(until_ns)
        while any(self._news(name) is None for name in awaited):
            self._pass_to(self._port.next_ns)
        bundle = self._answer([*wanted, *awaited], refused)
        self._answer_ns, self._answer_clock = bundle.t_ns, self._clock()
        return bundle

    def send(self, *items: Any) -> Bundle:
        return self.ask(*items)

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
        """Everything up to and at an instant; what is due then has happened."""
        last_ns = t_ns if self._end_ns is None else min(t_ns, self._end_ns)
        self._port.run_through(last_ns)
        if t_ns > last_ns:
            self.close()
            raise LinkEnded(f"the flight was over at {last_ns / 1e9:g} s")

    def _send(self, items: Sequence[Any]) -> tuple[str, ...]:
        refused = []
        for item in items:
            try:
                self._flown.send(item, by=COMMANDER)
            except (SetpointError, TypeError, ValueError) as error:
                refused.append(str(error))
        return tuple(refused)

    def _answer(self, streams: Sequence[str], refused: tuple[str, ...]) -> Bundle:
        t_ns = self._port.now_ns
        for name in streams:
            if (message := self._news(name)) is not None:
                self._given[name], self._latest[name] = message.index, message.data
        return Bundle(
            t_ns,
            self.vehicle,
            dict(self._latest),
            self._flown.belief,
            self._flown.status,
            tuple(message.data for message in self._events),
            refused,
            frozenset(self.infos),
        )

    def _news(self, stream: str) -> Any:
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
