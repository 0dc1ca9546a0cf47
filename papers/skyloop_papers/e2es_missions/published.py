"""Figures of single flights in docs/results/e2es-missions.json: four digits of each, in the order of the flights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skyloop.core.results import Result
from skyloop_papers.e2es_missions.protocol import Protocol
from skyloop_papers.e2es_missions.results import FLIGHT_FIGURES, MAP_FIGURES, WITH_WALKERS, shown

Figures = dict[str, Any]


def stored(protocol: Protocol, results: Sequence[Result]) -> dict[str, Figures]:
    """By name of a flight. A figure that a flight of the group lacks is left out: the file does not say which one."""
    cells = {result.cell: result.conditions for result in results}
    groups = {world: [f"mission-{world}-{seed}" for seed in protocol.seeds] for world in protocol.worlds}
    groups[WITH_WALKERS] = [f"walkers-{world}-{seed}" for world, seed in protocol.with_walkers]
    kept: dict[str, Figures] = {}
    for group, names in groups.items():
        failed = cells.get(f"{group}: all goals reached", {}).get("failed", {})
        for name in names:
            kept[name] = {"failed": failed.get(name.partition("-")[2].replace("-", " "), "")}
        good = [name for name in names if not kept[name]["failed"]]
        for what, key in FLIGHT_FIGURES.items():
            _give(kept, good, key, cells.get(f"{group}: {what}", {}))
        _maps(kept, names, group, cells)
    for world, seed in protocol.explored:
        name = f"explore-{world}-{seed}"
        kept[name] = {}
        _maps(kept, [name], f"{world}, explored", cells)
    return kept


def _maps(kept: dict[str, Figures], names: list[str], group: str, cells: dict[str, Figures]) -> None:
    for key, poses in MAP_FIGURES.items():
        _give(kept, names, f"{key} IoU", cells.get(f"{group}: IoU on {poses}", {}))


def _give(kept: dict[str, Figures], names: list[str], figure: str, conditions: Figures) -> None:
    values = conditions.get("values", [])
    if len(values) == len(names):
        for name, value in zip(names, values, strict=True):
            kept[name][figure] = value


def as_published(run: Figures, published: Figures) -> Figures:
    """Those figures of a flight that were published of it, with as many digits."""
    flown = {key: shown(run[key]) for key in FLIGHT_FIGURES.values() if run.get(key) is not None}
    maps = {f"{key} IoU": shown(run[key]["iou"]) for key in MAP_FIGURES if key in run}
    every = {"failed": run.get("failed", ""), **flown, **maps}
    return {name: every[name] for name in published if name in every}
