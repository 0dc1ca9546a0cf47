"""An environment with Stable-Baselines3 and PyTorch, made once and kept in the user's cache; it sees our packages, too.

They are not in requirements.lock: PyTorch alone is larger than all the rest.
"""

from __future__ import annotations

import subprocess
import sysconfig
import venv
from pathlib import Path
from typing import Any

from left_out import leave_out
from made_once import PATIENCE_S, made_once

TORCH = ("torch==2.13.0+cpu", "torch")
"""The first that the package index has: the one for CPUs is a tenth of the other."""
SB3 = "stable-baselines3==2.9.2"


def python_with_sb3() -> Path:
    """Its interpreter; skips where it cannot be made."""
    folder = made_once("sb3", _make)
    _show_ours(folder)
    return folder / "bin" / "python"


def _make(folder: Path) -> None:
    venv.create(folder, clear=True, with_pip=True)
    if not any(_installed(folder, torch) for torch in TORCH) or not _installed(folder, "--no-deps", SB3):
        leave_out("the package index")


def _installed(folder: Path, *packages: str) -> bool:
    command: list[Any] = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", *packages]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    return done.returncode == 0


def _show_ours(folder: Path) -> None:
    """Everything of the environment that runs the tests, editable installs included; another checkout may be first."""
    [packages] = folder.glob("lib/python*/site-packages")
    line = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    (packages / "skyloop_under_test.pth").write_text(line)
