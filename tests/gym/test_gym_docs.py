"""docs/how-to/gym.md against the code: its examples run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "gym.md").read_text(encoding="utf-8")


@pytest.mark.renders
def test_the_example_runs() -> None:
    [code] = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    exec(compile(code, "docs/how-to/gym.md", "exec"), {})


@pytest.mark.slow("JAX compiles it")
def test_the_example_in_jax_runs() -> None:
    [code] = re.findall(r'```python title="device.py"\n(.*?)```', PAGE, flags=re.DOTALL)
    exec(compile(code, "docs/how-to/gym.md", "exec"), {})


def test_the_swarm_flies() -> None:
    [code] = re.findall(r'```python title="swarm.py"\n(.*?)```', PAGE, flags=re.DOTALL)
    exec(compile(code, "docs/how-to/gym.md", "exec"), {})
