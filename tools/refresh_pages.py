"""Writes what the pages take from elsewhere anew: numbers and verdicts from docs/results, and system packages.

Nothing is measured. Behind `make pages`.
"""

from __future__ import annotations

import re

from skyloop.core.system_packages import SYSTEM_PACKAGES
from skyloop_papers import catalogue, pages

INSTALL = pages.DOCS / "how-to" / "install.md"
PACKAGES = re.compile(r"(?<=<!-- system packages -->\n).*?(?=<!-- end -->)", re.DOTALL)


def with_packages(text: str) -> str:
    """The page on installing with the table of system packages that the code has."""
    rows = "".join(f"| `{each.name}` | {each.purpose} | {each.wanted_by} |\n" for each in SYSTEM_PACKAGES)
    return PACKAGES.sub(f"| package | for | wanted by |\n|---|---|---|\n{rows}", text)


if __name__ == "__main__":
    for name in catalogue.listed():
        pages.judge_again(name)
    for page in {*pages.pages(), INSTALL}:
        before = page.read_text(encoding="utf-8")
        after = with_packages(before) if page == INSTALL else pages.rendered(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(f"written: {page.relative_to(pages.DOCS.parent)}")
