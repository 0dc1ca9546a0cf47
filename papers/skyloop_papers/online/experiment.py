"""Table 6 of airloop: bundles per second that a client gets, and the time of each stage (its eq. 1).

The client runs beside the SUT or on another machine, with one port or with five."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skyloop_client.messages import Array
from skyloop_papers.experiment import Cell, Experiment, ExperimentPlan, Rule
from skyloop_papers.online.engine import fly
from skyloop_papers.plots import figure
from skyloop_papers.runs import Progress, RunWorkers, keep
from skyloop_papers.tables import Cells, Form, by_table, lines, paragraph, table
from skyloop_papers.two_machines import network_in_words, run_engine, why_not_apart

STAGES = ("t1 engine to SUT", "t1 SUT to CUT", "t2", "t3")
COLUMNS = ("t1_engine_sut_ms", "t1_sut_cut_ms", "t2_ms", "t3_ms")
PERCENTILES = (50, 90, 99)
RATE_HZ = 20.0
COLOURS = ("#2c6fbb", "#7fb3e6", "#e0a030", "#c0392b")
START_S, SLOWEST_S = 120.0, 0.5
"""Wall s to get ready, and per frame at most. A run that takes longer is stopped."""


@dataclass(frozen=True, slots=True)
class Configuration:
    name: str
    apart: bool
    spread: bool
    """A port for each sensor and one for commands."""
    published: float | None
    """Frames per second, without radar."""
    board: bool = False
    """The SUT runs beside the CUT and pulls from the engine, with a thread for each sensor."""

    def ports(self, radar: bool) -> int:
        return 5 + radar if self.spread else 1


CONFIGURATIONS = (
    Configuration("SUT and CUT on board, engine remote, one port", True, False, 8.45, board=True),
    Configuration("SUT with the engine, CUT remote, one port", True, False, 11.72),
    Configuration("SUT with the engine, CUT remote, a port each", True, True, 8.44),
    Configuration("all on one machine, one port", False, False, None),
)


@dataclass(frozen=True, slots=True)
class OnlinePlan(ExperimentPlan):
    frames: int = 1000
    runs: int = 3
    world: str = "park"
    radar: tuple[bool, ...] = (False, True)

    def plain(self) -> dict[str, Any]:
        configurations = [asdict(configuration) for configuration in CONFIGURATIONS]
        sized = {"frames": self.frames, "world": self.world, "radar": list(self.radar)}
        return {**sized, "rate_hz": RATE_HZ, "configurations": configurations, "runs": self.runs}


@dataclass(frozen=True, slots=True)
class FlownConfiguration:
    """One configuration, flown several times."""

    configuration: Configuration
    radar: bool
    runs: list[Array]
    """(frames, 4) s of each stage, for each run."""
    conditions: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.configuration.name}, {'with' if self.radar else 'without'} radar"

    @property
    def published(self) -> float | None:
        return None if self.radar else self.configuration.published

    @property
    def seconds(self) -> Array:
        """(all frames, 4) s."""
        return np.concatenate(self.runs)

    @property
    def fps(self) -> list[float]:
        """Frames per second of each run."""
        return [len(run) / float(run.sum()) for run in self.runs]


class OnlineExperiment(Experiment[OnlinePlan, list[FlownConfiguration]]):
    paper = "airloop"
    plans = OnlinePlan(), OnlinePlan(frames=60, runs=1)
    rules = (Rule("speed", "laptop with an i5-11400H and an RTX 3060, and a Jetson Nano", table="Table 6"),)
    pictures = ("online.png",)
    not_run_by_run = "it measures times of this machine"

    def fly(self, plan: OnlinePlan, folder: Path, progress: Progress, workers: RunWorkers) -> list[FlownConfiguration]:
        """Round after round through all configurations, so that a slow hour of the machine affects them all."""
        why_not = why_not_apart()
        wanted = [(configuration, radar) for radar in plan.radar for configuration in CONFIGURATIONS]
        for k in range(plan.runs):
            for number, (configuration, radar) in enumerate(wanted):
                path = folder / "runs" / f"{number}-{k}.json"
                if not path.exists():
                    keep(path, flown(configuration, radar, plan, why_not))
                    which = f"{configuration.name}, {'with' if radar else 'without'} radar"
                    progress(f"{which}, run {k + 1} of {plan.runs}")
        every = []
        for number, (configuration, radar) in enumerate(wanted):
            runs = [json.loads((folder / "runs" / f"{number}-{k}.json").read_text()) for k in range(plan.runs)]
            conditions = {
                **runs[0]["conditions"],
                **{name: sum(run["conditions"][name] for run in runs) for name in ("unaligned", "violations")},
                "load_before": [run["conditions"]["load_before"] for run in runs],
            }
            every.append(FlownConfiguration(configuration, radar, [np.array(run["rows"]) for run in runs], conditions))
        return every

    def judge(self, plan: OnlinePlan, runs: list[FlownConfiguration]) -> list[Cell]:
        """Frames per second beside the paper's, then the time by stage."""
        cells = []
        for one in runs:
            mean, sd = float(np.mean(one.fps)), float(np.std(one.fps, ddof=1)) if len(one.runs) > 1 else None
            cells.append(Cell("Table 6", one.name, "", one.published, mean, "1/s", len(one.runs), sd, one.conditions))
            for stage, seconds in zip(STAGES, one.seconds.T, strict=True):
                for q in PERCENTILES:
                    value = float(1e3 * np.percentile(seconds, q))
                    cells.append(Cell("eq. 1", one.name, f"{stage}, p{q}", None, value, "ms", len(seconds)))
        return cells

    def write(self, folder: Path, plan: OnlinePlan, runs: list[FlownConfiguration], cells: Sequence[Cell]) -> None:
        write_times(folder, runs)
        plot_stages(runs, folder / "online.png")

    def page(self, cells: Sequence[Cell]) -> dict[str, str]:
        found = by_table(cells)
        rated, stages = found["Table 6"], Cells(found["eq. 1"])
        return {
            "rates": lines(rated, RATES),
            "stages": _stages(stages),
            "conditions": _conditions(rated),
            "share": _share(stages),
        }


EXPERIMENT = OnlineExperiment()


def flown(configuration: Configuration, radar: bool, plan: OnlinePlan, why_not_apart: str) -> dict[str, Any]:
    """One configuration in its own processes, which have ended afterwards."""
    apart = configuration.apart and not why_not_apart
    patience_s = START_S + SLOWEST_S * plan.frames
    task = {
        "frames": plan.frames, "world": plan.world, "rate_hz": RATE_HZ, "radar": radar, "apart": apart,
        "ports": configuration.ports(radar), "board": configuration.board, "patience_s": patience_s,
    }  # fmt: skip
    load = os.getloadavg()[0]
    seen = run_engine("reproduce online", fly, task, apart=apart, patience_s=patience_s + 10.0)
    here = "loopback; the CUT is a process of its own"
    network = network_in_words(why_not_apart) if configuration.apart else here
    conditions = {
        "world": plan.world, "frames": plan.frames, "runs": plan.runs, "width": 320, "height": 240,
        "ports": task["ports"], "network": network, "mode": "sync", "bytes_per_frame": round(seen["bytes"]),
        "turned_deg": round(float(np.degrees(seen["turned"])), 1), "unaligned": seen["unaligned"],
        "violations": seen["violations"], "cores": os.cpu_count(), "load_before": round(load, 1),
    }  # fmt: skip
    return {"rows": seen["rows"], "conditions": conditions}


def write_times(folder: Path, flown: Sequence[FlownConfiguration]) -> None:
    """Write the times of every frame, and their percentiles."""
    times: list[list[object]] = [["configuration", "ports", "radar", "run", "frame", *COLUMNS]]
    percentiles: list[list[object]] = [["configuration", "ports", "radar", "percentile", *COLUMNS]]
    for one in flown:
        which = (one.configuration.name, one.conditions["ports"], one.radar)
        times += [[*which, k, j, *_ms(row)] for k, run in enumerate(one.runs) for j, row in enumerate(run)]
        percentiles += [[*which, q, *_ms(np.percentile(one.seconds, q, axis=0))] for q in PERCENTILES]
    for name, rows in (("times", times), ("percentiles", percentiles)):
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)


def _ms(seconds: Array) -> list[str]:
    return [f"{1e3 * value:.4f}" for value in seconds]


def plot_stages(flown: Sequence[FlownConfiguration], path: Path) -> None:
    """Stacked bars of mean ms per stage. The right panel leaves out the first stage, which is many times the others."""
    names = [one.name.replace(", ", "\n", 1) for one in flown]
    with figure(path, (11, 0.6 * len(names) + 1.9), dpi=110) as drawn:
        both = drawn.subplots(1, 2, sharey=True, width_ratios=(3, 2))
        for first, (axes, title) in enumerate(zip(both, ("all of a frame", "without the engine"), strict=True)):
            left = np.zeros(len(names))
            for stage in range(first, len(STAGES)):
                means = [1e3 * float(one.seconds[:, stage].mean()) for one in flown]
                axes.barh(range(len(names)), means, left=left, color=COLOURS[stage], label=STAGES[stage])
                left += means
            axes.set(xlim=(0.0, 1.3 * left.max()), xlabel="mean ms per frame", title=title)
            for row, end in enumerate(left):
                label = f" {end:.1f} ms, {1e3 / end:.1f}/s" if first == 0 else f" {end:.2f} ms"
                axes.text(end, row, label, va="center", fontsize=8)
            axes.grid(axis="y", visible=False)
        both[0].set_yticks(range(len(names)), names, fontsize=8)
        both[0].invert_yaxis()
        handles, labels = both[0].get_legend_handles_labels()
        drawn.legend(handles, labels, loc="outside lower center", ncols=len(STAGES), fontsize=8)


# ---- the page


RATES: dict[str, Form] = {
    "where": "{row}",
    "ports": "{ports}",
    "paper, frames/s": "{published:g}",
    "here, frames/s": "{ours:.1f}[ ± {sd:.1f}]",
}


def _stages(cells: Cells) -> str:
    rows = []
    for name in cells.rows:
        pairs = ((cells.value(name, f"{stage}, p{q}") for q in (50, 99)) for stage in STAGES)
        rows.append([name, *(f"{middle:.2f} / {late:.1f}" for middle, late in pairs)])
    return table(["ms, p50 / p99", *STAGES], rows, right=1)


def _share(cells: Cells) -> str:
    """Share of a frame that the engine takes. The rest is the link and the software."""
    shares = []
    for name in cells.rows:
        middle = [cells.value(name, f"{stage}, p50") for stage in STAGES]
        shares.append(middle[0] / sum(middle))
    picture = "![mean times per frame](../images/online.png)\n\n"
    return picture + paragraph(
        f"From the command's effect until the SUT has the bundle, a frame takes {min(shares):.0%} to {max(shares):.0%}",
        "of its time (medians).",
    )


def _conditions(rated: Sequence[Cell]) -> str:
    first = rated[0].conditions
    loads = [load for cell in rated for load in cell.conditions["load_before"]]
    wrong = sum(cell.conditions["unaligned"] + cell.conditions["violations"] for cell in rated)
    return paragraph(
        f"{first['runs']} runs of {first['frames']} frames each, mean and standard deviation of the runs;",
        f"{first['cores']} cores without a GPU. Another machine: {first['network']}.",
        f"Load averages before the runs: {min(loads):g} to {max(loads):g}.",
        f"Bundles whose samples were not of one instant, and commands before their time: {wrong}.",
    )
