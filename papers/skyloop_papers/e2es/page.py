"""The tables of results on the page on localisation, of e2es."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skyloop.core.results import Result
from skyloop_papers.e2es.protocol import Protocol
from skyloop_papers.pages import Cells, table

CELLS = {
    "way": ("way, m", ".1f"),
    "APE, translation": ("APE, m", ".3f"),
    "APE, worst flight": ("worst, m", ".3f"),
    "APE, rotation": ("APE, deg", ".2f"),
    "APE over the way": ("of the way, %", ".2f"),
    "APE with loop closure, translation": ("closed, m", ".3f"),
    "APE with loop closure, rotation": ("closed, deg", ".2f"),
}


def protocol() -> dict[str, Any]:
    return Protocol().plain()


def blocks(results: Sequence[Result]) -> dict[str, str]:
    cells = Cells(results)
    return {
        "accuracy": _accuracy(cells),
        "consistency": _consistency(results),
        "times": _times(results),
        "landings": _landings(results),
        "cases": _cases(results),
    }


def _accuracy(cells: Cells) -> str:
    worlds = [cell.partition(":")[0] for cell in cells if cell.endswith(": flights finished")]
    rows = []
    for world in worlds:
        finished = cells[f"{world}: flights finished"]
        row = [world, f"{finished.measured:g} of {finished.n}"]
        for what, (_, form) in CELLS.items():
            found = cells.get(f"{world}: {what}")
            row.append("" if found is None else _with_aim(found, form))
        rows.append(row)
    return table(["world", "finished", *(head for head, _ in CELLS.values())], rows, right=1)


def _with_aim(result: Result, form: str) -> str:
    """The value, and the aim in brackets."""
    aim = result.conditions.get("aim")
    return format(result.measured, form) + ("" if aim is None else f" (≤ {aim:g})")


def _consistency(results: Sequence[Result]) -> str:
    rows = [
        [
            result.cell.partition(":")[0],
            f"{result.measured:.1f}",
            f"{result.conditions['low']:.1f} to {result.conditions['high']:.1f}",
            f"{result.conditions['instants_inside']:.0%}",
        ]
        for result in results
        if result.table == "consistency"
    ]
    return table(["world", "NEES", "95 % band", "instants inside"], rows, right=1)


def _times(results: Sequence[Result]) -> str:
    rows = [
        [result.cell, "" if result.published is None else f"{result.published:g}", _with_aim(result, ".1f")]
        for result in results
        if result.table == "Table 1"
    ]
    return table(["ms", "paper", "here (aim)"], rows, right=1)


def _landings(results: Sequence[Result]) -> str:
    found = [result for result in results if result.table == "landings"]
    if not found:
        return "No flight was flown on the estimate.\n"
    one = found[0]
    return f"{one.measured:g} of {one.n} flights on the estimate landed within 0.3 m of where they took off.\n"


def _cases(results: Sequence[Result]) -> str:
    rows = []
    for result in results:
        if result.table == "hard cases":
            told = result.conditions
            numbers = [_shown(told.get(key)) for key in ("largest_m", "lost_s", "recovered_s", "added_m")]
            ape = f"{result.measured:.3f}" if result.cell.endswith("APE") else "failed"
            rows.append([result.cell.rpartition(":")[0], str(told.get("about", "")), ape, *numbers])
    return table(["case", "what", "APE, m", "largest, m", "lost, s", "back after, s", "added, m"], rows, right=2)


def _shown(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.2f}"
