"""The record of all interactions on three clocks (simulated, execution and wall time), as rows and as a plot."""

from __future__ import annotations

import csv
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

NS_PER_S = 1e9
MOST_KEPT = 20_000


@dataclass(frozen=True, slots=True)
class Interaction:
    """One question and its answer."""

    vehicle: str
    number: int
    et_ns: int
    """Execution time of the question."""
    st_asked_ns: int
    """Simulated time when the question arrived."""
    st_acted_ns: int
    """Simulated time when its commands took effect."""
    st_replied_ns: int
    """Simulated time of the answer."""
    wall_asked_ns: int
    """Wall time since the link was opened, when the question arrived."""
    wall_replied_ns: int
    commands: int
    bytes: int
    """Size of the answer."""
    wall_acted_ns: int = 0
    """Wall time when its commands took effect."""
    wall_ready_ns: int = 0
    """Wall time when all requested samples existed, before the answer was encoded."""
    role: str = "pilot"
    """Role of the sender: pilot, companion or estimator."""

    @property
    def violates(self) -> str:
        """The violation of synchronised time, as text. Empty if there is none."""
        if self.st_asked_ns > self.et_ns:
            return f"ST {self.st_asked_ns} ns had passed ET {self.et_ns} ns"
        if self.st_acted_ns < self.et_ns:
            return f"commands took effect at {self.st_acted_ns} ns, before their ET {self.et_ns} ns"
        if self.st_replied_ns < self.st_acted_ns:
            return f"answered at {self.st_replied_ns} ns, before {self.st_acted_ns} ns"
        return ""


class Timeline:
    """Collects rows, and writes whole lines of CSV if there is a file."""

    def __init__(self, path: Path | None = None) -> None:
        self.rows: list[Interaction] = []
        """The first twenty thousand. The file has all."""
        self.count = 0
        self.violations = 0
        self._file = None if path is None else path.open("w", 1, newline="", encoding="utf-8")
        self._writer = None if self._file is None else csv.writer(self._file)
        if self._writer is not None:
            self._writer.writerow(field.name for field in fields(Interaction))

    def add(self, row: Interaction) -> None:
        self.count += 1
        self.violations += bool(row.violates)
        if len(self.rows) < MOST_KEPT:
            self.rows.append(row)
        if self._writer is not None and self._file is not None:
            self._writer.writerow(astuple(row))

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = self._writer = None


def plot_timeline(rows: list[Interaction], path: Path, title: str = "") -> None:
    """ST and ET against wall time, the whole flight and a few interactions of it (synchronised-hil, Fig. 4)."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (whole, part) = pyplot.subplots(1, 2, figsize=(12, 5), dpi=110)
    middle = len(rows) // 2
    _draw(whole, rows, marks=False)
    _draw(part, rows[max(middle - 5, 0) : middle + 5], marks=True)
    whole.set_title(title)
    part.set_title("ten interactions of it")
    whole.set_ylabel("ST, ET (s)")
    whole.legend(loc="upper left")
    part.legend(loc="upper left")
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)


def _draw(axes: Any, rows: list[Interaction], *, marks: bool) -> None:
    wall: dict[str, list[float]] = {"et": [], "st": []}
    time: dict[str, list[float]] = {"et": [], "st": []}
    for row in rows:
        asked, replied = row.wall_asked_ns / NS_PER_S, row.wall_replied_ns / NS_PER_S
        # ET waits until ST has caught up; while the SUT sleeps or waits for a sample, both advance together
        passed = max(row.st_replied_ns - row.st_asked_ns, 1)
        met = asked + min(max((row.et_ns - row.st_asked_ns) / passed, 0.0), 1.0) * (replied - asked)
        wall["et"] += [asked, met, replied]
        time["et"] += [row.et_ns / NS_PER_S, row.et_ns / NS_PER_S, row.st_replied_ns / NS_PER_S]
        wall["st"] += [asked, replied]
        time["st"] += [row.st_asked_ns / NS_PER_S, row.st_replied_ns / NS_PER_S]
    dot = "." if marks else ""
    axes.plot(wall["et"], time["et"], dot + "-", color="#c0392b", lw=1.2, label="execution time (ET)")
    axes.plot(wall["st"], time["st"], dot + "-", color="#2c6fbb", lw=1.2, label="simulated time (ST)")
    if rows:
        ends = [wall["st"][0], wall["st"][-1]]
        real = [time["st"][0], time["st"][0] + ends[1] - ends[0]]
        axes.plot(ends, real, "--", color="#999999", lw=1, label="real time")
        # when real time runs away, it must not squeeze the others
        axes.set_ylim(time["st"][0] - 0.02, max(*time["et"], *time["st"]) * 1.02 + 0.02)
    axes.set_xlabel("wall time (s)")
    axes.grid(alpha=0.3)
