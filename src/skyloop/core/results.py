"""The two records that measurements produce: a result beside a paper's number, and a figure beside its aim."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Result:
    """One cell of a paper's table or figure, repeated here."""

    paper: str
    """Name of the paper's file in our references, for example "depth-noise-and-rotor-drag"."""
    table: str
    """"Table 2", "Fig. 16", or "text"."""
    cell: str
    """Which value of the table or figure."""
    published: float | None
    """None where the paper gives no number."""
    measured: float
    unit: str
    n: int = 1
    """How many samples or runs `measured` is the mean of."""
    sd: float | None = None
    conditions: dict[str, Any] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number of a benchmark; `holds` is None where there is no aim."""

    key: str
    value: float
    unit: str
    aim: float | None = None
    note: str = ""
    lower_is_better: bool = False
    """True where the aim is an upper limit instead of a lower one."""

    @property
    def holds(self) -> bool | None:
        if self.aim is None:
            return None
        return self.value <= self.aim if self.lower_is_better else self.value >= self.aim

    def plain(self) -> dict[str, Any]:
        return {**asdict(self), "holds": self.holds}
