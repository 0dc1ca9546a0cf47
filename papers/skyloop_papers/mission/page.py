"""The tables of results on the page on the mission."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skyloop.core.results import Result
from skyloop_papers.mission.experiment import ACCEPTANCE, CORNERS, HEIGHT, SCENARIO, SEEDS, SPEED
from skyloop_papers.pages import Cells, table

PICTURES = ("mission.png",)
LABELS = {
    "cross-track error, rms": "distance of the true track from the rectangle, rms",
    "cross-track error, largest": "largest",
    "corner passed at": "nearest to a corner",
    "height error, rms": "height, rms",
    "horizontal error of the estimate, rms": "horizontal error of the estimate, rms",
}


def protocol() -> dict[str, Any]:
    flown = {"corners": CORNERS.tolist(), "height": HEIGHT, "speed": SPEED, "acceptance": ACCEPTANCE}
    return {**flown, "seeds": SEEDS, "scenario": SCENARIO}


def blocks(results: Sequence[Result]) -> dict[str, str]:
    cells = Cells(results)
    rows = [[label, f"{cells[cell].measured:.2f} ± {cells[cell].sd:.2f}"] for cell, label in LABELS.items()]
    return {"measured": table(["", "m"], rows, right=1)}


def said(results: Sequence[Result]) -> list[str]:
    lasted = Cells(results).value("from arming to disarming")
    return [f"From arming to disarming it takes {lasted:.0f} s."]
