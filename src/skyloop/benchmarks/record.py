"""Frames per second of a recording in park, the use of the cores by its stages, and the cost of the journal."""

from __future__ import annotations

import os
import statistics
from dataclasses import dataclass
from typing import Any

from skyloop.core.results import Figure
from skyloop.datasets.rig import STAGES, trial_recording


@dataclass(frozen=True, slots=True)
class Sizes:
    """The amount of measurement. The defaults give the figures in docs/explanations/benchmarks.md."""

    frames: int = 200
    rounds: int = 5
    """Pairs with and without journal, in turn. The best gives the rate, the median of the pairs the cost."""
    world: str = "park"
    workers: int = 0
    """0: one per core."""


def measure(sizes: Sizes | None = None) -> list[Figure]:
    """All figures of `skyloop bench record`."""
    sizes = sizes or Sizes()
    given: dict[str, Any] = {"frames": sizes.frames, "world": sizes.world, "workers": sizes.workers}
    stored: list[dict[str, Any]] = []
    thrown_away: list[dict[str, Any]] = []
    for turn in range(sizes.rounds):
        # the order also alternates within a pair, because a machine that warms up slows the second run
        for store in (True, False) if turn % 2 else (False, True):
            (stored if store else thrown_away).append(trial_recording(radar=False, store=store, **given))
    with_radar = _best([trial_recording(radar=True, store=True, **given) for _ in range(min(2, sizes.rounds))])
    cost = statistics.median(1.0 - kept["fps"] / lost["fps"] for kept, lost in zip(stored, thrown_away, strict=True))
    return figures(_best(stored), _best(thrown_away), with_radar, cost, sizes)


def figures(
    stored: dict[str, Any], thrown_away: dict[str, Any], with_radar: dict[str, Any], cost: float, sizes: Sizes
) -> list[Figure]:
    cores = os.cpu_count() or 1
    what = f"{sizes.frames} frames in {sizes.world}, 320x240, low, {sizes.workers or cores} workers on {cores} cores"
    shares = "core-ms of all stages per frame over wall ms per frame times cores"
    made = [
        Figure("fps_without_radar", stored["fps"], "1/s", 50.0, f"to the journal, getting ready left out; {what}"),
        Figure("fps_with_radar", with_radar["fps"], "1/s", 30.0, "the same with the radar"),
        Figure("overlap", overlap(stored, cores), "1", 0.85, f"{shares}; without radar, to the journal"),
        Figure("overlap_with_radar", overlap(with_radar, cores), "1", None, "the same with the radar"),
        Figure(
            "journal_cost",
            cost,
            "1",
            0.1,
            "share of the frame rate lost to the journal, median of pairs",
            lower_is_better=True,
        ),
        Figure("fps_not_stored", thrown_away["fps"], "1/s", None, "without radar, messages thrown away"),
    ]
    for summary, suffix in ((stored, ""), (with_radar, "_with_radar")):
        for stage, said in STAGES.items():
            spent = summary["core_ms_per_frame"][stage]
            made.append(Figure(f"{stage}_core_ms{suffix}", spent, "ms", None, f"per frame: {said}"))
    return made


def overlap(summary: dict[str, Any], cores: int) -> float:
    """Share of the cores' capacity that was used for frames while frames were recorded."""
    spent: float = sum(summary["core_ms_per_frame"].values())
    return spent * float(summary["fps"]) / (1e3 * cores)


def _best(summaries: list[dict[str, Any]]) -> dict[str, Any]:
    return max(summaries, key=lambda summary: summary["fps"])
