"""The tables of results on the page on the unknown city, of airloop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skyloop.core.results import Result
from skyloop_papers.pages import table
from skyloop_papers.unknown_city.protocol import COMPUTERS, GROUPS, Protocol

PICTURES = ("pictures/gnss-101.png",)
NAMES = tuple(GROUPS.values())
TABLE = "section V-E2"


MEASURED = ("way", "error", "least clearance")


def protocol() -> dict[str, Any]:
    return Protocol().plain()


def blocks(results: Sequence[Result]) -> dict[str, str]:
    return {
        "flights": _flights(results), "failed": _failed(results), "times": _times(results),
        "computers": _computers(results), "troubles": _troubles(results),
    }  # fmt: skip


def _flights(results: Sequence[Result]) -> str:
    found = {result.cell: result for result in results if result.table == TABLE}
    whats = list(dict.fromkeys(cell.partition(": ")[2] for cell in found if cell.startswith(NAMES)))
    rows = []
    for what in whats:
        cells = [found.get(f"{name}: {what}") for name in NAMES]
        published = next((f"{cell.published:g} flight" for cell in cells if cell and cell.published), "")
        rows.append([what, published, *(_shown(cell) for cell in cells)])
    return table(["", "paper", *NAMES], rows, right=1)


def _shown(result: Result | None) -> str:
    if result is None:
        return ""
    told = result.conditions
    if "failed" in told:
        aim = "" if told["aim"] is None else f" (aim {told['aim']})"
        return f"{result.measured:g} of {result.n}{aim}"
    if "worst" not in told:
        return f"{result.measured:g}"
    aim = "" if told.get("aim") is None else f"; {told['met']} of {result.n} meet {told['aim']:g}"
    return f"{result.measured:.3g} (worst {told['worst']:.3g}{aim})"


def _failed(results: Sequence[Result]) -> str:
    folders = {title: group for group, title in GROUPS.items()}
    rows = []
    for result in (result for result in results if result.table == TABLE):
        name, again = result.cell.partition(":")[0], result.conditions.get("again", {})
        for seed, cause in result.conditions.get("failed", {}).items():
            command = f"`{again[seed]}`" if seed in again else ""
            rows.append([seed, name, cause, f"`pictures/{folders[name]}-{seed}.png`", command])
    return table(["seed", "", "cause", "picture", "flown again by"], rows) if rows else "No flight failed.\n"


def _times(results: Sequence[Result]) -> str:
    found = {result.cell: result for result in results if result.table == "time"}
    other = f"{GROUPS['kiss']}: "
    rows = []
    for cell in (cell for cell in found if not cell.startswith(other)):
        both = [found.get(cell), found.get(other + cell)]
        rows.append([cell.removeprefix("share: "), *(_time(result) for result in both)])
    return table(["", "particle filter", "kiss-icp"], rows, right=1)


def _time(result: Result | None) -> str:
    if result is None:
        return ""
    if "share: " in result.cell:
        return f"{result.measured:.0f} %"
    return f"{result.measured:.1f} (aim ≥ {result.conditions['aim']:g})"


def _computers(results: Sequence[Result]) -> str:
    found = {result.cell: result for result in results if result.table == "CUT"}
    rows = []
    for name in COMPUTERS:
        reached = found.get(f"{name}: goal reached")
        if reached is None:
            continue
        told = reached.conditions
        shown = [f"{found[cell].measured:.3g}" if (cell := f"{name}: {what}") in found else "" for what in MEASURED]
        outcome = told["failed"] or "at the goal"
        rows.append(
            [name, told["network"], *(_stage(found, name, stage) for stage in ("t1", "t2", "t3")), *shown, outcome]
        )
    head = ["stack", "network", "t1", "t2", "t3", "way, m", "error, m rms", "least clearance, m", ""]
    return table(head, rows, right=2) if rows else "Not flown yet.\n"


def _stage(found: dict[str, Result], name: str, stage: str) -> str:
    """Median and 99th percentile in ms."""
    both = [found.get(f"{name}: {stage}, p{q}") for q in (50, 99)]
    return " / ".join(f"{result.measured:.3g}" for result in both if result is not None) or "a call"


def _troubles(results: Sequence[Result]) -> str:
    rows = []
    for result in (result for result in results if result.table == "trouble"):
        told = result.conditions
        rest = "; ".join(f"seed {seed}: {cause}" for seed, cause in told["failed"].items())
        reached = f"{result.measured:g} of {result.n}"
        rows.append([result.cell, reached, str(told["hits"]), f"{told['clearance']:.2f}", f"{told['error']:.2f}", rest])
    head = ["trouble", "at the goal", "collisions", "least clearance, m", "largest error, m", "the others"]
    return table(head, rows, right=1) if rows else "Not flown yet.\n"
