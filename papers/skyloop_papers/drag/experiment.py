"""`skyloop reproduce drag`: section 3 of papers/depth-noise-and-rotor-drag, in truths that differ from both models.

For each truth both models are identified on one flight. Then they predict the acceleration of the other flights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skyloop_client.messages import Array
from skyloop_papers.drag.flights import (
    AIRFRAME,
    CALIBRATION,
    CONTROL,
    FLIGHTS,
    QUICK_FLIGHTS,
    RATE_HZ,
    TRUTHS,
    DragFlight,
    Record,
    Truth,
    record_flight,
)
from skyloop_papers.drag.models import (
    PUBLISHED_MEAN_RATIO,
    PUBLISHED_RATIO_AT_26,
    PUBLISHED_RMSE,
    Models,
    RotorDrag,
    Score,
    TruthTrial,
    axis_errors,
    identify,
    time_evaluation,
)
from skyloop_papers.drag.plots import plot_trials
from skyloop_papers.experiment import Cell, Cells, Experiment, ExperimentPlan, Rule
from skyloop_papers.runs import Progress, RunWorkers
from skyloop_papers.texts import table

FORCES = {"true": "truth", "imu": "MPU6000"}
"""The accelerations that count as measured, in identification and in evaluation."""
ROTOR, LINEAR, RATIO = "eq. 13", "eq. 5", "eq. 5 / eq. 13"
MODELS = {"linear": LINEAR, "rotor": ROTOR}
PUBLISHED_TIME = 4.36
"""µs."""


@dataclass(frozen=True, slots=True)
class DragPlan(ExperimentPlan):
    truths: tuple[Truth, ...] = (*TRUTHS, CONTROL)
    flights: tuple[DragFlight, ...] = FLIGHTS

    def plain(self) -> dict[str, Any]:
        return {
            "airframe": AIRFRAME,
            "rate_hz": RATE_HZ,
            "truths": [asdict(truth) for truth in self.truths],
            "flights": [asdict(flight) for flight in (CALIBRATION, *self.flights)],
            "published": [PUBLISHED_MEAN_RATIO, PUBLISHED_RATIO_AT_26, PUBLISHED_TIME, *PUBLISHED_RMSE.values()],
        }


class DragExperiment(Experiment[DragPlan, list[TruthTrial]]):
    paper = "depth-noise-and-rotor-drag"
    rules = (
        Rule("other", "a test of the test: the air is the rotor model itself", row="control"),
        Rule("same", "the air here is not the model that is judged; see the page", column=f".*{RATIO}.*"),
        Rule("other", "mass, airframe and paths of the paper's flights are not published", table="Table 2"),
        Rule("less", row="one drag evaluation.*"),
    )
    pictures = ("drag.png",)
    resumes = False
    not_run_by_run = "it keeps no single runs"

    def plan(self, *, quick: bool = False) -> DragPlan:
        return DragPlan(TRUTHS, QUICK_FLIGHTS) if quick else DragPlan()

    def fly(self, plan: DragPlan, folder: Path, progress: Progress, workers: RunWorkers) -> list[TruthTrial]:
        return [try_truth(truth, plan.flights) for truth in plan.truths]

    def judge(self, plan: DragPlan, runs: list[TruthTrial]) -> list[Cell]:
        return [cell for trial in runs for cell in trial_cells(trial)] + timing_cells(runs[0])

    def write(self, folder: Path, plan: DragPlan, runs: list[TruthTrial], cells: Sequence[Cell]) -> None:
        plot_trials(runs, folder / "drag.png")

    def page(self, cells: Sequence[Cell]) -> dict[str, str]:
        """Errors are against the true acceleration, in brackets against an MPU6000."""
        plan, by = DragPlan(), Cells(cells)
        keys = [truth.key for truth in plan.truths]
        return {
            "results": _flights(by, keys, plan.flights),
            "identified": _identified(by, keys, plan.flights[0]),
            "times": _times(cells),
        }

    def sentences(self, cells: Sequence[Cell]) -> list[str]:
        return _sentences(Cells(cells))


EXPERIMENT = DragExperiment()


def try_truth(truth: Truth, flights: tuple[DragFlight, ...]) -> TruthTrial:
    calibration = record_flight(truth.drag, CALIBRATION)
    models: Models = {}
    for force in FORCES:
        linear, rotor = identify(calibration, measured(calibration, force))
        models[force] = {"linear": linear, "rotor": rotor}
    return TruthTrial(truth, models, tuple(_score(truth, flight, models) for flight in flights))


def measured(record: Record, force: str) -> Array:
    return record.true_specific_force if force == "true" else record.imu_specific_force


def _score(truth: Truth, flight: DragFlight, models: Models) -> Score:
    record = record_flight(truth.drag, flight)
    errors = {
        force: {name: axis_errors(model, record, measured(record, force)) for name, model in by_name.items()}
        for force, by_name in models.items()
    }
    return Score(flight, len(record.thrust), record.mean_speed, record.largest_tilt_deg, errors)


def trial_cells(trial: TruthTrial) -> list[Cell]:
    """RMSE and ratio of every flight, then the mean ratio over Fig. 16's flights."""
    cells = []
    for score in trial.scores:
        for force in FORCES:
            cells += [_rmse(trial, score, force, model) for model in MODELS]
            cells.append(_ratio(trial, score, force))
    return cells + [_mean_ratio(trial, force) for force in FORCES]


def _rmse(trial: TruthTrial, score: Score, force: str, model: str) -> Cell:
    flight = score.flight
    published = PUBLISHED_RMSE[flight.speed, model] if flight.table == "Table 2" else None
    conditions = {
        **_conditions(trial, force, score),
        "model": MODELS[model],
        "identified": asdict(trial.models[force][model]),
        "rmse_along_body_axes": score.errors[force][model].tolist(),
    }
    row, column = trial.truth.key, f"{flight.label}, {MODELS[model]}, {FORCES[force]}"
    rmse = score.rmse(force, model)
    return Cell(flight.table, row, column, published, rmse, "m/s²", score.samples, None, conditions)


def _ratio(trial: TruthTrial, score: Score, force: str) -> Cell:
    flight = score.flight
    published = PUBLISHED_RATIO_AT_26 if flight.label == "circle 26 m/s" else None
    if flight.table == "Table 2":
        published = PUBLISHED_RMSE[flight.speed, "linear"] / PUBLISHED_RMSE[flight.speed, "rotor"]
    row, column = trial.truth.key, f"{flight.label}, {RATIO}, {FORCES[force]}"
    about = _conditions(trial, force, score)
    return Cell(flight.table, row, column, published, score.ratio(force), "1", score.samples, None, about)


def _mean_ratio(trial: TruthTrial, force: str) -> Cell:
    conditions = {**_conditions(trial, force), "mean": "of the ratios of the flights"}
    row, column = trial.truth.key, f"mean of {RATIO}, {FORCES[force]}"
    n = len(trial.of("Fig. 16"))
    return Cell("Fig. 16", row, column, PUBLISHED_MEAN_RATIO, trial.mean_ratio(force), "1", n, None, conditions)


def _conditions(trial: TruthTrial, force: str, score: Score | None = None) -> dict[str, Any]:
    conditions: dict[str, Any] = {
        "airframe": AIRFRAME,
        "truth": trial.truth.label,
        "drag": trial.truth.drag,
        "measured": FORCES[force],
        "thrust": "static curve from rotor speeds",
        "calibration": CALIBRATION.label,
        "wind": "calm",
        "rate_hz": RATE_HZ,
    }
    if score is not None:
        conditions |= {
            "trajectory": score.flight.trajectory,
            "mean_speed": score.mean_speed,
            "largest_tilt_deg": score.largest_tilt_deg,
        }
    return conditions


def timing_cells(trial: TruthTrial) -> list[Cell]:
    """Eq. (13) with the rotation into body axes: inside compiled code, and as one call from Python."""
    model = trial.models["true"]["rotor"]
    assert isinstance(model, RotorDrag)
    cells = []
    for row, rows, calls in (
        ("one drag evaluation, compiled", 10_000, 10),
        ("one drag evaluation, called from Python", 1, 2_000),
    ):
        timing = time_evaluation(model, rows=rows, calls=calls)
        conditions = {
            "rows_per_call": rows,
            "calls": calls,
            "paper": "their hardware, not stated beside the figure",
        }
        cells.append(Cell("text", row, "", PUBLISHED_TIME, timing.mean, "µs", timing.repeats, timing.sd, conditions))
    return cells


# ---- the page


def _both(cells: Cells, key: str, flight: str, what: str, digits: int) -> str:
    """The error against the truth, and in brackets against an MPU6000."""
    true, imu = (cells.value(key, f"{flight}, {what}, {force}") for force in ("truth", "MPU6000"))
    return f"{true:.{digits}f} ({imu:.{digits}f})"


def _flights(cells: Cells, keys: Sequence[str], flights: Sequence[DragFlight]) -> str:
    rows = []
    for key in keys:
        for flight in flights:
            linear, rotor = (_both(cells, key, flight.label, what, 3) for what in (LINEAR, ROTOR))
            published = [cells[key, f"{flight.label}, {what}, truth"].published for what in (LINEAR, ROTOR, RATIO)]
            shown = f"{published[0]:.3g} / {published[1]:.3g}" if published[0] else ""
            shown = shown or (f"ratio {published[2]:.3g}" if published[2] else "")
            rows.append([key, flight.label, linear, rotor, _both(cells, key, flight.label, RATIO, 2), shown])
        mean = [cells.value(key, f"mean of {RATIO}, {force}") for force in ("truth", "MPU6000")]
        shown = f"{mean[0]:.2f} ({mean[1]:.2f})"
        rows.append([key, "mean ratio of Fig. 16's flights", "", "", shown, f"ratio {PUBLISHED_MEAN_RATIO}"])
    return table(["truth", "flight", "linear, eq. 5", "rotor, eq. 13", "ratio", "published"], rows)


def _identified(cells: Cells, keys: Sequence[str], flight: DragFlight) -> str:
    rows = []
    for key in keys:
        linear, rotor = (cells[key, f"{flight.label}, {what}, truth"].conditions for what in (LINEAR, ROTOR))
        d = ", ".join(f"{value:.3f}" for value in linear["identified"]["d"])
        found = rotor["identified"]
        rows.append([key, linear["truth"], d, f"{found['alpha']:.4f}, {found['beta']:.3f}"])
    return table(["truth", "drag flown", "D of eq. 5, N/(m/s)", "α, β of eq. 13"], rows)


def _times(cells: Sequence[Cell]) -> str:
    rows = [[cell.name, f"{cell.ours:.3g} ± {cell.sd:.1g}", f"{cell.published}"] for cell in cells if cell.unit == "µs"]
    return table(["time", "measured, µs", "published, µs"], rows)


def _sentences(cells: Cells) -> list[str]:
    """The numbers that the text of the page repeats."""

    def ratio(key: str, flight: str, force: str = "truth") -> str:
        return f"{cells.value(key, f'{flight}, {RATIO}, {force}'):.2f}"

    def along(key: str, axis: int) -> str:
        """Errors of both models along a body axis at 26 m/s, eq. 5 first."""
        found = (cells[key, f"circle 26 m/s, {what}, truth"].conditions for what in (LINEAR, ROTOR))
        return " ".join(f"{conditions['rmse_along_body_axes'][axis]:.2f}" for conditions in found)

    tilts = [cells[key, f"circle 26 m/s, {ROTOR}, truth"].conditions["largest_tilt_deg"] for key in "ABC"]
    fast = [ratio(key, "circle 26 m/s") for key in "ABC"]
    legs = [ratio(key, "80 m legs 10 m/s") for key in "ABC"]
    control = [
        cells.value("control", f"{flight.label}, {RATIO}, truth") for flight in FLIGHTS if flight.table == "Fig. 16"
    ]
    x5, x13 = along("A", 0).split()
    z5, z13 = along("A", 2).split()
    slow = ", ".join(ratio(key, "80 m legs 5 m/s", "MPU6000") for key in ("A", "B", "control"))
    return [
        f"At 26 m/s the ratio is {fast[0]} (A), {fast[1]} (B) and {fast[2]} (C)",
        f"here {legs[0]} (A), {legs[1]} (B), {legs[2]} (C)",
        f"rotor model is {int(np.floor(min(control)))} to {int(np.floor(max(control)))} times better",
        f"along body x are {x5} (eq. 5) and {x13} (eq. 13)",
        f"along body z {z5} and {z13}",
        f"tilted by {round(min(tilts))}° to {round(max(tilts))}°",
        f"A, B and the control ({slow})",
        f"from {ratio('control', 'circle 1.5 m/s', 'MPU6000')} at 1.5 m/s to "
        f"{float(ratio('control', 'circle 26 m/s', 'MPU6000')):.1f} at 26 m/s",
    ]
