"""Every page sends to docs/how-to/install.md, whose commands and table are true; skyloop is on no index yet."""

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
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]
EXTRAS: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
NEEDS_AN_INDEX = re.compile(r"pip install[^\n`]*\bskyloop(?!-)\b(?:\[|['\"\s`]|$)")


def test_an_installation_from_an_index_would_be_found() -> None:
    for said in ("pip install skyloop", "pip install 'skyloop[gym]'", "`pip install -U skyloop`"):
        assert NEEDS_AN_INDEX.search(said), said
    for said in ("pip install ./clients/python '.[gym]'", "pip install skyloop-client/"):
        assert not NEEDS_AN_INDEX.search(said), said


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_only_one_page_says_how_to_install(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if page != INSTALL:
        assert not NEEDS_AN_INDEX.search(text), "skyloop is on no index: link to docs/how-to/install.md"
    if re.search(r"the extra `\w+`", text) and "progress" not in page.parts:
        assert page == INSTALL or "install.md" in text


def test_the_table_names_every_extra() -> None:
    assert sorted(first_column("extra")) == sorted(EXTRAS)


def test_the_table_names_every_system_package() -> None:
    assert first_column("package") == [each.name for each in SYSTEM_PACKAGES]


def first_column(title: str) -> list[str]:
    page = INSTALL.read_text(encoding="utf-8")
    (table,) = re.findall(rf"^\| {title} \|.*\n((?:\|.*\n)*)", page, flags=re.MULTILINE)
    return [name for row in table.splitlines() for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


def test_the_readme_leads_there() -> None:
    assert "(docs/how-to/install.md)" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow("starts pip")
@pytest.mark.processes
def test_an_installed_skyloop_needs_no_index_for_an_extra() -> None:
    """What errors and `doctor` advise: pip keeps the skyloop it finds."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "skyloop[mavlink]"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "Would install" not in done.stdout
