"""Acid test of synchronised time: the same software runs with a slowed simulator.

In mode `sync` its results may not change by more than they vary from run to run. In mode `none` they change, because a
slow simulator gives the software more time than the real world would."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skyloop.campaigns.pools import local_pool
from skyloop_client.errors import LinkError
from skyloop_papers.runs import Job, Run, all_runs, silent
from skyloop_papers.sync_hil.flights import SyncRun, fly
from skyloop_papers.sync_hil.plan import FIRST_RUN, FREE, TABLES, TARGET, TIME

SLOWED = (1, 3, 10)
"""Factors by which the simulator is slower than real time."""
LEVEL = 0.05
"""Significance level of the Kruskal-Wallis test."""
Times = dict[int, list[float]]
"""Seconds per run, by slowdown of the simulator."""


@dataclass(frozen=True, slots=True)
class AcidTest:
    task: str
    sync: Times
    none: Times

    @property
    def sync_is_the_same(self) -> bool:
        """The slowed groups are not distinguishable, and their means differ by no more than the runs of one group."""
        means = [statistics.mean(times) for times in self.sync.values()]
        spread = max(statistics.stdev(times) for times in self.sync.values())
        return kruskal(self.sync) >= LEVEL and max(means) - min(means) <= spread

    @property
    def none_drifts(self) -> bool:
        """With a slower simulator the software seems faster."""
        means = [statistics.mean(self.none[slowed]) for slowed in sorted(self.none)]
        return kruskal(self.none) < LEVEL and means[-1] < means[0]

    def text(self) -> str:
        lines = [f"| {self.task} | simulator slowed | runs | time (s) |", "|---|---|---|---|"]
        for mode, groups in (("sync", self.sync), ("none", self.none)):
            for slowed, times in sorted(groups.items()):
                spread = statistics.stdev(times) if len(times) > 1 else 0.0
                lines.append(
                    f"| {mode} | {slowed} times | {len(times)} | {statistics.mean(times):.2f} ± {spread:.2f} |"
                )
        judged = [f"sync: p = {kruskal(self.sync):.3f}, {'the same' if self.sync_is_the_same else 'not the same'}"]
        if self.none:
            judged.append(f"none: p = {kruskal(self.none):.4f}, {'drifts' if self.none_drifts else 'does not drift'}")
        return "\n".join([*lines, "", "; ".join(judged)])


def kruskal(groups: Times) -> float:
    """The p-value of the Kruskal-Wallis test: the probability of such differences if the groups are alike."""
    if len({time for times in groups.values() for time in times}) == 1:
        return 1.0
    from scipy import stats

    return float(stats.kruskal(*groups.values()).pvalue)


def acid_test(
    task: str = "face-anchor",
    *,
    runs: int = 10,
    slowed: Sequence[int] = SLOWED,
    modes: Sequence[str] = ("sync", "none"),
    most_at_once: int = 6,
) -> AcidTest:
    """Several runs fly at once, because slowed simulators mostly sleep."""
    found: dict[str, Times] = {"sync": {}, "none": {}}
    with tempfile.TemporaryDirectory(prefix="skyloop-acid-") as scratch:
        folder = Path(scratch)
        for mode in modes:
            for times in slowed:
                named = {f"{mode}-{times}-{k}": k for k in range(FIRST_RUN, FIRST_RUN + runs)}
                jobs = [Job.of(folder, name, time_of, task, mode, times, k) for name, k in named.items()]
                flown = all_runs(jobs, local_pool(max(1, min(times // 2, most_at_once))), silent, str)
                found[mode][times] = [run[TIME] for run in flown.values()]
    return AcidTest(task, found["sync"], found["none"])


def time_of(task: str, mode: str, slowed: int, k: int) -> Run:
    """The scores of the k-th run on the target."""
    table = next(one for one in TABLES if one.task == task)
    score = fly(SyncRun(table, TARGET if mode == "sync" else FREE, k), pace=1.0 / slowed)
    if "unfinished" in score:
        raise LinkError(f"{task}, {mode}, simulator slowed {slowed} times, run {k}: {score['unfinished']}")
    return score


if __name__ == "__main__":
    print(acid_test().text())
    print(acid_test("closed-path", runs=5, slowed=(1, 3), modes=("sync",)).text())
