"""The flights of `skyloop reproduce e2es`: the plan, fixed before them, and one flight in a process of its own."""

from __future__ import annotations

import tempfile
from dataclasses import asdict, dataclass, field
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
from skyloop_autonomy.vio import VioSettings
from skyloop_client.errors import SkyloopError
from skyloop_papers.experiment import ExperimentPlan

SEEDS = tuple(range(31, 41))
"""Of each world. Lower seeds were looked at while the odometry was made."""
LAND_WITHIN = 0.3
"""m from the place of take-off."""
PUBLISHED_APE_M, PUBLISHED_APE_DEG, PUBLISHED_PAIR_MS = 0.3, 0.9, 22.0
"""Sections 5.1.1 and 5.1.2, and Table 1, computer 2, without loop closure."""


@dataclass(frozen=True, slots=True)
class LocalisationAim:
    """What should come out in one world; None: no aim."""

    ape_m: float | None = None
    worst_m: float | None = None
    ape_deg: float | None = None
    closed_m: float | None = None
    closed_deg: float | None = None
    share: float | None = None
    """APE over the way."""


AIMS = {
    "room": LocalisationAim(0.10, 0.20, 0.5, 0.05, 0.3),
    "corridor": LocalisationAim(0.15, None, 0.5, 0.08, None),
    "house": LocalisationAim(share=0.005),
    "warehouse": LocalisationAim(share=0.005),
    "park": LocalisationAim(share=0.005),
}
PAIR_MS, PAIR_P95_MS = 10.0, 20.0


@dataclass(frozen=True, slots=True)
class LocalisationPlan(ExperimentPlan):
    """What is flown. The quick form has fewer and shorter flights."""

    worlds: tuple[str, ...] = tuple(FLIGHTS)
    seeds: tuple[int, ...] = SEEDS
    cases: tuple[str, ...] = tuple(CASES)
    length: float | None = None
    """m of way in place of each flight's own."""
    settings: dict[str, Any] = field(default_factory=lambda: VioSettings(loops=True).model_dump(mode="json"))

    def plain(self) -> dict[str, Any]:
        flights = {
            name: {"trajectory": FLIGHTS[name].explored.model_dump(mode="json"), "aim": asdict(AIMS[name])}
            for name in self.worlds
        }
        return {**asdict(self), "flights": flights, "land_within": LAND_WITHIN}


QUICK = LocalisationPlan(("room",), (1,), ("nothing", "lights out"), 10.0)


KEPT = (
    "way_m", "ape_m", "ape_max_m", "ape_deg", "ape_rot", "closed_ape_m", "closed_ape_deg", "end_error_m", "rpe_m",
    "rpe_deg", "nees", "pair_ms", "pair_p95_ms", "stages_ms", "valid_share", "finite", "pairs",
)  # fmt: skip


def flight_on_estimate(world: str, seed: int, length: float | None, pictures: str = "") -> dict[str, Any]:
    """Fly on the estimate, and score the estimate and where the vehicle lands.

    pictures: a folder in which the world has one for tracks and plots; empty: none. What is scored is a second odometry
    with the same input as the one in flight, which also closes loops."""
    flight = FLIGHTS[world] if length is None else FLIGHTS[world].changed(length=length)
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
            write_all(Path(pictures) / world, localised, f"{world}, seed {seed}")
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
    with tempfile.TemporaryDirectory(prefix="skyloop-e2es-") as scratch:
        folder = Path(scratch) / "recording"
        record_flight(SHORT, seed, folder)
        source = open_source(folder)
        for name in names:
            try:
                rows[name] = case_scores(name, on_recording(name, source, source.messages()))
            except SkyloopError as error:
                rows[name] = {"about": CASES[name].about, "unfinished": str(error)}
    return rows
