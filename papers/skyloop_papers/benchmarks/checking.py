"""The short form of each bench, beside the aims and the figures on the pages: have we become worse?

Judged are ratios to a peer or to a physical limit in the same run, and errors, shares and counts that have an aim. How
fast the machine is decides none of them; speeds and times are not judged."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from skyloop.core.machine_info import usable_cores
from skyloop_client.errors import SkyloopError
from skyloop_papers import pages
from skyloop_papers.benchmarks.benches import BENCHES, load
from skyloop_papers.benchmarks.measurement import RATIO, Measurement
from skyloop_papers.processes import child, result_of

WORSE = 0.15
"""A ratio may be worse than the page's by this share: a busy minute of the machine changes it by as much."""
BUSY = 0.3
"""Load per core, the mean of the last minute, from which ratios are disturbed."""
LIMIT_S = 240.0
"""Wall s of one bench."""


@dataclass(frozen=True, slots=True)
class Row:
    """One judged figure."""

    bench: str
    key: str
    aim: float | None
    page: float | None
    """The last figure of the full form."""
    now: float | None
    lower_is_better: bool
    verdict: str
    holds: bool
    is_new: bool
    """It does not hold, and the page does not say so yet."""


def check(names: Sequence[str], tell: Callable[[str], None]) -> list[Row]:
    """Measures each bench in a process of its own, and once more where something does not hold that did."""
    load, cores = os.getloadavg()[0], usable_cores()
    if load > BUSY * cores:
        tell(f"other programs keep this machine busy (load {load:.1f} on {cores} cores), so that ratios mean little")
    rows: list[Row] = []
    for number, name in enumerate(names, 1):
        began, used = time.perf_counter(), _processor_s()
        found = checked(name)
        if any(row.is_new and row.now is not None for row in found):
            tell(f"{name}: {', '.join(row.key for row in found if row.is_new)} not as on the page; measured again")
            again = {row.key: row for row in checked(name)}
            found = [_better(row, again.get(row.key, row)) for row in found]
        rows += found
        passed, spent = time.perf_counter() - began, _processor_s() - used
        tell(f"{number} of {len(names)}, {name}: {passed:.0f} s, {spent:.0f} s of processor time")
    return rows


def _processor_s() -> float:
    """Of the processes that have ended."""
    spent = os.times()
    return spent.children_user + spent.children_system


def checked(name: str) -> list[Row]:
    known = {figure["key"]: figure["value"] for figure in pages.bench_figures(name)}
    try:
        figures = measured(name)
    except SkyloopError as error:
        return [Row(name, "", None, None, None, False, f"not measured: {error}", False, True)]
    return [judged(name, each, known.get(each.key)) for each in figures if each.is_judged]


def measured(name: str) -> list[Measurement]:
    """The short form, in a process of its own."""
    with child(short_form, name, group=True) as process:
        found = result_of(process, f"bench {name}", timeout=LIMIT_S)
    return [Measurement(**plain) for plain in found]


def short_form(name: str) -> list[dict[str, Any]]:
    return [asdict(figure) for figure in load(name)(**BENCHES[name].short)]


def judged(bench: str, figure: Measurement, page: float | None) -> Row:
    now, why = figure.value, []
    if math.isnan(now):
        verdict = f"not measured: {figure.note}"
        return Row(bench, figure.key, figure.aim, page, None, figure.lower_is_better, verdict, False, True)
    missed = figure.holds is False
    was_missed = page is not None and replace(figure, value=page).holds is False
    lost = _lost(now, page, lower_is_better=figure.lower_is_better) if page and figure.unit == RATIO else 0.0
    if missed:
        why.append("missed, as on the page" if was_missed else "missed")
    if lost > WORSE:
        why.append(f"{100.0 * lost:.0f} % worse than the page")
    is_new = lost > WORSE or (missed and not was_missed)
    verdict = ", ".join(why) or ("holds" if page is not None or figure.aim is not None else "no figure to compare with")
    return Row(bench, figure.key, figure.aim, page, now, figure.lower_is_better, verdict, not why, is_new)


def _lost(now: float, page: float, *, lower_is_better: bool) -> float:
    """The share by which it is worse; negative where it is better."""
    return now / page - 1.0 if lower_is_better else 1.0 - now / page


def _better(one: Row, other: Row) -> Row:
    if one.now is None or other.now is None:
        return other if one.now is None else one
    first = one.now <= other.now if one.lower_is_better else one.now >= other.now
    return one if first else other
