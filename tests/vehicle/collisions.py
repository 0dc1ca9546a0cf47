"""For tests of collisions: what stands or comes in the way, and the energy of a flight."""

from __future__ import annotations

from typing import Any

import numpy as np
from flying import IRIS, make_fleet, set_motion

from skyloop.core.frames import rotate
from skyloop.vehicle.airframe import Airframe
from skyloop.vehicle.fleet import Fleet
from skyloop.world.mesh import box
from skyloop.world.model import Model, Shape
from skyloop.world.solids import Solids
from skyloop_client.messages import Array

THIN = 0.01


def changed(**contact: Any) -> Airframe:
    return IRIS.model_copy(update={"contact": IRIS.contact.model_copy(update=contact)})


TOUGH = changed(crash_speed=None)
NOSE = (0.6, 0.0, 0.0)
"""A point ahead of everything else and in line with the centre of mass: it bounces without turning."""
PROBE = changed(crash_speed=None, body=[NOSE])


def solids_of(*objects: tuple[Any, Any]) -> Solids:
    """Of (mesh, position) that stand."""
    model = Model()
    for number, (mesh, position) in enumerate(objects):
        model.place(Shape(f"shape {number}", (mesh,)), position, is_a="block", name=f"block {number}")
    model.freeze()
    return Solids(model)


def wall(thickness: float = THIN) -> Any:
    return box((thickness, 20.0, 20.0))


def weightless(solids: Solids, airframe: Airframe = TOUGH, **motion: Any) -> Fleet:
    fleet = make_fleet(airframe=airframe, gravity=0.0)
    fleet.attach(solids)
    set_motion(fleet, **motion)
    return fleet


def points(fleet: Fleet, i: int = 0) -> Array:
    """(n, 3) of the hull, world."""
    p, motion = fleet.params[i], fleet.states[i]["motion"]
    return np.asarray(motion[:3] + rotate(motion[6:10], p["point_position"][: p["n_points"]]))


def stored(fleet: Fleet) -> float:
    """J in the springs of the points that press on something."""
    state, total = fleet.states[0], 0.0
    for k in range(state["n_touches"]):
        place, normal = points(fleet)[state["touch_point"][k]], state["touch_normal"][k]
        away = place - state["touch_anchor"][k]
        along = away - (away @ normal) * normal
        depth = max(0.0, state["touch_level"][k] - normal @ place)
        total += 0.5 * fleet.params["contact_stiffness"][0] * (depth**2 + along @ along)
    return float(total)


def energy(fleet: Fleet, i: int = 0) -> float:
    """J, moving, turning and high up."""
    motion, p = fleet.states[i]["motion"], fleet.params[i]
    return float(
        0.5 * p["mass"] * motion[3:6] @ motion[3:6]
        + 0.5 * motion[10:13] @ (p["inertia"] * motion[10:13])
        + p["mass"] * p["gravity"] * motion[2]
    )


ROOF = 3.0
HOUSE = (box((4.0, 4.0, ROOF)), (0.0, 0.0, 0.5 * ROOF))


class Sliding:
    """A wall that comes along x at a steady speed from x = -2 m."""

    n_rows = 1

    def __init__(self, speed: float) -> None:
        self.speed = speed

    def poses(self, t: float) -> Array:
        return np.array([[[1.0, 0, 0, -2.0 + self.speed * t], [0, 1.0, 0, 0], [0, 0, 1.0, 0]]])
