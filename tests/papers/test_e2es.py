"""`skyloop reproduce e2es`: what is kept, and what counts as failed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from throws import by_name, keep_runs

from skyloop_papers.e2es import experiment as e2es
from skyloop_papers.e2es.flights import LocalisationPlan
from skyloop_papers.runner import reproduce
from skyloop_papers.runs import Job

SMALL = LocalisationPlan(("room", "park"), (1, 2), ("nothing", "rain"))
FLIGHT: dict[str, Any] = {
    "way_m": 80.0, "ape_m": 0.06, "ape_max_m": 0.1, "ape_deg": 0.4, "ape_rot": 0.01, "end_error_m": 0.1, "rpe_m": 0.01,
    "rpe_deg": 0.1, "nees": 9.0, "pair_ms": 8.0, "pair_p95_ms": 12.0, "stages_ms": {"track": 5.0, "filter": 3.0},
    "valid_share": 1.0, "finite": True, "pairs": 100, "fastest_m_s": 1.0, "nees_values": [8.0, 10.0, 9.0],
    "closed_ape_m": 0.03, "closed_ape_deg": 0.2, "off_m": 0.1, "lands": True,
}  # fmt: skip
CASE = {"about": "no trouble", "finite": True, "way_m": 30.0, "ape_m": 0.02, "largest_m": 0.05, "lost_s": 0.0}


def write_runs(folder: Path, plan: LocalisationPlan, **changed: dict[str, Any]) -> None:
    def run_of(job: Job) -> dict[str, Any]:
        made = CASE if job.name.startswith("case-") else FLIGHT
        made = {"nothing": CASE} if job.name == "cases-on-one-flight" else made
        return changed.get(job.name.replace("-", "_"), made)

    keep_runs(folder, plan, e2es.jobs_of(plan, folder), run_of)


def test_runs_in_the_folder_are_not_flown_again(tmp_path: Path) -> None:
    write_runs(tmp_path, SMALL)
    lines: list[str] = []
    found = by_name(reproduce(e2es.EXPERIMENT, folder=tmp_path, plan=SMALL, progress=lines.append))
    assert lines == []
    room = found["room: APE, translation"]
    assert (room.ours, room.published, room.n) == (0.06, 0.3, 2)
    assert room.conditions["holds"] and room.conditions["aim"] == 0.10
    assert found["park: APE over the way"].ours == pytest.approx(0.075)
    assert found["room: APE with loop closure, translation"].ours == 0.03
    assert found["room: NEES"].ours == 9.0 and found["room: NEES"].conditions["holds"]
    assert found["localisation, per pair"].published == 22.0
    assert found["landed within 0.3 m"].ours == 4
    assert found["rain: APE"].ours == 0.02
    assert "| rain |" in (tmp_path / "hard-cases.md").read_text()


def test_an_unfinished_flight_is_a_failure(tmp_path: Path) -> None:
    gone = {"unfinished": "it did not land"}
    beside = {**FLIGHT, "off_m": 0.4, "lands": False}
    write_runs(tmp_path, SMALL, flight_room_2=gone, flight_park_1=beside, case_rain={"about": "rain", **gone})
    found = by_name(reproduce(e2es.EXPERIMENT, folder=tmp_path, plan=SMALL))
    assert found["room: flights finished"].ours == 1
    assert found["room: APE, translation"].conditions["holds"] is False, "0.06 m, but one flight is missing"
    assert found["room: APE, worst flight"].conditions["holds"] is False
    assert found["landed within 0.3 m"].ours == 2
    assert found["rain: finished"].ours == 0.0
    shown = e2es.EXPERIMENT.page(list(found.values()))
    assert "| room | 1 of 2 |" in shown["accuracy"] and "| rain | rain | failed |" in shown["cases"]
    assert "2 of 4 flights" in shown["landings"]
