"""The adapter with Stable-Baselines3 itself, and the example of docs/how-to/gym.md."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from sb3_environment import python_with_sb3

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs" / "how-to" / "gym.md").read_text(encoding="utf-8")


def run(script: Path, *arguments: str) -> str:
    command = [str(python_with_sb3()), "-W", "error", "-W", "ignore::DeprecationWarning", str(script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=script.parent)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.slow("installs PyTorch, once")
def test_the_library_is_content_and_learns() -> None:
    assert "all is well" in run(HERE / "sb3_script.py")


@pytest.mark.slow("learns with PyTorch")
def test_the_example_of_the_page_runs(tmp_path: Path) -> None:
    [code] = re.findall(r'```python title="train.py"\n(.*?)```', PAGE, flags=re.DOTALL)
    (tmp_path / "train.py").write_text(code, encoding="utf-8")
    assert re.search(r"mean return \d+", run(tmp_path / "train.py", "20000"))
    assert (tmp_path / "hover.zip").exists()
