"""Table 5 of airloop: frames per second of a recording, by radar, storage and quality."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from skyloop.core.results import Result
from skyloop.datasets.trial_recording import SENSORS, STAGES, recorded
from skyloop_papers.result_files import begin_or_go_on, keep, write_results

PAPER = "airloop"
QUALITIES = ("low", "medium", "high", "epic", "cinematic")
TABLE_5: dict[tuple[bool, bool], tuple[float, ...]] = {
    (False, True): (7.51, 5.86, 4.8, 4.56, 4.6),
    (False, False): (25.5, 20.3, 18.74, 18.4, 17.63),
    (True, True): (7.17, 5.5, 4.78, 4.51, 4.4),
    (True, False): (20.1, 19.4, 17.2, 16.17, 15.17),
}
"""(with storage, with radar): frames per second at each quality, on a laptop with an RTX 3060."""
FRAMES, QUICK_FRAMES = 500, 40


def protocol(frames: int = FRAMES, qualities: Sequence[str] = QUALITIES) -> dict[str, Any]:
    """The constants that decide the figures."""
    published = {f"{store=}, {radar=}": list(rates) for (store, radar), rates in TABLE_5.items()}
    return {"frames": frames, "qualities": list(qualities), "sensors": list(SENSORS), "published": published}


def reproduce(
    *, quick: bool = False, folder: Path | None = None, told: Callable[[str], None] = lambda line: None
) -> list[Result]:
    """All twenty cells and their stages. The quick form has few frames and quality low only.

    Recordings run one after the other. With a folder each is kept, and a stopped command continues after the last
    one."""
    frames, qualities = (QUICK_FRAMES, QUALITIES[:1]) if quick else (FRAMES, QUALITIES)
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="skyloop-offline-") as made:
        place = folder or Path(made)
        begin_or_go_on(place, protocol(frames, qualities))
        sitting = 1 + max((json.loads(path.read_text())["sitting"] for path in place.glob("runs/*.json")), default=0)
        for number, quality in enumerate(qualities):
            for (store, radar), published in TABLE_5.items():
                path = place / "runs" / f"{quality}-{'radar' if radar else 'none'}-{'stored' if store else 'not'}.json"
                if not path.exists():
                    summary = recorded(frames=frames, radar=radar, store=store, quality=quality)
                    kept = {name: summary[name] for name in ("frames", "fps", "start_s", "core_ms_per_frame")}
                    keep(path, {**kept, "sitting": sitting})
                    told(f"{path.stem}: {summary['fps']:.1f} frames per second")
                summary = json.loads(path.read_text(encoding="utf-8"))
                results += cell_results(quality, store, radar, published[number], summary)
    if folder is not None:
        write_results(folder, results)
        (folder / "results.md").write_text(table(results), encoding="utf-8")
    return results


def cell_results(quality: str, store: bool, radar: bool, published: float, summary: dict[str, Any]) -> list[Result]:
    """A cell of the table, and the processor time by stage."""
    name = f"{quality}, {'with' if radar else 'without'} radar, {'with' if store else 'without'} storage"
    conditions = {
        "world": "park", "frames": summary["frames"], "sensors": ",".join((*SENSORS, *(["radar"] if radar else []))),
        "width": 320, "height": 240, "workers": os.cpu_count(), "getting_ready_s": round(summary["start_s"], 2),
        "sitting": summary["sitting"],
    }  # fmt: skip
    made = [Result(PAPER, "Table 5", name, published, summary["fps"], "1/s", conditions=conditions)]
    for stage in STAGES:
        spent = summary["core_ms_per_frame"][stage]
        made.append(Result(PAPER, "stages", f"{name}: {stage}", None, spent, "core-ms", conditions=conditions))
    return made


def table(results: list[Result]) -> str:
    """Markdown: frames per second beside the paper's, then the stages."""
    lines = ["# Table 5 of airloop", "", "| recording | paper, 1/s | here, 1/s | times |", "|---|---:|---:|---:|"]
    for result in results:
        if result.published is not None:
            times = result.measured / result.published
            lines.append(f"| {result.cell} | {result.published:g} | {result.measured:.1f} | {times:.1f} |")
    heads = [stage.replace("_", " ") for stage in STAGES]
    lines += ["", f"| core-ms per frame | {' | '.join(heads)} |", f"|---|{'---:|' * len(heads)}"]
    spent = [result for result in results if result.table == "stages"]
    for first in range(0, len(spent), len(STAGES)):
        row = spent[first : first + len(STAGES)]
        values = " | ".join(f"{result.measured:.1f}" for result in row)
        lines.append(f"| {row[0].cell.rpartition(':')[0]} | {values} |")
    return "\n".join(lines) + "\n"
