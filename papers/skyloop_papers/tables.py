"""Markdown for the pages: tables of cells, and paragraphs."""

from __future__ import annotations

import re
import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields

from skyloop_papers.experiment import Cell


def table(head: Sequence[str], rows: Sequence[Sequence[str]], right: int | None = None) -> str:
    """Markdown. From column `right` on, cells are right-aligned."""
    rule = ["---:" if right is not None and k >= right else "---" for k in range(len(head))]
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join(rule)}|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines) + "\n"


def paragraph(*sentences: str) -> str:
    """One paragraph, wrapped like the pages."""
    return textwrap.fill(" ".join(sentences), 120, break_on_hyphens=False) + "\n"


# ---- cells

Form = str | Callable[[Cell], str]
"""How a cell is shown: a format of its value such as ".2f", a text such as "{ours:g} of {n}" with fields of the cell
and of its conditions, or a function. Of a text, what stands in square brackets is left out where a field in it is
unknown; where one outside of them is, there is no text at all. Words in the conditions need no format."""
_OPTIONAL = re.compile(r"\[(.*?)\]")


class _Word(str):
    def __format__(self, form: str) -> str:
        return str(self)


def shown(cell: Cell | None, form: Form) -> str:
    """Empty without a cell, or without a form."""
    if cell is None or not form:
        return ""
    if callable(form):
        return form(cell)
    if "{" not in form:
        return format(cell.ours, form)
    own = {each.name: getattr(cell, each.name) for each in fields(cell)}
    every = {**cell.conditions, **own, "name": cell.name}
    known = {key: _Word(v) if isinstance(v, str) else v for key, v in every.items() if v is not None}
    texts = []
    for number, part in enumerate(_OPTIONAL.split(form)):
        try:
            texts.append(part.format_map(known))
        except KeyError:
            if number % 2 == 0:
                return ""
    return "".join(texts)


def by_table(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    """None for a table without cells."""
    found: defaultdict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        found[cell.table].append(cell)
    return found


def lines(cells: Iterable[Cell], columns: Mapping[str, Form], right: int | None = 1) -> str:
    """A table with a line for each cell. columns: by head."""
    rows = [[shown(cell, form) for form in columns.values()] for cell in cells]
    return table([head.strip() for head in columns], rows, right)


Names = Mapping[str, str] | Sequence[str]
"""What a table calls rows of cells, with those rows; without the latter both are the same."""
Figures = Mapping[str, tuple[str, Form]]
"""What a table calls columns of cells, with those columns and how they are shown."""


class Cells(Mapping[tuple[str, str], Cell]):
    """By row and column. A row alone is that row with an empty column."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        self._cells = {(cell.row, cell.column): cell for cell in cells}

    def __getitem__(self, key: tuple[str, str] | str) -> Cell:
        return self._cells[(key, "") if isinstance(key, str) else key]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)

    @property
    def rows(self) -> list[str]:
        """Each once, in their order."""
        return list(dict.fromkeys(row for row, _ in self))

    def value(self, row: str, column: str = "") -> float:
        return self[row, column].ours

    def shown(self, row: str, column: str, form: Form) -> str:
        return shown(self.get((row, column)), form)

    def by_row(self, corner: str, rows: Names, figures: Figures, right: int | None = 1) -> str:
        """A table with a line for each row that has a cell of these figures."""
        body = [
            [label, *(self.shown(row, *figure) for figure in figures.values())]
            for label, row in _named(rows)
            if any((row, column) in self for column, _ in figures.values())
        ]
        return table([corner, *figures], body, right)

    def by_figure(self, corner: str, figures: Figures, rows: Names, right: int | None = 1) -> str:
        """A table with a line for each figure and a column for each row."""
        body = [[label, *(self.shown(row, *figure) for _, row in _named(rows))] for label, figure in figures.items()]
        return table([corner, *(label for label, _ in _named(rows))], body, right)


def _named(rows: Names) -> list[tuple[str, str]]:
    return list(rows.items()) if isinstance(rows, Mapping) else [(row, row) for row in rows]
