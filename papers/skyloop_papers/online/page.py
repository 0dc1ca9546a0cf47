"""The tables of results on the page on Table 6 of airloop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skyloop.core.results import Result
from skyloop_papers.online import experiment as online
from skyloop_papers.online.experiment import STAGES
from skyloop_papers.pages import Cells, paragraph, table

PICTURES = ("online.png",)


def protocol() -> dict[str, Any]:
    return {**online.protocol(online.Sizes()), "runs": online.Sizes().runs}


def blocks(results: Sequence[Result]) -> dict[str, str]:
    made = {"rates": _rates(results), "stages": _stages(results), "conditions": _conditions(results)}
    return {**made, "share": _share(results)}


def _of_table_6(results: Sequence[Result]) -> list[Result]:
    return [result for result in results if result.table == "Table 6"]


def _rates(results: Sequence[Result]) -> str:
    rows = []
    for result in _of_table_6(results):
        published = "" if result.published is None else f"{result.published:g}"
        spread = "" if result.sd is None else f" ± {result.sd:.1f}"
        rows.append([result.cell, str(result.conditions["ports"]), published, f"{result.measured:.1f}{spread}"])
    return table(["where", "ports", "paper, frames/s", "here, frames/s"], rows, right=1)


def _stages(results: Sequence[Result]) -> str:
    cells = Cells(results)
    rows = []
    for result in _of_table_6(results):
        shown = []
        for stage in STAGES:
            middle, late = (cells.value(f"{result.cell}: {stage}, p{q}") for q in (50, 99))
            shown.append(f"{middle:.2f} / {late:.1f}")
        rows.append([result.cell, *shown])
    return table(["ms, p50 / p99", *STAGES], rows, right=1)


def _share(results: Sequence[Result]) -> str:
    """Share of a frame that the engine takes. The rest is the link and the software."""
    cells = Cells(results)
    shares = []
    for result in _of_table_6(results):
        middle = [cells.value(f"{result.cell}: {stage}, p50") for stage in STAGES]
        shares.append(middle[0] / sum(middle))
    picture = "![mean times per frame](../images/online.png)\n\n"
    return picture + paragraph(
        f"From the command's effect until the SUT has the bundle, a frame takes {min(shares):.0%} to {max(shares):.0%}",
        "of its time (medians).",
    )


def _conditions(results: Sequence[Result]) -> str:
    cells = _of_table_6(results)
    first = cells[0].conditions
    loads = [load for cell in cells for load in cell.conditions["load_before"]]
    whole = sum(cell.conditions["unaligned"] + cell.conditions["violations"] for cell in cells)
    return paragraph(
        f"{first['runs']} runs of {first['frames']} frames each, mean and standard deviation of the runs;",
        f"{first['cores']} cores without a GPU. Another machine: {first['network']}.",
        f"Load averages before the runs: {min(loads):g} to {max(loads):g}.",
        f"Bundles whose samples were not of one instant, and commands before their time: {whole}.",
    )
