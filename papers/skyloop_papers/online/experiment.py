"""Table 6 of airloop: bundles per second that a client gets, and the time of each stage (its eq. 1).

The client runs beside the SUT or on another machine, with one port or with five."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.core.results import Result
from skyloop_client.messages import Array
from skyloop_papers.online.plot import plot_stages
from skyloop_papers.result_files import begin_or_go_on, keep, write_results
from skyloop_papers.two_machines import run_engine, why_not_apart

PAPER = "airloop"
ENGINE = "skyloop_papers.online.engine"
STAGES = ("t1 engine to SUT", "t1 SUT to CUT", "t2", "t3")
COLUMNS = ("t1_engine_sut_ms", "t1_sut_cut_ms", "t2_ms", "t3_ms")
PERCENTILES = (50, 90, 99)
RATE_HZ = 20.0
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
class Sizes:
    frames: int = 1000
    runs: int = 3
    world: str = "park"
    radar: tuple[bool, ...] = (False, True)


@dataclass(frozen=True, slots=True)
class Cell:
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
    def seconds(self) -> Array:
        """(all frames, 4) s."""
        return np.concatenate(self.runs)

    @property
    def fps(self) -> list[float]:
        """Frames per second of each run."""
        return [len(run) / float(run.sum()) for run in self.runs]


def protocol(sizes: Sizes) -> dict[str, Any]:
    """The constants that decide the figures. More runs may be added to a folder later."""
    configurations = [asdict(configuration) for configuration in CONFIGURATIONS]
    sized = {"frames": sizes.frames, "world": sizes.world, "radar": list(sizes.radar)}
    return {**sized, "rate_hz": RATE_HZ, "configurations": configurations}


def reproduce(
    *,
    quick: bool = False,
    folder: Path | None = None,
    sizes: Sizes | None = None,
    told: Callable[[str], None] = lambda line: None,
) -> list[Result]:
    """All configurations, with and without radar. The quick form has few frames and one run."""
    sizes = sizes or (Sizes(frames=60, runs=1) if quick else Sizes())
    with tempfile.TemporaryDirectory(prefix="skyloop-online-") as made:
        place = folder or Path(made)
        begin_or_go_on(place, protocol(sizes))
        cells = all_cells(sizes, place, told)
    results = [result for cell in cells for result in cell_results(cell)]
    if folder is not None:
        write_results(folder, results)
        write_times(folder, cells)
        (folder / "results.md").write_text(table(cells), encoding="utf-8")
        plot_stages([cell.name for cell in cells], [cell.seconds for cell in cells], STAGES, folder / "online.png")
    return results


def all_cells(sizes: Sizes, place: Path, told: Callable[[str], None]) -> list[Cell]:
    """Round after round through all configurations, so that a slow hour of the machine affects them all."""
    why_not = why_not_apart()
    wanted = [(configuration, radar) for radar in sizes.radar for configuration in CONFIGURATIONS]
    for k in range(sizes.runs):
        for number, (configuration, radar) in enumerate(wanted):
            path = place / "runs" / f"{number}-{k}.json"
            if not path.exists():
                keep(path, flown(configuration, radar, sizes, why_not))
                told(f"{configuration.name}, {'with' if radar else 'without'} radar, run {k + 1} of {sizes.runs}")
    cells = []
    for number, (configuration, radar) in enumerate(wanted):
        runs = [json.loads((place / "runs" / f"{number}-{k}.json").read_text()) for k in range(sizes.runs)]
        conditions = {
            **runs[0]["conditions"],
            **{name: sum(run["conditions"][name] for run in runs) for name in ("unaligned", "violations")},
            "load_before": [run["conditions"]["load_before"] for run in runs],
        }
        cells.append(Cell(configuration, radar, [np.array(run["rows"]) for run in runs], conditions))
    return cells


def flown(configuration: Configuration, radar: bool, sizes: Sizes, why_not_apart: str) -> dict[str, Any]:
    """One configuration in its own processes, which have ended afterwards."""
    apart = configuration.apart and not why_not_apart
    patience_s = START_S + SLOWEST_S * sizes.frames
    told = {
        "frames": sizes.frames, "world": sizes.world, "rate_hz": RATE_HZ, "radar": radar, "apart": apart,
        "ports": configuration.ports(radar), "board": configuration.board, "patience_s": patience_s,
    }  # fmt: skip
    load = os.getloadavg()[0]
    seen = run_engine("reproduce online", ENGINE, told, apart=apart, patience_s=patience_s + 10.0)
    if not configuration.apart:
        network = "loopback; the CUT is a process of its own"
    else:
        network = "network namespaces joined by veth" if apart else f"loopback, for two machines: {why_not_apart}"
    conditions = {
        "world": sizes.world, "frames": sizes.frames, "runs": sizes.runs, "width": 320, "height": 240,
        "ports": told["ports"], "network": network, "mode": "sync", "bytes_per_frame": round(seen["bytes"]),
        "turned_deg": round(float(np.degrees(seen["turned"])), 1), "unaligned": seen["unaligned"],
        "violations": seen["violations"], "cores": os.cpu_count(), "load_before": round(load, 1),
    }  # fmt: skip
    return {"rows": seen["rows"], "conditions": conditions}


def cell_results(cell: Cell) -> list[Result]:
    """Frames per second beside the paper's, then the time by stage."""
    published = None if cell.radar else cell.configuration.published
    mean, sd = float(np.mean(cell.fps)), float(np.std(cell.fps, ddof=1)) if len(cell.runs) > 1 else None
    made = [Result(PAPER, "Table 6", cell.name, published, mean, "1/s", len(cell.runs), sd, cell.conditions)]
    for stage, seconds in zip(STAGES, cell.seconds.T, strict=True):
        for q in PERCENTILES:
            value = float(1e3 * np.percentile(seconds, q))
            made.append(Result(PAPER, "eq. 1", f"{cell.name}: {stage}, p{q}", None, value, "ms", len(seconds)))
    return made


def write_times(folder: Path, cells: list[Cell]) -> None:
    """Write the times of every frame, and their percentiles."""
    with (folder / "times.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["configuration", "ports", "radar", "run", "frame", *COLUMNS])
        for cell in cells:
            for k, run in enumerate(cell.runs):
                for number, row in enumerate(run):
                    shown = [f"{1e3 * value:.4f}" for value in row]
                    writer.writerow([cell.configuration.name, cell.conditions["ports"], cell.radar, k, number, *shown])
    with (folder / "percentiles.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["configuration", "ports", "radar", "percentile", *COLUMNS])
        for cell in cells:
            for q in PERCENTILES:
                shown = [f"{1e3 * value:.4f}" for value in np.percentile(cell.seconds, q, axis=0)]
                writer.writerow([cell.configuration.name, cell.conditions["ports"], cell.radar, q, *shown])


def table(cells: list[Cell]) -> str:
    """Markdown: frames per second beside the paper's, then the stages as p50 / p99."""
    lines = ["# Table 6 of airloop", "", "| SUT and CUT | ports | paper, 1/s | here, 1/s | times |"]
    lines.append("|---|---:|---:|---:|---:|")
    for cell in cells:
        published = None if cell.radar else cell.configuration.published
        beside = "| | " if published is None else f"| {published:g} | "
        mean = float(np.mean(cell.fps))
        times = "" if published is None else f"{mean / published:.1f}"
        lines.append(f"| {cell.name} | {cell.conditions['ports']} {beside}{mean:.1f} | {times} |")
    lines += ["", f"| ms, p50 / p99 | {' | '.join(STAGES)} |", f"|---|{'---:|' * len(STAGES)}"]
    for cell in cells:
        low, high = 1e3 * np.percentile(cell.seconds, 50, axis=0), 1e3 * np.percentile(cell.seconds, 99, axis=0)
        shown = " | ".join(f"{a:.2f} / {b:.2f}" for a, b in zip(low, high, strict=True))
        lines.append(f"| {cell.name} | {shown} |")
    told = cells[0].conditions
    lines += ["", f"Remote: {told['network']}. {told['frames']} frames in {told['world']}, {told['cores']} cores."]
    return "\n".join(lines) + "\n"
