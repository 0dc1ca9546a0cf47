"""Flights to goals and maps as in sections 5.1 and 5.2 of e2es: six goals on odometry, between unknown obstacles.

Beyond the paper: four worlds, ten seeds each, scores of the maps, and missions among walking people."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from skyloop.core.results import Result
from skyloop_papers.e2es_missions.flight import explore, fly_mission
from skyloop_papers.e2es_missions.protocol import QUICK, Protocol
from skyloop_papers.e2es_missions.results import results_of
from skyloop_papers.missing_runs import ALL_CORES, Job, Makers, all_runs, folder_of_runs
from skyloop_papers.result_files import write_results

CORES = 1
"""Cores that a flight keeps busy: its process and its renderer take turns."""


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
    return results


def jobs_of(protocol: Protocol, place: Path) -> list[Job]:
    def job(name: str, call: Callable[..., dict[str, Any]], *arguments: Any) -> Job:
        flown = place / "missions" / name
        return Job(name, place / "runs" / f"{name}.json", call, (*arguments, str(flown)), leaves=flown)

    # the longest first, so that no core waits at the end for one of them
    jobs = [job(f"explore-{world}-{seed}", explore, world, seed) for world, seed in protocol.explored]
    jobs += [
        job(f"walkers-{world}-{seed}", fly_mission, world, seed, protocol.walkers, protocol.goals)
        for world, seed in protocol.with_walkers
    ]
    return jobs + [
        job(f"mission-{world}-{seed}", fly_mission, world, seed, 0, protocol.goals)
        for world in reversed(protocol.worlds)
        for seed in protocol.seeds
    ]


def in_words(scored: dict[str, Any]) -> str:
    if "failed" in scored:
        return f"failed: {scored['failed']}"
    told = [f"{scored['goals_reached']} goals"] if "goals_reached" in scored else []
    told += [f"IoU {scored['map_on_vio']['iou']:.2f}"] if "map_on_vio" in scored else []
    return ", ".join([*told, f"estimate off by {scored['estimate_error_m']:.3f} m"])
