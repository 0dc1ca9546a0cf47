"""Single runs of `skyloop reproduce sync-hil`: the C++ SUT on this machine, behind the target's agent, at the assumed
speed of the board."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from skyloop.campaigns.pools import local_pool
from skyloop.links.loop.loop_link import LoopConfig
from skyloop.links.loop.targets import LocalProcess, PowerModel
from skyloop.run import run_scenario
from skyloop_client.errors import LinkError, SetupError, SkyloopError
from skyloop_papers.runs import Job, Progress, Run, all_runs, silent
from skyloop_papers.sync_hil.plan import (
    ACQUIRING,
    BOARD,
    FIRST_RUN,
    FREE,
    HOST,
    SAMPLES,
    SENSORS,
    SLOW_SIMULATOR,
    TARGET,
    SyncPlan,
    Table,
    run_of,
)
from skyloop_papers.sync_hil.scores import SCORES, read_run

HANG_S = 600.0
"""Wall s of silence from a computing SUT. A slow board on a busy machine may need long."""
POWER = PowerModel(0.0, 0.0)
"""The board does not draw from the vehicle's battery, as in the flights for the tables."""
AT_ONCE = {FREE: 12}
"""Runs at a tenth of real time mostly sleep. All others run two at a time, one for each core."""
RECORDS = {"range": "RangeSample", "front": "CameraImage"}


@dataclass(frozen=True, slots=True)
class SyncRun:
    """One run to be flown."""

    table: Table
    setup: str
    k: int
    stream: str = ""
    """The sensor, for Table I."""

    @property
    def name(self) -> str:
        words = [self.table.name, self.setup, self.stream, str(self.k)]
        return "-".join(word.lower().replace(", ", "-").replace(" ", "-") for word in words if word)

    @property
    def arguments(self) -> list[str]:
        more = ["--stream", self.stream, "--samples", str(SAMPLES)] if self.stream else []
        return [self.table.task, *self.table.arguments, *more]


def runs_of(plan: SyncPlan) -> Iterator[SyncRun]:
    for table in plan.tables:
        streams = SENSORS if table.task == "sensor-characterisation" else ("",)
        for setup, count in table.runs.items():
            yield from (
                SyncRun(table, setup, k, stream) for stream in streams for k in range(FIRST_RUN, FIRST_RUN + count)
            )


def fly_all(runs: Iterable[SyncRun], folder: Path, progress: Progress = silent, at_once: int = 2) -> dict[str, Run]:
    """The scores of these runs, by their names, after the missing ones were flown."""
    jobs = [Job.of(folder, run.name, fly, run) for run in runs]
    return all_runs(jobs, local_pool(at_once), progress, _describe)


def _describe(score: Run) -> str:
    return score.get("unfinished") or ", ".join(f"{what} {value:.3g}" for what, value in score.items())


def fly(run: SyncRun, pace: float | None = None) -> Run:
    """Its scores, or why it is unfinished. `pace` is the simulator's, if it differs from that of the set-up."""
    scenario = run_of(run.table, run.k)
    runs_on = computer(run.arguments, 1.0 if run.setup == HOST else BOARD)
    with tempfile.TemporaryDirectory(prefix="skyloop-sync-hil-") as scratch:
        folder = Path(scratch) / "run"
        try:
            outside = options_for(run.setup, pace).model_copy(update={"target": runs_on})
            summary = run_scenario(scenario, folder, links=[outside])
            how = runs_on.ended()
            if how is not None and not how.startswith("exit code 0"):
                raise LinkError(f"{how}, after {summary['simulated_s']:.0f} s of simulated time")
            return SCORES[run.table.task](read_run(folder, summary), scenario)
        except SkyloopError as error:
            return {"unfinished": str(error)}


def source() -> str:
    """Source of the C++ SUT, beside the package in a checkout."""
    path = Path(__file__).parents[3] / "examples" / "cpp-sut" / "sut.cpp"
    if not path.exists():
        raise SetupError("the C++ SUT (examples/cpp-sut) is only in a checkout of skyloop; reproduce sync-hil there")
    return str(path)


def computer(arguments: Sequence[str], speed: float) -> LocalProcess:
    """The agent counts the processor time of the SUT, including decoding and encoding."""
    return LocalProcess([source(), *arguments], clock="cpu", speed=speed, freeze=True, name=f"board of speed {speed:g}")


def options_for(setup: str, pace: float | None = None) -> LoopConfig:
    """The time mode, and what the acquisition of a sample takes.

    A cable takes its time however slow the simulator is: without synchronisation less simulated time passes meanwhile.
    """
    if setup == FREE:
        pace = pace or SLOW_SIMULATOR
        return LoopConfig(mode="none", delays=_delays(TARGET, pace), pace=pace, hang_s=HANG_S, power=POWER)
    return LoopConfig(delays=_delays(setup), pace=pace, hang_s=HANG_S, power=POWER)


def _delays(setup: str, pace: float = 1.0) -> dict[str, float]:
    """Simulated s by kind of record."""
    return {RECORDS[stream]: pace * seconds for stream, seconds in ACQUIRING[setup].items()}
