"""The site is built strictly, has a page for everything with a name, and loads nothing from other hosts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from skyloop.cli.reference.entries import SECTIONS, TOPICS, find, records
from skyloop.cli.verbs import app

pytestmark = pytest.mark.processes

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
ROOT_PAGES = ("ARCHITECTURE", "CONVENTIONS", "CHANGELOG", "CONTRIBUTING")
BUILD = "import gc; gc.disable(); from mkdocs.__main__ import cli; cli()"
"""`mkdocs` without the garbage collector, which takes a quarter of its time."""


def build(folder: Path, source: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """As `make docs`: with `--strict` broken links and anchors and pages left out of the menu are errors. Not with
    `--quiet` beside it."""
    return subprocess.run(
        [sys.executable, "-c", BUILD, "build", "--strict", "--site-dir", folder],
        cwd=source, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(folder)
    assert done.returncode == 0, done.stderr
    return folder


class Blocks(HTMLParser):
    """Code blocks, list items and rows of tables in the article of a page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.code: list[str] = []
        self.items = self.rows = self._inside = 0
        html = page.read_text(encoding="utf-8")
        self.feed(html[html.index("<article") : html.index("</article>")])

    def handle_starttag(self, tag: str, attributes: object) -> None:
        if tag == "pre":
            self.code.append("")
            self._inside = 1
        self.items += tag == "li"
        self.rows += tag == "tr"

    def handle_endtag(self, tag: str) -> None:
        if tag == "pre":
            self._inside = 0

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.code[-1] += data


class Seen(HTMLParser):
    """The text of a page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.text = ""
        self.feed(page.read_text(encoding="utf-8"))

    def handle_data(self, data: str) -> None:
        self.text += data


WRITTEN = {page.relative_to(DOCS).with_suffix("").as_posix(): page for page in sorted(DOCS.rglob("*.md"))}
WRITTEN |= {f"explanations/{name.lower()}": ROOT / f"{name}.md" for name in ROOT_PAGES}
WRITTEN = {name: page for name, page in WRITTEN.items() if not name.startswith("progress/")}
GROWN = "reference/index"
"""The site appends a table to it."""


def test_code_lists_and_tables_are_rendered_as_such(site: Path) -> None:
    """As another parser, of CommonMark, reads the same pages. MkDocs' own turns a list without an empty line before it
    into running text. Both do so with indented commands, which are therefore looked for."""
    parser = MarkdownIt("commonmark").enable("table")
    wrong = []
    for name, source in WRITTEN.items():
        tokens = parser.parse(source.read_text(encoding="utf-8"))
        page = name.removesuffix("index") if name.endswith("index") else f"{name}/"
        blocks = Blocks(site / page / "index.html")
        code = [token.content.strip() for token in tokens if token.type in ("fence", "code_block")]
        if [" ".join(each.split()) for each in blocks.code] != [" ".join(each.split()) for each in code]:
            wrong.append(f"{name}: code blocks differ, {len(blocks.code)} for {len(code)}")
        for kind, seen in (("list_item_open", blocks.items), ("tr_open", blocks.rows)):
            if (wanted := sum(token.type == kind for token in tokens)) != seen and name != GROWN:
                wrong.append(f"{name}: {seen} {kind}, expected {wanted}")
        lines = source.read_text(encoding="utf-8").splitlines()
        for token in tokens:
            if token.type == "paragraph_open" and token.level == 0 and token.map:
                text = lines[slice(*token.map)]
                wrong += [f"{name}: running text: {line}" for line in text if line.startswith("    ")]
    assert not wrong, "\n".join(wrong)


def test_a_page_outside_the_menu_is_an_error(tmp_path: Path) -> None:
    """And a page of the menu that does not exist."""
    (tmp_path / "docs").mkdir()
    for page in ("index", "lost"):
        (tmp_path / "docs" / f"{page}.md").write_text(f"# {page}\n", encoding="utf-8")
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    validation = re.search(r"^validation:\n(?:  .*\n)+", config, re.MULTILINE)
    assert validation is not None
    menu = f"site_name: x\nnav: [index.md, gone.md]\n{validation[0]}"
    (tmp_path / "mkdocs.yml").write_text(menu, encoding="utf-8")
    done = build(tmp_path / "site", tmp_path)
    assert done.returncode == 1 and "lost.md" in done.stderr and "gone.md" in done.stderr, done.stderr


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
