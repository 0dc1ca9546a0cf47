"""Localisation as in sections 5.1 and 5.3 of e2es: absolute errors in a room and a corridor, time per pair of images.

Beyond the paper: three more worlds, loop closure, consistency, landings on the estimate, and hard cases."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from skyloop.core.machine_info import usable_cores
from skyloop.core.results import Result
from skyloop.datasets.hard_cases import CASES, SEED
from skyloop.datasets.hard_cases import table as case_table
from skyloop.reproductions.e2es_flights import flight_on_estimate, flown_case, sensor_cases
from skyloop.reproductions.e2es_protocol import QUICK, Protocol
from skyloop.reproductions.e2es_results import results_of
from skyloop.reproductions.result_files import begin_or_go_on, keep, write_results

Runs = dict[str, dict[str, Any]]
"""What every run left, by its name."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run that can be missing."""

    name: str
    call: Callable[..., dict[str, Any]]
    arguments: tuple[Any, ...]


def reproduce(
    *,
    quick: bool = False,
    folder: Path | None = None,
    protocol: Protocol | None = None,
    told: Callable[[str], None] = lambda line: None,
) -> list[Result]:
    """All flights of the protocol. A folder with some of them is continued."""
    chosen = protocol or (QUICK if quick else Protocol())
    with tempfile.TemporaryDirectory(prefix="skyloop-e2es-") as made:
        place = folder or Path(made)
        begin_or_go_on(place, chosen.plain())
        runs = fly_all(chosen, place, told)
        results = results_of(chosen, runs)
        if folder is not None:
            write_results(folder, results)
            rows = {name: runs[f"case-{name}"] for name in chosen.cases}
            (folder / "hard-cases.md").write_text(case_table(rows), encoding="utf-8")
    return results


def jobs_of(protocol: Protocol, place: Path) -> list[Job]:
    jobs = [
        Job(
            f"flight-{world}-{seed}",
            flight_on_estimate,
            (world, seed, protocol.length, _pictures(place, world) if seed == protocol.seeds[0] else ""),
        )
        for seed in protocol.seeds
        for world in protocol.worlds
    ]
    on_one = tuple(name for name in protocol.cases if CASES[name].flight is None)
    if on_one:
        jobs.append(Job("cases-on-one-flight", sensor_cases, (on_one, SEED)))
    return jobs + [Job(f"case-{name}", flown_case, (name, SEED)) for name in protocol.cases if name not in on_one]


def _pictures(place: Path, world: str) -> str:
    """The pictures of the first seed are kept."""
    return str(place / "pictures" / world)


def fly_all(protocol: Protocol, place: Path, told: Callable[[str], None]) -> Runs:
    """Fly the missing runs, several at once, and read all of them."""
    jobs = jobs_of(protocol, place)
    missing = [job for job in jobs if not _kept(place, job.name).exists()]
    if missing:
        # a flight keeps its own process and that of its renderer busy
        at_once = max(1, 3 * usable_cores() // 4)
        with ProcessPoolExecutor(at_once, mp_context=get_context("spawn")) as pool:
            flying = {pool.submit(job.call, *job.arguments): job for job in missing}
            for done, future in enumerate(as_completed(flying), 1):
                job, scored = flying[future], future.result()
                keep(_kept(place, job.name), scored)
                told(f"{job.name} ({done} of {len(missing)}): {_in_words(scored)}")
    runs: Runs = {}
    for job in jobs:
        scored = json.loads(_kept(place, job.name).read_text(encoding="utf-8"))
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
