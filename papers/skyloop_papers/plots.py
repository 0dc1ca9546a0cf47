"""Pictures of all experiments: one style, one way to write them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skyloop.recording import flight_plot

INK, COLOURS = flight_plot.INK, flight_plot.COLOURS
STYLE: dict[Any, Any] = {**flight_plot.STYLE, "axes.axisbelow": True, "axes.titlesize": 9.5, "legend.frameon": False}


@contextmanager
def figure(
    path: Path, size: tuple[float, float], title: str = "", *, dpi: float = 100.0, **how: object
) -> Iterator[Any]:
    """A figure of a size in inches, which is written to the file at the end. how: of the title's text."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    path.parent.mkdir(parents=True, exist_ok=True)
    with rc_context(STYLE):
        drawn = Figure(figsize=size, dpi=dpi, layout="constrained")
        if title:
            drawn.suptitle(title, **{"fontweight": "bold", "color": INK, **how})
        yield drawn
        drawn.savefig(path)
