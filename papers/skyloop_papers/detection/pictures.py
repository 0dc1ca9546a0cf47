"""Pictures of detection: precision over recall, and cut-outs of what was missed or wrongly found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from skyloop_papers.plots import figure
from skyloop_papers.runs import Run

COLOURS = ("#1f6f8b", "#c4572a", "#6a8f3c")
TILE, LINE = 200, 18
"""px of a cut-out, and of the line above a row of them."""


def draw_curves(runs: dict[str, Run], path: Path) -> None:
    """One curve per part of the test images, with its average precision."""
    with figure(path, (7.0, 4.6), dpi=110) as drawn:
        axes = drawn.subplots()
        for (part, run), colour in zip(runs.items(), COLOURS, strict=False):
            label = f"{part}: AP50 {run['ap50']['person']:.3f}, {run['objects']['person']} persons"
            axes.plot(np.linspace(0.0, 1.0, 101), run["precisions"], color=colour, label=label)
        axes.set(xlabel="recall", ylabel="precision", xlim=(0.0, 1.0), ylim=(0.0, 1.02))
        axes.set_title("Persons at least 16 px high, at most half hidden")
        axes.legend(loc="lower left")


def draw_failures(runs: dict[str, Run], path: Path) -> None:
    """For each part a row of persons that were missed, tallest first, and one of boxes around nobody, surest first."""
    from PIL import Image, ImageDraw

    rows = [
        (part, kind, [entry for entry in run["failures"] if entry["kind"] == kind])
        for part, run in runs.items()
        for kind in ("missed", "nobody")
    ]
    most = max((len(entries) for _, _, entries in rows), default=0)
    sheet = Image.new("RGB", (TILE * max(most, 1), (TILE + LINE) * len(rows)), "white")
    pen = ImageDraw.Draw(sheet)
    for row, (part, kind, entries) in enumerate(rows):
        top = row * (TILE + LINE)
        pen.text((4, top + 3), f"{part}: {'persons not found' if kind == 'missed' else 'nobody there'}", fill="black")
        for column, entry in enumerate(entries):
            sheet.paste(_cut_out(entry), (column * TILE, top + LINE))
    sheet.save(path)


def _cut_out(entry: Run) -> Any:
    """The box with as much again around it, and what is said of it."""
    from PIL import Image, ImageDraw

    left, top, right, bottom = entry["box"]
    half = max(right - left, bottom - top, 24.0)
    x, y = 0.5 * (left + right), 0.5 * (top + bottom)
    with Image.open(entry["image"]) as image:
        part = image.convert("RGB").crop((round(x - half), round(y - half), round(x + half), round(y + half)))
    scale = (TILE - 2) / part.width
    part = part.resize((TILE - 2, TILE - 2), Image.Resampling.NEAREST)
    pen = ImageDraw.Draw(part)
    corners = [(edge - middle + half) * scale for edge, middle in ((left, x), (top, y), (right, x), (bottom, y))]
    pen.rectangle(corners, outline="#40e040" if entry["kind"] == "missed" else "#ffd228")
    said = f"{entry['rank']:.0f} px" if entry["kind"] == "missed" else f"score {entry['rank']:.2f}"
    if entry["hidden"] >= 0.05:
        said += f", {entry['hidden']:.0%} hidden"
    for line, text in enumerate((entry["about"], said)):
        pen.text((4, 3 + 12 * line), text, fill="white", stroke_width=1, stroke_fill="black")
    return part
