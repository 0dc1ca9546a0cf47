"""The tables of results on the page on detection, of airloop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skyloop.core.results import Result
from skyloop_papers.detection.protocol import AIMS, PARTS, SHOWN, WAYS, Protocol
from skyloop_papers.pages import Cells, table

PICTURES = ("detection-curves.png", "detection-failures.png")


def protocol() -> dict[str, Any]:
    return Protocol().plain()


def blocks(results: Sequence[Result]) -> dict[str, str]:
    return {
        "accuracy": _accuracy(Cells(results)),
        "classes": _classes(Cells(results)),
        "conditions": _conditions(Cells(results)),
        "speed": _speed(results),
        "training": _training(results),
    }


def _accuracy(cells: Cells) -> str:
    rows = []
    for way in WAYS:
        found = [cells.get(f"{part}: {way}") for part in PARTS]
        rows.append([way, *("" if cell is None else f"{cell.measured:.3f}" for cell in found)])
    lost = [cells.get(f"{part}: lost by 8 bits") for part in PARTS]
    losses = ("" if cell is None else f"{cell.measured:.3f}" for cell in lost)
    rows.append(["lost by 8 bits on OpenVINO, aim ≤ 0.02", *losses])
    shown = [cells[f"{part}: {SHOWN}"] for part in PARTS]
    counted = ["persons that count, in so many images", *(f"{c.n} in {c.conditions['images']}" for c in shown)]
    heads = [f"{part}, aim ≥ {AIMS[part]:.2f}" for part in PARTS]
    return table(["AP50 of persons", *heads], [*rows, counted], right=1)


def _classes(cells: Cells) -> str:
    shown = [cells[f"{part}: {SHOWN}"].conditions for part in PARTS]
    names = list(shown[0]["classes"])
    rows = [
        [name, *(f"{c['classes'][name]:.3f} of {c['objects'][name]}" if name in c["classes"] else "" for c in shown)]
        for name in names
    ]
    return table(["AP50", *PARTS], rows, right=1)


def _conditions(cells: Cells) -> str:
    """The share of persons that was found, by what the images are like."""
    shown = [cells[f"{part}: {SHOWN}"].conditions["recall"] for part in PARTS]
    names = sorted({name for recall in shown for name in recall}, key=_order)
    rows = []
    for name in names:
        found = [recall.get(name) for recall in shown]
        rows.append([name, *("" if f is None else f"{f[1] / f[0]:.0%} of {f[0]}" for f in found)])
    return table(["", *PARTS], rows, right=1)


def _order(name: str) -> tuple[str, float, str]:
    """By topic, then by the first number."""
    topic, _, rest = name.partition(" ")
    number = rest.split()[0].rstrip("%")
    return topic, float(number) if number.isdecimal() else 0.0, rest


def _speed(results: Sequence[Result]) -> str:
    rows = []
    for result in (result for result in results if result.table == "Table 8"):
        aim = f"≥ {result.conditions['aim']:g}" if "aim" in result.conditions else ""
        published = "" if result.published is None else f"{result.published:.2f}"
        rows.append([result.cell, published, aim, f"{result.measured:.1f}", result.unit or "times"])
    return table(["", "paper", "aim", "here", ""], rows, right=1)


def _training(results: Sequence[Result]) -> str:
    rows = [
        [result.cell.partition(": ")[2], str(result.conditions["device"]), f"{result.measured:,.1f}"]
        for result in results
        if result.table == "Table 7"
    ]
    return table(["", "device", "time per epoch, s"], rows, right=2)
