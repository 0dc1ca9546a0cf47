"""Plots of a campaign's report: success along each parameter, where failures lie, and metrics along parameters."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skyloop.campaigns.folder import Row
from skyloop.campaigns.intervals import wilson
from skyloop.datasets.report_html import plot

GOOD, BAD, LOST = "#2a9d5c", "#d1495b", "#8d99a3"
BINS = 8
"""Of a parameter with more values than that."""
PANELS = 3
"""Side by side."""
MOST_METRICS = 3
MOST_PARAMETERS = 12


@dataclass(frozen=True, slots=True)
class Group:
    """Runs with the same or similar values of a parameter."""

    label: str
    middle: float | None
    """None for values that are no numbers."""
    successes: int
    n: int


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def groups_of(rows: list[Row], name: str) -> list[Group]:
    """By value, or by equally filled ranges of a number with many values. Lost runs do not count."""
    judged = [row for row in rows if row["outcome"] != "lost" and name in row["parameters"]]
    values = [row["parameters"][name] for row in judged]
    good = np.array([row["outcome"] == "success" for row in judged], bool)
    distinct = list(dict.fromkeys(map(repr, values)))
    if len(distinct) <= BINS or not all(map(is_number, values)):
        if all(map(is_number, values)):
            distinct.sort(key=lambda text: float(text))
        keys = [repr(value) for value in values]
        groups = [(text.strip("'"), np.array([key == text for key in keys])) for text in distinct[: 3 * BINS]]
        return [_group(label, np.array(values, object)[chosen], good[chosen]) for label, chosen in groups]
    numbers = np.array(values, float)
    edges = np.unique(np.quantile(numbers, np.linspace(0.0, 1.0, BINS + 1)))
    which = np.clip(np.searchsorted(edges, numbers, "right") - 1, 0, len(edges) - 2)
    return [
        _group(f"{edges[k]:.3g} to {edges[k + 1]:.3g}", numbers[which == k], good[which == k])
        for k in range(len(edges) - 1)
        if (which == k).any()
    ]


def _group(label: str, values: Any, good: Any) -> Group:
    numbers = all(map(is_number, values.tolist()))
    middle = float(np.mean(values.astype(float))) if numbers and len(values) else None
    return Group(label if not numbers or " to " in label else f"{values[0]:.4g}", middle, int(good.sum()), len(good))


def success_plots(rows: list[Row], parameters: list[str], confidence: float) -> str:
    """A panel for each parameter: the share of successes with its interval, and how many runs it is of."""
    shown = [name for name in parameters[:MOST_PARAMETERS] if len(groups_of(rows, name)) > 1]

    def draw_one(axes: Any, name: str) -> None:
        groups = groups_of(rows, name)
        places = [group.middle for group in groups]
        if any(place is None for place in places):
            places = [float(k) for k in range(len(groups))]
            axes.set_xticks(places, [group.label for group in groups], rotation=20 if len(groups) > 4 else 0)
            axes.margins(x=0.15)
        for place, group in zip(places, groups, strict=True):
            low, high = wilson(group.successes, group.n, confidence)
            rate = group.successes / group.n
            axes.plot([place, place], [100 * low, 100 * high], color="#7f8c96", lw=1.6, solid_capstyle="butt")
            axes.plot(place, 100 * rate, "o", ms=6, color=GOOD if rate > 0.5 else BAD)
            axes.annotate(f"n={group.n}", (place, 100 * low), (0, -4), textcoords="offset points", ha="center",
                          va="top", fontsize=7, color="#5a6872")  # fmt: skip
        axes.set(xlabel=name, ylim=(-14, 104), yticks=range(0, 101, 20))
        axes.set_ylabel("success [%]")

    return _panels([lambda axes, name=name: draw_one(axes, name) for name in shown])  # type: ignore[misc]


def scatter_plots(rows: list[Row], parameters: list[str], metrics: list[str]) -> str:
    """Where failures lie among two parameters, then metrics along parameters."""
    numeric = [name for name in parameters if all(is_number(row["parameters"].get(name)) for row in rows)]
    varied = [name for name in numeric if len({row["parameters"][name] for row in rows}) > 1]
    pairs = [(varied[i], varied[j]) for i in range(len(varied)) for j in range(i + 1, len(varied))][:PANELS]
    draws: list[Callable[[Any], None]] = [
        lambda axes, x=x, y=y: _scatter(axes, rows, _parameter(x), _parameter(y), (x, y))  # type: ignore[misc]
        for x, y in pairs
    ]
    measured = [name for name in metrics if any(is_number(row["metrics"].get(name)) for row in rows)][:MOST_METRICS]
    draws += [
        lambda axes, x=x, y=y: _scatter(axes, rows, _parameter(x), _metric(y), (x, y))  # type: ignore[misc]
        for y in measured
        for x in varied[:PANELS]
    ]
    return _panels(draws)


def _parameter(name: str) -> Callable[[Row], Any]:
    return lambda row: row["parameters"].get(name)


def _metric(name: str) -> Callable[[Row], Any]:
    return lambda row: row["metrics"].get(name)


def _scatter(
    axes: Any, rows: list[Row], x: Callable[[Row], Any], y: Callable[[Row], Any], names: tuple[str, str]
) -> None:
    looks = (("success", GOOD, "o", 0.65), ("failed", BAD, "X", 0.9), ("lost", LOST, "s", 0.8))
    for outcome, colour, mark, alpha in looks:
        dots = [
            (x(row), y(row)) for row in rows if row["outcome"] == outcome and is_number(x(row)) and is_number(y(row))
        ]
        if dots:
            size = 26 if len(rows) < 400 else 10
            axes.scatter(*zip(*dots, strict=True), s=size, c=colour, marker=mark, alpha=alpha, lw=0, label=outcome)
    axes.set(xlabel=names[0], ylabel=names[1])
    if len({row["outcome"] for row in rows}) > 1:
        axes.legend(frameon=False, fontsize=7, loc="best", handletextpad=0.2)


def _panels(draws: list[Callable[[Any], None]]) -> str:
    """Rows of panels of one size; the last row is filled up with nothing."""
    out = []
    for first in range(0, len(draws), PANELS):
        row = draws[first : first + PANELS]

        def draw(*axes: Any, row: list[Callable[[Any], None]] = row) -> None:
            for one, panel in zip(axes, [*row, *[None] * (PANELS - len(row))], strict=True):
                panel(one) if panel is not None else one.set_axis_off()

        out.append(plot(draw, (10.6, 3.1), columns=PANELS))
    return "\n".join(out)
