"""docs/how-to/install.md names every extra and every system package."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from skyloop.core.system_packages import SYSTEM_PACKAGES

ROOT = Path(__file__).parents[2]
INSTALL = ROOT / "docs" / "how-to" / "install.md"
OURS = {"skyloop-autonomy", "skyloop-landing", "skyloop-detect", "skyloop-jax"}
EXTRAS: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def test_the_table_names_every_extra() -> None:
    assert sorted(first_column("extra")) == sorted(EXTRAS)


def test_the_table_names_every_system_package() -> None:
    assert first_column("package") == [each.name for each in SYSTEM_PACKAGES]


def test_the_page_says_which_extras_set_up_leaves_out() -> None:
    """`make setup` installs requirements.lock and nothing else; `make .venv/.torch` the other lock."""
    locked = names_in("requirements.lock")
    absent = set()
    for project in [ROOT / "pyproject.toml", *ROOT.glob("plugins/*/pyproject.toml")]:
        about = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
        for extra, wanted in about.get("optional-dependencies", {}).items():
            if {Requirement(each).name for each in wanted} - locked - OURS:
                absent.add(extra)
    (sentence,) = re.findall(
        r"every extra except those that need PyTorch: ([^.]*)\.", INSTALL.read_text(encoding="utf-8")
    )
    assert set(re.findall(r"`(\w+)`", sentence)) == absent
    assert "torch" in names_in("requirements-torch.lock")
    assert re.search(r"^\$\(TORCH\):.*requirements-torch.lock", (ROOT / "Makefile").read_text(), re.MULTILINE)


def names_in(lock: str) -> set[str]:
    return set(re.findall(r"^([\w.-]+)==", (ROOT / lock).read_text(encoding="utf-8"), re.MULTILINE))


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
