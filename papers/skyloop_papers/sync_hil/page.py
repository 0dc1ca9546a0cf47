"""Tables I to V and the claims on the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skyloop.core.results import Result
from skyloop_papers.pages import paragraph, table
from skyloop_papers.sync_hil.protocol import Protocol


def protocol() -> dict[str, Any]:
    return Protocol().plain()


def blocks(results: Sequence[Result]) -> dict[str, str]:
    numbers = ("i", "ii", "iii", "iv", "v")
    made = {
        f"table-{number}": _table([r for r in results if r.table == f"Table {number.upper()}"]) for number in numbers
    }
    made["claims"] = _claims([result for result in results if result.table == "claims"])
    made["board"] = _board(results)
    return made


def _table(results: Sequence[Result]) -> str:
    """A row for each set-up, two columns for each score."""
    scores = list(dict.fromkeys(result.cell.rpartition(": ")[2] for result in results))
    setups = list(dict.fromkeys(result.cell.rpartition(": ")[0] for result in results))
    by_cell = {result.cell: result for result in results}
    shown = [score for score in scores if score != "finished"]
    head = ["software on", "finished", *(f"{score}{which}" for score in shown for which in (", paper", ", here"))]
    rows = []
    for setup in setups:
        one = next(result for result in results if result.cell.startswith(f"{setup}: "))
        row = [setup, f"{one.conditions['finished']} of {one.conditions['runs']}"]
        for score in shown:
            result = by_cell.get(f"{setup}: {score}")
            row += ["", ""] if result is None else [_published(result), _measured(result)]
        rows.append(row)
    return table(head, rows, right=1)


def _published(result: Result) -> str:
    if result.published is None:
        return ""
    sd = result.conditions.get("published_sd")
    return f"{result.published:g}" + ("" if sd is None else f" ± {sd:g}")


def _measured(result: Result) -> str:
    return f"{result.measured:.3g}" + ("" if result.sd is None else f" ± {result.sd:.2g}")


def _claims(results: Sequence[Result]) -> str:
    rows = []
    for result in results:
        c = result.conditions
        verdict = "holds" if result.measured else "not shown"
        rows.append([str(c["number"]), result.cell, c["test"], verdict, f"{c['p']:g}", f"{c['p_holm']:g}", c["seen"]])
    return table(["", "claim", "test", "verdict", "p", "p, Holm", "seen"], rows)


def _board(results: Sequence[Result]) -> str:
    target = next(result for result in results if result.cell.startswith("target: "))
    computing = next(r for r in results if r.table == "Table II" and r.cell == "host: computing (s)")
    return paragraph(
        f"The board is {target.conditions['sut']}:",
        f"a relative position takes {1e3 * computing.measured:.2f} ms of processor time on the host.",
    )
