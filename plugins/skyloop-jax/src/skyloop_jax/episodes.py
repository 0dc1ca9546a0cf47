"""Begins and judges episodes of hover and gate: `gym/episodes.py` for arrays of numbers.

The random numbers of `core/keyed_random.py` in 32-bit arithmetic, which JAX has without its 64-bit mode.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from skyloop.gym.episodes import BAR, BLOCKS, BONUS, CLOSE, FAR, HEIGHT, LOST, OPENING, TURNING
from skyloop.gym.tasks import BOUNDS, GATE, HOVER
from skyloop_jax.contact import multiply, to_world
from skyloop_jax.control import measured_motion
from skyloop_jax.craft import Craft
from skyloop_jax.flight import FlightArrays, Vector

MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
WEYL = np.uint32(0x9E3779B9), np.uint32(0xBB67AE85)
ROUNDS = 10


def _product(constant, b):
    """High and low word of constant · b."""
    high, low, mask = np.uint32(constant >> 16), np.uint32(constant & 0xFFFF), np.uint32(0xFFFF)
    b_high, b_low = b >> 16, b & mask
    first = high * b_low + ((low * b_low) >> 16)
    second = low * b_high + (first & mask)
    return high * b_high + (first >> 16) + (second >> 16), np.uint32(constant) * b


def philox(key_low, key_high, index, block):
    """Four 32-bit words for counter (index, block), both below 2³², under a 64-bit key; as `keyed_random.philox`."""
    shape = jnp.broadcast_shapes(jnp.shape(key_low), jnp.shape(index), jnp.shape(block))
    words = [jnp.broadcast_to(jnp.asarray(a, jnp.uint32), shape) for a in (index, 0, block, 0, key_low, key_high)]

    def one_round(_, words):
        c0, c1, c2, c3, k0, k1 = words
        high_0, low_0 = _product(MULTIPLIERS[0], c0)
        high_1, low_1 = _product(MULTIPLIERS[1], c2)
        return high_1 ^ c1 ^ k0, low_1, high_0 ^ c3 ^ k1, low_0, k0 + WEYL[0], k1 + WEYL[1]

    # a loop, because ten rounds written out take the compiler several times as long
    return jax.lax.fori_loop(0, ROUNDS, one_round, tuple(words))[:4]


def drawn(key_low, key_high, index, block, dtype):
    """Four numbers in (-1, 1), as an episode draws them."""
    scale = 2.0 / 4294967296.0
    return tuple((word.astype(dtype) + 0.5) * scale - 1.0 for word in philox(key_low, key_high, index, block))


GOAL = (0.0, 0.0, HEIGHT)
"""m, of both tasks."""


class Episode(NamedTuple):
    """As `gym.tasks.EPISODE`, with (n,) entries each."""

    key_low: jax.Array
    key_high: jax.Array
    episode: jax.Array
    steps: jax.Array
    position: Vector
    distance: jax.Array


class Verdict(NamedTuple):
    """Of n vehicles after one step, (n,) each."""

    rewards: jax.Array
    terminated: jax.Array
    truncated: jax.Array
    success: jax.Array


def started(craft: Craft, kind: int, template: FlightArrays, episode: Episode) -> FlightArrays:
    """The vehicles at the start of their episodes, with a small velocity, tilt and rotation."""
    dtype = template.yaw_target.dtype
    block = jnp.array(BLOCKS, jnp.uint32)[:, None]
    a, b, c, d = drawn(episode.key_low, episode.key_high, episode.episode, block, dtype)
    if kind == GATE:
        position, yaw = (-4.5 + 1.5 * a[0], 2.0 * b[0], HEIGHT + 0.8 * c[0]), 0.5 * d[0]
    else:
        position, yaw = (1.5 * a[0], 1.5 * b[0], HEIGHT + 0.8 * c[0]), math.pi * d[0]
    velocity, rates = (0.5 * a[1], 0.5 * b[1], 0.5 * c[1]), (0.5 * a[3], 0.5 * b[3], 0.5 * c[3])
    roll, pitch = a[2], b[2]
    turned = (jnp.cos(0.5 * yaw), 0.0, 0.0, jnp.sin(0.5 * yaw))
    raised = multiply(turned, (jnp.cos(0.1 * pitch), 0.0, jnp.sin(0.1 * pitch), 0.0))
    quat = multiply(raised, (jnp.cos(0.1 * roll), jnp.sin(0.1 * roll), 0.0, 0.0))
    arm = to_world(*quat, *craft.p.centre_of_mass)
    motion = (*(position[k] + arm[k] for k in range(3)), *velocity, *quat, *rates)
    return template._replace(motion=motion, yaw_target=yaw)


def distance_to_goal(m):
    dx, dy, dz = (GOAL[k] - m[k] for k in range(3))
    return jnp.sqrt(dx * dx + dy * dy + dz * dz)


def observed(craft: Craft, flight: FlightArrays) -> jax.Array:
    """(n, 18), clipped to the bounds of the observation space."""
    m = measured_motion(craft, flight)
    axes = [to_world(*m[6:10], *axis) for axis in np.eye(3).tolist()]
    matrix = [axes[column][row] for row in range(3) for column in range(3)]
    numbers = [*(GOAL[k] - m[k] for k in range(3)), *m[3:6], *matrix, *m[10:13]]
    clipped = [jnp.clip(number, -most, most) for number, most in zip(numbers, BOUNDS[:18], strict=True)]
    return jnp.stack(clipped, axis=1).astype(jnp.float32)


def judged(craft: Craft, kind: int, flight: FlightArrays, episode: Episode, most_steps: int) -> tuple[Verdict, Episode]:
    """Rewards and ends after a step, and the episode that remembers it."""
    m = measured_motion(craft, flight)
    distance = distance_to_goal(m)
    touches = (flight.impact_speed > 0.0) | flight.legs_down | flight.body_down
    lost = touches | ~(distance < FAR[kind])
    won = jnp.zeros_like(lost)
    if kind == GATE:
        passed, missed = _at_gate(episode.position, m, craft.p.bounding_radius)
        won, lost = passed & ~lost, lost | missed
        rewards = episode.distance - distance
    else:
        rewards = 1.0 / (1.0 + distance * distance)
    turning = TURNING * jnp.sqrt(m[10] * m[10] + m[11] * m[11] + m[12] * m[12])
    rewards = rewards + jnp.where(won, BONUS, jnp.where(lost, -LOST, 0.0)) - turning
    hovers = ~lost & (distance < CLOSE) if kind == HOVER else won
    steps = episode.steps + 1
    verdict = Verdict(rewards, won | lost, steps >= most_steps, won | hovers)
    return verdict, episode._replace(steps=steps, position=m[:3], distance=distance)


def _strikes_gate(m, radius):
    side = OPENING + BAR
    y, z = jnp.abs(m[1]), jnp.abs(m[2] - HEIGHT)
    over_y, over_z = jnp.maximum(y - side, 0.0), jnp.maximum(z - side, 0.0)
    outside = jnp.sqrt(over_y * over_y + over_z * over_z)
    aside = jnp.where((y <= side) & (z <= side), side - jnp.maximum(y, z), outside)
    return jnp.sqrt(m[0] * m[0] + aside * aside) < radius + BAR


def _at_gate(before, m, radius):
    """Passed, and lost, by where the straight line since the last observation crosses the gate's plane."""
    strikes = _strikes_gate(m, radius)
    crosses = ~strikes & (before[0] < 0.0) & (m[0] >= 0.0)
    share = before[0] / jnp.where(crosses, before[0] - m[0], 1.0)
    y = before[1] + share * (m[1] - before[1])
    z = before[2] + share * (m[2] - before[2]) - HEIGHT
    inside = jnp.maximum(jnp.abs(y), jnp.abs(z)) < OPENING - radius
    return crosses & inside, strikes | (crosses & ~inside)
