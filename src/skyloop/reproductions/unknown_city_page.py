"""The tables of results on the page on the unknown city, of airloop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skyloop.core.results import Result
from skyloop.reproductions.pages import table
from skyloop.reproductions.unknown_city_protocol import Protocol

PICTURES = ("pictures/gnss-101.png",)
BOTH = ("with GNSS", "without GNSS")


def protocol() -> dict[str, Any]:
    return Protocol().plain()


def blocks(results: Sequence[Result]) -> dict[str, str]:
    return {"flights": _flights(results), "failed": _failed(results), "times": _times(results)}


def _flights(results: Sequence[Result]) -> str:
    found = {result.cell: result for result in results}
    whats = list(dict.fromkeys(cell.partition(": ")[2] for cell in found if cell.startswith(BOTH)))
    rows = []
    for what in whats:
        cells = [found.get(f"{name}: {what}") for name in BOTH]
        published = next((f"{cell.published:g} flight" for cell in cells if cell and cell.published), "")
        rows.append([what, published, *(_shown(cell) for cell in cells)])
    return table(["", "paper", *BOTH], rows, right=1)


def _shown(result: Result | None) -> str:
    if result is None:
        return ""
    told = result.conditions
    if "failed" in told:
        return f"{result.measured:g} of {result.n} (aim {told['aim']})"
    if "worst" not in told:
        return f"{result.measured:g}"
    aim = "" if told.get("aim") is None else f"; {told['met']} of {result.n} meet {told['aim']:g}"
    return f"{result.measured:.3g} (worst {told['worst']:.3g}{aim})"


def _failed(results: Sequence[Result]) -> str:
    rows = [
        [seed, result.cell.partition(":")[0], cause]
        for result in results
        for seed, cause in result.conditions.get("failed", {}).items()
    ]
    return table(["seed", "", "cause"], rows) if rows else "No flight failed.\n"


def _times(results: Sequence[Result]) -> str:
    rows = []
    for result in results:
        if result.cell.startswith("share: "):
            rows.append([result.cell.removeprefix("share: "), f"{result.measured:.0f} %"])
        elif result.table == "time":
            rows.append([result.cell, f"{result.measured:.1f} (aim ≥ {result.conditions['aim']:g})"])
    return table(["", "here"], rows, right=1)
