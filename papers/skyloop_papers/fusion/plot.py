"""The picture of the page on fusion: recall, MOTA and errors by sensors and weather."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from skyloop.core.results import Result
from skyloop.recording.flight_plot import COLOURS, INK, STYLE
from skyloop_papers.fusion.protocol import CONDITIONS, FIGURES, SENSORS
from skyloop_papers.pages import Cells

TITLES = {"recall": "recall", "mota": "MOTA", "position": "position, m rms", "velocity": "velocity, m/s rms"}


def draw_figures(results: Sequence[Result], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    cells = Cells(results)
    shown = [name for name in CONDITIONS if f"{name}, both: recall" in cells]
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, len(FIGURES), figsize=(13.0, 3.6), layout="constrained")
        for axis, (which, (_, more)) in zip(axes, FIGURES.items(), strict=True):
            wide = 0.8 / len(SENSORS)
            for k, name in enumerate(SENSORS):
                values = [cells.value(f"{condition}, {name}: {which}") for condition in shown]
                places = np.arange(len(shown)) + (k - 0.5 * (len(SENSORS) - 1)) * wide
                axis.bar(places, values, 0.92 * wide, color=COLOURS[k], label=name)
            axis.set_xticks(range(len(shown)), shown)
            axis.set_title(f"{TITLES[which]} ({'more' if more else 'less'} is better)", fontsize=9)
            axis.grid(axis="x", visible=False)
            if more:
                axis.set_ylim(0.0, 1.0)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(SENSORS), fontsize=9)
        figure.suptitle("People tracked within the radar's range", x=0.01, ha="left", fontweight="bold", color=INK)
        figure.savefig(path, dpi=110)
        plt.close(figure)
