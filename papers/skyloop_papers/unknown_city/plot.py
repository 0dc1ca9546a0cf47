"""A flight through the unknown city from above: its map over the true walls, its last plan, and its track."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from skyloop_client.messages import Array, Event, GridMap
from skyloop_papers.plots import INK, figure
from skyloop_papers.unknown_city.plan import GOAL, GROUPS
from skyloop_papers.unknown_city.scores import TrueCity

TRACK, BELIEF, OPTIMUM, PLAN, TRUTH = "#1f77b4", "#d1495b", "#2a9d5c", "#b5832f", (0.91, 0.63, 0.25)
SHADES = {-1: 0.78, 0: 1.0, 100: 0.0}
"""Of unknown, free and occupied cells."""


@dataclass
class CityFlight:
    """What a flight leaves."""

    truth: list[tuple[int, Array]] = field(default_factory=list)
    estimates: list[tuple[int, Array]] = field(default_factory=list)
    """The valid ones."""
    events: list[Event] = field(default_factory=list)
    paths: list[Array] = field(default_factory=list)
    grid: GridMap | None = None
    reached_ns: int | None = None
    lasted: float = 0.0
    """s of simulated time."""


def draw_flight(path: Path, flown: CityFlight, city: TrueCity, scored: dict[str, Any]) -> None:
    with figure(path, (8.6, 8.8), dpi=90) as drawn:
        axis = drawn.subplots()
        _draw_map(axis, flown, city)
        _draw_ways(axis, flown, city)
        axis.set_title(_title(scored), color=INK, fontsize=10)
        axis.set(xlabel="x, m", ylabel="y, m", aspect="equal", xlim=(-32, 102), ylim=(-32, 92))
        axis.legend(loc="lower right", fontsize=8, frameon=True)


def _title(scored: dict[str, Any]) -> str:
    """What was flown, and what came out or why it failed."""
    name = f"seed {scored['seed']}, {scored.get('what') or GROUPS[scored['group']]}"
    if "failed" in scored:
        return f"{name}\n{textwrap.fill('failed: ' + scored['failed'], 100)}"
    numbers = f"way {scored['way_m']:.0f} m, {scored['way_over_optimum']:.2f} of the shortest"
    return f"{name}: {numbers}; map IoU {scored['iou']:.2f}; error {scored['error_rms_m']:.3f} m rms"


def _draw_map(axis: Any, flown: CityFlight, city: TrueCity) -> None:
    grid = flown.grid
    axis.set_facecolor(str(SHADES[-1]))
    if grid is not None:
        shades = np.select([grid.cells == key for key in SHADES], list(SHADES.values()))
        x0, y0 = grid.origin[:2]
        rows, columns = grid.cells.shape
        extent = (x0, x0 + columns * grid.resolution, y0, y0 + rows * grid.resolution)
        axis.imshow(shades, origin="lower", extent=extent, cmap="gray", vmin=0.0, vmax=1.0, interpolation="nearest")
    walls = np.zeros((*city.occupied.T.shape, 4))
    walls[..., :3] = TRUTH
    walls[..., 3] = 0.3 * city.occupied.T
    low = city.corner
    high = low + city.cell * np.array(city.occupied.shape)
    axis.imshow(walls, origin="lower", extent=(low[0], high[0], low[1], high[1]), interpolation="nearest")
    axis.grid(visible=False)


def _draw_ways(axis: Any, flown: CityFlight, city: TrueCity) -> None:
    optimum = city.optimum()
    axis.plot(optimum[:, 0], optimum[:, 1], ":", color=OPTIMUM, lw=1.8, label="shortest on the true map")
    for number, path in enumerate(flown.paths[:: max(1, len(flown.paths) // 8)]):
        label = "plans on the way" if number == 0 else None
        axis.plot(path[:, 0], path[:, 1], color=PLAN, lw=0.6, alpha=0.7, label=label)
    track = np.array([position for _, position in flown.truth]).reshape(-1, 3)
    axis.plot(track[:, 0], track[:, 1], color=TRACK, lw=2.0, label="flown")
    if flown.estimates:
        believed = np.array([position for _, position in flown.estimates])
        axis.plot(believed[:, 0], believed[:, 1], "--", color=BELIEF, lw=0.9, label="estimate")
    axis.plot(0.0, 0.0, "o", color=INK, ms=6)
    axis.plot(*GOAL, "*", color=INK, ms=12)
