"""What an experiment of a paper produces: results beside published numbers."""

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
