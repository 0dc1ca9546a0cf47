"""Writes the numbers and marks on the pages anew from docs/results. Nothing is measured. Behind `make pages`."""

from __future__ import annotations

from skyloop.reproductions import pages

if __name__ == "__main__":
    for page in pages.pages():
        before = page.read_text(encoding="utf-8")
        after = pages.rendered(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(f"written: {page.relative_to(pages.DOCS.parent)}")
