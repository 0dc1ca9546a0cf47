"""One flight of `skyloop reproduce e2es`, in a process of its own: accuracy, landing on the estimate, hard cases."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.datasets.flown_sources import flown, messages_of
from skyloop.datasets.hard_cases import CASES, SHORT, case_scenario, case_scores, on_recording
from skyloop.datasets.localisation_report import write_all
from skyloop.datasets.localisation_scores import nees_over_time, scores
from skyloop.datasets.localising import localise, open_source
from skyloop.datasets.vio_flights import FLIGHTS, ON_THE_ESTIMATE, checked_flight, record_flight
from skyloop.reproductions.e2es_protocol import LAND_WITHIN
from skyloop.sim.assembly import build
from skyloop_client.errors import SkyloopError
from skyloop_client.messages import VehicleState

KEPT = (
    "way_m", "ape_m", "ape_max_m", "ape_deg", "ape_rot", "closed_ape_m", "closed_ape_deg", "end_error_m", "rpe_m",
    "rpe_deg", "nees", "pair_ms", "pair_p95_ms", "stages_ms", "valid_share", "finite", "pairs",
)  # fmt: skip


def accuracy(world: str, seed: int, length: float | None, pictures: str = "") -> dict[str, Any]:
    """Fly on the truth, estimate beside it, and score. pictures: a folder for tracks and plots; empty: none."""
    flight = FLIGHTS[world] if length is None else replace(FLIGHTS[world], length=length)
    try:
        scenario, dry = checked_flight(flight, seed)
        with flown(scenario) as source:
            localised = localise(source, source.messages())
        scored = scores(localised)
        if "ape_m" not in scored:
            return {"unfinished": f"never valid: {scored.get('never_valid', 'no truth')}"}
        if pictures:
            write_all(Path(pictures), localised, f"{world}, seed {seed}")
    except SkyloopError as error:
        return {"unfinished": str(error)}
    kept = {name: scored[name] for name in KEPT if name in scored}
    _, values = nees_over_time(localised)
    return {**kept, "fastest_m_s": dry.fastest, "nees_values": [round(value, 4) for value in values.tolist()]}


def landing(world: str, seed: int, length: float | None) -> dict[str, Any]:
    """Fly on the estimate; how far from its place of take-off it lands."""
    flight = FLIGHTS[world] if length is None else replace(FLIGHTS[world], length=length)
    states: list[VehicleState] = []
    try:
        scenario, _ = checked_flight(flight, seed, ON_THE_ESTIMATE)
        with build(scenario) as simulation:
            for message in messages_of(simulation, scenario):
                if message.stream == "truth/drone":
                    states.append(message.data)
            status = simulation.port.vehicle("drone").status
    except SkyloopError as error:
        return {"unfinished": str(error)}
    off = float(np.linalg.norm((states[-1].position - states[0].position)[:2]))
    if status.armed or not status.landed:
        return {"unfinished": f"it was not on the ground after {scenario.duration:g} s", "off_m": off}
    return {"off_m": off, "lands": off <= LAND_WITHIN}


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
