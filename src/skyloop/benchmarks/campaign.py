"""Runs per second of a campaign on one worker and on all cores; and what is lost when a worker is killed."""

from __future__ import annotations

import os
import signal
import statistics
import sys
import tempfile
import threading
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from skyloop.campaigns.campaign import Campaign, results
from skyloop.campaigns.plan import make_plan, planned_runs
from skyloop.campaigns.pools import RayPool, outcomes, ray_pool
from skyloop.campaigns.run_process import RemoteCall
from skyloop.core.machine_info import usable_cores
from skyloop.core.results import Figure

RUNS_PER_CORE = 12
KILLED_RUNS_PER_CORE = 6
PLAN: dict[str, Any] = {"name": "bench", "scenario": "circle-wind", "settings": {"pilot.trajectory.laps": 1}}


def measure() -> list[Figure]:
    # Ray prints to stdout when a worker dies
    with redirect_stdout(sys.stderr):
        return _measured()


def _measured() -> list[Figure]:
    cores = usable_cores()
    start = time.perf_counter()
    with ray_pool(1) as pool:
        begun = time.perf_counter() - start
        alone = _rate(pool, RUNS_PER_CORE, 1)
    with ray_pool(cores) as pool:
        together = _rate(pool, RUNS_PER_CORE * cores, cores)
        in_a_row = _processor_s(pool)
        lost, again = _with_a_killed_worker(pool, KILLED_RUNS_PER_CORE * cores)
    speedup = together / alone
    return [
        Figure(
            "speedup_vs_linear", speedup / cores, "1", 0.9,
            f"{together:.3f} runs/s on {cores} cores, {alone:.3f} on one, the same flights; 1 would be linear",
        ),
        Figure(
            "runs_lost", lost, "1", 0.0, f"of {KILLED_RUNS_PER_CORE * cores}, a worker killed; {again} made again",
            lower_is_better=True,
        ),
        Figure("runs_per_s", together, "1/s", None, f"circle-wind, one lap, on {cores} cores"),
        Figure("runs_per_s_one_core", alone, "1/s", None, "the same on one worker"),
        Figure("processor_s_per_run", in_a_row, "s", None, "of the run's own process, the median"),
        Figure("start_s", begun, "s", None, "until Ray is ready"),
    ]  # fmt: skip


def _campaign(runs: int) -> Campaign:
    return Campaign(make_plan({**PLAN, "repeats": runs}, "bench", Path.cwd()))


def _rate(pool: RayPool, runs: int, cores: int) -> float:
    """Runs per second, once every worker has loaded and compiled what it needs."""
    campaign = _campaign(runs + 2 * cores)
    planned = planned_runs(campaign.plan)
    for part in (planned[: 2 * cores], planned[2 * cores :]):
        began = time.perf_counter()
        made = [outcome for _, outcome in outcomes(((run.number, campaign.work(run)) for run in part), pool, 0)]
        spent = time.perf_counter() - began
        assert all(outcome.result is not None for outcome in made), [outcome.lost for outcome in made]
    return runs / spent


def _processor_s(pool: RayPool) -> float:
    campaign = _campaign(3)
    works = [(run.number, campaign.work(run)) for run in planned_runs(campaign.plan)]
    return statistics.median(outcome.processor_s for _, outcome in outcomes(works, pool, 0))


def _with_a_killed_worker(pool: RayPool, runs: int) -> tuple[int, int]:
    """Runs without a verdict, and attempts that were made again, when a worker is killed in the middle."""
    (_, outcome), *_ = outcomes([(0, RemoteCall.of(os.getppid, ()))], pool, 0)
    killer = threading.Timer(2.0, os.kill, (outcome.result, signal.SIGKILL))
    killer.start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            _campaign(runs).complete(Path(folder) / "made", lambda: ray_pool(), report=False)
            frame = results(Path(folder) / "made")
    finally:
        killer.join()
    return runs - int((frame["outcome"] != "lost").sum()), int((frame["attempts"] - 1).sum())
