"""Table 5 of airloop: frames per second of a recording, by radar, storage and quality."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyloop.datasets.rig import STAGES, TRIAL_SENSORS, trial_recording
from skyloop_papers.experiment import Cell, Experiment, ExperimentPlan, Rule
from skyloop_papers.runs import Progress, Run, RunWorkers, keep
from skyloop_papers.tables import Cells, paragraph, table

QUALITIES = ("low", "medium", "high", "epic", "cinematic")
TABLE_5: dict[tuple[bool, bool], tuple[float, ...]] = {
    (False, True): (7.51, 5.86, 4.8, 4.56, 4.6),
    (False, False): (25.5, 20.3, 18.74, 18.4, 17.63),
    (True, True): (7.17, 5.5, 4.78, 4.51, 4.4),
    (True, False): (20.1, 19.4, 17.2, 16.17, 15.17),
}
"""(with storage, with radar): frames per second at each quality, on a laptop with an RTX 3060."""


@dataclass(frozen=True, slots=True)
class OfflinePlan(ExperimentPlan):
    frames: int = 500
    qualities: tuple[str, ...] = QUALITIES

    def plain(self) -> dict[str, Any]:
        published = {f"{store=}, {radar=}": list(rates) for (store, radar), rates in TABLE_5.items()}
        qualities, sensors = list(self.qualities), list(TRIAL_SENSORS)
        return {"frames": self.frames, "qualities": qualities, "sensors": sensors, "published": published}


def run_name(quality: str, store: bool, radar: bool) -> str:
    return f"{quality}-{'radar' if radar else 'none'}-{'stored' if store else 'not'}"


def row_name(quality: str, store: bool, radar: bool) -> str:
    return f"{quality}, {'with' if radar else 'without'} radar, {'with' if store else 'without'} storage"


class OfflineExperiment(Experiment[OfflinePlan, dict[str, Run]]):
    paper = "airloop"
    plans = OfflinePlan(), OfflinePlan(40, QUALITIES[:1])
    rules = (Rule("speed", "laptop with an i5-11400H and an RTX 3060", table="Table 5"),)
    not_run_by_run = "it measures times of this machine"

    def fly(self, plan: OfflinePlan, folder: Path, progress: Progress, workers: RunWorkers) -> dict[str, Run]:
        """Recordings run one after the other; a stopped command continues after the last one."""
        runs = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("runs/*.json")}
        sitting = 1 + max((run["sitting"] for run in runs.values()), default=0)
        for quality in plan.qualities:
            for store, radar in TABLE_5:
                name = run_name(quality, store, radar)
                if name not in runs:
                    summary = trial_recording(frames=plan.frames, radar=radar, store=store, quality=quality)
                    kept = {key: summary[key] for key in ("frames", "fps", "start_s", "core_ms_per_frame")}
                    runs[name] = {**kept, "sitting": sitting}
                    keep(folder / "runs" / f"{name}.json", runs[name])
                    progress(f"{name}: {summary['fps']:.1f} frames per second")
        return runs

    def judge(self, plan: OfflinePlan, runs: dict[str, Run]) -> list[Cell]:
        """The cells of the table, and the processor time by stage."""
        cells = []
        for number, quality in enumerate(plan.qualities):
            for (store, radar), published in TABLE_5.items():
                run, row = runs[run_name(quality, store, radar)], row_name(quality, store, radar)
                about = {
                    "world": "park", "frames": run["frames"],
                    "sensors": ",".join((*TRIAL_SENSORS, *(["radar"] if radar else []))), "width": 320, "height": 240,
                    "workers": os.cpu_count(), "getting_ready_s": round(run["start_s"], 2), "sitting": run["sitting"],
                }  # fmt: skip
                cells.append(Cell("Table 5", row, "", published[number], run["fps"], "1/s", conditions=about))
                for stage in STAGES:
                    spent = run["core_ms_per_frame"][stage]
                    cells.append(Cell("stages", row, stage, None, spent, "core-ms", conditions=about))
        return cells

    def page(self, cells: Sequence[Cell]) -> dict[str, str]:
        by = Cells(cells)
        stored = {quality: row_name(quality, True, False) for quality in QUALITIES}
        stages = {stage.replace("_", " "): (stage, ".1f") for stage in STAGES}
        return {
            "measured": _frames(by),
            "stages": by.by_row("core-ms per frame, no radar, with storage", stored, stages),
            "sitting": _sitting([cell for cell in cells if cell.table == "Table 5"]),
        }


EXPERIMENT = OfflineExperiment()


def _frames(cells: Cells) -> str:
    """Our figure, and the paper's in brackets."""
    rows = []
    for store, radar in TABLE_5:
        label = f"{'radar' if radar else 'no radar'}, {'with' if store else 'without'} storage"
        names = (row_name(quality, store, radar) for quality in QUALITIES)
        rows.append([label, *(cells.shown(name, "", "{ours:.1f} ({published:g})") for name in names)])
    return table(["frames per second, here (paper)", *QUALITIES], rows, right=1)


def _sitting(found: Sequence[Cell]) -> str:
    sittings = max(cell.conditions["sitting"] for cell in found)
    how = "in one go" if sittings == 1 else f"in {sittings} goes"
    about = "{frames} frames each, {workers} workers, no GPU.".format(**found[0].conditions)
    return paragraph(f"All {len(found)} recordings are of one command, {how}: {about}")
