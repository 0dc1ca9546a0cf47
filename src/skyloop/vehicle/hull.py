"""The outline of a vehicle, from the numbers of its airframe: what is drawn, and where it touches what it falls on."""

from __future__ import annotations

import math

import numpy as np

from skyloop.vehicle.airframe import Airframe, hubs_of
from skyloop.vehicle.kernel_records import MAX_CONTACTS
from skyloop_client.messages import Array

TOLERATED = 0.05
"""The share of the hull's radius by which a shape may stick out of its contact points."""
SIDES = 12
"""Corners of the polygon around a rotor's disc."""


def fuselage(airframe: Airframe, hubs: Array) -> tuple[Array, Array]:
    """Centre and half size of the fuselage, which encloses the body's contact points that belong to no rotor."""
    arm = float(np.linalg.norm(hubs[:, :2], axis=1).mean())
    points = np.array(airframe.contact.body).reshape(-1, 3)
    gap = np.linalg.norm(points[:, None, :2] - hubs[None, :, :2], axis=2).min(axis=1, initial=np.inf)
    own = points[gap > 1.05 * airframe.motor.radius]
    reach = max(0.35 * arm, np.abs(own[:, 0]).max(initial=0.0))
    top = max(float(hubs[:, 2].max()), own[:, 2].max(initial=0.0), 0.12 * arm)
    bottom = min(-0.1 * arm, 0.35 * min(leg[2] for leg in airframe.contact.legs))
    half = np.array([reach, 0.28 * arm, 0.5 * (top - bottom)])
    return np.array([0.0, 0.0, 0.5 * (top + bottom)]), half


def added_contacts(airframe: Airframe) -> tuple[Array, int]:
    """(n, 3) m, from the body origin: points of the outline that stick out of the contact points of its file, rotors
    first; and how many of them are rotors'.

    With these no part of the vehicle gets far below level ground, however it lies."""
    hubs = hubs_of(airframe.rotors)
    angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
    # the disc lies inside of the polygon
    rim = np.column_stack([np.cos(angle), np.sin(angle), 0.0 * angle]) * airframe.motor.radius / math.cos(angle[1] / 2)
    centre, half = fuselage(airframe, hubs)
    faces = np.vstack([np.eye(3), -np.eye(3)])
    edges = 0.7 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    rims = (hubs[:, None] + rim).reshape(-1, 3)
    outline = np.vstack([rims, centre + half * faces, centre + half * edges])
    # it stands on its legs, even if it is drawn deeper
    outline[:, 2] = np.maximum(outline[:, 2], min(leg[2] for leg in airframe.contact.legs) + 0.01)
    known = np.array([*airframe.contact.legs, *airframe.contact.body])
    chosen = sorted(_sticking_out(known, outline, MAX_CONTACTS - len(known)))
    return outline[chosen], sum(k < len(rims) for k in chosen)


def _sticking_out(known: Array, outline: Array, most: int) -> list[int]:
    """Which points of an outline stick out of the hull of known ones: at most `most` of them, the farthest first."""
    k = np.arange(256) + 0.5
    height, turn = 1.0 - k / 128.0, math.pi * (1.0 + math.sqrt(5.0)) * k
    across = np.sqrt(1.0 - height**2)
    ways = np.column_stack([across * np.cos(turn), across * np.sin(turn), height])
    reach, covered = outline @ ways.T, (known @ ways.T).max(axis=0)
    tolerated = TOLERATED * float(np.linalg.norm(outline, axis=1).max())
    chosen: list[int] = []
    while len(chosen) < most:
        beyond = reach.max(axis=0) - covered
        way = int(np.argmax(beyond))
        if beyond[way] <= tolerated:
            break
        chosen.append(int(np.argmax(reach[:, way])))
        covered = np.maximum(covered, reach[chosen[-1]])
    return chosen
