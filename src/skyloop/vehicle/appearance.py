"""The shape of a vehicle, from the numbers of its airframe. Rays, cameras and collisions all use this shape."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from skyloop.vehicle.airframe import Airframe
from skyloop.vehicle.hull import fuselage
from skyloop.world.mesh import Colour, Mesh, box, circle, cylinder, ellipsoid, loft, merged, mesh_of, quad
from skyloop.world.model import Shape
from skyloop_client.messages import Array

SHELL: Colour = (70, 74, 80)
FRAME: Colour = (40, 42, 46)
METAL: Colour = (150, 152, 156)
REAR: Colour = (52, 52, 56)
FRONT: Colour = (235, 90, 25)
"""The colour of the front rotors and the nose, so that the heading is visible."""
GLASS: Colour = (15, 20, 30)

DISC_THICKNESS = 0.03
"""A share of the rotor's radius."""
LOD_RANGE = 25.0
"""m per m of size: the distance beyond which a camera uses the simple shape."""


def vehicle_shape(airframe: Airframe) -> Shape:
    """The shape in body axes, about the body origin. Equal airframes share one."""
    return _shape_of(airframe.model_dump_json())


@lru_cache(maxsize=16)
def _shape_of(airframe_json: str) -> Shape:
    airframe = Airframe.model_validate_json(airframe_json)
    hubs = np.array([rotor.position for rotor in airframe.rotors])
    centre, half = fuselage(airframe, hubs)
    full = merged([_fuselage(centre, half), *_drives(airframe, hubs, centre), *_legs(airframe, centre, half)])
    if "d435" in airframe.name:
        eye = box((0.025, 0.09, 0.025), centre=(0.12, 0.0, centre[2] - half[2]), colour=METAL, material="metal")
        full = merged([full, eye])
    return Shape(f"vehicle {airframe.name}", (full, _simple(airframe, hubs, centre, half)), (LOD_RANGE * full.radius,))


def _fuselage(centre: Array, half: Array) -> Mesh:
    """A rounded hull along x with a bright nose."""
    stations = np.array([-1.0, -0.8, -0.35, 0.35, 0.75, 1.0])
    girths = np.array([0.35, 0.75, 1.0, 0.95, 0.62, 0.25])
    rings = []
    for x, girth in zip(stations, girths, strict=True):
        flat = circle((half[1] * girth, half[2] * girth), 10)
        # the circle's normal, up, becomes forward
        rings.append(np.stack([np.full(10, half[0] * x), flat[:, 0], flat[:, 1]], axis=1) + centre)
    return merged(
        [
            loft(rings[:5], material="plastic", colour=SHELL),
            loft(rings[4:], material="plastic", colour=FRONT),
            ellipsoid(0.45 * half * (0.5, 1.0, 1.0), rings=4, n=6, material="plastic", colour=GLASS).moved(
                centre + half * (0.3, 0.0, 0.72)
            ),
        ]
    )


def _drives(airframe: Airframe, hubs: Array, centre: Array) -> list[Mesh]:
    """Arms, motors and rotor discs."""
    radius = airframe.motor.radius
    motor = 0.13 * radius
    parts = []
    for hub in hubs:
        under = hub - (0.0, 0.0, 0.28 * radius)
        arm_end = hub - (0.0, 0.0, 0.22 * radius)
        root = np.array([0.15 * hub[0], 0.15 * hub[1], min(centre[2], arm_end[2])])
        parts.append(_rod(root, arm_end, 0.09 * radius, 6, FRAME, "plastic"))
        parts.append(cylinder(motor, 0.28 * radius, 8, material="metal", colour=METAL).moved(under))
        thick = DISC_THICKNESS * radius
        colour = FRONT if hub[0] > 0.0 else REAR
        disc = cylinder(radius, thick, 12, material="plastic", colour=colour)
        parts.append(disc.moved(hub - (0.0, 0.0, 0.5 * thick)))
    return parts


def _legs(airframe: Airframe, centre: Array, half: Array) -> list[Mesh]:
    thick = 0.05 * airframe.motor.radius
    parts = []
    for leg in np.array(airframe.contact.legs):
        top = np.array([0.45 * leg[0], np.sign(leg[1]) * min(abs(leg[1]), 0.6 * half[1]), centre[2] - 0.5 * half[2]])
        parts.append(_rod(leg, top, thick, 5, FRAME, "plastic"))
    return parts


def _rod(start: ArrayLike, end: ArrayLike, radius: float, n: int, colour: Colour, material: str) -> Mesh:
    """A round bar between two points."""
    a, along = np.asarray(start, float), np.subtract(end, start)
    length = float(np.linalg.norm(along))
    z = along / length
    x = np.cross(z, (0.0, 0.0, 1.0) if abs(z[2]) < 0.9 else (1.0, 0.0, 0.0))
    x /= np.linalg.norm(x)
    rotation = np.stack([x, np.cross(z, x), z], axis=1)
    return cylinder(radius, length, n, material=material, colour=colour).moved(a, rotation=rotation)


def _simple(airframe: Airframe, hubs: Array, centre: Array, half: Array) -> Mesh:
    """The shape for long distances: a box, flat bars and hexagons."""
    parts = [box(tuple(1.6 * half), centre=tuple(centre), material="plastic", colour=SHELL)]
    radius = airframe.motor.radius
    for hub in hubs:
        colour = FRONT if hub[0] > 0.0 else REAR
        across = 0.1 * radius * np.array([-hub[1], hub[0], 0.0]) / np.linalg.norm(hub[:2])
        parts.append(quad(centre - across, hub - across, hub + across, centre + across, colour=FRAME))
        fan = [[0, k, k + 1] for k in range(1, 5)]
        ring = circle(radius, 6, centre=tuple(hub))
        parts.append(mesh_of(ring, fan, normals=np.tile((0.0, 0.0, 1.0), (6, 1)), material="plastic", colour=colour))
    for leg in np.array(airframe.contact.legs):
        top, wide = leg * (0.45, 0.45, 0.0), np.array([0.06 * radius, 0.0, 0.0])
        parts.append(quad(leg - wide, leg + wide, top + wide, top - wide, colour=FRAME))
    return merged(parts)
