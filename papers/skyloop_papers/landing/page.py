"""The tables of results on the page on landings, of fpga-landing-hil."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skyloop.core.results import Result
from skyloop_papers.landing.protocol import PUBLISHED_MSE, PUBLISHED_TIME, Protocol
from skyloop_papers.pages import Cells, table

PICTURES = ("landing-starts.png", "landing-errors.png", "landing-failures.jpg")
SHOWN_SEEDS = 6
"""Of a cause that is frequent, how many seeds are named."""


def protocol() -> dict[str, Any]:
    return Protocol().plain()


def blocks(results: Sequence[Result]) -> dict[str, str]:
    return {
        "boards": _boards(results),
        "times": _times(results),
        "conditions": _groups(results, "conditions", "condition"),
        "ablation": _groups(results, "ablation", "what differs"),
        "clock": _clocks(results),
        "failed": _failed(results),
    }


def _names(results: Sequence[Result]) -> list[str]:
    return [result.cell.partition(":")[0] for result in results if result.table == "Table I"]


def _boards(results: Sequence[Result]) -> str:
    """Tables I and II: published beside measured."""
    cells, rows = Cells(results), []
    names = _names(results)
    first = cells[f"{names[0]}: landed"]
    rows.append(["landed", f"{first.published:g} of 100", "all", *(_landed(cells, name) for name in names)])
    for key in PUBLISHED_MSE:
        whole = [cells.get(f"{name}: {key}") for name in names]
        known = next(cell for cell in whole if cell is not None)
        unit, aim = known.unit, known.conditions["aim"]
        row = [f"{key}, rms, {unit}", f"{known.published:.2f}", f"≤ {aim:g}"]
        rows.append(row + ["" if cell is None else f"{cell.measured:.3f}" for cell in whole])
        row = [f"{key}, mean square, {unit}²", f"{known.conditions['published_mse']:.4f}", ""]
        rows.append(row + ["" if cell is None else f"{cell.conditions['mse']:.4f}" for cell in whole])
    return table(["", "paper", "aim", *names], rows, right=1)


def _landed(cells: Cells, name: str) -> str:
    cell = cells[f"{name}: landed"]
    return f"{cell.measured:g} of {cell.n}"


def _times(results: Sequence[Result]) -> str:
    """Table III, and what the boards' own timers count."""
    cells, names, rows = Cells(results), _names(results), []
    for key, published in PUBLISHED_TIME.items():
        found = [cells.get(f"{name}: {key} time") for name in names]
        aim = next((cell.conditions.get("aim") for cell in found if cell is not None), None)
        row = [f"{key}, s", f"{published:.1f}", "" if aim is None else f"≤ {aim:g}"]
        rows.append(row + ["" if cell is None else f"{cell.measured:.1f}" for cell in found])
    for key, what in (("execution_ms", "execution, mean, ms"), ("longest_ms", "execution, longest, ms")):
        values = [cells[f"{name}: landed"].conditions.get(key) for name in names]
        if any(value is not None for value in values):
            rows.append([what, "", "", *("" if value is None else f"{value:.3f}" for value in values)])
    return table(["", "paper", "aim", *names], rows, right=1)


def _groups(results: Sequence[Result], which: str, head: str) -> str:
    rows = []
    for result in (result for result in results if result.table == which):
        told = result.conditions
        row = [result.cell, f"{result.measured:g} of {result.n}"]
        if "time" in told:
            row += [f"{told[f'{key}_rms']:.3f}" for key in PUBLISHED_MSE]
            row += [f"{told['farthest']:.2f}", f"{told['time']:.1f}", f"{told['longest']:.1f}"]
        else:
            row += [""] * 6
        rows.append(row)
    heads = ["landed", "x, m rms", "y, m rms", "heading, rad rms", "farthest, m", "time, s", "longest, s"]
    return table([head, *heads], rows, right=1)


def _clocks(results: Sequence[Result]) -> str:
    rows = []
    for result in (result for result in results if result.table == "clock"):
        told = result.conditions
        row = [result.cell, f"{result.measured:g} of {result.n}"]
        row += [f"{told[key]:.2f}" if key in told else "" for key in ("execution_ms", "longest_ms")]
        row.append(f"{told['missed']:g}" if "missed" in told else "")
        row.append(f"{told['farthest']:.2f}" if "farthest" in told else "")
        rows.append(row)
    heads = ["landed", "execution, ms", "longest, ms", "images missed", "farthest, m"]
    return table(["clock", *heads], rows, right=1)


def _failed(results: Sequence[Result]) -> str:
    """How often each group failed for each cause, and with which seeds."""
    seeds: dict[tuple[str, str], list[str]] = {}
    for result in results:
        for seed, cause in result.conditions.get("failed", {}).items():
            seeds.setdefault((result.cell.partition(":")[0], cause), []).append(seed)
    rows = [
        [group, cause, str(len(which)), ", ".join(which[:SHOWN_SEEDS]) + (", ..." if len(which) > SHOWN_SEEDS else "")]
        for (group, cause), which in seeds.items()
    ]
    return table(["group", "cause", "landings", "seeds"], rows) if rows else "No landing failed.\n"
