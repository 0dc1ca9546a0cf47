"""What a run tells of maps and flights to goals: goals reached, collisions, clearance; a picture and an animation."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.core.bus import Bus
from skyloop.sim.assembly import load_airframe
from skyloop.sim.scenario import Scenario, Vehicle
from skyloop.sim.world_view import WorldView
from skyloop_autonomy.reports.map_animation import draw_growth
from skyloop_autonomy.reports.map_growth import MapGrowth
from skyloop_autonomy.reports.navigation_log import NavigationLog, VehicleNavigation
from skyloop_autonomy.reports.navigation_pictures import draw_navigation
from skyloop_client.messages import Array

FINE, COARSE = (1.5, 0.05), (4.0, 0.1)
"""m up to which clearance is measured, and m, the voxels in which the world's surfaces are found: between rooms, and
where the box around the track would have more than MOST_FINE fine voxels, as between houses."""
MOST_FINE = 3e7
PEOPLE_EVERY = 0.1
"""s between two places of the track at which the distance to people is measured."""


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
            told = self._log.summary(vehicle.name, clearance)
            summary["vehicles"][vehicle.name]["navigation"] = {**told, **people_met(self._world, log)}
            path = self._folder / f"navigation-{vehicle.name}.png"
            draw_navigation(path, title, log, clearance, blade_radius(vehicle, self._scenario.folder))


def people_met(world: WorldView, log: VehicleNavigation) -> dict[str, Any]:
    """The smallest distance to the surface of anybody who walks, when that was, and whether the vehicle knew of them.

    Empty where nobody came within 3 m. A vehicle cannot know of people behind or beside it that it has not seen."""
    nearest, at, known, due = math.inf, 0.0, False, -math.inf
    for t, x, y, z, _, flies in log.track.rows.tolist():
        if not flies or t < due:
            continue
        due, place = t + PEOPLE_EVERY, np.array([x, y, z])
        for points in world.bodies_near("person", t, place, 3.0).values():
            away = float(np.linalg.norm(points - place, axis=1).min())
            if away < nearest:
                nearest, at, known = away, t, log.knew_of(t, points.mean(axis=0))
    if not math.isfinite(nearest):
        return {}
    return {"nearest_person_m": nearest, "nearest_person_at_s": at, "nearest_person_known": known}


def blade_radius(vehicle: Vehicle, folder: str | None) -> float:
    """m from the body's origin to the tip of the farthest blade."""
    airframe = load_airframe(vehicle.airframe, None if folder is None else Path(folder))
    return max(math.hypot(*rotor.position[:2]) for rotor in airframe.rotors) + airframe.motor.radius


def clearance_along(world: WorldView, track: Array, counts: Any) -> Array:
    """(n,) m from each place of a track to the nearest surface of what stands in the world, up to a reach.

    NaN where `counts` is false. What is below the track by more than 1 m, such as the floor, is left out."""
    from scipy.ndimage import binary_erosion
    from scipy.spatial import cKDTree

    out = np.full(len(track), np.nan)
    if not counts.any():
        return out
    places = track[counts]
    for reach, voxel in (FINE, COARSE):
        margin = np.array([reach, reach, 1.0])
        lower, upper = places.min(axis=0) - margin, places.max(axis=0) + margin
        if np.prod((upper - lower) / voxel) <= MOST_FINE:
            break
    lower = voxel * np.floor(lower / voxel)
    taken = world.occupied(lower, upper, voxel, standing_only=True)
    # the inside of houses would only take memory
    middles = lower + voxel * (np.argwhere(taken & ~binary_erosion(taken)) + 0.5)
    out[counts] = reach
    if len(middles):
        out[counts] = np.minimum(cKDTree(middles).query(places)[0], reach)
    return out
