"""The committed page was built from the sources beside it."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "src" / "skyloop" / "cockpit" / "page"
WEB = ROOT / "web" / "cockpit"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_page_is_that_of_the_sources() -> None:
    manifest = json.loads((PAGE / "manifest.json").read_text())
    told = "run `npm install --no-save && npm run build` in web/cockpit and commit what it writes"
    assert {name: sha256(WEB / name) for name in manifest["sources"]} == manifest["sources"], told
    assert {path.name for path in (WEB / "src").iterdir()} == {
        name.removeprefix("src/") for name in manifest["sources"] if name.startswith("src/")
    }, told
    built = {path.name: sha256(path) for path in PAGE.iterdir() if path.name != "manifest.json"}
    assert built == manifest["built"], told


def test_no_address_of_a_registry_is_in_the_lock() -> None:
    lock = (WEB / "package-lock.json").read_text()
    assert '"resolved"' not in lock and "http://" not in lock
    assert lock.count('"integrity"') > 20


def test_the_page_asks_nobody_else() -> None:
    """No script, style or font from elsewhere: it works in a lecture hall without a network."""
    page = (PAGE / "index.html").read_text() + (PAGE / "cockpit.css").read_text()
    assert "https://" not in page and "http://" not in page.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.slow("npm installs a bundler and builds the page")
@pytest.mark.needs("npm")
def test_building_again_gives_the_same_page(tmp_path: Path) -> None:
    shutil.copytree(WEB, tmp_path / "web" / "cockpit", ignore=shutil.ignore_patterns("node_modules"))
    (tmp_path / "src" / "skyloop" / "cockpit").mkdir(parents=True)
    for words in (["install", "--no-save", "--no-audit", "--no-fund"], ["run", "build"], ["test"]):
        subprocess.run(["npm", *words], cwd=tmp_path / "web" / "cockpit", check=True, capture_output=True, timeout=300)
    again = tmp_path / "src" / "skyloop" / "cockpit" / "page"
    assert {path.name: sha256(path) for path in again.iterdir()} == {path.name: sha256(path) for path in PAGE.iterdir()}
