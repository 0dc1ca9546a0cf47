"""Hover and gate for many vehicles in JAX: pure functions of a state, which run wherever JAX runs."""

# mypy: allow-untyped-defs

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from skyloop.gym.actions import MOST_ASIDE, MOST_HEIGHT, MOST_OFFSET, MOST_SPEED, MOST_YAW_RATE, ActionMeaning
from skyloop.gym.course import Course
from skyloop.gym.tasks import GATE, HOVER, find_task
from skyloop.vehicle.kernel_records import (
    SET_MOTORS,
    SET_POSITION,
    SET_RATES,
    SET_VELOCITY_BODY,
    SET_VELOCITY_WORLD,
)
from skyloop_client.errors import ScenarioError
from skyloop_jax.advance import flown
from skyloop_jax.control import Setpoint, measured_motion
from skyloop_jax.craft import craft_from
from skyloop_jax.episodes import Episode, distance_to_goal, judged, observed, started
from skyloop_jax.flight import FlightArrays, flight_from

KINDS = {
    "rates": SET_RATES,
    "motors": SET_MOTORS,
    "velocity": SET_VELOCITY_BODY,
    "velocity_world": SET_VELOCITY_WORLD,
    "climb": SET_VELOCITY_BODY,
    "position": SET_POSITION,
    "offset": SET_POSITION,
}
"""The controller's kind of setpoint, by the kind of action."""
MOST_ENVIRONMENTS = 1 << 26


class DeviceState(NamedTuple):
    """All that changes, of all vehicles."""

    flight: FlightArrays
    episode: Episode


class StepOutcome(NamedTuple):
    """What a step gives, with one entry per vehicle."""

    observations: jax.Array
    """(n, 18) float32; where an episode has ended, those of the next one's start."""
    rewards: jax.Array
    terminated: jax.Array
    truncated: jax.Array
    success: jax.Array
    distance: jax.Array
    """m from the goal, before a new episode began."""
    final_observations: jax.Array
    """(n, 18) float32, before a new episode began."""


class DeviceEnv:
    """The same tasks and flight as `SkyloopVectorEnv` with autoreset in the same step; vehicle i has seed + i.

    `reset` and `step` are compiled once for each number of vehicles. They change nothing but what they return, so they
    may be used inside other functions of JAX.
    """

    def __init__(
        self,
        task: str,
        *,
        action: str = "rates",
        airframe: str = "iris",
        physics_rate_hz: float = 500.0,
        control_rate_hz: float = 50.0,
        max_episode_steps: int | None = None,
        dtype: str = "float32",
    ) -> None:
        """dtype: float32, or float64 with JAX's 64-bit mode; the other arguments are those of `SkyloopVectorEnv`."""
        self.task = find_task(task)
        if self.task.kind not in (HOVER, GATE):
            raise ScenarioError(f"task '{task}' does not exist in JAX; take hover or gate, or use SkyloopVectorEnv")
        self.dtype = checked_dtype(dtype)
        course = Course(self.task, airframe, physics_rate_hz, control_rate_hz)
        with course.simulation() as simulation:
            memory = simulation.port.flight_memory()
            self.meaning = ActionMeaning(action, memory.params)
            self.craft = craft_from(memory)
            self.template = flight_from(memory.states, self.craft, self.dtype)
        self.course = course
        self.max_episode_steps = course.most_steps if max_episode_steps is None else max_episode_steps
        self.step = jax.jit(self._step)
        self._begin = jax.jit(self._begun)

    def reset(self, seed: int, num_envs: int) -> tuple[DeviceState, jax.Array]:
        """The first episodes of seeds `seed` to `seed + num_envs - 1`, and what is observed at their start."""
        if not 1 <= num_envs <= MOST_ENVIRONMENTS:
            raise ScenarioError(f"num_envs is {num_envs}; give 1 to {MOST_ENVIRONMENTS}")
        keys = np.uint64(int(seed) % (1 << 64)) + np.arange(num_envs, dtype=np.uint64)
        low, high = (keys & np.uint64(0xFFFFFFFF)).astype(np.uint32), (keys >> np.uint64(32)).astype(np.uint32)
        state, observations = self._begin(low, high)
        return state, observations

    def _begun(self, low, high):
        nothing = jnp.zeros(low.shape, self.dtype)
        count = jnp.zeros(low.shape, jnp.uint32)
        episode = Episode(low, high, count, count.astype(jnp.int32), (nothing,) * 3, nothing)
        flight, episode = self._start(episode)
        flight = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (*leaf.shape[:-1], *low.shape)), flight)
        return DeviceState(flight, episode), observed(self.craft, flight)

    def _start(self, episode):
        """Where the vehicles are when this episode begins. Some entries are the same for all and have no axis."""
        flight = started(self.craft, self.task.kind, self.template, episode)
        at = measured_motion(self.craft, flight)[:3]
        steps = jnp.zeros_like(episode.steps)
        return flight, episode._replace(steps=steps, position=at, distance=distance_to_goal(at))

    def _step(self, state: DeviceState, actions: jax.Array) -> tuple[DeviceState, StepOutcome]:
        """Fly one control period. An action that is not a number ends its episode."""
        numbers = jnp.clip(actions.astype(self.dtype), -1.0, 1.0)
        wanted = self._setpoint([numbers[:, k] for k in range(self.meaning.size)], state.episode.position)
        flight = flown(self.craft, KINDS[self.meaning.kind], state.flight, wanted, self.course.steps_per_action)
        verdict, episode = judged(self.craft, self.task.kind, flight, state.episode, self.max_episode_steps)
        final, over = observed(self.craft, flight), verdict.terminated | verdict.truncated
        following = self._start(episode._replace(episode=episode.episode + np.uint32(1)))
        new = jax.tree.map(lambda a, b: jnp.where(over, a, b), following, (flight, episode))
        begun = jnp.where(over[:, None], observed(self.craft, new[0]), final)
        return DeviceState(*new), StepOutcome(begun, *verdict, episode.distance, final)

    def _setpoint(self, a, positions):
        """In units, as `ActionMeaning.write`."""
        kind, p = self.meaning.kind, self.craft.p
        if kind == "rates":
            thrust = p.mass * p.gravity * (1.0 + a[0])
            return Setpoint(thrust=thrust, rates=tuple(p.max_rate[k] * a[1 + k] for k in range(3)))
        if kind == "motors":
            return Setpoint(throttle=tuple(0.5 * (1.0 + number) for number in a))
        if kind == "offset":
            return Setpoint(position=tuple(positions[k] + MOST_OFFSET * a[k] for k in range(3)))
        if kind == "position":
            position = (MOST_ASIDE * a[0], MOST_ASIDE * a[1], 0.5 * MOST_HEIGHT * (1.0 + a[2]))
            return Setpoint(position=position, yaw=math.pi * a[3])
        if kind == "climb":
            return Setpoint(velocity=(0.0 * a[0], 0.0 * a[0], MOST_SPEED * a[0]))
        return Setpoint(velocity=tuple(MOST_SPEED * a[k] for k in range(3)), yaw_rate=MOST_YAW_RATE * a[3])


def checked_dtype(name: str) -> Any:
    if name not in ("float32", "float64"):
        raise ScenarioError(f"dtype is '{name}'; give float32 or float64")
    if name == "float64" and jnp.zeros(0, float).dtype != name:
        raise ScenarioError("dtype float64 needs JAX's 64-bit mode; set JAX_ENABLE_X64=1 before the start")
    return jnp.dtype(name)
