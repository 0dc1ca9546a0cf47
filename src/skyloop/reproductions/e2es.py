"""Localisation as in sections 5.1 and 5.3 of e2es: absolute errors in a room and a corridor, time per pair of images.

Beyond the paper: three more worlds, loop closure, consistency, landings on the estimate, and hard cases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from skyloop.campaigns.pools import local_pool
from skyloop.core.machine_info import usable_cores
from skyloop.core.results import Result
from skyloop.reproductions.e2es_flights import flight_on_estimate, flown_case, sensor_cases
from skyloop.reproductions.e2es_protocol import QUICK, Protocol
from skyloop.reproductions.e2es_results import results_of
from skyloop.reproductions.missing_runs import Job, all_runs, folder_of_runs
from skyloop.reproductions.result_files import write_results
from skyloop_autonomy.evaluation.hard_cases import CASES, SEED
from skyloop_autonomy.evaluation.hard_cases import table as case_table

Runs = dict[str, dict[str, Any]]
"""What every run left, by its name."""


def reproduce(
    *,
    quick: bool = False,
    folder: Path | None = None,
    protocol: Protocol | None = None,
    told: Callable[[str], None] = lambda line: None,
) -> list[Result]:
    """All flights of the protocol. A folder with some of them is continued."""
    chosen = protocol or (QUICK if quick else Protocol())
    with folder_of_runs(folder, chosen.plain()) as place:
        runs = fly_all(chosen, place, told)
        results = results_of(chosen, runs)
        if folder is not None:
            write_results(folder, results)
            rows = {name: runs[f"case-{name}"] for name in chosen.cases}
            (folder / "hard-cases.md").write_text(case_table(rows), encoding="utf-8")
    return results


def jobs_of(protocol: Protocol, place: Path) -> list[Job]:
    def job(name: str, call: Callable[..., dict[str, Any]], *arguments: Any) -> Job:
        return Job(name, _kept(place, name), call, arguments)

    flights = [
        job(
            f"flight-{world}-{seed}",
            flight_on_estimate,
            world,
            seed,
            protocol.length,
            # the pictures of the first seed are kept
            str(place / "pictures" / world) if seed == protocol.seeds[0] else "",
        )
        for seed in protocol.seeds
        for world in protocol.worlds
    ]
    on_one = tuple(name for name in protocol.cases if CASES[name].flight is None)
    cases = [job("cases-on-one-flight", sensor_cases, on_one, SEED)] if on_one else []
    return (
        flights + cases + [job(f"case-{name}", flown_case, name, SEED) for name in protocol.cases if name not in on_one]
    )


def fly_all(protocol: Protocol, place: Path, told: Callable[[str], None]) -> Runs:
    """Fly the missing runs, and read all of them."""
    jobs = jobs_of(protocol, place)
    # a flight keeps its own process and that of its renderer busy
    made = all_runs(jobs, local_pool(max(1, 3 * usable_cores() // 4)), told, _in_words)
    runs: Runs = {}
    for job in jobs:
        scored = made[job.name]
        runs |= (
            {f"case-{name}": row for name, row in scored.items()} if job.call is sensor_cases else {job.name: scored}
        )
    return runs


def _kept(place: Path, name: str) -> Path:
    plain = name.replace("°", "deg").replace("%", "percent").replace("/", "-per-").replace(" ", "-")
    return place / "runs" / f"{plain}.json"


def _in_words(scored: dict[str, Any]) -> str:
    if "unfinished" in scored:
        return str(scored["unfinished"])
    numbers = {name: value for name, value in scored.items() if isinstance(value, int | float)}
    return ", ".join(f"{name} {value:.3g}" for name, value in numbers.items()) or f"{len(scored)} cases"
