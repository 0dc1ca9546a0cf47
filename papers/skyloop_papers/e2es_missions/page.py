"""The tables of results on the page on missions and maps, of e2es."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skyloop.core.results import Result
from skyloop_papers.e2es_missions.protocol import Protocol
from skyloop_papers.pages import Cells, table

NUMBERS = {
    "farthest from a goal": ("off a goal, m", "≤"),
    "top speed": ("top speed, m/s", "≤"),
    "least clearance": ("least clearance, m", "≥"),
    "way": ("way, m", ""),
    "error of the estimate, rms": ("estimate off, m", ""),
}
"""By cell: the head of the column, and whether the worst mission is shown."""


def protocol() -> dict[str, Any]:
    return Protocol().plain()


def blocks(results: Sequence[Result]) -> dict[str, str]:
    return {
        "missions": _missions([result for result in results if result.table == "missions"]),
        "failed": _failed(results),
        "maps": _maps([result for result in results if result.table == "maps"]),
        "times": _times([result for result in results if result.table == "mission time"]),
    }


def _missions(results: Sequence[Result]) -> str:
    """Means over the missions; of distances, speeds and clearances the worst one."""
    cells, rows = Cells(results), []
    for name in [cell.partition(":")[0] for cell in cells if cell.endswith(": all goals reached")]:
        whole, hits = cells[f"{name}: all goals reached"], cells[f"{name}: collisions"]
        row = [name, f"{whole.measured:g} of {whole.n}", f"{hits.measured:g}"]
        for what, (_, sign) in NUMBERS.items():
            found = cells.get(f"{name}: {what}")
            value = None if found is None else found.conditions["worst"] if sign else found.measured
            row.append("" if value is None else f"{value:.2f}" if what != "way" else f"{value:.0f}")
        rows.append(row)
    return table(["", "missions", "collisions", *(head for head, _ in NUMBERS.values())], rows, right=1)


def _failed(results: Sequence[Result]) -> str:
    rows = [
        [name, cause]
        for result in results
        if result.cell.endswith(": all goals reached")
        for name, cause in result.conditions["failed"].items()
    ]
    return table(["mission", "cause"], rows) if rows else "No mission failed.\n"


def _maps(results: Sequence[Result]) -> str:
    cells, rows = Cells(results), []
    for name in dict.fromkeys(cell.partition(":")[0] for cell in cells):
        row = [name]
        for poses in ("true poses", "odometry"):
            iou, distances = cells.get(f"{name}: IoU on {poses}"), cells.get(f"{name}: distances on {poses}")
            if iou is None or distances is None:
                row += ["", "", ""]
                continue
            aim, met = iou.conditions["aim"], iou.conditions["met"]
            row.append(f"{iou.measured:.3f} (worst {iou.conditions['worst']:.3f})")
            row += [f"{met} of {iou.n} ≥ {aim:g}", f"{distances.measured:.3f}"]
        rows.append(row)
    head = ["IoU, true poses", "aim", "distance, m", "IoU, odometry", "aim", "distance, m"]
    return table(["", *head], rows, right=1)


def _times(results: Sequence[Result]) -> str:
    rows = []
    for result in results:
        if result.cell.startswith("share: "):
            rows.append([result.cell.removeprefix("share: "), f"{result.measured:.0f} %"])
        else:
            rows.append([result.cell, f"{result.measured:.2f}"])
    return table(["", "here"], rows, right=1)
