"""Looks for the worst case: an evolution strategy, a generation of runs after the other.

Each point is drawn around one of the worst ones so far, more and more closely. It is not drawn around their mean: wind
from the left and wind from the right may both break a mission, and in between it flies well. A generation is drawn only
when the one before it is complete, so the search is the same for any number of workers, and goes on after a kill."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from skyloop.campaigns.folder import Row
from skyloop.campaigns.plan import CampaignPlan, CampaignRun, seed_of
from skyloop.campaigns.space import Span, at_shares
from skyloop.core.random_key import stream_key
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

ELITE = 0.25
"""The worst runs so far around which the next generation is drawn, as a share of a generation."""
FIRST_SD, SHRINK, LEAST_SD = 0.15, 0.6, 0.03
"""Of the whole span: how far from these the second generation is drawn, by what that shrinks with each generation, and
the least, so that points do not fall together and each generation still looks around."""
EVERYWHERE = 0.15
"""The share of each later generation that is drawn from the whole space, in case something worse lies elsewhere."""

WAY = "around each of the worst"
"""Part of what a folder belongs to: another way of searching would have drawn other points."""


def check_search(plan: CampaignPlan, where: str) -> None:
    if not isinstance(plan.space, dict) or not plan.space:
        raise ScenarioError(f"{where}: space: --search worst needs spans or lists of values by parameter")
    if plan.search.objective is None and not any(rule.compared for rule in plan.conditions):
        raise ScenarioError(
            f"{where}: search.objective is missing, and success has no limit that could be near; add one"
        )


def badness(plan: CampaignPlan, row: Row) -> float:
    """How bad a run is. Above 0: the success rule is broken, if the search goes by that."""
    if row["outcome"] == "lost":
        return math.nan
    metrics = row["metrics"]
    if plan.search.objective is not None:
        value = metrics.get(plan.search.objective)
        if not isinstance(value, int | float) or math.isnan(value):
            # a flight that ended before it could be measured
            return math.inf if row["outcome"] == "failed" else math.nan
        return float(value) if plan.search.worst == "most" else -float(value)
    if row["outcome"] == "failed" and not metrics:
        return math.inf
    if not any(rule.compared for rule in plan.conditions):
        return float(row["outcome"] == "failed")
    # in units of the limits, so that metres and radians can be compared
    margins = [rule.margin(metrics) / max(abs(float(rule.value)), 1e-12) for rule in plan.conditions if rule.compared]
    return -min(margins)


def generations(plan: CampaignPlan, rows: dict[int, Row]) -> Iterator[list[CampaignRun]]:
    """The runs of each generation. `rows` must hold those of the last one when the next is asked for."""
    assert isinstance(plan.space, dict)
    count = plan.search.runs
    drawn: list[Array] = []
    elite = np.empty((0, len(plan.space)))
    for generation in range(plan.search.generations):
        shares = _drawn(plan, generation, elite)
        drawn.append(shares)
        first = generation * count
        yield [
            CampaignRun(first + k, first + k, 0, seed_of(plan, first + k), at_shares(plan.space, shares[k]))
            for k in range(count)
        ]
        worst = _worst(plan, rows, first + count)[: max(2, round(ELITE * count))]
        elite = np.array([drawn[number // count][number % count] for number in worst]).reshape(-1, len(plan.space))


def _drawn(plan: CampaignPlan, generation: int, elite: Array) -> Array:
    """Places along each parameter. The first generation is a Latin hypercube over everything."""
    chance = np.random.Generator(np.random.Philox(key=int(stream_key(plan.seed, f"search generation {generation}"))))
    count, width = plan.search.runs, elite.shape[1]
    spread = np.empty((count, width))
    for column in range(width):
        spread[:, column] = (chance.permutation(count) + chance.random(count)) / count
    if not len(elite):
        return spread
    sd = max(FIRST_SD * SHRINK ** (generation - 1), LEAST_SD)
    shares = elite[chance.integers(len(elite), size=count)] + sd * chance.standard_normal((count, width))
    # reflected at the ends, where the worst case often is
    shares = np.abs(shares) % 2.0
    shares = np.where(shares > 1.0, 2.0 - shares, shares)
    everywhere = round(EVERYWHERE * count)
    shares[:everywhere] = spread[:everywhere]
    return shares


def _worst(plan: CampaignPlan, rows: dict[int, Row], count: int) -> list[int]:
    """Numbers of the runs so far, from the worst on. Among equals the earlier one comes first."""
    scored = [(-badness(plan, rows[number]), number) for number in range(count) if number in rows]
    return [number for bad, number in sorted(one for one in scored if not math.isnan(one[0]))]


def worst_first(plan: CampaignPlan, rows: list[Row]) -> list[Row]:
    """Failed runs before others, and the worse ones first."""
    by_number = {row["run"]: row for row in rows}
    ordered = [by_number[number] for number in _worst(plan, by_number, max(by_number, default=-1) + 1)]
    return sorted(ordered, key=lambda row: bool(row["outcome"] != "failed"))


def found(plan: CampaignPlan, rows: list[Row]) -> Row:
    """What the search tells: the worst run, how many broke the rule, and where those lie."""
    by_number = {row["run"]: row for row in rows}
    worst = _worst(plan, by_number, max(by_number, default=-1) + 1)
    failed = [row for row in rows if row["outcome"] == "failed"]
    ranges = {}
    for name, choice in plan.space.items() if isinstance(plan.space, dict) else ():
        if isinstance(choice, Span) and failed:
            values = [row["parameters"][name] for row in failed]
            ranges[name] = [min(values), max(values)]
    out: Row = {"worst": by_number[worst[0]] if worst else None, "failed": len(failed)}
    return {**out, "failed_between": ranges, "badness": badness(plan, by_number[worst[0]]) if worst else None}
