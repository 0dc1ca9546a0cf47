"""docs/how-to/install.md names every extra and every system package."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from skyloop.core.system_packages import SYSTEM_PACKAGES

ROOT = Path(__file__).parents[2]
INSTALL = ROOT / "docs" / "how-to" / "install.md"
EXTRAS: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def test_the_table_names_every_extra() -> None:
    assert sorted(first_column("extra")) == sorted(EXTRAS)


def test_the_table_names_every_system_package() -> None:
    assert first_column("package") == [each.name for each in SYSTEM_PACKAGES]


def first_column(title: str) -> list[str]:
    page = INSTALL.read_text(encoding="utf-8")
    (table,) = re.findall(rf"^\| {title} \|.*\n((?:\|.*\n)*)", page, flags=re.MULTILINE)
    return [name for row in table.splitlines() for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


@pytest.mark.slow("starts pip")
@pytest.mark.processes
def test_an_installed_skyloop_needs_no_index_for_an_extra() -> None:
    """What errors and `doctor` advise: pip keeps the skyloop it finds."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "skyloop[mavlink]"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "Would install" not in done.stdout
