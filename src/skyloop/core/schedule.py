"""The event queue: periodic ticks at exact rates, deliveries of delayed messages, and one-time actions of links."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from skyloop_client.messages import Message
from skyloop_client.streams import Rate

Action = Callable[[int, int], None]
"""Called with (t_ns, index)."""
LAST = 1 << 30
"""Rank of one-time actions: they run after all tickers of an instant."""


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
            yield lambda ticker=ticker, due_ns=due_ns, index=index: ticker.act(due_ns, index)  # type: ignore[misc]

    def snapshot(self) -> Any:
        heap = [entry for entry in self._heap if entry[1] != LAST]
        heapq.heapify(heap)
        return heap, dict(self._once), self._entered, [ticker.index for ticker in self._tickers]

    def restore(self, saved: Any) -> None:
        heap, once, self._entered, indices = saved
        self._heap, self._once = list(heap), dict(once)
        self._last.clear()
        for ticker, index in zip(self._tickers, indices, strict=True):
            ticker.index = index
