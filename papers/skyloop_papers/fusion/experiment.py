"""People tracked by camera, radar and both, on a clear day, in fog and at night: what airloop is made to test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from skyloop.core.results import Result
from skyloop_papers.fusion.flight import track_people
from skyloop_papers.fusion.plot import draw_figures
from skyloop_papers.fusion.protocol import QUICK, Protocol
from skyloop_papers.fusion.results import job_name, results_of
from skyloop_papers.missing_runs import ALL_CORES, Job, Makers, all_runs, folder_of_runs
from skyloop_papers.result_files import write_results

CORES = 2
"""Cores that a flight keeps busy: one with drawing and another one with everything else."""


def reproduce(
    *,
    quick: bool = False,
    folder: Path | None = None,
    protocol: Protocol | None = None,
    told: Callable[[str], None] = lambda line: None,
    makers: Makers = ALL_CORES,
) -> list[Result]:
    """All flights of the protocol. A folder with some of them is continued."""
    chosen = protocol or (QUICK if quick else Protocol())
    with folder_of_runs(folder, chosen.plain()) as place:
        runs = all_runs(jobs_of(chosen, place), makers.pool(CORES), told, in_words)
        results = results_of(chosen, runs)
        if folder is not None:
            write_results(folder, results)
            draw_figures(results, folder / "fusion.png")
    return results


def jobs_of(protocol: Protocol, place: Path) -> list[Job]:
    return [
        Job(
            name, place / "runs" / f"{name}.json", track_people, (seed, condition, protocol.detector, protocol.duration)
        )
        for condition in protocol.conditions
        for seed in protocol.seeds
        for name in [job_name(condition, seed)]
    ]


def in_words(run: dict[str, Any]) -> str:
    told = [f"{name} {score['recall'] or 0.0:.2f}" for name, score in run["trackers"].items()]
    return "recall by " + ", ".join(told)
