"""One hundred landings on four boards, as Fig. 4 and Tables I to III of fpga-landing-hil; and what it did not try."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from skyloop.core.results import Result
from skyloop_papers.landing.flight import land, land_on_board
from skyloop_papers.landing.plots import draw_errors, draw_failures, draw_starts
from skyloop_papers.landing.protocol import ABLATION, BOARDS, CONDITIONS, QUICK, Protocol
from skyloop_papers.landing.results import job_name, results_of
from skyloop_papers.missing_runs import ALL_CORES, Job, Makers, all_runs, folder_of_runs
from skyloop_papers.result_files import write_results

CORES = 1
"""Cores that a flight keeps busy."""


def reproduce(
    *,
    quick: bool = False,
    folder: Path | None = None,
    protocol: Protocol | None = None,
    told: Callable[[str], None] = lambda line: None,
    makers: Makers = ALL_CORES,
) -> list[Result]:
    """All landings of the protocol. A folder with some of them is continued."""
    chosen = protocol or (QUICK if quick else Protocol())
    with folder_of_runs(folder, chosen.plain()) as place:
        runs = all_runs(jobs_of(chosen, place), makers.pool(CORES), told, in_words)
        results = results_of(chosen, runs)
        if folder is not None:
            write_results(folder, results)
            by_board = {
                board: [runs[job_name("board", board, seed)] for seed in chosen.starts] for board in chosen.boards
            }
            draw_starts(next(iter(by_board.values())), folder / "landing-starts.png")
            draw_errors(by_board, folder / "landing-errors.png")
            draw_failures(pictures_of_failures(folder / "failed"), folder / "landing-failures.jpg")
    return results


def pictures_of_failures(folder: Path) -> list[Path]:
    """The first picture of each board and of each change; the numbers at the end of the names are seeds."""
    first: dict[str, Path] = {}
    for path in sorted(folder.glob("*/failed.png")):
        first.setdefault(path.parent.name.rpartition("-")[0], path)
    return list(first.values())


def jobs_of(protocol: Protocol, place: Path) -> list[Job]:
    def job(group: str, which: str, seed: int, call: Callable[..., dict[str, Any]], *arguments: Any) -> Job:
        name = job_name(group, which, seed)
        failed = place / "failed" / name
        return Job(name, place / "runs" / f"{name}.json", call, (seed, *arguments, str(failed)), leaves=failed)

    rate = protocol.camera_rate_hz
    jobs = [
        job("board", board, seed, land_on_board, *BOARDS[board], rate)
        for board in protocol.boards
        for seed in protocol.starts
    ]
    for clock in protocol.clocks_mhz:
        setup = {"clock_mhz": clock}
        jobs += [job("clock", f"{clock:g}", seed, land_on_board, "qemu", setup, rate) for seed in protocol.clock_starts]
    for which in protocol.conditions:
        jobs += [job("condition", which, seed, land, CONDITIONS[which], rate) for seed in protocol.condition_starts]
    for which in protocol.ablation:
        jobs += [job("ablation", which, seed, land, ABLATION[which], rate) for seed in protocol.ablation_starts]
    return jobs


def in_words(run: dict[str, Any]) -> str:
    if "failed" in run:
        return f"failed: {run['failed']}"
    return f"off by {run['x']:+.3f}, {run['y']:+.3f} m and {run['heading']:+.3f} rad after {run['time']:.1f} s"
