"""Several vehicles in one PettingZoo environment: each flies to the opposite side of a circle, past the others.

`import skyloop.gym.swarm`, then `skyloop.gym.swarm.parallel_env(agents=8)`; see docs/how-to/gym.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import ArrayLike, NDArray

from skyloop.core.frames import matrix_from_quat, quat_from_yaw, rotate
from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.gym.actions import ActionMeaning
from skyloop.gym.course import Course
from skyloop.gym.episodes import BONUS, LOST, TURNING
from skyloop.gym.tasks import BOUNDS, GOAL, HOVER, MOST_GOAL, MOST_VELOCITY, MOTION, Flags, Task, action_space
from skyloop.vehicle.fleet_kernels import advance
from skyloop_client.errors import MissingExtra, ScenarioError, SetpointError
from skyloop_client.messages import Array

try:
    from pettingzoo import ParallelEnv
except ImportError:
    raise MissingExtra(
        "skyloop.gym.swarm needs PettingZoo, which is not installed: pip install 'skyloop[gym]'"
    ) from None

Observations = dict[str, NDArray[np.float32]]
Infos = dict[str, dict[str, float]]
Step = tuple[Observations, dict[str, float], dict[str, bool], dict[str, bool], Infos]
"""Observations, rewards, terminated, truncated and infos, by agent."""

SWARM = Task("swarm", HOVER, MOTION.stop, 20.0, shows_goal=False)
"""Rates and the length of an episode. Rewards are computed here, not by the kernel of the other tasks."""
HEIGHT = 2.5
"""m, the mean of the lowest and the highest start."""
LEAST_RADIUS, SPACING = 3.0, 1.6
"""m: least radius of the circle, and distance of two neighbours on it."""
REACH = 0.4
"""m from its goal within which a vehicle has arrived."""
FAR = 15.0
"""A vehicle is lost at this many m more than the initial distance from its goal."""
GONE = np.iinfo(np.int64).max // 2
"""Physics step of a vehicle that is out, so that the kernel does not move it."""


class SwarmEnv(ParallelEnv):  # type: ignore[misc]
    """Agents are called drone_0, drone_1, ...; one that is out leaves `agents`."""

    metadata: dict[str, Any] = {"name": "skyloop_swarm_v0", "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        agents: int = 4,
        *,
        neighbours: int = 3,
        collision_ends: bool = True,
        action: str = "rates",
        airframe: str = "iris",
        physics_rate_hz: float = 500.0,
        control_rate_hz: float = 50.0,
    ) -> None:
        """neighbours: how many of the nearest others a vehicle observes. Without collision_ends,
        two vehicles that collide are penalised and fly on through each other."""
        if agents < 2 or neighbours < 0:
            raise ScenarioError(f"a swarm has {agents} agents and {neighbours} neighbours; give at least 2 and 0")
        self.render_mode = None
        self.collision_ends = collision_ends
        self.course = Course(SWARM, airframe, physics_rate_hz, control_rate_hz)
        with self.course.simulation() as simulation:
            one = simulation.port.flight_memory()
        self._period, self._ground, self._template = one.period_s, one.ground, one.states.copy()
        self.states, self.inputs, self.params = (
            np.repeat(records, agents) for records in (one.states, one.inputs, one.params)
        )
        self.meaning = ActionMeaning(action, one.params)
        self.possible_agents = [f"drone_{i}" for i in range(agents)]
        self.agents: list[str] = []
        self._neighbours = min(neighbours, agents - 1)
        self._touching_distance = 2.0 * float(one.params["bounding_radius"][0])
        self._numbers = {name: i for i, name in enumerate(self.possible_agents)}
        beside = (MOST_GOAL,) * 3 + (2.0 * MOST_VELOCITY,) * 3
        bounds = np.array(BOUNDS[: MOTION.stop] + beside * self._neighbours, np.float32)
        self._bounds = bounds
        self.observation_spaces = {name: spaces.Box(-bounds, bounds, dtype=np.float32) for name in self.possible_agents}
        self.action_spaces = {name: action_space(self.meaning.size) for name in self.possible_agents}
        self._seed, self._episode, self._step = -1, -1, 0
        self.goals = np.zeros((agents, 3))
        self.collisions = np.zeros(agents, np.int64)
        """Of each vehicle since the reset."""

    def observation_space(self, agent: str) -> spaces.Box:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Box:
        return self.action_spaces[agent]

    # ---- episodes

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observations, Infos]:
        """A seed begins its first episode. Without one, the next episode of the last seed follows."""
        if seed is not None or self._seed < 0:
            # without any seed Gymnasium draws a random one
            self._seed, self._episode = seeding.np_random(seed)[1] if seed is None else seed, -1
        self._episode += 1
        self._step = 0
        self.agents = list(self.possible_agents)
        self.collisions[:] = 0
        self._near = np.zeros((len(self.agents), len(self.agents)), np.bool_)
        self._place()
        self._positions = self._now()[0]
        self._distances = self._goal_distances()
        self._far = self._distances + FAR
        return self._observations(self.agents), self._infos(self.agents)

    def _place(self) -> None:
        """At rest around a circle, each with its goal opposite; random: height, heading, and up to 0.3 m aside."""
        n = len(self.possible_agents)
        draw = KeyedRandom(stream_key(self._seed, "gym/swarm"), self._episode).uniform(5 * n).reshape(n, 5)
        angle = 2.0 * math.pi * np.arange(n) / n
        radius = max(LEAST_RADIUS, 0.5 * SPACING / math.sin(math.pi / n))
        around = radius * np.stack([np.cos(angle), np.sin(angle)], 1)
        aside, heights = 0.6 * (draw[:, :2] - 0.5), HEIGHT + draw[:, 2:4] - 0.5
        starts = np.concatenate([around + aside, heights[:, :1]], 1)
        self.goals[:] = np.concatenate([-around, heights[:, 1:]], 1)
        self.states[:] = self._template
        quats = quat_from_yaw(2.0 * math.pi * draw[:, 4])
        for state, start, quat in zip(self.states, starts, quats, strict=True):
            state["motion"][0:3] = start + rotate(quat, self.params["centre_of_mass"][0])
            state["motion"][6:10] = quat
            state["motion_before"] = state["motion"]
        self.states["yaw_target"] = 2.0 * math.pi * draw[:, 4]

    def step(self, actions: Mapping[str, ArrayLike]) -> Step:
        """Takes actions of all `agents`. The results are for the same agents, for the last time if one is out."""
        flying = self.agents
        if not flying:
            return {}, {}, {}, {}, {}
        missing = [name for name in flying if name not in actions]
        if missing:
            raise SetpointError(f"no action for {missing[0]}; give one for each of env.agents")
        rows = np.array([self._numbers[name] for name in flying])
        numbers = np.zeros((len(self.states), self.meaning.size))
        numbers[rows] = self.meaning.checked(np.stack([np.asarray(actions[name]) for name in flying]), len(flying))
        self.meaning.write(self.inputs, numbers, self._positions)
        self._step += 1
        until = self._step * self.course.steps_per_action
        advance(self.states, self.inputs, self.params, self._period, until, self._ground)
        return self._judged(flying, rows)

    def _judged(self, flying: list[str], rows: NDArray[np.intp]) -> Step:
        before, distances_before = self._positions, self._distances
        self._positions, _, _, rates = self._now()
        self._distances = self._goal_distances()
        struck = self._struck(before, rows)
        self.collisions += struck
        touched = (self.states["impact_speed"] > 0.0) | (self.states["legs_down"] > 0) | (self.states["body_down"] > 0)
        lost = touched | ~(self._distances < self._far)
        rewards = distances_before - self._distances - TURNING * np.linalg.norm(rates, axis=1)
        rewards -= LOST * (lost | (struck > 0))
        out = lost | (struck > 0) if self.collision_ends else lost
        there = bool(((self._distances < REACH) & ~out)[rows].all())
        rewards += BONUS * there
        late = self._step >= self.course.most_steps
        answer = (
            self._observations(flying),
            {name: float(rewards[i]) for name, i in zip(flying, rows, strict=True)},
            {name: bool(out[i]) or there for name, i in zip(flying, rows, strict=True)},
            dict.fromkeys(flying, late),
            self._infos(flying),
        )
        self._leave(flying, out | there | late)
        return answer

    def _leave(self, flying: list[str], out: Flags) -> None:
        self.states["step"][out] = GONE
        self.agents = [name for name in flying if not out[self._numbers[name]]]

    def close(self) -> None:
        """There is nothing to close."""

    # ---- observations

    def _now(self) -> tuple[Array, Array, Array, Array]:
        """Position, velocity, quaternion and body rates of each vehicle, of its body's origin."""
        motion = self.states["motion"]
        quat, rates = motion[:, 6:10], motion[:, 10:13]
        arm = rotate(quat, self.params["centre_of_mass"])
        return motion[:, 0:3] - arm, motion[:, 3:6] - np.cross(rotate(quat, rates), arm), quat, rates

    def _goal_distances(self) -> Array:
        return np.asarray(np.linalg.norm(self.goals - self._positions, axis=1))

    def _struck(self, before: Array, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """(n,) new collisions: balls around two vehicles that met on the straight lines since the last observation."""
        start = before[rows, None] - before[None, rows]
        way = self._positions[rows, None] - self._positions[None, rows] - start
        size = (way * way).sum(-1)
        share = np.clip(-(start * way).sum(-1) / np.where(size > 0.0, size, 1.0), 0.0, 1.0)
        near = np.linalg.norm(start + share[..., None] * way, axis=-1) < self._touching_distance
        np.fill_diagonal(near, False)
        every = np.zeros_like(self._near)
        every[np.ix_(rows, rows)] = near
        new = every & ~self._near
        self._near = every
        return np.asarray(new.sum(axis=1))

    def _observations(self, seen: list[str]) -> Observations:
        """As in the hover task, then relative position and velocity of the nearest others; (50, 50, 50) for none."""
        rows = np.array([self._numbers[name] for name in seen])
        position, velocity, quat, rates = (part[rows] for part in self._now())
        numbers = np.empty((len(rows), len(self._bounds)))
        numbers[:, GOAL] = self.goals[rows] - position
        numbers[:, MOTION] = np.concatenate([velocity, matrix_from_quat(quat).reshape(-1, 9), rates], 1)
        numbers[:, MOTION.stop :] = np.tile((MOST_GOAL,) * 3 + (0.0,) * 3, self._neighbours)
        away = np.linalg.norm(position[:, None] - position[None], axis=-1)
        np.fill_diagonal(away, np.inf)
        nearest = np.argsort(away, axis=1, kind="stable")[:, : min(self._neighbours, len(rows) - 1)]
        for k in range(nearest.shape[1]):
            other, first = nearest[:, k], MOTION.stop + 6 * k
            numbers[:, first : first + 3] = position[other] - position
            numbers[:, first + 3 : first + 6] = velocity[other] - velocity
        clipped = np.clip(numbers, -self._bounds, self._bounds).astype(np.float32)
        return dict(zip(seen, clipped, strict=True))

    def _infos(self, agents: list[str]) -> Infos:
        return {
            name: {
                "distance": float(self._distances[i]),
                "collisions": int(self.collisions[i]),
                "is_success": bool(self._distances[i] < REACH),
            }
            for name, i in ((name, self._numbers[name]) for name in agents)
        }


def parallel_env(agents: int = 4, **options: Any) -> SwarmEnv:
    """PettingZoo's usual name. The arguments are those of `SwarmEnv`."""
    return SwarmEnv(agents, **options)
