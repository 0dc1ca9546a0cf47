"""The precision–recall curves of the page on detection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

COLOURS = ("#1f6f8b", "#c4572a", "#6a8f3c")


def draw_curves(runs: dict[str, dict[str, Any]], path: Path) -> None:
    """One curve per part of the test images, with its average precision."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7.0, 4.6), dpi=110)
    recalls = np.linspace(0.0, 1.0, 101)
    for (part, run), colour in zip(runs.items(), COLOURS, strict=False):
        label = f"{part}: AP50 {run['ap50']['person']:.3f}, {run['objects']['person']} persons"
        axes.plot(recalls, run["precisions"], color=colour, label=label)
    axes.set(xlabel="recall", ylabel="precision", xlim=(0.0, 1.0), ylim=(0.0, 1.02))
    axes.grid(alpha=0.3)
    axes.legend(loc="lower left")
    axes.set_title("Persons at least 16 px high, at most half hidden", fontsize=10)
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)
