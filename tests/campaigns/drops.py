"""The runs of a small reproduction, each of which leaves a folder. Not tests themselves."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from skyloop_papers.runs import Job


def drop(height: float, log: str, folder: str, doomed: float | None) -> dict[str, Any]:
    """Says which process it runs in and where it writes. A doomed one does not end the first time: a test kills it."""
    first = not list(Path(log).glob(f"{height:g}-*"))
    (Path(log) / f"{height:g}-{os.getpid()}-{os.getppid()}").touch()
    if first and height == doomed:
        signal.alarm(600)
        signal.pause()
    (Path(folder) / "plots").mkdir(parents=True)
    (Path(folder) / "plots" / "drop.txt").write_text(f"{height:g} m", encoding="utf-8")
    seconds = (2.0 * height / 9.81) ** 0.5
    return {"seconds": seconds, "again": f"skyloop run {folder}/scenario.yaml", "worst": float("nan")}


def drops(place: Path, count: int, doomed: float | None = None) -> list[Job]:
    for name in ("runs", "log"):
        (place / name).mkdir(parents=True)
    jobs = []
    for height in range(count):
        name = f"drop-{height}"
        failed = place / "failed" / name
        told = (height, str(place / "log"), str(failed), doomed)
        jobs.append(Job(name, place / "runs" / f"{name}.json", drop, told, leaves=failed))
    return jobs
