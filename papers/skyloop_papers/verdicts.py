"""Does a published number hold here? One rule for all papers; docs/reproductions/report.md tells it to readers.

The interval is that of the mean at 95 % (Student's t). A number without a spread stands for itself. A cell of which
less is better holds if the interval ends at or below the published number, and does not if it begins above it; of which
more is better, the other way round. A cell that should be the same holds if the interval lies within a tenth of the
published number, and does not if it lies outside. Whatever lies across is undecided."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

from skyloop.core.results import Result

HELD, NOT_HELD, UNDECIDED = "held", "not held", "undecided"
NOT_COMPARABLE, NOT_PUBLISHED = "not comparable", "not published"
WORDS = (HELD, NOT_HELD, UNDECIDED, NOT_COMPARABLE, NOT_PUBLISHED)
SAME_WITHIN = 0.1
"""Of the published number."""
LEVEL = 0.975

Kind = Literal["less", "more", "same", "all", "claim", "other"]


@dataclass(frozen=True, slots=True)
class Rule:
    """How the cells of a reproduction are judged whose "table | cell" matches."""

    reproduction: str
    cells: str
    kind: Kind
    why: str = ""
    """Why it cannot be compared, or why it does not hold where it does not."""


OTHER_COMPUTER = "a property of the computer: theirs was another"
RULES = (
    Rule("drag", r"\| control: ", "other", "a test of the test: the air is the rotor model itself"),
    Rule("drag", r"eq\. 5 / eq\. 13", "same", "the air here is not the model that is judged; see the page"),
    Rule("drag", r"^Table 2 ", "other", "mass, airframe and paths of the paper's flights are not published"),
    Rule("drag", r"one drag evaluation", "less"),
    Rule("depth-noise", r"time for one|CPU time", "less"),
    Rule("depth-noise", r"^text \| self-check", "same"),
    Rule("depth-noise", r"mean of the three R² that Table 1 prints", "same", "the table's rows give another mean"),
    Rule("depth-noise", r"R² of eq\. 4|m fitted", "same", "stereo by a synthetic camera, not the paper's device"),
    Rule("radar", r"^Table 3 ", "same"),
    Rule("offline", r"^Table 5 ", "more", "epic and cinematic pictures are drawn without a GPU here"),
    Rule("online", r"^Table 6 ", "more"),
    Rule("sync-hil", r"^Table I \| (host|target): ", "other", OTHER_COMPUTER),
    Rule("sync-hil", r"^Table I \| real delays: ", "same"),
    Rule("sync-hil", r"^claims ", "claim", "the page says what came out instead"),
    Rule("sync-hil", r"^Table (II|III|IV|V) ", "same", "vehicle, world and board are others; the claims are compared"),
    Rule("e2es", r"^(accuracy|Table 1) ", "less"),
    Rule("unknown-city", r"goal reached", "all"),
    Rule("landing", r"^Table I \| .*landed", "all", "that board misses its deadlines on purpose"),
    Rule("landing", r"^Table (II|III) ", "less", "that board misses its deadlines on purpose"),
    Rule("detection", r"optimised against torch", "more"),
    Rule("detection", r"^Table 8 ", "more"),
)
"""The first that matches counts."""


@dataclass(frozen=True, slots=True)
class Verdict:
    word: str
    why: str = ""


def rule_of(reproduction: str, result: Result) -> Rule | None:
    where = f"{result.table} | {result.cell}"
    return next((rule for rule in RULES if rule.reproduction == reproduction and re.search(rule.cells, where)), None)


def judged(reproduction: str, result: Result) -> Verdict:
    if result.published is None:
        return Verdict(NOT_PUBLISHED)
    rule = rule_of(reproduction, result)
    if rule is None:
        return Verdict(NOT_COMPARABLE, "no rule was set for this cell beforehand")
    if rule.kind == "other":
        return Verdict(NOT_COMPARABLE, rule.why)
    word = _word(rule.kind, result, result.published)
    return Verdict(word, "" if word == HELD else rule.why)


def _word(kind: Kind, result: Result, published: float) -> str:
    if kind == "claim":
        return HELD if result.measured == published else NOT_HELD
    if kind == "all":
        # the paper's runs all succeeded: so must ours
        return HELD if result.measured == result.n else NOT_HELD
    low, high = interval(result)
    if kind == "same":
        lowest, highest = sorted((published * (1.0 - SAME_WITHIN), published * (1.0 + SAME_WITHIN)))
        return HELD if lowest <= low and high <= highest else NOT_HELD if high < lowest or low > highest else UNDECIDED
    if kind == "more":
        low, high, published = -high, -low, -published
    return HELD if high <= published else NOT_HELD if low > published else UNDECIDED


def interval(result: Result) -> tuple[float, float]:
    """Of the mean, at 95 %."""
    if result.sd is None or result.n < 2:
        return result.measured, result.measured
    from scipy.stats import t

    half = float(t.ppf(LEVEL, result.n - 1)) * result.sd / math.sqrt(result.n)
    return result.measured - half, result.measured + half
