"""What happened when, on three clocks: simulated time, execution time, wall time; as rows and as a picture."""

from __future__ import annotations

import csv
from dataclasses import astuple, dataclass, fields
from pathlib import Path

NS_PER_S = 1e9
MOST_KEPT = 100_000


@dataclass(frozen=True, slots=True)
class Interaction:
    """One question and its answer."""

    vehicle: str
    number: int
    et_ns: int
    """Execution time when it was asked."""
    st_asked_ns: int
    """Simulated time when the question came in."""
    st_acted_ns: int
    """Simulated time when its commands took effect."""
    st_replied_ns: int
    """Simulated time of the answer."""
    wall_asked_ns: int
    """Wall time since the link was opened, when the question came in."""
    wall_replied_ns: int
    commands: int
    bytes: int
    """Of the answer."""
    wall_acted_ns: int = 0
    """Wall time when its commands took effect."""
    wall_ready_ns: int = 0
    """Wall time when all it waited for was there, before the answer was encoded."""

    @property
    def violates(self) -> str:
        """How it breaks the rules of synchronised time; nothing when it keeps them."""
        if self.st_asked_ns > self.et_ns:
            return f"ST {self.st_asked_ns} ns had passed ET {self.et_ns} ns"
        if self.st_acted_ns < self.et_ns:
            return f"commands took effect at {self.st_acted_ns} ns, before their ET {self.et_ns} ns"
        if self.st_replied_ns < self.st_acted_ns:
            return f"answered at {self.st_replied_ns} ns, before {self.st_acted_ns} ns"
        return ""


class Timeline:
    """Rows as they come; written as CSV while they do, if there is a place."""

    def __init__(self, path: Path | None = None) -> None:
        self.rows: list[Interaction] = []
        """The first hundred thousand."""
        self.count = 0
        self.violations = 0
        self._file = None if path is None else path.open("w", newline="", encoding="utf-8")
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
            if self.count % 100 == 0:
                self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = self._writer = None


def plot_timeline(rows: list[Interaction], path: Path, title: str = "") -> None:
    """ST and ET against wall time, with the interactions as marks (synchronised-hil, Fig. 4)."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 6), dpi=110)
    wall: list[float] = []
    st: list[float] = []
    et: list[float] = []
    for row in rows:
        # ET runs while the SUT computes and stands still until the answer; ST catches up meanwhile
        wall += [row.wall_asked_ns / NS_PER_S, row.wall_replied_ns / NS_PER_S]
        et += [row.et_ns / NS_PER_S, row.st_replied_ns / NS_PER_S]
        st += [row.st_asked_ns / NS_PER_S, row.st_replied_ns / NS_PER_S]
    axes.plot(wall, et, color="#c0392b", lw=1.2, label="execution time (ET)")
    axes.plot(wall, st, color="#2c6fbb", lw=1.2, label="simulated time (ST)")
    asked = [row.wall_asked_ns / NS_PER_S for row in rows]
    if len(rows) <= 400:
        axes.plot(asked, [row.et_ns / NS_PER_S for row in rows], ".", ms=4, color="#c0392b", label="questions")
        answered = [row.wall_replied_ns / NS_PER_S for row in rows]
        axes.plot(answered, [row.st_replied_ns / NS_PER_S for row in rows], ".", ms=4, color="#2c6fbb", label="answers")
    if asked:
        first = rows[0].st_asked_ns / NS_PER_S - asked[0]
        ends = [asked[0], wall[-1]]
        axes.plot(ends, [first + end for end in ends], "--", color="#999999", lw=1, label="real time")
    axes.set(xlabel="wall time (s)", ylabel="ST, ET (s)", title=title)
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left")
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)
