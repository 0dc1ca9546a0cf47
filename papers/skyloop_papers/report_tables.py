"""What all forms of the report of `skyloop reproduce all` show: titles, the rule in words, and a row per experiment."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from skyloop.core.results import Result
from skyloop_papers.all_papers import Measured
from skyloop_papers.verdicts import WORDS, judged

TITLE = "Five papers, published beside measured"
PAPERS = {
    "airloop": "AirLoop",
    "depth-noise-and-rotor-drag": "Depth noise and rotor drag",
    "e2es": "E2ES",
    "fpga-landing-hil": "Landing by an FPGA",
    "synchronised-hil": "Synchronised HIL",
}
RULE = (
    "The interval is that of the mean at 95 %. Less is better for errors and times: held if the interval ends at or "
    "below the published number, not held if it begins above. More is better for rates, the other way round. What "
    "should be the same is held within a tenth. An interval that lies across is undecided. A number without sd stands "
    "for itself."
)
SUMMARY_HEAD = ("paper", "experiment", *WORDS[:-1], "more numbers", "s")


def summary(measured: Sequence[Measured]) -> Iterator[list[Any]]:
    """A row per experiment."""
    for one in measured:
        words = verdict_counts(one.name, one.results)
        paper = ", ".join(sorted({result.paper for result in one.results})) or "–"
        told: list[Any] = [words[word] for word in WORDS]
        yield [paper, one.name, *(["failed", *["–"] * (len(WORDS) - 1)] if one.failed else told), round(one.seconds)]


def verdict_counts(name: str, results: Sequence[Result]) -> Counter[str]:
    return Counter(judged(name, result).word for result in results)


def seeds_of(one: Measured) -> str:
    """What the protocol in the experiment's folder says of its seeds, in a line."""
    try:
        plain = json.loads((one.folder / "protocol.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        plain = {}
    return ", ".join(f"{key} {_in_short(value)}" for key, value in _entries(plain) if "seed" in key)


def _entries(plain: Any) -> Iterator[tuple[str, Any]]:
    for key, value in plain.items() if isinstance(plain, dict) else ():
        yield key, value
        yield from _entries(value)


def _in_short(value: Any) -> str:
    """31, 32, … 40 as "31 to 40"."""
    if isinstance(value, list) and len(value) > 2 and value == list(range(value[0], value[0] + len(value))):
        return f"{value[0]} to {value[-1]}"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
