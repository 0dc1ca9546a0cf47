"""A hand-written policy, and flights with any."""

from __future__ import annotations

from typing import Any

import numpy as np

GRAVITY = 9.80665


def fly_towards(observations: Any, goals: Any, most_rates: Any, speed: float) -> Any:
    """(n, 4) rates actions: a velocity towards the goal, the tilt that gives its acceleration, and turning into it."""
    velocity, world_from_body = observations[:, 3:6], observations[:, 6:15].reshape(-1, 3, 3)
    size = np.linalg.norm(goals, axis=1, keepdims=True)
    wanted = goals * np.minimum(1.2, speed / np.maximum(size, 1e-6))
    force = np.clip(2.5 * (wanted - velocity), -5.0, 5.0)
    force[:, 2] += GRAVITY
    body_force = np.einsum("nji,nj->ni", world_from_body, force)
    direction = body_force / np.linalg.norm(body_force, axis=1, keepdims=True)
    rates = 8.0 * np.stack([-direction[:, 1], direction[:, 0], np.zeros(len(goals))], 1)
    actions = np.concatenate([body_force[:, 2:] / GRAVITY - 1.0, rates / most_rates], 1)
    return np.clip(actions, -1.0, 1.0).astype(np.float32)


def flown(env: Any, steps: int, seed: int, policy: Any) -> tuple[Any, Any, Any]:
    """Returns of the first episode of each environment of a vector, whether it ended well, and the last distance."""
    observations, _ = env.reset(seed=seed)
    n = env.num_envs
    totals, won, distance, going = np.zeros(n), np.zeros(n, bool), np.zeros(n), np.ones(n, bool)
    for _ in range(steps):
        observations, rewards, terminated, truncated, infos = env.step(policy(observations))
        totals[going] += rewards[going]
        won |= going & infos["is_success"]
        distance[going] = infos["distance"][going]
        going &= ~(terminated | truncated)
    return totals, won, distance
