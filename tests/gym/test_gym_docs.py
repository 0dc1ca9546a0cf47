"""docs/how-to/gym.md against the code: its example runs, and its numbers are those of the tasks."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import gymnasium
import pytest

import skyloop.gym
from skyloop.gym import actions, episodes, swarm
from skyloop.gym.tasks import TASKS

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "gym.md").read_text(encoding="utf-8")
TABLE = {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in
         (line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("|"))}  # fmt: skip


@pytest.mark.renders
def test_the_example_runs() -> None:
    [code] = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    exec(compile(code, "docs/how-to/gym.md", "exec"), {})


@pytest.mark.slow("JAX compiles it")
def test_the_example_in_jax_runs() -> None:
    [code] = re.findall(r'```python title="device.py"\n(.*?)```', PAGE, flags=re.DOTALL)
    exec(compile(code, "docs/how-to/gym.md", "exec"), {})


def test_the_swarm_flies_and_its_numbers_are_true() -> None:
    [code] = re.findall(r'```python title="swarm.py"\n(.*?)```', PAGE, flags=re.DOTALL)
    exec(compile(code, "docs/how-to/gym.md", "exec"), {})
    assert f"a circle of {swarm.LEAST_RADIUS:g} m radius" in PAGE
    assert f"within {swarm.REACH:g} m of their goals at once: +{episodes.BONUS:g} each" in PAGE
    assert f"**Truncated after**: {50 * swarm.SWARM.episode_s:g} steps, {swarm.SWARM.episode_s:g} s" in PAGE


def test_the_table_is_true() -> None:
    ids = [cell.strip("`") for cell in TABLE[""]]
    specs = [gymnasium.spec(name) for name in ids]
    tasks = [TASKS[spec.kwargs["task"]] for spec in specs]
    assert len(ids) == len(TASKS)
    assert TABLE["numbers observed"] == [str(task.observed) for task in tasks]
    assert TABLE["truncated after"] == [
        f"{spec.max_episode_steps} steps, {task.episode_s:g} s" for spec, task in zip(specs, tasks, strict=True)
    ]
    assert TABLE["camera"] == ["down" if task.camera_pitch_deg else "ahead" for task in tasks]
    for cell, far in zip(TABLE["failure (−10)"], episodes.FAR, strict=True):
        assert f"is {far:g} m from the goal" in cell
    assert episodes.LOST == episodes.BONUS == 10.0 and episodes.REACHED == 5.0
    assert f"within {episodes.REACH:g} m" in TABLE["ends well"][1]
    assert f"a square of {2.0 * episodes.OPENING:g} m around (0, 0, {episodes.HEIGHT:g})" in TABLE["goal"][2]
    landing = f"within {episodes.PAD:g} m of the middle, at less than {episodes.SOFT:g} m/s"
    assert landing in TABLE["ends well"][3]
    assert f"{episodes.WAYPOINTS} random points" in TABLE["goal"][1]
    assert f"{episodes.TURNING:g} per rad/s" in PAGE and f"within {episodes.CLOSE:g} m." in PAGE


def test_the_actions_and_defaults_are_true() -> None:
    for kind, size in actions.SIZES.items():
        numbers, meaning = TABLE[f"`{kind}`" if kind != "rates" else "`rates` (default)"]
        assert numbers == (str(size) if size else "one per rotor") and meaning
    assert f"up to {actions.MOST_SPEED:g} m/s" in PAGE and f"up to {actions.MOST_YAW_RATE:g} rad/s" in PAGE
    assert f"up to {actions.MOST_ASIDE:g} m from the origin" in TABLE["`position`"][1]
    assert f"0 to {actions.MOST_HEIGHT:g} m" in TABLE["`position`"][1]
    assert f"up to {actions.MOST_OFFSET:g} m from the vehicle" in TABLE["`offset`"][1]
    defaults = {
        name: parameter.default for name, parameter in inspect.signature(skyloop.gym.SkyloopEnv).parameters.items()
    }
    for name in ("airframe", "physics_rate_hz", "control_rate_hz", "picture_size"):
        stated = re.search(rf"`{name}=(.*?)`", PAGE)
        assert stated is not None and eval(stated[1]) == defaults[name]
    assert defaults["image_size"] == (64, 64) and defaults["action"] == "rates" and defaults["observation"] == "state"
