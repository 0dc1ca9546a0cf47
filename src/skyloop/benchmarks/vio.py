"""`skyloop bench vio`: accuracy, consistency and processor time of visual-inertial odometry on whole flights."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, replace
from typing import Any

from skyloop.core.results import Figure
from skyloop_autonomy.evaluation.flown_sources import flown
from skyloop_autonomy.evaluation.localisation_scores import scores
from skyloop_autonomy.evaluation.localising import localise
from skyloop_autonomy.evaluation.vio_flights import FLIGHTS, checked_flight
from skyloop_client.errors import DatasetError


@dataclass(frozen=True, slots=True)
class Sizes:
    """The amount of measurement. `skyloop reproduce e2es` flies ten seeds of five worlds."""

    room_seeds: tuple[int, ...] = (1, 2)
    corridor_seeds: tuple[int, ...] = (1,)
    length: float | None = None
    """m of way in place of 82 m and 100 m."""


def measure(sizes: Sizes | None = None) -> list[Figure]:
    """All figures of `skyloop bench vio`."""
    sizes = sizes or Sizes()
    room = [_scored("room", seed, sizes.length) for seed in sizes.room_seeds]
    corridor = [_scored("corridor", seed, sizes.length) for seed in sizes.corridor_seeds]
    return figures(room, corridor, sizes)


def _scored(world: str, seed: int, length: float | None) -> dict[str, Any]:
    flight = FLIGHTS[world] if length is None else replace(FLIGHTS[world], length=length)
    with flown(checked_flight(flight, seed)[0]) as source:
        scored = scores(localise(source, source.messages()))
    if "ape_m" not in scored:
        raise DatasetError(f"bench vio: no valid estimate in '{world}', seed {seed}: {scored.get('never_valid')}")
    return scored


def figures(room: list[dict[str, Any]], corridor: list[dict[str, Any]], sizes: Sizes) -> list[Figure]:
    def mean(runs: list[dict[str, Any]], key: str) -> float:
        return statistics.fmean(run[key] for run in runs)

    both = [*room, *corridor]
    way = mean(room, "way_m")
    flights = f"{len(room)} flights of {way:.0f} m in the room, seeds {', '.join(map(str, sizes.room_seeds))}"
    seeds = ", ".join(map(str, sizes.corridor_seeds))
    along = f"{len(corridor)} flights of {mean(corridor, 'way_m'):.0f} m, seeds {seeds}"
    stages = ", ".join(f"{name} {_stage(both, name):.1f}" for name in both[0]["stages_ms"])
    time_note = f"processor time of all threads, IMU samples included; stages in ms: {stages}"
    out = [
        Figure("room_ape_m", mean(room, "ape_m"), "m", 0.10, f"{flights}; SE(3) alignment", lower_is_better=True),
        Figure("room_ape_deg", mean(room, "ape_deg"), "deg", 0.5, "the same", lower_is_better=True),
    ]
    if all("closed_ape_m" in run for run in room):
        closed = mean(room, "closed_ape_m")
        out.append(Figure("room_closed_ape_m", closed, "m", 0.05, "with loop closure", lower_is_better=True))
    return [
        *out,
        Figure("corridor_ape_m", mean(corridor, "ape_m"), "m", 0.15, along, lower_is_better=True),
        Figure("pair_ms", mean(both, "pair_ms"), "ms", 10.0, time_note, lower_is_better=True),
        Figure("pair_p95_ms", mean(both, "pair_p95_ms"), "ms", 20.0, "95 % of the pairs", lower_is_better=True),
        Figure("nees", mean(both, "nees"), "1", None, "of position, velocity and attitude; 9 would be right"),
    ]


def _stage(runs: list[dict[str, Any]], name: str) -> float:
    return statistics.fmean(run["stages_ms"].get(name, 0.0) for run in runs)
