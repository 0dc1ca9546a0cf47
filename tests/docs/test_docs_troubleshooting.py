"""docs/how-to/troubleshooting.md and performance.md, docs/gallery.md: messages, options and pictures exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from page_runs import DOCS, PageRun
from skyloop.cli import app

ROOT = DOCS.parent
PAGES = {
    name: (DOCS / "how-to" / f"{name}.md").read_text(encoding="utf-8") for name in ("troubleshooting", "performance")
}


def test_every_message_is_in_the_code() -> None:
    """What is in quotes in the first column; `...` stands for what differs."""
    roots = (ROOT / "src", ROOT / "clients" / "python" / "src", ROOT / "plugins")
    code = "\n".join(path.read_text(encoding="utf-8") for root in roots for path in root.rglob("*.py"))
    code = re.sub(r'"\s*\n\s*f?"', "", code)  # a text in two halves
    quoted = [
        message
        for row in re.findall(r"^\| (.*?) \|", PAGES["troubleshooting"], re.MULTILINE)
        for message in re.findall(r'(?<!\()"([^"]+)"', row)
    ]
    assert len(quoted) >= 8
    parts = [part.strip() for message in quoted for part in message.split("...") if len(part.strip()) > 3]
    assert [part for part in parts if part not in code] == []


@pytest.mark.parametrize("name", PAGES)
def test_every_option_exists(name: str) -> None:
    group = typer.main.get_command(app)
    commands = re.findall(r"skyloop ([a-z]+)([^`\n]*)", PAGES[name])
    assert len(commands) >= 8
    for verb, words in commands:
        if verb not in group.commands:  # type: ignore[attr-defined]
            continue  # a sentence about skyloop
        options = group.commands[verb].params  # type: ignore[attr-defined]
        known = {word for each in options for word in [*each.opts, *each.secondary_opts]}
        assert set(re.findall(r"(?<!\S)--[a-z0-9-]+", words)) <= known, (verb, words)


def test_every_picture_is_in_the_gallery() -> None:
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    shown = {Path(link).name for link in re.findall(r"\]\((gallery/[^)]*)\)", page)}
    assert shown == {path.name for path in (DOCS / "gallery").iterdir()}


@pytest.mark.slow("flights with cameras")
@pytest.mark.renders
@pytest.mark.parametrize("name", PAGES)
def test_the_page_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = PageRun(f"how-to/{name}", tmp_path, {"skyloop run": ["--set", "duration=3"]})
    page.run(monkeypatch, capsys)
    assert all(page.printed.values())
