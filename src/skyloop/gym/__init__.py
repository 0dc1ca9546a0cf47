"""Gymnasium environments: `import skyloop.gym`, then `gymnasium.make("skyloop/Hover-v0")`; see docs/how-to/gym.md."""

from __future__ import annotations

from skyloop_client.errors import MissingExtra

try:
    import gymnasium
except ImportError:
    raise MissingExtra("skyloop.gym needs Gymnasium, which is not installed: pip install 'skyloop[gym]'") from None

from skyloop.gym.batch import SkyloopVectorEnv
from skyloop.gym.course import Course
from skyloop.gym.single import SkyloopEnv
from skyloop.gym.tasks import TASKS

__all__ = ["SkyloopEnv", "SkyloopVectorEnv"]

for _task in TASKS.values():
    gymnasium.register(
        f"skyloop/{_task.name.capitalize()}-v0",
        entry_point="skyloop.gym.single:SkyloopEnv",
        vector_entry_point="skyloop.gym.batch:SkyloopVectorEnv",
        max_episode_steps=Course(_task).most_steps,
        kwargs={"task": _task.name},
    )
