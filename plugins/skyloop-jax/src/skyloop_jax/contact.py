"""Contact with level ground: `vehicle/contact.py` for arrays, the contact points along the first axis."""

# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from skyloop.core import rotations

_pieces: Any = rotations
to_world, cross, multiply = _pieces.to_world.py_func, _pieces.cross.py_func, _pieces.multiply.py_func


def to_body(w: Any, x: Any, y: Any, z: Any, *vector: Any) -> Any:
    return to_world(w, -x, -y, -z, *vector)


def _positions(craft, dtype):
    """x, y and z of the contact points from the centre of mass, (contacts, 1) each."""
    rows = np.array(craft.p.contact_position[: craft.n_contacts], dtype)
    return rows[:, 0:1], rows[:, 1:2], rows[:, 2:3]


def _point_motion(positions, y):
    """Position and velocity in world axes of all contact points, (contacts, n) each."""
    arm = to_world(*y[6:10], *positions)
    speed = to_world(*y[6:10], *cross(*y[10:13], *positions))
    return *(y[k] + arm[k] for k in range(3)), *(y[3 + k] + speed[k] for k in range(3))


def _ground_force(craft, flight, motion):
    """World force on each point, the normal force, and friction over its limit; as `contact.plane_force`."""
    p = craft.p
    x, y, z, vx, vy, vz = motion
    depth = craft.ground - z
    push = jnp.maximum(0.0, p.contact_stiffness * depth - p.contact_damping * vz)
    held = jnp.where(flight.anchored, p.contact_stiffness, 0.0)
    fx = -p.contact_damping * vx - held * (x - flight.anchor_x)
    fy = -p.contact_damping * vy - held * (y - flight.anchor_y)
    excess = jnp.sqrt(fx * fx + fy * fy) / jnp.maximum(p.friction * push, 1e-12)
    over = jnp.maximum(excess, 1.0)
    touches = depth > 0.0
    return fx / over, fy / over, jnp.where(touches, push, 0.0), jnp.where(touches, excess, 0.0)


def contact_wrench(craft, flight, y):
    """Force and torque of all contacts in body axes."""
    positions = _positions(craft, y[0].dtype)
    fx, fy, push, _ = _ground_force(craft, flight, _point_motion(positions, y))
    presses = push > 0.0
    fx, fy = jnp.where(presses, fx, 0.0), jnp.where(presses, fy, 0.0)
    force = to_body(*y[6:10], fx, fy, push)
    torque = cross(*positions, *force)
    return [part.sum(axis=0) for part in force], [part.sum(axis=0) for part in torque]


def settle_anchors(craft, flight, before):
    """After a step from the motion `before`: anchors, touches, the fastest touch so far, and whether it broke."""
    p, count = craft.p, craft.n_contacts
    positions = _positions(craft, flight.motion[0].dtype)
    x, y, z, *velocity = _point_motion(positions, flight.motion)
    _, _, push, excess = _ground_force(craft, flight, (x, y, z, *velocity))
    _, _, z_before, *velocity_before = _point_motion(positions, before)
    vx, vy, vz = velocity_before
    entered = ~flight.anchored & (z < craft.ground) & (z_before >= craft.ground)
    speed = jnp.where(entered, jnp.sqrt(vx * vx + vy * vy + vz * vz), 0.0)
    is_leg = np.array(p.contact_is_leg[:count])[:, None] > 0.0
    breaks = entered & ~is_leg & (-vz > p.crash_speed)
    presses = push > 0.0
    # a new anchor lies under the point, a sliding one is drawn after it
    stays, slides = flight.anchored & presses, excess > 1.0
    along = jnp.where(slides, excess, 1.0)
    anchor_x = jnp.where(slides, x + (flight.anchor_x - x) / along, flight.anchor_x)
    anchor_y = jnp.where(slides, y + (flight.anchor_y - y) / along, flight.anchor_y)
    return flight._replace(
        anchor_x=jnp.where(stays, anchor_x, x),
        anchor_y=jnp.where(stays, anchor_y, y),
        anchored=presses,
        legs_down=(presses & is_leg).any(axis=0),
        body_down=(presses & ~is_leg).any(axis=0),
        impact_speed=jnp.maximum(flight.impact_speed, speed.max(axis=0)),
        crashed=flight.crashed | breaks.any(axis=0),
    )
