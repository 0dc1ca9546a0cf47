"""A flight through the unknown city beside the truth: its map, its way, its clearance, and a picture of it."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.world.model import Model
from skyloop.world.occupancy import occupancy
from skyloop_autonomy.mapping.counting import FREE, OCCUPIED
from skyloop_autonomy.mapping.judging import Agreement, compared
from skyloop_autonomy.planning.clearance_grid import ClearanceGrid
from skyloop_client.messages import Array, Event, GridMap
from skyloop_papers.plots import INK, figure
from skyloop_papers.unknown_city.plan import BAND, GOAL, GROUPS, HEIGHT, LOOSE, TOUCHING

AROUND = 40.0
"""m around start and goal that the optimum may use; the boundary wall is within."""
SLICE = 0.1
"""m above and below the height of flight in which the world's surfaces count: the map is of the plane of flight."""


CellMask = NDArray[np.bool_]


def true_cells(
    model: Model, corner: Array, shape: tuple[int, ...], cell: float, slack: float
) -> tuple[CellMask, CellMask]:
    """(nx, ny) which cells are occupied at the height of flight, and which are unclear.

    A cell is occupied if a wall takes up any part of it, or if walls shut it off from the start: the insides of
    buildings. It is unclear if that depends on a shift of the world by `slack` metres."""
    # the whole city: within the map alone, streets may have no connection with the start
    before = np.maximum(np.ceil((corner + AROUND) / cell), 0).astype(int)
    high = np.maximum(corner + cell * np.array(shape), np.array(GOAL) + AROUND)
    low = corner - before * cell
    shifts = [np.array([x, y]) for x in (-slack, slack) for y in (-slack, slack)]
    window = tuple(slice(first, first + size) for first, size in zip(before, shape, strict=True))
    shifted = [_occupied(model, low + shift, high + shift, cell)[window] for shift in shifts]
    always, ever = np.logical_and.reduce(shifted), np.logical_or.reduce(shifted)
    return always, ever & ~always


def _occupied(model: Model, low: Array, high: Array, cell: float) -> CellMask:
    from scipy.ndimage import label

    walls = occupancy(model, None, [*low, HEIGHT - SLICE], [*high, HEIGHT + SLICE], cell).any(axis=2)
    parts, _ = label(~walls)
    start = tuple(np.floor(-low / cell).astype(int))
    return np.asarray(parts != parts[start])


def map_score(model: Model, grid: GridMap, slack: float = TOUCHING) -> Agreement:
    cells = grid.cells.T
    truth, unclear = true_cells(model, grid.origin[:2], cells.shape, grid.resolution, slack)
    return compared(cells == OCCUPIED, cells == FREE, truth, unclear)


class TrueCity:
    """The world at the height of flight: the shortest way, and how near a track comes to walls."""

    def __init__(self, model: Model, cell: float = 0.2) -> None:
        corner = np.array([-AROUND, -AROUND])
        shape = tuple(math.ceil((GOAL[axis] + 2.0 * AROUND) / cell) for axis in (0, 1))
        self.occupied, _ = true_cells(model, corner, shape, cell, 0.0)
        self.corner, self.cell = corner, cell
        self._ways = ClearanceGrid(self.occupied, corner, cell, BAND, crowded=0.0)

    def optimum(self) -> Array:
        """(n, 2) m, the shortest way that keeps as far from walls as the pilot does."""
        way = self._ways.way(np.zeros(2), np.array(GOAL))
        assert way is not None, "the world promises two routes"
        return way

    def least_clearance(self, track: Array) -> float:
        """m; track: (n, 2 or more)."""
        return min(self._ways.clearance(point) for point in track)


def way_length(track: Array) -> float:
    return float(np.hypot(*np.diff(np.asarray(track)[:, :2], axis=0).T).sum())


def scores_of_map(model: Model, grid: GridMap) -> dict[str, Any]:
    strict, loose = map_score(model, grid), map_score(model, grid, LOOSE)
    return {
        "iou": strict.iou, "iou_loose": loose.iou, "cells_seen": strict.seen,
        "false_occupied": strict.false_occupied, "missed": strict.missed,
    }  # fmt: skip


# ---- the picture: the map over the true walls, the last plan, and the track

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
