"""Simulated time. Only the clock moves it. Its pacing and its gates decide how fast it moves, and whether it may.

`Schedule` is the event queue: periodic ticks at exact rates, deliveries of delayed messages, and one-time actions of
links.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from skyloop_client.messages import Message
from skyloop_client.streams import NS_PER_S, Rate


class Pacing(Protocol):
    def wait(self, t_ns: int) -> None:
        """Return when simulated time may reach `t_ns`."""

    def restart(self) -> None:
        """Restart the pacing, because time was set to another instant."""


class Gate(Protocol):
    def pass_to(self, t_ns: int) -> int:
        """Wait until time may go on, then return the instant it may reach: `t_ns`, or an earlier one.

        An autopilot in lockstep or a software under test holds the gate while it computes.
        """


class FreeRunning:
    """No pacing: the simulation runs as fast as the machine can."""

    def wait(self, t_ns: int) -> None:
        pass

    def restart(self) -> None:
        pass


GIVE_UP_S = 1.0
"""s of wall time. When the simulation is further behind, the lost time is not caught up."""


class RealTime:
    """A fixed number of simulated seconds per second of wall time.

    It never skips time to catch up. It restarts when time was set or is too far behind.
    """

    def __init__(
        self,
        factor: float = 1.0,
        wall: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.factor = factor
        self.worst_lateness = 0.0
        """s of wall time, the most by which the simulation was late."""
        self._wall = wall
        self._sleep = sleep
        self._start = 0.0
        self._started = False

    def restart(self) -> None:
        self._started = False

    def wait(self, t_ns: int) -> None:
        due = t_ns / NS_PER_S / self.factor
        if not self._started:
            self._start = self._wall() - due
            self._started = True
        ahead = self._start + due - self._wall()
        if ahead > 0:
            self._sleep(ahead)
            return
        self.worst_lateness = max(self.worst_lateness, -ahead)
        self._started = -ahead <= GIVE_UP_S


class Clock:
    """The one owner of simulated time."""

    def __init__(self, pacing: Pacing | None = None, gates: tuple[Gate, ...] = ()) -> None:
        self.now_ns = 0
        self.pacing: Pacing = pacing or FreeRunning()
        self.gates = gates

    def advance(self, t_ns: int) -> int:
        """Move time to an instant, or to an earlier one if a gate says so. Returns the instant reached."""
        for gate in self.gates:
            t_ns = gate.pass_to(t_ns)
        self.pacing.wait(t_ns)
        self.now_ns = t_ns
        return t_ns

    def set(self, t_ns: int) -> None:
        """Set time to an instant without passing through the time between."""
        self.now_ns = t_ns
        self.pacing.restart()


Action = Callable[[int, int], None]
"""Called with (t_ns, index)."""
LAST = 1 << 30
"""Rank of one-time actions: they run after all tickers of an instant."""


ScheduleMemory = tuple[list[tuple[int, int, int]], dict[int, Message], int, list[int]]
"""What changes in a schedule, but for the actions of links."""


@dataclass(slots=True)
class Ticker:
    """A periodic action."""

    rate: Rate
    act: Action
    index: int = 0


class Schedule:
    """Events run in order of time, then of rank, then of entry. Nothing else decides the order.

    Delayed messages are kept as plain data and go to `deliver`, so that a snapshot fits any build of its scenario.
    """

    def __init__(self, deliver: Callable[[Message], None] | None = None) -> None:
        self.deliver = deliver
        self._tickers: list[Ticker] = []
        self._heap: list[tuple[int, int, int]] = []
        self._once: dict[int, Message] = {}
        self._last: dict[int, Callable[[], None]] = {}
        self._entered = 0

    def every(self, rate: Rate, act: Action) -> None:
        """Run an action at a rate, from t = 0 on, or from the next event on if the simulation has begun. At one
        instant, the ticker that was entered first runs first."""
        number = len(self._tickers)
        has_begun = any(ticker.index for ticker in self._tickers)
        self._tickers.append(Ticker(rate, act, rate.count_until(self.next_ns()) if has_begun else 0))
        heapq.heappush(self._heap, (rate.due_ns(self._tickers[-1].index), 1 + number, -1))

    def once(self, message: Message) -> None:
        """Deliver a delayed message at its arrival time, before all tickers of that instant."""
        self._entered += 1
        self._once[self._entered] = message
        heapq.heappush(self._heap, (message.arrival_ns, 0, self._entered))

    def at(self, t_ns: int, act: Callable[[], None]) -> None:
        """Run an action of a link once, after everything else of that instant. No snapshot holds it."""
        self._entered += 1
        self._last[self._entered] = act
        heapq.heappush(self._heap, (t_ns, LAST, self._entered))

    def next_ns(self) -> int:
        return self._heap[0][0]

    def due(self, t_ns: int) -> Iterator[Callable[[], None]]:
        """Yield every event that is due by `t_ns`, one by one, because an event may add others."""
        while self._heap and self._heap[0][0] <= t_ns:
            due_ns, rank, entry = heapq.heappop(self._heap)
            if rank == 0:
                assert self.deliver is not None
                yield partial(self.deliver, self._once.pop(entry))
                continue
            if rank == LAST:
                yield self._last.pop(entry)
                continue
            ticker = self._tickers[rank - 1]
            index = ticker.index
            ticker.index += 1
            heapq.heappush(self._heap, (ticker.rate.due_ns(ticker.index), rank, -1))
            yield partial(ticker.act, due_ns, index)

    def snapshot(self) -> ScheduleMemory:
        heap = [entry for entry in self._heap if entry[1] != LAST]
        heapq.heapify(heap)
        return heap, dict(self._once), self._entered, [ticker.index for ticker in self._tickers]

    def restore(self, saved: ScheduleMemory) -> None:
        heap, once, self._entered, indices = saved
        self._heap, self._once = list(heap), dict(once)
        self._last.clear()
        for ticker, index in zip(self._tickers, indices, strict=True):
            ticker.index = index
