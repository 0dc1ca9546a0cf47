"""What a run tells of maps and flights to goals: goals reached, collisions, clearance; a picture and an animation."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skyloop import Scenario
from skyloop.core.bus import Bus
from skyloop.recording.flight_plot import COLOURS, INK, REFERENCE, saved_figure
from skyloop.sim.assembly import load_airframe
from skyloop.sim.scenario import Vehicle
from skyloop.sim.world_view import WorldView
from skyloop_autonomy.reports.map_animation import draw_growth
from skyloop_autonomy.reports.map_growth import MapGrowth
from skyloop_autonomy.reports.navigation_log import NavigationLog, VehicleNavigation
from skyloop_client.messages import Array, GridMap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FREE, UNKNOWN, OCCUPIED = 0.97, 0.86, 0.35
"""Shades of grey of the map."""
END_COLOURS = {"reached": COLOURS[2], "refused": COLOURS[1], "given up": COLOURS[4]}
MARGIN = 1.5
"""m around the track and the goals, at least."""


def draw_navigation(path: Path, title: str, log: VehicleNavigation, clearance: Array | None, radius: float) -> None:
    """radius: m from the vehicle's middle to its blade tips."""
    with saved_figure(path, title, (13.0, 7.6)) as figure:
        grid = figure.add_gridspec(2, 2, width_ratios=(1.25, 1))
        _draw_above(figure.add_subplot(grid[:, 0]), log)
        upper = figure.add_subplot(grid[0, 1])
        _draw_clearance(upper, log, clearance, radius)
        _draw_speed(figure.add_subplot(grid[1, 1], sharex=upper), log)


def _draw_above(axis: Axes, log: VehicleNavigation) -> None:
    rows = log.track.rows
    axis.grid(False)
    if log.ground is not None:
        _draw_map(axis, log.ground)
    for number, planned in enumerate(log.paths.items):
        label = "planned ways" if number == 0 else None
        axis.plot(planned.positions[:, 0], planned.positions[:, 1], color=COLOURS[4], lw=0.6, alpha=0.35, label=label)
    axis.plot(rows[:, 1], rows[:, 2], color=COLOURS[0], lw=1.8, label="track")
    axis.plot(rows[0, 1], rows[0, 2], "o", color=COLOURS[0], ms=6)
    for number, end in enumerate(log.ends, start=1):
        colour = END_COLOURS.get(end.state, INK)
        axis.plot(end.goal[0], end.goal[1], "x", color=colour, ms=9, mew=2.2)
        text = f" {number}" if end.state == "reached" else f" {number} {end.state}"
        axis.annotate(text, (end.goal[0], end.goal[1]), color=colour, fontweight="bold")
    goals = [end.goal for end in log.ends]
    if log.goal is not None:
        goals.append(log.goal)
        axis.plot(*log.goal[:2], "o", color=INK, ms=9, mew=2.0, mfc="none", label="goal that was not reached in time")
    positions = np.vstack([rows[:, 1:3], *(goal[None, :2] for goal in goals)])
    margin = max(MARGIN, 0.03 * float(np.ptp(positions, axis=0).max()))
    low, high = positions.min(axis=0) - margin, positions.max(axis=0) + margin
    axis.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    axis.set(xlabel="east [m]", ylabel="north [m]", title="plan and track from above, over the map at the end")
    axis.set_aspect("equal")
    # beside the map, because a goal may be anywhere on it
    axis.legend(loc="upper left", bbox_to_anchor=(0.0, -0.08), ncols=3, fontsize=8, edgecolor="none")


def _draw_map(axis: Axes, ground: GridMap) -> None:
    shade = np.full(ground.cells.shape, UNKNOWN)
    shade[(ground.cells >= 0) & (ground.cells < 50)] = FREE
    shade[ground.cells >= 50] = OCCUPIED
    height, width = ground.cells.shape
    x, y = ground.origin[:2]
    extent = (x, x + width * ground.resolution, y, y + height * ground.resolution)
    axis.imshow(shade, origin="lower", extent=extent, cmap="gray", vmin=0.0, vmax=1.0, interpolation="nearest")


def _draw_clearance(axis: Axes, log: VehicleNavigation, clearance: Array | None, radius: float) -> None:
    rows = log.track.rows
    if clearance is not None:
        shown = np.where(rows[:, 5] > 0.0, clearance, np.nan)
        axis.plot(rows[:, 0], shown, color=COLOURS[0], lw=1.3, label="to the nearest surface, true")
    axis.axhline(radius, color=COLOURS[1], lw=1.2, ls="--", label="blade tips")
    for number, end in enumerate(log.ends, start=1):
        axis.axvline(end.t, color=REFERENCE, lw=0.8)
        axis.annotate(f"{number}", (end.t, 0.96), xycoords=("data", "axes fraction"), fontsize=8, color=INK, ha="right")
    axis.set(ylabel="clearance [m]", title="clearance while flying to goals", ylim=(0.0, None))
    axis.legend(loc="lower right", fontsize=8, framealpha=0.8, edgecolor="none")


def _draw_speed(axis: Axes, log: VehicleNavigation) -> None:
    rows = log.track.rows
    axis.plot(rows[:, 0], rows[:, 4], color=COLOURS[0], lw=1.0)
    shown: list[tuple[float, str]] = []
    for t, reason in log.holds:
        # words that would lie on each other are left out
        if not shown or t - shown[-1][0] > 0.03 * (rows[-1, 0] - rows[0, 0]):
            shown.append((t, reason))
    for t, reason in shown[:8]:
        axis.axvline(t, color=COLOURS[1], lw=0.8, ls=":")
        axis.annotate(
            reason[:60], (t, 0.02), xycoords=("data", "axes fraction"), rotation=90, fontsize=6, color=COLOURS[1]
        )
    axis.set(xlabel="simulated time [s]", ylabel="speed [m/s]", title="speed")


FINE, COARSE = (1.5, 0.05), (4.0, 0.1)
"""m up to which clearance is measured, and m, the voxels in which the world's surfaces are found: between rooms, and
where the box around the track would have more than MOST_FINE fine voxels, as between houses."""
MOST_FINE = 3e7
PEOPLE_EVERY = 0.1
"""s between two positions of the track at which the distance to people is measured."""


class NavigationReport:
    """Listens during a run, and afterwards adds to its summary and draws."""

    def __init__(self, bus: Bus, world: WorldView, scenario: Scenario, folder: Path) -> None:
        self._world, self._scenario, self._folder = world, scenario, folder
        self._log = NavigationLog(bus)
        self._growth = MapGrowth(bus)

    def finish(self, summary: dict[str, Any]) -> None:
        for vehicle in self._scenario.vehicles:
            title = f"{self._scenario.name} (seed {self._scenario.seed}): {vehicle.name} on {vehicle.state}"
            growth = self._growth.vehicles.get(vehicle.name)
            if growth is not None:
                draw_growth(self._folder / f"map-{vehicle.name}.gif", title, growth)
            log = self._log.vehicles.get(vehicle.name)
            if log is None or len(log.track.rows) < 2:
                continue
            rows = log.track.rows
            clearance = clearance_along(self._world, rows[:, 1:4], rows[:, 5] > 0.0)
            figures = self._log.summary(vehicle.name, clearance)
            summary["vehicles"][vehicle.name]["navigation"] = {**figures, **people_met(self._world, log)}
            path = self._folder / f"navigation-{vehicle.name}.png"
            draw_navigation(path, title, log, clearance, blade_radius(vehicle, self._scenario.folder))


def people_met(world: WorldView, log: VehicleNavigation) -> dict[str, Any]:
    """The smallest distance to the surface of anybody who walks, when that was, and whether the vehicle knew of them.

    Empty where nobody came within 3 m. A vehicle cannot know of people behind or beside it that it has not seen."""
    nearest, at, known, due = math.inf, 0.0, False, -math.inf
    for t, x, y, z, _, flies in log.track.rows.tolist():
        if not flies or t < due:
            continue
        due, position = t + PEOPLE_EVERY, np.array([x, y, z])
        for points in world.bodies_near("person", t, position, 3.0).values():
            away = float(np.linalg.norm(points - position, axis=1).min())
            if away < nearest:
                nearest, at, known = away, t, log.knew_of(t, points.mean(axis=0))
    if not math.isfinite(nearest):
        return {}
    return {"nearest_person_m": nearest, "nearest_person_at_s": at, "nearest_person_known": known}


def blade_radius(vehicle: Vehicle, folder: str | None) -> float:
    """m from the body's origin to the tip of the farthest blade."""
    airframe = load_airframe(vehicle.airframe, None if folder is None else Path(folder))
    return max(math.hypot(*rotor.position[:2]) for rotor in airframe.rotors) + airframe.motor.radius


def clearance_along(world: WorldView, track: Array, counts: NDArray[np.bool_]) -> Array:
    """(n,) m from each position of a track to the nearest surface of what stands in the world, up to a reach.

    NaN where `counts` is false. What is below the track by more than 1 m, such as the floor, is left out."""
    from scipy.ndimage import binary_erosion
    from scipy.spatial import cKDTree

    out = np.full(len(track), np.nan)
    if not counts.any():
        return out
    positions = track[counts]
    for reach, voxel in (FINE, COARSE):
        margin = np.array([reach, reach, 1.0])
        lower, upper = positions.min(axis=0) - margin, positions.max(axis=0) + margin
        if np.prod((upper - lower) / voxel) <= MOST_FINE:
            break
    lower = voxel * np.floor(lower / voxel)
    taken = world.occupied(lower, upper, voxel, standing_only=True)
    # the inside of houses would only take memory
    middles = lower + voxel * (np.argwhere(taken & ~binary_erosion(taken)) + 0.5)
    out[counts] = reach
    if len(middles):
        out[counts] = np.minimum(cKDTree(middles).query(positions)[0], reach)
    return out
