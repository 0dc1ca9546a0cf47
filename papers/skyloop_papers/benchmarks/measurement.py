"""What all benches share: the measurement they yield, and timings by turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from skyloop.core.machine_info import usable_cores
from skyloop_client.messages import Array

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measured number. A peer's number is another measurement of the same bench, and so is their ratio."""

    key: str
    value: float
    unit: str
    aim: float | None = None
    note: str = ""
    lower_is_better: bool = False
    """True where the aim is an upper limit instead of a lower one."""

    @property
    def holds(self) -> bool | None:
        """None where there is no aim."""
        if self.aim is None:
            return None
        return self.value <= self.aim if self.lower_is_better else self.value >= self.aim

    def plain(self) -> dict[str, Any]:
        return {**asdict(self), "holds": self.holds}


Measurements = Iterator[Measurement]
Bench = Callable[[], Measurements]
"""A function whose parameters, all with defaults, are the amount of measurement. The defaults give the numbers in
docs/explanations/benchmarks.md. The first line of its docstring is what `skyloop list` says of it."""


def lower(key: str, value: float, unit: str, aim: float | None, note: str) -> Measurement:
    """A measurement that is the better the lower it is."""
    return Measurement(key, float(value), unit, aim, note, lower_is_better=True)


class Rounds:
    """Timings by turns, so that a slow minute of the machine affects all. One extra round is a warm-up."""

    def __init__(self, timings: dict[str, Callable[[], float]], rounds: int) -> None:
        taken = [{name: take() for name, take in timings.items()} for _ in range(rounds + 1)][1:]
        self.taken: dict[str, Array] = {name: np.array([values[name] for values in taken]) for name in timings}

    def __getitem__(self, name: str) -> float:
        """The median over the rounds."""
        return float(np.median(self.taken[name]))

    def ratio(self, name: str, peer: str) -> float:
        """The median of the ratios within each round."""
        return float(np.median(self.taken[name] / self.taken[peer]))


def calls_per_second(call: Callable[[], object], seconds: float) -> float:
    """Over at least so many seconds."""
    calls, began = 0, time.perf_counter()
    while calls == 0 or time.perf_counter() - began < seconds:
        call()
        calls += 1
    return calls / (time.perf_counter() - began)


def seconds_each(
    call: Callable[[T], object], arguments: Iterable[T], clock: Callable[[], float] = time.perf_counter
) -> float:
    """Mean seconds of a call over all these arguments."""
    count, began = 0, clock()
    for argument in arguments:
        call(argument)
        count += 1
    return (clock() - began) / count


class StepTimes:
    """ms of processor time of this thread by step: what else runs on the machine is left out."""

    def __init__(self) -> None:
        self.ms: dict[str, list[float]] = {}

    def of(self, step: str, call: Callable[..., T], *arguments: Any) -> T:
        began = time.thread_time()
        out = call(*arguments)
        self.ms.setdefault(step, []).append(1e3 * (time.thread_time() - began))
        return out

    def total(self) -> float:
        """Mean ms of all steps together."""
        return statistics.fmean(map(sum, zip(*self.ms.values(), strict=True)))


def on_all_cores(pool: ThreadPoolExecutor, call: Callable[[slice], object], count: int) -> None:
    """A call for each core's slice of `count` items."""
    cores = usable_cores()
    list(pool.map(call, [slice(a, b) for a, b in pairwise(count * k // cores for k in range(cores + 1))]))


def mean(rows: Sequence[dict[str, Any]], key: str) -> float:
    return statistics.fmean(row[key] for row in rows)
