"""What all benches share: the measurement they yield, and timings by turns."""

from __future__ import annotations

import logging
import math
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from skyloop.core.machine_info import usable_cores
from skyloop_client.errors import SkyloopError
from skyloop_client.messages import Array

log = logging.getLogger("skyloop.bench")
"""Progress. It is below the simulator's logger, so that the command line shows it."""
T = TypeVar("T")


RATIO, SHARE = "ratio", "share"
"""Units of figures that are over a peer's or a physical limit in the same run, and of parts of a whole."""
OF_THE_MACHINE = (
    "1/s", "images/s", "rigs/s", "Hz", "s/s", "ns", "µs", "us", "ms", "s", "of a core", "B", "MB", "GB",
)  # fmt: skip
"""Units of figures that depend on how fast or how busy the machine is. `--check` does not judge them."""
TOO_NOISY = "too noisy"


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measured number. A peer's number is another measurement of the same bench, and so is their ratio."""

    key: str
    value: float
    """NaN: it could not be measured; `note` says why."""
    unit: str
    aim: float | None = None
    note: str = ""
    lower_is_better: bool = False
    """True where the aim is an upper limit instead of a lower one."""

    @property
    def holds(self) -> bool | None:
        """None where there is no aim or no value."""
        if self.aim is None or math.isnan(self.value):
            return None
        return self.value <= self.aim if self.lower_is_better else self.value >= self.aim

    @property
    def is_judged(self) -> bool:
        """Whether `--check` looks at it."""
        return self.unit == RATIO or (self.aim is not None and self.unit not in OF_THE_MACHINE)

    def plain(self) -> dict[str, Any]:
        return {**asdict(self), "value": None if math.isnan(self.value) else self.value, "holds": self.holds}


Measurements = Iterator[Measurement]
Bench = Callable[..., Measurements]
"""A function whose parameters, all with defaults, are the amount of measurement. The defaults give the numbers in
docs/results/benches.json, which the pages show; `benches.py` has those of the short form. The first line of its
docstring is what `skyloop list` says of it."""


def lower(key: str, value: float, unit: str, aim: float | None, note: str) -> Measurement:
    """A measurement that is the better the lower it is."""
    return Measurement(key, float(value), unit, aim, note, lower_is_better=True)


def beyond(key: str, own: float, plain: float, unit: str, aim: float | None, note: str) -> Measurement:
    """A latency beyond that of a plain peer. Where the peer took longer, what else the machine did decides."""
    if own > plain:
        return lower(key, own - plain, unit, aim, note)
    why = f"{TOO_NOISY}: {own:,.0f} {unit} beside {plain:,.0f} {unit} of the plain one in the same run"
    return Measurement(key, math.nan, unit, aim, why, lower_is_better=True)


def peer_or_why(find: Callable[[], T]) -> tuple[T | None, str]:
    """A peer, or None and why it is not there."""
    try:
        return find(), ""
    except SkyloopError as error:
        return None, str(error)


class Rounds:
    """Timings by turns, so that a slow minute of the machine affects all. One extra round is a warm-up."""

    def __init__(self, timings: dict[str, Callable[[], float]], rounds: int, why_missing: str = "") -> None:
        """why_missing: the reason for which the peer's timings are not among them."""
        self._why_missing = why_missing
        taken = []
        for number in range(rounds + 1):
            log.info("round %d of %d, the first to warm up", number + 1, rounds + 1)
            taken.append({name: take() for name, take in timings.items()})
        self.taken: dict[str, Array] = {name: np.array([values[name] for values in taken[1:]]) for name in timings}

    def __getitem__(self, name: str) -> float:
        """The median over the rounds."""
        return float(np.median(self.taken[name]))

    def ratio(self, name: str, peer: str) -> float:
        """The median of the ratios within each round."""
        return float(np.median(self.taken[name] / self.taken[peer]))

    def measured(self, key: str, name: str, unit: str, note: str, *, scale: float = 1.0) -> Measurement:
        """The median as a figure without an aim."""
        if name not in self.taken:
            return Measurement(key, math.nan, unit, None, self._why_missing)
        return Measurement(key, scale * self[name], unit, None, note)

    def compared(self, key: str, names: tuple[str, str], aim: float | None, note: str) -> Measurement:
        """The ratio of the first to the second."""
        if not set(names) <= set(self.taken):
            return Measurement(key, math.nan, RATIO, aim, self._why_missing)
        return Measurement(key, self.ratio(*names), RATIO, aim, note)


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
