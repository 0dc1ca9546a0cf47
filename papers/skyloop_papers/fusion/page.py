"""The tables of results on the page on fusion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skyloop.core.results import Result
from skyloop_papers.fusion.protocol import CONDITIONS, FIGURES, SENSORS, Protocol
from skyloop_papers.pages import Cells, paragraph, table

PICTURES = ("fusion.png",)
PICTURE = "Recall, MOTA, position and velocity errors by sensors, on a clear day, in fog and at night"
HEADS = ["recall", "precision", "MOTA", "position, m rms", "velocity, m/s rms", "switches", "false"]


def protocol() -> dict[str, Any]:
    return Protocol().plain()


def blocks(results: Sequence[Result]) -> dict[str, str]:
    picture = f"![{PICTURE}](../images/fusion.png)\n"
    return {
        "trackers": f"{_trackers(results)}\n{picture}",
        "boxes": _boxes(results),
        "verdict": _verdict(results),
    }


def _trackers(results: Sequence[Result]) -> str:
    cells, rows = Cells(results), []
    for condition in CONDITIONS:
        for name in SENSORS:
            values = {figure: cells.get(f"{condition}, {name}: {figure}") for figure in FIGURES}
            recall = values["recall"]
            if recall is None:
                continue
            measured = {figure: "" if cell is None else f"{cell.measured:.2f}" for figure, cell in values.items()}
            told = recall.conditions
            rows.append([
                condition, name, measured["recall"], f"{told['precision']:.2f}", measured["mota"],
                measured["position"], measured["velocity"], f"{told['switches']:g}", f"{told['false']:g}",
            ])  # fmt: skip
    return table(["", "sensors", *HEADS], rows, right=2)


def _boxes(results: Sequence[Result]) -> str:
    cells = Cells(results)
    rows = [
        [condition, *(f"{cells.value(f'{condition}: {figure}'):.2f}" for figure in ("precision", "recall", "ap50"))]
        for condition in CONDITIONS
        if f"{condition}: recall" in cells
    ]
    return table(["", "precision", "recall", "AP50"], rows, right=1)


def _verdict(results: Sequence[Result]) -> str:
    """Which aims were met, by the results themselves."""
    judged = [result for result in results if "beats_either_alone" in result.conditions]
    lost = [result.cell.replace(", both", "") for result in judged if not result.conditions["beats_either_alone"]]
    met = f"Both sensors together beat either alone in {len(judged) - len(lost)} of {len(judged)} figures"
    sentences = [met + ("." if not lost else f"; not in {', '.join(lost)}.")]
    kept = Cells(results).get("fog: recall kept by both")
    if kept is not None:
        aim = kept.conditions["aim"]
        how = "met" if kept.measured >= aim else "missed"
        sentences.append(
            f"In fog they keep {kept.measured:.2f} of their recall on a clear day; the aim of {aim:g} is {how}."
        )
    return paragraph(*sentences)
