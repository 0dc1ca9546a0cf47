"""Recordings and campaigns: how fast many frames and many runs are made."""

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
from skyloop.datasets.rig import STAGES, trial_recording
from skyloop_papers.benchmarks.measurement import RATIO, SHARE, Measurement, Measurements, lower

PLAN: dict[str, Any] = {"name": "bench", "scenario": "circle-wind", "settings": {"pilot.trajectory.laps": 1}}


def record(frames: int = 200, rounds: int = 5, world: str = "park", workers: int = 0) -> Measurements:
    """Recordings in park: frames per second, overlap, what the journal costs.

    `rounds`: pairs with and without journal, in turn; the best gives the rate, the median of the pairs the cost.
    `workers`: 0 is one per core."""
    given: dict[str, Any] = {"frames": frames, "world": world, "workers": workers}
    stored: list[dict[str, Any]] = []
    thrown_away: list[dict[str, Any]] = []
    for turn in range(rounds):
        # the order also alternates within a pair, because a machine that warms up slows the second run
        for store in (True, False) if turn % 2 else (False, True):
            (stored if store else thrown_away).append(trial_recording(radar=False, store=store, **given))
    with_radar = _best([trial_recording(radar=True, store=True, **given) for _ in range(min(2, rounds))])
    cost = statistics.median(1.0 - kept["fps"] / lost["fps"] for kept, lost in zip(stored, thrown_away, strict=True))
    cores = os.cpu_count() or 1
    what = f"{frames} frames in {world}, 320x240, low, {workers or cores} workers on {cores} cores"
    yield from record_measurements(_best(stored), _best(thrown_away), with_radar, cost, what)


def record_measurements(
    stored: dict[str, Any], thrown_away: dict[str, Any], with_radar: dict[str, Any], cost: float, what: str
) -> Measurements:
    cores = os.cpu_count() or 1
    to_journal = f"to the journal, getting ready left out; {what}"
    shares = "core-ms of all stages per frame over wall ms per frame times cores; without radar, to the journal"
    yield Measurement("fps_without_radar", stored["fps"], "1/s", 50.0, to_journal)
    yield Measurement("fps_with_radar", with_radar["fps"], "1/s", 30.0, "the same with the radar")
    yield Measurement("overlap", overlap(stored, cores), SHARE, 0.85, shares)
    yield Measurement("overlap_with_radar", overlap(with_radar, cores), SHARE, None, "the same with the radar")
    yield lower("journal_cost", cost, SHARE, 0.1, "share of the frame rate lost to the journal, median of pairs")
    yield Measurement("fps_not_stored", thrown_away["fps"], "1/s", None, "without radar, messages thrown away")
    for summary, suffix in ((stored, ""), (with_radar, "_with_radar")):
        for stage, meaning in STAGES.items():
            spent = summary["core_ms_per_frame"][stage]
            yield Measurement(f"{stage}_core_ms{suffix}", spent, "ms", None, f"per frame: {meaning}")


def overlap(summary: dict[str, Any], cores: int) -> float:
    """Share of the cores' capacity that was used for frames while frames were recorded."""
    spent: float = sum(summary["core_ms_per_frame"].values())
    return spent * float(summary["fps"]) / (1e3 * cores)


def _best(summaries: list[dict[str, Any]]) -> dict[str, Any]:
    return max(summaries, key=lambda summary: summary["fps"])


def campaign(runs_per_core: int = 12, killed_runs_per_core: int = 6) -> Measurements:
    """Runs of a campaign per second on one worker and on all cores, and runs lost when a worker is killed."""
    cores = usable_cores()
    killed_runs = killed_runs_per_core * cores
    # Ray prints to stdout when a worker dies
    with redirect_stdout(sys.stderr):
        start = time.perf_counter()
        with ray_pool(1) as pool:
            ready_s = time.perf_counter() - start
            alone = _rate(pool, runs_per_core, 1)
        with ray_pool(cores) as pool:
            together = _rate(pool, runs_per_core * cores, cores)
            processor_s = _processor_s(pool)
            lost, again = _with_a_killed_worker(pool, killed_runs)
    beside = f"{together:.3f} runs/s on {cores} cores, {alone:.3f} on one, the same flights; 1 would be linear"
    yield Measurement("speedup_vs_linear", together / alone / cores, RATIO, 0.9, beside)
    yield lower("runs_lost", lost, "runs", 0.0, f"of {killed_runs}, a worker killed; {again} made again")
    yield Measurement("runs_per_s", together, "1/s", None, f"circle-wind, one lap, on {cores} cores")
    yield Measurement("runs_per_s_one_core", alone, "1/s", None, "the same on one worker")
    yield Measurement("processor_s_per_run", processor_s, "s", None, "of the run's own process, the median")
    yield Measurement("start_s", ready_s, "s", None, "until Ray is ready")


def _campaign(runs: int) -> Campaign:
    return Campaign(make_plan({**PLAN, "repeats": runs}, "bench", Path.cwd()))


def _rate(pool: RayPool, runs: int, cores: int) -> float:
    """Runs per second, once every worker has loaded and compiled what it needs."""
    many = _campaign(runs + 2 * cores)
    planned = planned_runs(many.plan)
    for part in (planned[: 2 * cores], planned[2 * cores :]):
        began = time.perf_counter()
        done = [outcome for _, outcome in outcomes(((run.number, many.work(run)) for run in part), pool, 0)]
        spent = time.perf_counter() - began
        assert all(outcome.result is not None for outcome in done), [outcome.lost for outcome in done]
    return runs / spent


def _processor_s(pool: RayPool) -> float:
    few = _campaign(3)
    works = [(run.number, few.work(run)) for run in planned_runs(few.plan)]
    return statistics.median(outcome.processor_s for _, outcome in outcomes(works, pool, 0))


def _with_a_killed_worker(pool: RayPool, runs: int) -> tuple[int, int]:
    """Runs without a verdict, and attempts that were made again, when a worker is killed in the middle."""
    (_, outcome), *_ = outcomes([(0, RemoteCall.of(os.getppid, ()))], pool, 0)
    killer = threading.Timer(2.0, os.kill, (outcome.result, signal.SIGKILL))
    killer.start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            _campaign(runs).complete(Path(folder) / "campaign", lambda: ray_pool(), report=False)
            frame = results(Path(folder) / "campaign")
    finally:
        killer.join()
    return runs - int((frame["outcome"] != "lost").sum()), int((frame["attempts"] - 1).sum())
