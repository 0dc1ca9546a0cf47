"""The site is built strictly, has a page for everything with a name, and loads nothing from other hosts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from skyloop.cli.reference.entries import SECTIONS, TOPICS, find, records
from skyloop.cli.verbs import app

pytestmark = pytest.mark.processes

ROOT = Path(__file__).parents[2]
BUILD = "import gc; gc.disable(); from mkdocs.__main__ import cli; cli()"
"""`mkdocs` without the garbage collector, which takes a quarter of its time."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`--strict`: a link or an anchor that leads nowhere, or a page left out of the menu, is an error."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-c", BUILD, "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not done.stderr.strip(), done.stderr
    return folder


class Seen(HTMLParser):
    """The text of a page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.text = ""
        self.feed(page.read_text(encoding="utf-8"))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_everything_with_a_name_has_its_page(site: Path) -> None:
    reference = site / "reference"
    for topic, folder in (("sensor", "sensors"), ("airframe", "airframes"), ("world", "worlds")):
        for name in TOPICS[topic].names():
            text = Seen(reference / folder / name / "index.html").text
            for option in find(topic, name).options:
                assert option.name in text and option.meaning.replace("`", "")[:40] in text, (name, option.name)
    for name in SECTIONS:
        assert (reference / "scenario" / name / "index.html").is_file()
    for topic, page in (("pilot", "pilots"), ("trajectory", "trajectories"), ("wind", "winds")):
        text = Seen(reference / "scenario" / page / "index.html").text
        assert all(option.name in text for name in TOPICS[topic].names() for option in find(topic, name).options)


def test_messages_and_commands(site: Path) -> None:
    text = Seen(site / "reference" / "messages" / "index.html").text
    assert "yields Message objects. The record is in .data" in text
    for name in records():
        assert name in text
        assert all(field.name in text for field in find("message", name).options)
    text = Seen(site / "reference" / "commands" / "index.html").text
    for command in app.registered_commands:
        assert f"skyloop {(command.name or command.callback.__name__)}" in text


def test_python_pages_are_filled(site: Path) -> None:
    text = Seen(site / "reference" / "python" / "simulation" / "index.html").text
    assert "subscribe" in text and "snapshot" in text and "run_for" in text


def test_nothing_is_loaded_from_other_hosts(site: Path) -> None:
    loads = re.compile(r"""<link\b[^>]*\bhref=["']?((?:https?:)?//[^"'\s>]*)|\bsrc=["']?((?:https?:)?//[^"'\s>]*)""")
    for page in site.rglob("*.html"):
        assert not loads.findall(page.read_text(encoding="utf-8")), page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(https?:)?//", sheet.read_text(encoding="utf-8")), sheet


def test_notes_about_our_own_work_are_not_on_it(site: Path) -> None:
    assert not (site / "progress").exists()
