"""The tables of the protocol's page on localisation, made from the protocol itself."""

from __future__ import annotations

from collections.abc import Sequence

from skyloop.core.results import Result
from skyloop.reproductions.e2es_protocol import AIMS, SEEDS
from skyloop.reproductions.pages import table
from skyloop_autonomy.evaluation.hard_cases import CASES
from skyloop_autonomy.evaluation.vio_flights import FLIGHTS

WITHOUT_RESULTS = True
"""The page exists before the flights."""


def blocks(results: Sequence[Result]) -> dict[str, str]:
    return {"flown": _flown(), "aims": _aims(), "cases": _cases()}


def _flown() -> str:
    rows = [
        [
            name,
            f"{one.length:g} m",
            f"{one.speed:g} m/s",
            f"{one.altitude:g} m",
            f"{one.clearance:g} m",
            str(len(SEEDS)),
        ]
        for name, one in FLIGHTS.items()
    ]
    head = ["world", "way", "speed, at most", "height", "clearance", "flights"]
    return table(head, rows, right=1)


def _aims() -> str:
    rows = []
    for name, aim in AIMS.items():
        numbers = (aim.ape_m, aim.worst_m, aim.ape_deg, aim.closed_m, aim.closed_deg)
        share = "" if aim.share is None else f"{100.0 * aim.share:g} %"
        rows.append([name, *("" if number is None else f"{number:g}" for number in numbers), share])
    head = ["world", "APE, m", "worst, m", "APE, deg", "closed, m", "closed, deg", "of the way"]
    return table(head, rows, right=1)


def _cases() -> str:
    rows = [
        [name, case.about, "its own" if case.flight is not None else "the short one"] for name, case in CASES.items()
    ]
    return table(["case", "what", "flight"], rows)
