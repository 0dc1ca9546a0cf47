"""A hook of MkDocs: makes the reference pages from the code and takes the pages of the root folder into the site.

The words are those of `skyloop show`: both print the entries of `skyloop.cli.reference`.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent


def _beside(name: str) -> Any:
    """A module of this folder, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference_pages = _beside("reference_pages")
ROOT_PAGES = {
    "ARCHITECTURE.md": ("explanations/architecture.md", "Architecture"),
    "CONVENTIONS.md": ("explanations/conventions.md", "Conventions"),
    "CHANGELOG.md": ("explanations/changelog.md", "Changelog"),
    "CONTRIBUTING.md": ("explanations/contributing.md", "Contributing"),
}
"""Pages beside docs/: where each is on the site, and its title there."""
_LINK = re.compile(r"(!?\[[^\]]*\])\(([^)#\s]*)(#[^)\s]*)?\)")
_generated: dict[str, str] = {}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """All pages there will be, and their places in the menu."""
    pages = reference_pages.pages()
    _generated.clear()
    _generated.update({page.path: page.text for page in pages})
    present = {name: place for name, place in ROOT_PAGES.items() if (ROOT / name).exists()}
    for name, (path, _) in present.items():
        _generated[path] = relinked((ROOT / name).read_text(encoding="utf-8"), name, path)
    for section in config.nav or []:
        if "Reference" in section:
            section["Reference"] += reference_pages.menu(pages)
        if "Explanations" in section:
            section["Explanations"] += [{title: path} for path, title in present.values()]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path, text in _generated.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: MkDocsConfig, files: Files) -> str:
    path = page.file.src_uri
    if path == "reference/index.md":
        markdown += "\n" + reference_pages.overview()
    return markdown if path in _generated else relinked(markdown, f"docs/{path}", path)


def relinked(text: str, source: str, path: str) -> str:
    """A page of the repository as a page of the site: what is not on the site loses its link and keeps its words."""

    def target(found: re.Match[str]) -> str:
        words, link, anchor = found[1], found[2], found[3] or ""
        if not link or ":" in link:
            return found[0]
        place = os.path.normpath(PurePosixPath(source).parent / link)
        if place in ROOT_PAGES and (ROOT / place).exists():
            place = "docs/" + ROOT_PAGES[place][0]
        if not place.startswith("docs/") or (ROOT / place).is_dir():
            return words.strip("![]")
        there = os.path.relpath(place.removeprefix("docs/"), PurePosixPath(path).parent)
        return f"{words}({there}{anchor})"

    return _LINK.sub(target, text)
