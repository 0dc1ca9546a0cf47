"""Table 6 of airloop: bundles per second that a client gets, on the same machine and on another, by one port and by
five; where the time of each went (its eq. 1)."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.core.results import Result
from skyloop.reproductions.machines import APART, why_not_apart
from skyloop.reproductions.online_plot import plot_stages
from skyloop.reproductions.result_files import write_results
from skyloop_client.errors import LinkError
from skyloop_client.messages import Array

PAPER = "airloop"
STAGES = ("t1 engine to SUT", "t1 SUT to CUT", "t2", "t3")
COLUMNS = ("t1_engine_sut_ms", "t1_sut_cut_ms", "t2_ms", "t3_ms")
PERCENTILES = (50, 90, 99)
RATE_HZ = 20.0
START_S, SLOWEST_S = 120.0, 0.5
"""Wall s to get ready, and for a frame at worst: what takes longer is ended."""


@dataclass(frozen=True, slots=True)
class Configuration:
    name: str
    apart: bool
    spread: bool
    """A port for each sensor and one for commands."""
    published: float
    """Frames per second, without radar."""

    def ports(self, radar: bool) -> int:
        return 5 + radar if self.spread else 1


CONFIGURATIONS = (
    Configuration("same machine, one port", False, False, 8.45),
    Configuration("different machines, one port", True, False, 11.72),
    Configuration("different machines, a port each", True, True, 8.44),
)


@dataclass(frozen=True, slots=True)
class Sizes:
    frames: int = 1000
    world: str = "park"
    radar: tuple[bool, ...] = (False, True)


@dataclass(frozen=True, slots=True)
class Cell:
    """One configuration, flown."""

    configuration: Configuration
    radar: bool
    seconds: Array
    """(frames, 4) s of each stage."""
    conditions: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.configuration.name}, {'with' if self.radar else 'without'} radar"

    @property
    def fps(self) -> float:
        return len(self.seconds) / float(self.seconds.sum())


def reproduce(*, quick: bool = False, folder: Path | None = None, sizes: Sizes | None = None) -> list[Result]:
    """All configurations, with and without radar; the quick form has few frames."""
    sizes = sizes or Sizes(frames=60 if quick else 1000)
    why_not = why_not_apart()
    cells = [flown(c, radar, sizes, why_not) for radar in sizes.radar for c in CONFIGURATIONS]
    results = [result for cell in cells for result in cell_results(cell)]
    if folder is not None:
        write_results(folder, results)
        write_times(folder, cells)
        (folder / "results.md").write_text(table(cells), encoding="utf-8")
        plot_stages([cell.name for cell in cells], [cell.seconds for cell in cells], STAGES, folder / "online.png")
    return results


def flown(configuration: Configuration, radar: bool, sizes: Sizes, why_not_apart: str) -> Cell:
    """One configuration in processes of its own, which are gone afterwards."""
    apart = configuration.apart and not why_not_apart
    patience_s = START_S + SLOWEST_S * sizes.frames
    told = {
        "frames": sizes.frames, "world": sizes.world, "rate_hz": RATE_HZ, "radar": radar, "apart": apart,
        "ports": configuration.ports(radar), "patience_s": patience_s,
    }  # fmt: skip
    load = os.getloadavg()[0]
    seen = _run_engine([*(APART if apart else ()), sys.executable, "-m", "skyloop.reproductions.online_engine"], told)
    if not configuration.apart:
        network = "loopback; the CUT is a process of its own"
    else:
        network = "network namespaces joined by veth" if apart else f"loopback, for two machines: {why_not_apart}"
    conditions = {
        "world": sizes.world, "frames": sizes.frames, "width": 320, "height": 240, "ports": told["ports"],
        "network": network, "mode": "sync", "bytes_per_frame": round(seen["bytes"]),
        "turned_deg": round(float(np.degrees(seen["turned"])), 1), "unaligned": seen["unaligned"],
        "violations": seen["violations"], "cores": os.cpu_count(), "load_before": round(load, 1),
    }  # fmt: skip
    return Cell(configuration, radar, np.array(seen["rows"]), conditions)


def _run_engine(command: list[str], told: dict[str, Any]) -> Any:
    engine = subprocess.Popen(
        [*command, json.dumps(told)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        out, err = engine.communicate(timeout=told["patience_s"] + 10.0)
    except subprocess.TimeoutExpired:
        raise LinkError(f"reproduce online: no end after {told['patience_s']:.0f} s; the machine is too busy") from None
    finally:
        # the CUT and the renderer are of the same group
        with suppress(ProcessLookupError):
            os.killpg(engine.pid, signal.SIGKILL)
        engine.wait()
    if engine.returncode:
        raise LinkError(f"reproduce online: {(err.strip().splitlines() or ['no message'])[-1]}")
    return json.loads(out)


def cell_results(cell: Cell) -> list[Result]:
    """Frames per second beside the paper's, then where they went."""
    published = None if cell.radar else cell.configuration.published
    made = [Result(PAPER, "Table 6", cell.name, published, cell.fps, "1/s", len(cell.seconds), None, cell.conditions)]
    for stage, seconds in zip(STAGES, cell.seconds.T, strict=True):
        for q in PERCENTILES:
            value = float(1e3 * np.percentile(seconds, q))
            made.append(Result(PAPER, "eq. 1", f"{cell.name}: {stage}, p{q}", None, value, "ms", len(seconds)))
    return made


def write_times(folder: Path, cells: list[Cell]) -> None:
    """Every frame's times, and their percentiles."""
    with (folder / "times.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["configuration", "ports", "radar", "frame", *COLUMNS])
        for cell in cells:
            for number, row in enumerate(cell.seconds):
                shown = [f"{1e3 * value:.4f}" for value in row]
                writer.writerow([cell.configuration.name, cell.conditions["ports"], cell.radar, number, *shown])
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
        times = "" if published is None else f"{cell.fps / published:.1f}"
        lines.append(f"| {cell.name} | {cell.conditions['ports']} {beside}{cell.fps:.1f} | {times} |")
    lines += ["", f"| ms, p50 / p99 | {' | '.join(STAGES)} |", f"|---|{'---:|' * len(STAGES)}"]
    for cell in cells:
        low, high = 1e3 * np.percentile(cell.seconds, 50, axis=0), 1e3 * np.percentile(cell.seconds, 99, axis=0)
        shown = " | ".join(f"{a:.2f} / {b:.2f}" for a, b in zip(low, high, strict=True))
        lines.append(f"| {cell.name} | {shown} |")
    told = cells[-1].conditions
    lines += [
        "",
        f"Different machines: {told['network']}. {told['frames']} frames in {told['world']}, {told['cores']} cores.",
    ]
    return "\n".join(lines) + "\n"
