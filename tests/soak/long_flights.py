"""Four simulated hours with cameras: the memory of the command and of its renderer stays as it is."""

from __future__ import annotations

import csv
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import yaml
from process_looks import memory_mb, simulated_s
from trials import Part, Result

SKYLOOP = Path(sys.executable).parent / "skyloop"
HOURS = 4.0
EVERY_S = 2.0
"""Wall time between two looks."""
WARM_UP = 0.1
"""Of the flight, in which tables and caches fill."""
MOST_GROWTH = 0.05
PATIENCE_S = 3600.0
CAMERA = {"kind": "camera", "width": 64, "height": 48, "rate_hz": 0.2, "truth": ["depth", "labels"]}
SCENARIO = {
    "name": "long", "world": "blocks", "duration": HOURS * 3600.0, "physics_rate_hz": 250, "truth_rate_hz": 1,
    "vehicles": [{
        "name": "drone", "battery": False, "controller_rate_hz": 125,
        "pilot": {"kind": "hover", "duration": 1e6, "rate_hz": 1},
        "sensors": {
            "left": CAMERA, "right": {**CAMERA, "mode": "grey"}, "depth": {"kind": "depth_camera", "width": 64,
            "height": 48, "rate_hz": 0.2}, "imu": {"kind": "imu", "rate_hz": 5}, "gnss": {"kind": "gnss", "rate_hz": 1},
        },
    }],
}  # fmt: skip


class LongFlights(Part):
    name = "memory"
    most: ClassVar[int | None] = 1

    def trial(self, number: int) -> Iterable[Result]:
        (self.folder / "long.yaml").write_text(yaml.safe_dump({**SCENARIO, "seed": self.seed}), encoding="utf-8")
        what = f"{HOURS:g} simulated hours with cameras"
        with (self.folder / "said.txt").open("wb") as said:
            process = subprocess.Popen(
                [SKYLOOP, "run", "long.yaml", "--out", "run"], cwd=self.folder, stdout=said, stderr=said
            )
        try:
            looks = _watched(process, self.folder / "run")
        finally:
            process.kill()
            code = process.wait()
        with (self.folder / "memory.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("simulated_s", "mb"), *looks])
        if code != 0:
            return [Result(what, f"exit code {code}: {(self.folder / 'said.txt').read_text(errors='replace')[-300:]}")]
        _draw(looks, self.folder / "memory.png")
        warm = [mb for t, mb in looks if t > WARM_UP * HOURS * 3600.0]
        if len(warm) < 8:
            return [Result(what, f"only {len(warm)} looks; make EVERY_S shorter")]
        quarter = len(warm) // 4
        before, after = statistics.median(warm[:quarter]), statistics.median(warm[-quarter:])
        told = f"{before:.1f} MB after warm-up, {after:.1f} MB at the end, {after / before - 1.0:+.1%}"
        print(f"memory: {told}, {len(looks)} looks; {self.folder / 'memory.png'}", flush=True)
        return [Result(what, "" if after < (1.0 + MOST_GROWTH) * before else told)]


def _watched(process: subprocess.Popen[bytes], run: Path) -> list[tuple[float, float]]:
    """Simulated seconds and megabytes, until it ends."""
    looks: list[tuple[float, float]] = []
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        with suppress(subprocess.TimeoutExpired):
            process.wait(EVERY_S)
            return looks
        if (t := simulated_s(run)) and (not looks or t > looks[-1][0]):
            looks.append((t, memory_mb(process.pid)))
    return looks


def _draw(looks: list[tuple[float, float]], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([t / 3600.0 for t, _ in looks], [mb for _, mb in looks])
    axes.axvline(WARM_UP * HOURS, color="grey", linestyle=":")
    axes.set_xlabel("simulated time, h")
    axes.set_ylabel("memory of all processes, MB")
    axes.set_ylim(bottom=0.0)
    figure.savefig(path)
