"""A fast experiment in place of a paper's, and its page: balls that are thrown, each in a process of its own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from skyloop.core.results import Result
from skyloop_papers.missing_runs import ALL_CORES, Job, Makers, all_runs, folder_of_runs
from skyloop_papers.result_files import write_results

CORES = 1
GRAVITY = "THROWS_GRAVITY"
"""In the environment: another gravity stands for other code."""


@dataclass(frozen=True, slots=True)
class Protocol:
    speeds: tuple[float, ...] = (1.0, 2.0, 3.0, 4.0, 5.0)

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def throw(speed: float) -> dict[str, Any]:
    g = float(os.environ.get(GRAVITY, "9.81"))
    track = [[0.1 * k, speed * 0.1 * k, -0.5 * g * (0.1 * k) ** 2] for k in range(5)]
    return {"distance": speed**2 / g, "track": track, "at": {"rest": None}, "processor_s": time.process_time()}


def jobs_of(protocol: Protocol, place: Path) -> list[Job]:
    jobs = [Job(f"throw-{v:g}", place / "runs" / f"throw-{v:g}.json", throw, (v,)) for v in protocol.speeds]
    return [*jobs, Job("clock", place / "runs" / "clock.json", throw, (0.0,), timed=True)]


def in_words(run: dict[str, Any]) -> str:
    return f"{run['distance']:.2f} m"


def reproduce(
    *,
    quick: bool = False,
    folder: Path | None = None,
    told: Callable[[str], None] = lambda line: None,
    makers: Makers = ALL_CORES,
) -> list[Result]:
    with folder_of_runs(folder, Protocol().plain()) as place:
        runs = all_runs(jobs_of(Protocol(), place), makers.pool(CORES), told, in_words)
    results = [Result("airloop", "text", name, None, run["distance"], "m") for name, run in runs.items()]
    if folder is not None:
        write_results(folder, results)
    return results


# ---- the page


def protocol() -> dict[str, Any]:
    return Protocol().plain()


def blocks(results: Sequence[Result]) -> dict[str, str]:
    return {"far": f"{max(result.measured for result in results):.2f} m\n"}
