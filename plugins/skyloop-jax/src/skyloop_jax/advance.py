"""Flies many vehicles for some steps: freely, and those that came near the ground a second time with contact.

Contact costs several times what all the rest does, and few vehicles of a batch are near the ground at any time. So the
second flight is of groups of a fixed size, as many as are needed, and usually none.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp

from skyloop_jax.control import Setpoint, commanded
from skyloop_jax.craft import Craft
from skyloop_jax.flight import FlightArrays, moved

GROUPS = 64
LEAST_GROUP = 32
"""A group is this part of the batch, but not smaller than this number of vehicles."""


def flown(craft: Craft, kind: int, flight: FlightArrays, wanted: Setpoint, steps: int) -> FlightArrays:
    """The `Flight` after `steps` physics steps, a whole number of calls of the controller; compile it with `jax.jit`.

    kind: one of `control.KINDS`.
    """
    free, lowest = _looped(dataclasses.replace(craft, n_contacts=0), kind, flight, wanted, steps)
    if not craft.n_contacts:
        return free
    near = lowest < craft.ground + craft.p.bounding_radius
    rank = jnp.cumsum(near)
    size = min(len(near), max(LEAST_GROUP, len(near) // GROUPS))

    def again(so_far):
        done, result = so_far
        # beyond the last vehicle the index is that of none, which is read as the last one and not written
        chosen = jnp.searchsorted(rank, done + 1 + jnp.arange(size, dtype=rank.dtype))
        taken = jax.tree.map(lambda leaf: leaf.take(chosen, axis=-1, mode="clip"), (flight, wanted))
        part, _ = _looped(craft, kind, taken[0], taken[1], steps)
        result = jax.tree.map(lambda all_, some: all_.at[..., chosen].set(some, mode="drop"), result, part)
        return done + size, result

    begin = jnp.zeros((), rank.dtype), free
    result: FlightArrays = jax.lax.while_loop(lambda so_far: so_far[0] < rank[-1], again, begin)[1]
    return result


def _looped(
    craft: Craft, kind: int, flight: FlightArrays, wanted: Setpoint, steps: int
) -> tuple[FlightArrays, jax.Array]:
    """The state after all steps, and a height below which no vehicle's centre of mass was."""

    def step(_, so_far):
        command, flight, lowest = so_far
        # a vehicle that broke stops its rotors at once, not at the controller's next call
        flight = moved(craft, flight, tuple(jnp.where(flight.crashed, 0.0, speed) for speed in command))
        z, climb = flight.motion[2], flight.motion[5]
        return command, flight, jnp.minimum(lowest, z - craft.dt * jnp.abs(climb))

    def controlled(_, so_far):
        flight, lowest = so_far
        command, flight = commanded(craft, kind, flight, wanted)
        return jax.lax.fori_loop(0, divider, step, (command, flight, lowest))[1:]

    divider, start = craft.p.control_divider, flight.motion[2] - craft.dt * jnp.abs(flight.motion[5])
    end: tuple[FlightArrays, jax.Array] = jax.lax.fori_loop(0, steps // divider, controlled, (flight, start))
    return end
