"""What the environments ask for: goals, rewards and ends as numbers the kernels read, and the spaces around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from skyloop_client.errors import unknown_name

HOVER, WAYPOINT, GATE, LANDING = range(4)

MOST_GOAL, MOST_VELOCITY, MOST_RATE = 50.0, 50.0, 50.0
"""m, m/s and rad/s at which observations are clipped."""
GOAL, MOTION = slice(0, 3), slice(3, 18)
"""Parts of a state observation; after them comes the next goal of the waypoint task."""
BOUNDS = (MOST_GOAL,) * 3 + (MOST_VELOCITY,) * 3 + (1.0,) * 9 + (MOST_RATE,) * 3 + (MOST_GOAL,) * 3


@dataclass(frozen=True, slots=True)
class Task:
    """One environment."""

    name: str
    kind: int
    observed: int
    """Numbers in a state observation."""
    episode_s: float
    """s of simulated time after which an episode is truncated."""
    shows_goal: bool
    """The camera can see the goal, so that an image observation leaves it out of the numbers."""
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
    if name not in TASKS:
        raise unknown_name("task", name, TASKS)
    return TASKS[name]


def action_space(size: int) -> spaces.Box:
    return spaces.Box(-1.0, 1.0, (size,), np.float32)


def state_space(task: Task) -> spaces.Box:
    bounds = np.array(BOUNDS[: task.observed], np.float32)
    return spaces.Box(-bounds, bounds, dtype=np.float32)


def image_space(task: Task, height: int, width: int) -> spaces.Dict:
    """A picture, and the numbers that cannot be seen in it."""
    bounds = np.array(BOUNDS[: task.observed], np.float32)[unseen(task)]
    picture = spaces.Box(0, 255, (height, width, 3), np.uint8)
    return spaces.Dict({"image": picture, "state": spaces.Box(-bounds, bounds, dtype=np.float32)})


def unseen(task: Task) -> slice:
    """Of a state observation: what goes beside a picture."""
    return MOTION if task.shows_goal else slice(None)


EPISODE = np.dtype(
    [
        ("key", np.uint64),  # the seed; chance is a function of it, the episode and what is drawn
        ("episode", np.int64),  # since the seed was given
        ("fresh", np.int64),  # just begun: the next look gives no reward
        ("steps", np.int64),
        ("goal", np.float64, (3,)),
        ("next_goal", np.float64, (3,)),
        ("reached", np.int64),  # waypoints
        ("position", np.float64, (3,)),  # at the last look
        ("distance", np.float64),  # m to the goal, at the last look
    ],
    align=True,
)
"""What a task remembers of one vehicle. All of it is in here and in the fleet's arrays."""


@dataclass(slots=True)
class Verdict:
    """What one look at (n,) vehicles gives; new arrays every time, because users keep them."""

    observations: Any
    rewards: Any
    terminated: Any
    truncated: Any
    success: Any

    @staticmethod
    def blank(task: Task, n: int) -> Verdict:
        flags = (np.empty(n, np.bool_) for _ in range(3))
        return Verdict(np.empty((n, task.observed), np.float32), np.empty(n), *flags)

    def whole(self) -> tuple[Any, Any, Any, Any, Any]:
        """As the kernel takes them."""
        return self.observations, self.rewards, self.terminated, self.truncated, self.success

    def arrays(self, part: slice = slice(None)) -> tuple[Any, Any, Any, Any, Any]:
        """Of a part of the vehicles."""
        rewards, observations = self.rewards[part], self.observations[part]
        return observations, rewards, self.terminated[part], self.truncated[part], self.success[part]
