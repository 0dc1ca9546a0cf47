"""The record bench: figures from summaries, and one tiny recording with nothing stored; no timing is asserted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from page_runs import record_here
from skyloop.datasets.recording_run import plan_recording, record
from skyloop.datasets.rig import STAGES, RecordOptions, rig_scenario
from skyloop_client.errors import DatasetError
from skyloop_papers.benchmarks.runs import overlap, record_measurements


def summary(fps: float, *core_ms: float) -> dict[str, Any]:
    return {"fps": fps, "core_ms_per_frame": dict(zip(STAGES, core_ms, strict=True))}


def test_figures_follow_from_the_summaries() -> None:
    stored, thrown_away = summary(45.0, 20.0, 8.0, 4.0, 8.0), summary(50.0, 20.0, 8.0, 0.0, 8.0)
    made = {f.key: f for f in record_measurements(stored, thrown_away, summary(30.0, 20.0, 30.0, 4.0, 8.0), 0.2, "")}
    assert {"fps_without_radar", "fps_with_radar", "overlap", "journal_cost"} <= set(made)
    assert made["journal_cost"].value == 0.2 and made["journal_cost"].holds is False
    assert made["fps_without_radar"].holds is False and made["fps_with_radar"].holds is True
    assert made["sensors_core_ms_with_radar"].value == 30.0
    # 40 ms of work in 1000 / 45 ms on two cores
    assert overlap(stored, 2) == pytest.approx(40.0 / (1000.0 / 45.0 * 2))


@pytest.mark.slow("runs the benchmark")
@pytest.mark.parametrize("store", [True, False])
def test_the_same_flight_with_and_without_storage(tmp_path: Path, store: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    record_here(monkeypatch)
    folder = tmp_path / "recording"
    options = RecordOptions(world="flat", frames=12, rate_hz=20.0, sensors=("lidar", "imu"))
    plan_recording(rig_scenario(options), folder, frames=12, rate_hz=20.0, formats=(), store=store)
    summed = record(folder, 1)
    assert summed["frames_flown_now"] == 12
    assert (summed["journal_bytes"] > 0) is store
    assert len(list((folder / "journal").iterdir())) == (2 if store else 0)
    spent = summed["core_ms_per_frame"]
    assert set(spent) == set(STAGES)
    assert (spent["journal"] > 0.0) is store
    assert min(spent["sensors"], spent["physics_and_rest"]) > 0.0
    assert json.loads((folder / "summary.json").read_text())["core_ms_per_frame"] == spent


def test_formats_need_the_journal(tmp_path: Path) -> None:
    scenario = rig_scenario(RecordOptions(world="flat", frames=2, sensors=("lidar",)))
    with pytest.raises(DatasetError, match="journal"):
        plan_recording(scenario, tmp_path / "x", frames=2, rate_hz=20.0, formats=("tum",), store=False)
