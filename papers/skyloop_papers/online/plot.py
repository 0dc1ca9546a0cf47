"""A picture of the time per frame by stage."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from skyloop_client.messages import Array

COLOURS = ("#2c6fbb", "#7fb3e6", "#e0a030", "#c0392b")


def plot_stages(names: Sequence[str], seconds: Sequence[Array], stages: Sequence[str], path: Path) -> None:
    """Stacked bars of mean ms per stage. The right panel leaves out the first stage, which is many times the others."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (whole, link) = pyplot.subplots(
        1, 2, figsize=(11, 0.6 * len(names) + 1.9), dpi=110, sharey=True, width_ratios=(3, 2)
    )
    for axes, first in ((whole, 0), (link, 1)):
        left = [0.0] * len(names)
        for stage in range(first, len(stages)):
            means = [1e3 * float(cell[:, stage].mean()) for cell in seconds]
            axes.barh(range(len(names)), means, left=left, color=COLOURS[stage], label=stages[stage])
            left = [a + b for a, b in zip(left, means, strict=True)]
        axes.set_xlim(0.0, 1.3 * max(left))
        for row, end in enumerate(left):
            said = f" {end:.1f} ms, {1e3 / end:.1f}/s" if first == 0 else f" {end:.2f} ms"
            axes.text(end, row, said, va="center", fontsize=8)
        axes.set_xlabel("mean ms per frame")
        axes.grid(axis="x", alpha=0.3)
        axes.set_axisbelow(True)
    whole.set_yticks(range(len(names)), [name.replace(", ", "\n", 1) for name in names], fontsize=8)
    whole.invert_yaxis()
    whole.set_title("all of a frame", fontsize=10)
    link.set_title("without the engine", fontsize=10)
    handles, labels = whole.get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=len(stages), fontsize=8, frameon=False)
    figure.tight_layout(rect=(0.0, 0.05, 1.0, 1.0))
    figure.savefig(path)
    pyplot.close(figure)
