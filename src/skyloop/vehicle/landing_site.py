"""Where a vehicle can land: level, with nothing below or beside it, as a depth sensor that looks down would tell."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skyloop.core.frames import rotate
from skyloop.vehicle.fleet import Fleet
from skyloop.world.solid_grids import cast_segment
from skyloop.world.solids import Solids
from skyloop_client.messages import Array

MOVE_OVER_SPEED = 1.0
"""m/s, on the way to a clear place."""
STILL = 0.1
"""m/s and rad/s of a vehicle at rest."""
MOVED_WITHIN = 0.2
"""m from it, where the descent begins."""
BESIDE = 0.15
"""m beside the hull in which nothing may stand."""
ROUGH = 0.06
"""m by which a place may differ from a plane."""
STEEP = 0.27
"""m/m, the steepest plane that counts as level: 15°."""
LINES_APART = 0.02
LINES_ABOVE = (0.03, 0.07, 0.12, 0.2)
"""m above the plane, of lines across the place that must be free."""
DEEPEST = 60.0
"""m below the vehicle to which it looks."""
STEP = 0.4
"""m between the circles on which it looks for another place."""
LOWEST = 0.4
"""m above the surface below its legs, under which it no longer moves over."""
_angles = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
_circle = np.column_stack([np.cos(_angles), np.sin(_angles)])
FOOTPRINT: Array = np.vstack([[[0.0, 0.0]], 0.5 * _circle, _circle])
"""(n, 2) points of a unit disc."""


class LandingSite(NamedTuple):
    position: Array
    """(3,) m, where to begin the descent, in the frame of the state that the vehicle flies on."""
    moved: bool
    why: str
    """In words, unless it is the place that was asked for."""


def landing_site(fleet: Fleet, i: int, asked: Array, state_position: Array, search: float) -> LandingSite:
    """Where vehicle i should land that wants to at `asked`: there if it is clear, else at the nearest clear place.

    Both positions are those that the vehicle believes; what is below is looked for at its true place."""
    offset = _move_over(fleet, i, (asked - state_position)[:2], search)
    if offset is None:
        return LandingSite(asked, False, "no clear place to land is near, landing here")
    if not offset.any():
        return LandingSite(asked, False, "")
    why = f"something is below, landing {np.hypot(*offset):.1f} m beside it"
    return LandingSite(asked + np.append(offset, 0.0), True, why)


def _move_over(fleet: Fleet, i: int, ahead: Array, search: float) -> Array | None:
    """(2,) m, from the place that is `ahead` (2,) of vehicle i to where it should land: nothing where that place is
    clear or the vehicle is nearly down, else the nearest clear place within `search`. None: there is none."""
    solids, motion = fleet.solids, fleet.states[i]["motion"]
    params = fleet.params[i]
    here, radius = motion[:3].copy(), float(params["hull_radius"]) + BESIDE
    legs = rotate(motion[6:10], params["contact_position"][params["contact_is_leg"] > 0.0])
    if here[2] + legs[:, 2].min() - _surface(fleet, solids, *here.tolist()) < LOWEST:
        return np.zeros(2)
    moving = _movers(fleet, i)
    rings = [np.zeros((1, 2))]
    for distance in np.arange(STEP, search + 1e-9, STEP):
        count = max(8, int(2.0 * np.pi * distance / STEP))
        angles = np.arange(count) * 2.0 * np.pi / count
        rings.append(distance * np.column_stack([np.cos(angles), np.sin(angles)]))
    for offset in np.concatenate(rings):
        way = ahead + offset
        if _is_clear(fleet, here, way, radius, moving) and _is_free(solids, here, way, radius):
            return np.asarray(offset)
    return None


def _surface(fleet: Fleet, solids: Solids | None, x: float, y: float, z: float) -> float:
    """m, world, of the highest thing or ground under a point."""
    ground = float(fleet.ground.at(x, y)[0])
    if solids is None:
        return ground
    share, _ = cast_segment(solids.arrays, 0, (x, y, z), (x, y, z - DEEPEST))
    return max(ground, z - share * DEEPEST) if share <= 1.0 else ground


def _is_clear(fleet: Fleet, here: Array, way: Array, radius: float, moving: Array) -> bool:
    """Whether everything under a disc is one level plane, and nothing that moves is near it."""
    middle = here[:2] + way
    if (np.linalg.norm(moving[:, :2] - middle, axis=1) < moving[:, 2] + radius).any():
        return False
    points = middle + radius * FOOTPRINT
    heights = np.array([_surface(fleet, fleet.solids, x, y, float(here[2])) for x, y in points.tolist()])
    terms = np.column_stack([points - middle, np.ones(len(points))])
    plane = np.linalg.lstsq(terms, heights, rcond=None)[0]
    if np.abs(heights - terms @ plane).max() > ROUGH or np.hypot(plane[0], plane[1]) > STEEP:
        return False
    if fleet.solids is None:
        return True
    # what is thin, such as grass, stands between the points
    aside = np.arange(-radius, radius, LINES_APART)
    reach = np.sqrt(radius**2 - aside**2)
    ends = np.stack([np.column_stack([-reach, aside]), np.column_stack([reach, aside])], axis=1)
    lines = np.concatenate([ends, ends[:, :, ::-1]])
    levels = lines @ plane[:2] + plane[2]
    arrays = fleet.solids.arrays
    for above in LINES_ABOVE:
        for (start, end), (low, high) in zip((middle + lines).tolist(), (levels + above).tolist(), strict=True):
            if cast_segment(arrays, 0, (*start, low), (*end, high))[0] <= 1.0:
                return False
    return True


def _is_free(solids: Solids | None, here: Array, way: Array, radius: float) -> bool:
    """Whether nothing stands on the level way to a place."""
    length = float(np.linalg.norm(way))
    if solids is None or length < 1e-6:
        return True
    aside = radius / length * np.array([-way[1], way[0], 0.0])
    along = np.append(way * (1.0 + radius / length), 0.0)
    starts = [here + share * aside for share in (-1.0, -0.5, 0.0, 0.5, 1.0)]
    return all(cast_segment(solids.arrays, 0, tuple(start), tuple(start + along))[0] > 1.0 for start in starts)


def _movers(fleet: Fleet, i: int) -> Array:
    """(n, 3) places and radii, m, seen from above, of other vehicles and of all else that moves."""
    others = [
        (*state["motion"][:2], params["hull_radius"]) for state, params in zip(fleet.states, fleet.params, strict=True)
    ]
    found = [np.array(others[:i] + others[i + 1 :]).reshape(-1, 3)]
    t = fleet.rate.period_s * float(fleet.states[i]["step"])
    for mover, table in [] if fleet.solids is None else fleet.solids.movers:
        poses = mover.poses(t)
        found.append(np.column_stack([poses[:, :2, 3], table["radius"]]))
    return np.concatenate(found)
