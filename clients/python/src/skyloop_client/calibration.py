"""Compares the speeds of two computers: both do the same short work, and its processor times are compared.

Three kinds of work, because no single number fits all software: Python's interpreter, arithmetic on arrays, and
copying in memory. `clients/cpp/calibrate.cpp` does the same for programs in C++; the two cannot be compared.
"""

from __future__ import annotations

import json
import math
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from skyloop_client.errors import LinkError
from skyloop_client.regular_files import read_text

PROGRAM = "python 1"
"""Name of the benchmark. Its number changes when the work changes."""
REPEATS = 7
"""The fastest run counts, because the others were disturbed."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The result of one computer."""

    program: str
    machine: str
    rates: dict[str, float]
    """Runs per s of processor time, by kind of work."""

    def plain(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Ratio:
    """The speed of one computer relative to another."""

    machine: str
    by_work: dict[str, float]

    @property
    def speed(self) -> float:
        """Geometric mean of the kinds of work."""
        return math.exp(sum(map(math.log, self.by_work.values())) / len(self.by_work))

    @property
    def text(self) -> str:
        kinds = ", ".join(f"{work} {ratio:.3g}" for work, ratio in self.by_work.items())
        return f"{self.machine} has speed {self.speed:.3g} ({kinds}; 1 is this machine)"


def calibrate(work: Mapping[str, Callable[[], None]] | None = None) -> Calibration:
    """About two seconds on a desktop computer."""
    rates = {name: 1.0 / quickest(one) for name, one in (work or WORK).items()}
    return Calibration(PROGRAM, f"{platform.node()} ({platform.machine()})", rates)


def quickest(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """s of processor time."""
    times = []
    for _ in range(repeats):
        began = time.process_time_ns()
        work()
        times.append(time.process_time_ns() - began)
    return max(min(times), 1) / 1e9


def interpreter() -> None:
    """Plain Python: calls, branches, dictionaries, numbers."""
    seen: dict[int, int] = {}
    value = 1
    for k in range(100_000):
        value = (value * 1_103_515_245 + 12_345) & 0x7FFF_FFFF
        if value & 1:
            seen[value & 0xFF] = seen.get(value & 0xFF, 0) + k


def arithmetic() -> None:
    """Edges in 20 images of 320 by 240: numpy's inner loops on data that fits the cache."""
    image = np.arange(320 * 240, dtype=np.float32).reshape(240, 320) % 251
    for _ in range(20):
        across = image[:, 2:] - image[:, :-2]
        down = image[2:] - image[:-2]
        image[1:-1, 1:-1] = np.sqrt(across[1:-1] ** 2 + down[:, 1:-1] ** 2) % 251


def memory() -> None:
    """64 MiB, copied four times, which is larger than a cache."""
    block = np.zeros(8 << 20)
    for _ in range(4):
        block = block.copy()


WORK: dict[str, Callable[[], None]] = {"interpreter": interpreter, "arithmetic": arithmetic, "memory": memory}


def read_calibration(path: Path) -> Calibration:
    try:
        plain = json.loads(read_text(path))
        rates = {str(work): float(rate) for work, rate in plain["rates"].items()}
        if not rates or not all(math.isfinite(rate) and rate > 0.0 for rate in rates.values()):
            raise ValueError
        return Calibration(str(plain["program"]), str(plain["machine"]), rates)
    except OSError as error:
        raise LinkError(f"cannot read the calibration '{path}': {error.strerror}") from None
    except (KeyError, TypeError, ValueError, AttributeError):
        raise LinkError(f"'{path}' is no calibration; make one there with skyloop-client calibrate --json") from None


def compared(board: Calibration, here: Calibration) -> Ratio:
    if (board.program, set(board.rates)) != (here.program, set(here.rates)):
        raise LinkError(f"a calibration by '{board.program}' cannot be compared with one by '{here.program}'")
    return Ratio(board.machine, {work: board.rates[work] / here.rates[work] for work in here.rates})
