"""Table 6 of airloop: bundles per second that a client gets, and the time of each stage (its eq. 1).

The client runs beside the SUT or on another machine, with one port or with five, over cables of three rates. Judged is
what the paper found, that one port with the SUT beside the engine is the fastest, not the rates of two computers."""

from __future__ import annotations

import csv
import json
import os
import statistics
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skyloop_client.errors import SetupError
from skyloop_client.messages import Array
from skyloop_papers.experiment import Cell, Experiment, Rule
from skyloop_papers.online.engine import fly
from skyloop_papers.online.plan import (
    CABLES,
    CONFIGURATIONS,
    LEVEL,
    ONE_PORT,
    PAPERS_CABLE,
    PUBLISHED,
    RATE_HZ,
    OnlinePlan,
    Setup,
)
from skyloop_papers.online.turns import TurnServer
from skyloop_papers.paired_tests import holm, larger
from skyloop_papers.plots import figure
from skyloop_papers.runs import Progress, RunWorkers, keep
from skyloop_papers.tables import Cells, Form, by_table, lines, paragraph, shown, table
from skyloop_papers.two_machines import network_in_words, run_engine, why_not_apart

STAGES = ("t1 engine to SUT", "t1 SUT to CUT", "t2", "t3")
COLUMNS = ("t1_engine_sut_ms", "t1_sut_cut_ms", "t2_ms", "t3_ms")
PERCENTILES = (50, 90, 99)
FASTER = "one port is faster"
COLOURS = ("#2c6fbb", "#7fb3e6", "#e0a030", "#c0392b")
START_S, SLOWEST_S = 120.0, 0.5
"""Wall s to get ready, and per frame at most. A run that takes longer is stopped."""


@dataclass(frozen=True, slots=True)
class FlownSetup:
    """One set-up, flown several times."""

    setup: Setup
    runs: list[Array]
    """(frames, 4) s of each stage, for each run."""
    conditions: dict[str, Any]

    @property
    def name(self) -> str:
        return self.setup.name

    @property
    def published(self) -> float | None:
        as_theirs = self.setup.cable == PAPERS_CABLE and not self.setup.radar
        return self.setup.configuration.published if as_theirs else None

    @property
    def seconds(self) -> Array:
        """(all frames, 4) s."""
        return np.concatenate(self.runs)

    @property
    def fps(self) -> list[float]:
        """Frames per second of each run."""
        return [len(run) / float(run.sum()) for run in self.runs]


class OnlineExperiment(Experiment[OnlinePlan, list[FlownSetup]]):
    paper = "airloop"
    plans = OnlinePlan(), OnlinePlan(turns=3, runs=1, other_runs=1)
    rules = (
        Rule("speed", "laptop with an i5-11400H and an RTX 3060, and a Jetson Nano", table="Table 6"),
        Rule("same", "the link and the codec are others", table="one port over"),
        Rule("claim", "the page says what came out instead", table="claims"),
    )
    pictures = ("online.png",)
    not_run_by_run = "it measures times of this machine"

    def fly(self, plan: OnlinePlan, folder: Path, progress: Progress, workers: RunWorkers) -> list[FlownSetup]:
        """Round after round through all set-ups. Those of one cable take turns within a round."""
        why_not = why_not_apart()
        if not why_not and (no_cable := next(filter(None, map(why_not_apart, plan.cables)), "")):
            raise SetupError(f"online needs cables of a given rate (tc, with the queue tbf): {no_cable}")
        flown: dict[Setup, list[dict[str, Any]]] = {}
        for k in range(max(plan.runs, plan.other_runs)):
            for ring in plan.rings(k):
                paths = {setup: folder / "runs" / f"{setup.file}-{k}.json" for setup in ring}
                if not all(path.exists() for path in paths.values()):
                    for setup, run in fly_ring(ring, plan, why_not).items():
                        keep(paths[setup], run)
                    progress(f"{', '.join(setup.name for setup in ring)}: run {k + 1}")
                for setup, path in paths.items():
                    flown.setdefault(setup, []).append(json.loads(path.read_text(encoding="utf-8")))
        return [_flown(setup, runs) for setup, runs in flown.items()]

    def judge(self, plan: OnlinePlan, runs: list[FlownSetup]) -> list[Cell]:
        """Frames per second beside the paper's, how much faster one port is, and the time by stage."""
        cells = [_mean("Table 6", one.name, "", one.published, one.fps, "1/s", one.conditions) for one in runs]
        cells += findings(runs)
        for one in runs:
            for stage, seconds in zip(STAGES, one.seconds.T, strict=True):
                for q in PERCENTILES:
                    value = float(1e3 * np.percentile(seconds, q))
                    cells.append(Cell("eq. 1", one.name, f"{stage}, p{q}", None, value, "ms", len(seconds)))
        return cells

    def write(self, folder: Path, plan: OnlinePlan, runs: list[FlownSetup], cells: Sequence[Cell]) -> None:
        write_times(folder, runs)
        plot_stages(runs, folder / "online.png")

    def page(self, cells: Sequence[Cell]) -> dict[str, str]:
        found = by_table(cells)
        rated, stages = found["Table 6"], Cells(found["eq. 1"])
        return {
            "rates": lines(rated, RATES),
            "finding": _finding(found["one port over"], Cells(found["claims"])),
            "stages": _stages(stages),
            "conditions": _conditions(rated),
            "share": _share(stages),
        }


EXPERIMENT = OnlineExperiment()


def _mean(
    name: str, row: str, column: str, published: float | None, values: Sequence[float], unit: str, about: dict[str, Any]
) -> Cell:
    spread = statistics.stdev(values) if len(values) > 1 else None
    return Cell(name, row, column, published, statistics.mean(values), unit, len(values), spread, about)


def findings(flown: Sequence[FlownSetup]) -> list[Cell]:
    """On each cable, how many times as fast one port with the SUT beside the engine is as the others, round by round;
    and on the paper's, whether it is faster at all."""
    fps = {(one.setup.configuration, one.setup.cable): one.fps for one in flown if not one.setup.radar}
    ratios, tests = [], {}
    for other in PUBLISHED:
        for cable, rate in CABLES.items():
            if (other, cable) not in fps:
                continue
            quick, slow = fps[ONE_PORT, cable], fps[other, cable]
            published = PUBLISHED[other] if cable == PAPERS_CABLE else None
            ratio = [a / b for a, b in zip(quick, slow, strict=True)]
            ratios.append(_mean("one port over", other.name, rate, published, ratio, "1", {}))
            if cable == PAPERS_CABLE:
                tests[other.name] = larger(quick, slow)
    corrected = dict(zip(tests, holm(list(tests.values())), strict=True))
    return ratios + [
        Cell(
            "claims", name, FASTER, 1.0, float(corrected[name] < LEVEL), "held",
            conditions={"p": float(f"{p:.3g}"), "p_holm": float(f"{corrected[name]:.3g}")},
        )
        for name, p in tests.items()
    ]  # fmt: skip


def _flown(setup: Setup, runs: Sequence[dict[str, Any]]) -> FlownSetup:
    conditions = {
        **runs[0]["conditions"],
        **{name: sum(run["conditions"][name] for run in runs) for name in ("unaligned", "violations")},
        "load_before": [run["conditions"]["load_before"] for run in runs],
    }
    return FlownSetup(setup, [np.array(run["rows"]) for run in runs], conditions)


def fly_ring(ring: Sequence[Setup], plan: OnlinePlan, why_not_apart: str) -> dict[Setup, dict[str, Any]]:
    """Each set-up once, in processes of its own, all at the same time but frame by frame in turns."""
    with TurnServer(len(ring)) as server, ThreadPoolExecutor(len(ring)) as pool:
        started = [pool.submit(fly_once, setup, plan, why_not_apart, server.path) for setup in ring]
        try:
            return {setup: run.result() for setup, run in zip(ring, started, strict=True)}
        except BaseException:
            server.close()
            raise


def fly_once(setup: Setup, plan: OnlinePlan, why_not_apart: str, turns: str) -> dict[str, Any]:
    """turns: the path of the server."""
    configuration = setup.configuration
    apart = configuration.apart and not why_not_apart
    patience_s = START_S + len(CONFIGURATIONS) * SLOWEST_S * plan.frames
    task = {
        "frames": plan.frames, "turn": plan.turn, "turns": turns, "world": plan.world, "rate_hz": RATE_HZ,
        "radar": setup.radar, "apart": apart, "ports": configuration.ports(setup.radar), "board": configuration.board,
        "patience_s": patience_s, "cable": setup.cable if apart else "",
    }  # fmt: skip
    load = os.getloadavg()[0]
    seen = run_engine("reproduce online", fly, task, apart=apart, patience_s=patience_s + 10.0)
    here = "loopback; the CUT is a process of its own"
    network = network_in_words(why_not_apart) if configuration.apart else here
    conditions = {
        "world": plan.world, "frames": len(seen["rows"]), "width": 320, "height": 240,
        "ports": task["ports"], "cable": CABLES[setup.cable] if configuration.apart else "none", "network": network,
        "mode": "sync", "bytes_per_frame": round(seen["bytes"]),
        "turned_deg": round(float(np.degrees(seen["turned"])), 1), "unaligned": seen["unaligned"],
        "violations": seen["violations"], "cores": os.cpu_count(), "load_before": round(load, 1),
    }  # fmt: skip
    return {"rows": seen["rows"], "conditions": conditions}


def write_times(folder: Path, flown: Sequence[FlownSetup]) -> None:
    """Write the times of every frame, and their percentiles."""
    times: list[list[object]] = [["configuration", "cable", "ports", "radar", "run", "frame", *COLUMNS]]
    percentiles: list[list[object]] = [["configuration", "cable", "ports", "radar", "percentile", *COLUMNS]]
    for one in flown:
        setup, about = one.setup, one.conditions
        which = (setup.configuration.name, about["cable"], about["ports"], setup.radar)
        times += [[*which, k, j, *_ms(row)] for k, run in enumerate(one.runs) for j, row in enumerate(run)]
        percentiles += [[*which, q, *_ms(np.percentile(one.seconds, q, axis=0))] for q in PERCENTILES]
    for name, rows in (("times", times), ("percentiles", percentiles)):
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)


def _ms(seconds: Array) -> list[str]:
    return [f"{1e3 * value:.4f}" for value in seconds]


def plot_stages(flown: Sequence[FlownSetup], path: Path) -> None:
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
    "runs": "{n}",
    "paper, frames/s": "{published:g}",
    "here, frames/s": "{ours:.1f}[ ± {sd:.1f}]",
}


def _finding(ratios: Sequence[Cell], faster: Cells) -> str:
    if not ratios:
        return "Not measured yet.\n"
    rows = []
    for cell in ratios:
        published = cell.published is not None
        claim = faster.get((cell.row, FASTER)) if published else None
        size = [cell.column, cell.row, shown(cell, "{published:.2f}"), shown(cell, "{ours:.2f}[ ± {sd:.2f}]")]
        rows.append([*size, cell.verdict if published else "", shown(claim, "{p_holm:g}"), shown(claim, "{verdict}")])
    heads = ("cable", "one port over", "paper", "here", "as much faster", "p, Holm", "faster at all")
    return table(heads, rows)


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
        f"Runs of {first['frames']} frames each, mean and standard deviation of the runs;",
        f"{first['cores']} cores without a GPU. Another machine: {first['network']}.",
        f"Load averages before the runs: {min(loads):g} to {max(loads):g}.",
        f"Bundles whose samples were not of one instant, and commands before their time: {wrong}.",
    )
