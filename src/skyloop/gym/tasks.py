"""The tasks of the environments: goals, rewards and ends as numbers for the kernels, and the spaces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from skyloop_client.errors import unknown_name

Observed = NDArray[np.float32]
"""(n, numbers): state observations."""
Flags = NDArray[np.bool_]
"""(n,), one for each vehicle."""
Records = NDArray[np.void]
"""(n,), of a structured type."""

HOVER, WAYPOINT, GATE, LANDING = range(4)
"""Kinds of learning tasks, as the kernels see them."""

MOST_GOAL, MOST_VELOCITY, MOST_RATE = 50.0, 50.0, 50.0
"""m, m/s and rad/s at which observations are clipped."""
GOAL, MOTION = slice(0, 3), slice(3, 18)
"""Slices of a state observation. The next goal of the waypoint task follows them."""
BOUNDS = (MOST_GOAL,) * 3 + (MOST_VELOCITY,) * 3 + (1.0,) * 9 + (MOST_RATE,) * 3 + (MOST_GOAL,) * 3
"""Of the observations: their largest magnitudes."""


@dataclass(frozen=True, slots=True)
class Task:
    """One environment."""

    name: str
    kind: int
    observed: int
    """Numbers in a state observation."""
    episode_s: float
    """Simulated s after which an episode is truncated."""
    shows_goal: bool
    """The camera can see the goal, so an image observation does not contain it as numbers."""
    camera_pitch_deg: float = 0.0
    """Down is positive."""


TASKS = {
    task.name: task
    for task in (
        Task("hover", HOVER, 18, 10.0, shows_goal=False),
        Task("waypoint", WAYPOINT, 21, 20.0, shows_goal=False),
        Task("gate", GATE, 18, 10.0, shows_goal=True),
        Task("landing", LANDING, 18, 15.0, shows_goal=True, camera_pitch_deg=90.0),
    )
}


def find_task(name: str) -> Task:
    """A learning task by name."""
    if name not in TASKS:
        raise unknown_name("task", name, TASKS)
    return TASKS[name]


def action_space(size: int) -> spaces.Box:
    return spaces.Box(-1.0, 1.0, (size,), np.float32)


def state_space(task: Task) -> spaces.Box:
    bounds = np.array(BOUNDS[: task.observed], np.float32)
    return spaces.Box(-bounds, bounds, dtype=np.float32)


def image_space(task: Task, height: int, width: int) -> spaces.Dict:
    """An image, and the numbers that are not visible in it."""
    bounds = np.array(BOUNDS[: task.observed], np.float32)[unseen(task)]
    picture = spaces.Box(0, 255, (height, width, 3), np.uint8)
    return spaces.Dict({"image": picture, "state": spaces.Box(-bounds, bounds, dtype=np.float32)})


def unseen(task: Task) -> slice:
    """The part of a state observation that accompanies an image."""
    return MOTION if task.shows_goal else slice(None)


EPISODE = np.dtype(
    [
        ("key", np.uint64),  # the seed; random numbers are a function of it, the episode and the block
        ("episode", np.int64),  # since the seed was given
        ("fresh", np.int64),  # just begun: the next observation gives no reward
        ("steps", np.int64),
        ("goal", np.float64, (3,)),
        ("next_goal", np.float64, (3,)),
        ("reached", np.int64),  # waypoints
        ("position", np.float64, (3,)),  # at the last observation
        ("distance", np.float64),  # m to the goal, at the last observation
    ],
    align=True,
)
"""The task's state of one vehicle. All of it is here and in the fleet's arrays."""


@dataclass(slots=True)
class TaskVerdict:
    """The result of one judgement of (n,) vehicles. The arrays are new every time, because users keep them."""

    observations: Observed
    rewards: NDArray[np.float64]
    terminated: Flags
    truncated: Flags
    success: Flags

    @staticmethod
    def blank(task: Task, n: int) -> TaskVerdict:
        flags = (np.empty(n, np.bool_) for _ in range(3))
        return TaskVerdict(np.empty((n, task.observed), np.float32), np.empty(n), *flags)

    def arrays(self, part: slice = slice(None)) -> tuple[Observed, NDArray[np.float64], Flags, Flags, Flags]:
        """The arrays for the kernel, of a part of the vehicles."""
        rewards, observations = self.rewards[part], self.observations[part]
        return observations, rewards, self.terminated[part], self.truncated[part], self.success[part]
