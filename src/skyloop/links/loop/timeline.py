"""The record of all interactions on three clocks (simulated, execution and wall time), as rows and as a plot."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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


COLUMNS = tuple(field.name for field in fields(Interaction))
_values = attrgetter(*COLUMNS)


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
            self._writer.writerow(COLUMNS)

    def add(self, row: Interaction) -> None:
        self.count += 1
        self.violations += bool(row.violates)
        if len(self.rows) < MOST_KEPT:
            self.rows.append(row)
        if self._writer is not None and self._file is not None:
            self._writer.writerow(_values(row))

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = self._writer = None


def plot_timeline(rows: list[Interaction], path: Path, title: str = "") -> None:
    """ST, ET and ET - ST over wall time, of the whole flight and of a few interactions (synchronised-hil, Fig. 4)."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        2, 2, figsize=(12, 7), dpi=110, sharex="col", gridspec_kw={"height_ratios": [3, 1]}, squeeze=False
    )
    for k, (some, name) in enumerate(((rows, title), (busiest(rows), "ten interactions of it"))):
        lines = _lines(some)
        _draw(axes[0, k], lines, marks=k == 1)
        _draw_difference(axes[1, k], lines)
        axes[0, k].set_title(name)
        axes[0, k].legend(loc="upper left")
        axes[1, k].set_xlabel("wall time (s)")
    axes[0, 0].set_ylabel("ST, ET (s)")
    axes[1, 0].set_ylabel("ET - ST (ms)")
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)


def busiest(rows: list[Interaction], count: int = 10) -> list[Interaction]:
    """The consecutive interactions with the most computation, because there ET and ST differ."""
    computed = [row.et_ns - row.st_asked_ns for row in rows]
    first = max(range(max(len(rows) - count, 0) + 1), key=lambda k: sum(computed[k : k + count]))
    return rows[first : first + count]


Line = tuple[list[float], list[float]]


def _lines(rows: list[Interaction]) -> dict[str, Line]:
    """Wall time and ET or ST, s."""
    lines: dict[str, Line] = {"et": ([], []), "st": ([], [])}
    for row in rows:
        asked, replied = row.wall_asked_ns / NS_PER_S, row.wall_replied_ns / NS_PER_S
        # ET waits until ST has caught up; while the SUT sleeps or waits for a sample, both advance together
        passed = max(row.st_replied_ns - row.st_asked_ns, 1)
        met = asked + min(max((row.et_ns - row.st_asked_ns) / passed, 0.0), 1.0) * (replied - asked)
        for name, wall, time in (
            ("et", (asked, met, replied), (row.et_ns, row.et_ns, row.st_replied_ns)),
            ("st", (asked, replied), (row.st_asked_ns, row.st_replied_ns)),
        ):
            lines[name][0].extend(wall)
            lines[name][1].extend(ns / NS_PER_S for ns in time)
    return lines


def _draw(axes: Axes, lines: dict[str, Line], *, marks: bool) -> None:
    dot = "." if marks else ""
    # they are mostly equal, so the lower line is broad and shows on both sides of the other
    axes.plot(*lines["et"], dot + "-", color="#f0a59c", lw=5, ms=11, label="execution time (ET)")
    axes.plot(*lines["st"], dot + "-", color="#1f4e8c", lw=1.2, ms=5, label="simulated time (ST)")
    (st_wall, st), (_, et) = lines["st"], lines["et"]
    if st:
        axes.plot([st_wall[0], st_wall[-1]], [st[0], st[0] + st_wall[-1] - st_wall[0]], "--", color="#999999", lw=1,
                  label="real time")  # fmt: skip
        # when real time runs far ahead, it must not squeeze the others
        axes.set_ylim(st[0] - 0.02, max(*et, *st) * 1.02 + 0.02)
    axes.grid(alpha=0.3)


def _draw_difference(axes: Axes, lines: dict[str, Line]) -> None:
    """Evaluated at every vertex of either line."""
    import numpy as np

    (et_wall, et), (st_wall, st) = lines["et"], lines["st"]
    if st:
        wall = np.union1d(et_wall, st_wall)
        axes.plot(wall, 1e3 * (np.interp(wall, et_wall, et) - np.interp(wall, st_wall, st)), color="#c0392b", lw=1)
    axes.grid(alpha=0.3)
