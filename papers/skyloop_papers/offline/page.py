"""The tables of results on the page on Table 5 of airloop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skyloop.core.results import Result
from skyloop.datasets.trial_recording import STAGES
from skyloop_papers.offline import experiment as offline
from skyloop_papers.offline.experiment import QUALITIES, TABLE_5
from skyloop_papers.pages import Cells, paragraph, table


def protocol() -> dict[str, Any]:
    return offline.protocol()


def blocks(results: Sequence[Result]) -> dict[str, str]:
    cells = Cells(results)
    return {"measured": _frames(cells), "stages": _stages(cells), "sitting": _sitting(results)}


def _name(quality: str, store: bool, radar: bool) -> str:
    return f"{quality}, {'with' if radar else 'without'} radar, {'with' if store else 'without'} storage"


def _frames(cells: Cells) -> str:
    """Our figure, and the paper's in brackets."""
    rows = []
    for (store, radar), published in TABLE_5.items():
        label = f"{'radar' if radar else 'no radar'}, {'with' if store else 'without'} storage"
        ours = [cells.value(_name(quality, store, radar)) for quality in QUALITIES]
        rows.append([label, *(f"{here:.1f} ({there:g})" for here, there in zip(ours, published, strict=True))])
    return table(["frames per second, here (paper)", *QUALITIES], rows, right=1)


def _stages(cells: Cells) -> str:
    rows = [
        [quality, *(f"{cells.value(f'{_name(quality, True, False)}: {stage}'):.1f}" for stage in STAGES)]
        for quality in QUALITIES
    ]
    heads = [stage.replace("_", " ") for stage in STAGES]
    return table(["core-ms per frame, no radar, with storage", *heads], rows, right=1)


def _sitting(results: Sequence[Result]) -> str:
    cells = [result for result in results if result.table == "Table 5"]
    sittings = max(result.conditions["sitting"] for result in cells)
    how = "in one go" if sittings == 1 else f"in {sittings} goes"
    frames, workers = cells[0].conditions["frames"], cells[0].conditions["workers"]
    return paragraph(
        f"All {len(cells)} recordings are of one command, {how}: {frames} frames each, {workers} workers, no GPU."
    )
