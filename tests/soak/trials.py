"""What all parts of the soak share: trials, each made of a seed and its number, and the table of what held."""

from __future__ import annotations

import json
import random
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

SOAK = Path(__file__).with_name("soak.py")
HEADINGS = ("part", "what", "tried", "held", "broken")


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one or several tries of one kind."""

    what: str
    """The row of the table."""
    fault: str = ""
    """What went wrong, in one line; empty: it held."""
    tried: int = 1
    """Tries that this fault, or none, came of."""


class Part(ABC):
    """One kind of harm. A trial is made of the seed and its number alone, so that it can be shown again."""

    name: ClassVar[str]
    most: ClassVar[int | None] = None
    """Trials there are; None: any number."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed = folder, seed
        folder.mkdir(parents=True)

    def chance(self, number: int) -> random.Random:
        return random.Random(f"{self.name} {self.seed} {number}")

    @abstractmethod
    def trial(self, number: int) -> Iterable[Result]:
        """Make one."""


@dataclass(slots=True)
class Table:
    """Counts by part and kind, in the order in which they came."""

    rows: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def add(self, part: str, result: Result) -> None:
        row = self.rows.setdefault((part, result.what), [0, 0])
        row[0] += result.tried
        row[1] += bool(result.fault)

    @property
    def tried(self) -> int:
        return sum(tried for tried, _ in self.rows.values())

    def text(self) -> str:
        lines = [HEADINGS]
        lines += [(*key, str(n), str(n - broken), str(broken)) for key, (n, broken) in self.rows.items()]
        broken = sum(row[1] for row in self.rows.values())
        lines.append(("all", "", str(self.tried), str(self.tried - broken), str(broken)))
        widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
        shown = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        return "\n".join(line.rstrip() for line in shown)

    def write(self, path: Path) -> None:
        rows = [[*key, *counts] for key, counts in self.rows.items()]
        path.write_text(json.dumps({"rows": rows, "faults": self.faults}, indent=1) + "\n", encoding="utf-8")

    def read(self, path: Path) -> None:
        """Add what another process has written."""
        data = json.loads(path.read_text(encoding="utf-8"))
        for part, what, tried, broken in data["rows"]:
            row = self.rows.setdefault((part, what), [0, 0])
            row[0] += tried
            row[1] += broken
        self.faults += data["faults"]


def run_part(part: Part, minutes: float, only: int | None, table: Table) -> None:
    """Make trials until the time is over, and print each fault with the command that shows it again."""
    end = time.monotonic() + 60.0 * minutes
    number = 0 if only is None else only
    while True:
        for result in part.trial(number):
            table.add(part.name, result)
            if result.fault:
                again = f"{sys.executable} {SOAK} {part.name} --seed {part.seed} --only {number}"
                table.faults.append(f"{part.name} {number}, {result.what}: {result.fault}\n    again: {again}")
                print("broken:", table.faults[-1], flush=True)
        number += 1
        if only is not None or number == part.most or time.monotonic() > end:
            return
