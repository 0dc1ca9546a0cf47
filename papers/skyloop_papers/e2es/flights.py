"""One flight of `skyloop reproduce e2es`, in a process of its own: on the estimate, or a hard case."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.sim.assembly import build
from skyloop_autonomy.evaluation.hard_cases import CASES, SHORT, case_scenario, case_scores, on_recording
from skyloop_autonomy.evaluation.localisation_report import write_all
from skyloop_autonomy.evaluation.localisation_scores import nees_over_time, scores
from skyloop_autonomy.evaluation.localising import localise, open_source
from skyloop_autonomy.evaluation.vio_flights import (
    FLIGHTS,
    ON_THE_ESTIMATE,
    checked_flight,
    flown,
    record_flight,
    source_of,
)
from skyloop_client.errors import SkyloopError
from skyloop_papers.e2es.plan import LAND_WITHIN

KEPT = (
    "way_m", "ape_m", "ape_max_m", "ape_deg", "ape_rot", "closed_ape_m", "closed_ape_deg", "end_error_m", "rpe_m",
    "rpe_deg", "nees", "pair_ms", "pair_p95_ms", "stages_ms", "valid_share", "finite", "pairs",
)  # fmt: skip


def flight_on_estimate(world: str, seed: int, length: float | None, pictures: str = "") -> dict[str, Any]:
    """Fly on the estimate, and score the estimate and where the vehicle lands.

    pictures: a folder for tracks and plots; empty: none. What is scored is a second odometry with the same input as the
    one in flight, which also closes loops."""
    flight = FLIGHTS[world] if length is None else replace(FLIGHTS[world], length=length)
    try:
        scenario, dry = checked_flight(flight, seed, ON_THE_ESTIMATE)
        with build(scenario) as simulation:
            source = source_of(simulation, scenario)
            localised = localise(source, source.messages())
            status = simulation.port.vehicle("drone").status
        scored = scores(localised)
        if "ape_m" not in scored:
            return {"unfinished": f"never valid: {scored.get('never_valid', 'no truth')}"}
        if pictures:
            write_all(Path(pictures), localised, f"{world}, seed {seed}")
    except SkyloopError as error:
        return {"unfinished": str(error)}
    positions = localised.truths.track.position
    off = float(np.linalg.norm((positions[-1] - positions[0])[:2]))
    if status.armed or not status.landed:
        return {"unfinished": f"it was not on the ground after {scenario.duration:g} s", "off_m": off}
    kept = {name: scored[name] for name in KEPT if name in scored}
    _, values = nees_over_time(localised)
    nees = [round(value, 4) for value in values.tolist()]
    return {**kept, "fastest_m_s": dry.fastest, "off_m": off, "lands": off <= LAND_WITHIN, "nees_values": nees}


def flown_case(name: str, seed: int) -> dict[str, Any]:
    """A hard case with a flight of its own."""
    try:
        with flown(case_scenario(name, seed)) as source:
            return case_scores(name, localise(source, source.messages()))
    except SkyloopError as error:
        return {"about": CASES[name].about, "unfinished": str(error)}


def sensor_cases(names: tuple[str, ...], seed: int) -> dict[str, dict[str, Any]]:
    """Cases without a flight of their own, all on one recording."""
    rows: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="skyloop-e2es-") as made:
        folder = Path(made) / "recording"
        record_flight(SHORT, seed, folder)
        source = open_source(folder)
        for name in names:
            try:
                rows[name] = case_scores(name, on_recording(name, source, source.messages()))
            except SkyloopError as error:
                rows[name] = {"about": CASES[name].about, "unfinished": str(error)}
    return rows
