"""Flies one scenario with many seeds, several at once. Behind `skyloop run --seeds 1..50`."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from skyloop.campaigns.pools import ONE_THREAD, local_pool, outcomes
from skyloop.campaigns.run_process import RemoteCall, RunOutcome
from skyloop.core.machine_info import usable_cores
from skyloop.recording.run_folder import Summary, make_empty_folder, writing_into
from skyloop.run import run_scenario
from skyloop.sim.scenario import Scenario, make_scenario
from skyloop_client.errors import ScenarioError, SkyloopError

MOST_SEEDS = 10_000
TABLE = "seeds.csv"
FIGURES = ("flown_m", "highest_m", "fastest_m_s", "battery_left", "energy_j", "tracking_error_rms_m",
           "tracking_error_max_m", "estimate_error_rms_m", "landing_s", "landing_error_x_m", "landing_error_y_m",
           "landing_error_m", "landing_heading_error_rad")  # fmt: skip
"""Numbers in a vehicle's summary that can be compared between seeds."""


def seeds_from(text: str) -> list[int]:
    """ "1..50", "3,7,9" or "1..5,20" as numbers."""
    seeds: list[int] = []
    try:
        for part in text.split(","):
            first, dots, last = part.partition("..")
            more = range(int(first), int(last) + 1) if dots else range(int(first), int(first) + 1)
            # one more than allowed is enough to refuse them; a billion would not fit into memory
            seeds += more[: MOST_SEEDS + 1]
    except ValueError:
        seeds = []
    if not 1 <= len(seeds) <= MOST_SEEDS or len(set(seeds)) != len(seeds):
        raise ScenarioError(f"--seeds {text}: give FIRST..LAST or numbers with commas, each once, {MOST_SEEDS} at most")
    return seeds


def run_seeds(
    scenario: Scenario,
    seeds: Sequence[int],
    folder: Path,
    progress: Callable[[dict[str, object]], None] = lambda summary: None,
) -> list[Summary]:
    """The summaries, including failed flights. Writes a run folder for each seed and a table of all.

    `progress` gets each summary, in the order of the seeds, as soon as it and those before it exist."""
    make_empty_folder(folder)
    data = scenario.model_dump(mode="json")
    folders = [folder / f"seed-{seed}" for seed in seeds]
    works = (
        (number, RemoteCall.of(_flown, ({**data, "seed": seed}, scenario.name, str(run_path.absolute()))))
        for number, (seed, run_path) in enumerate(zip(seeds, folders, strict=True))
    )
    ended: dict[int, Summary] = {}
    summaries: list[Summary] = []
    at_once = min(usable_cores(), len(seeds))
    with local_pool(at_once, ONE_THREAD if at_once > 1 else None) as pool:
        for number, outcome in outcomes(works, pool, retries=0):
            ended[number] = _summary(outcome, scenario.name, seeds[number])
            while (following := len(summaries)) in ended:
                summaries.append({**ended.pop(following), "folder": str(folders[following])})
                progress(summaries[-1])
    write_table(summaries, folder / TABLE)
    return summaries


def _flown(data: dict[str, object], name: str, run_path: str) -> Summary:
    """In a process of its own."""
    return run_scenario(make_scenario(data, place=name), Path(run_path))


def _summary(outcome: RunOutcome, name: str, seed: int) -> dict[str, object]:
    """That of the flight, or why there is none."""
    ended_by = outcome.lost
    if outcome.error is not None:
        error = outcome.raised()
        if not isinstance(error, SkyloopError):
            raise error
        ended_by = str(error)
    if ended_by:
        return {
            "scenario": name, "seed": seed, "success": False, "cause": ended_by, "ended_by": ended_by, "vehicles": {},
        }  # fmt: skip
    summary: Summary = outcome.result
    return summary


def write_table(summaries: Sequence[Summary], path: Path) -> None:
    """A row for each vehicle of each seed."""
    names = ["seed", "vehicle", "simulated_s", *FIGURES, "mode", "crashed", "success", "cause", "ended_by"]
    with writing_into(path.parent), path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, extrasaction="ignore", restval="")
        writer.writeheader()
        for summary in summaries:
            for name, vehicle in (summary["vehicles"] or {"": {}}).items():
                writer.writerow({**summary, **vehicle, "vehicle": name})


def spread(summaries: Sequence[Summary]) -> Iterator[tuple[str, str, list[float]]]:
    """Vehicle, figure, and its mean, standard deviation, least and greatest value over the seeds."""
    names = dict.fromkeys(name for summary in summaries for name in summary["vehicles"])
    for name in names:
        for figure in FIGURES:
            flown = [summary["vehicles"].get(name, {}).get(figure) for summary in summaries]
            values = [float(value) for value in flown if value is not None]
            if values:
                sd = statistics.stdev(values) if len(values) > 1 else 0.0
                yield name, figure, [statistics.fmean(values), sd, min(values), max(values)]
