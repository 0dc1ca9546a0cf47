"""Markdown for the pages."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]], right: int | None = None) -> str:
    """Markdown. From column `right` on, cells are right-aligned."""
    rule = ["---:" if right is not None and k >= right else "---" for k in range(len(head))]
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join(rule)}|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines) + "\n"


def paragraph(*sentences: str) -> str:
    """One paragraph, wrapped like the pages."""
    return textwrap.fill(" ".join(sentences), 120, break_on_hyphens=False) + "\n"
