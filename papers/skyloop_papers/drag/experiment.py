"""`skyloop reproduce drag`: section 3 of papers/depth-noise-and-rotor-drag, in truths that differ from both models.

For each truth both models are identified on one flight. Then they predict the acceleration of the other flights."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from skyloop.core.results import Result
from skyloop_client.messages import Array
from skyloop_papers.drag.flights import (
    AIRFRAME,
    CALIBRATION,
    CONTROL,
    FLIGHTS,
    QUICK_FLIGHTS,
    RATE_HZ,
    TRUTHS,
    Flight,
    Record,
    Truth,
    record_flight,
)
from skyloop_papers.drag.models import LinearDrag, RotorDrag, axis_errors, identify, time_evaluation
from skyloop_papers.drag.report import write_report
from skyloop_papers.drag.scores import (
    PUBLISHED_MEAN_RATIO,
    PUBLISHED_RATIO_AT_26,
    PUBLISHED_RMSE,
    Score,
    TruthTrial,
)

PAPER = "depth-noise-and-rotor-drag"
FORCES = {"true": "truth", "imu": "MPU6000"}
"""The accelerations that count as measured, in identification and in evaluation."""
MODELS = {"linear": "eq. 5", "rotor": "eq. 13"}
PUBLISHED_TIME = 4.36
"""µs."""


def reproduce(*, quick: bool, folder: Path | None) -> list[Result]:
    """Fly, identify, evaluate. With a folder, also write tables and a picture there."""
    truths, flights = (TRUTHS, QUICK_FLIGHTS) if quick else ((*TRUTHS, CONTROL), FLIGHTS)
    trials = [try_truth(truth, flights) for truth in truths]
    results = [result for trial in trials for result in trial_results(trial)]
    results += timing_results(trials[0])
    if folder is not None:
        write_report(folder, trials, results)
    return results


def try_truth(truth: Truth, flights: tuple[Flight, ...]) -> TruthTrial:
    calibration = record_flight(truth.drag, CALIBRATION)
    models: dict[str, dict[str, LinearDrag | RotorDrag]] = {}
    for force in FORCES:
        linear, rotor = identify(calibration, measured(calibration, force))
        models[force] = {"linear": linear, "rotor": rotor}
    return TruthTrial(truth, models, tuple(_score(truth, flight, models) for flight in flights))


def measured(record: Record, force: str) -> Array:
    return record.true_specific_force if force == "true" else record.imu_specific_force


def _score(truth: Truth, flight: Flight, models: dict[str, dict[str, LinearDrag | RotorDrag]]) -> Score:
    record = record_flight(truth.drag, flight)
    errors = {
        force: {name: axis_errors(model, record, measured(record, force)) for name, model in by_name.items()}
        for force, by_name in models.items()
    }
    return Score(flight, len(record.thrust), record.mean_speed, record.largest_tilt_deg, errors)


def trial_results(trial: TruthTrial) -> list[Result]:
    """RMSE and ratio of every flight, then the mean ratio over Fig. 16's flights."""
    results = []
    for score in trial.scores:
        for force in FORCES:
            results += [_rmse_result(trial, score, force, model) for model in MODELS]
            results.append(_ratio_result(trial, score, force))
    return results + [_mean_ratio_result(trial, force) for force in FORCES]


def _rmse_result(trial: TruthTrial, score: Score, force: str, model: str) -> Result:
    flight = score.flight
    published = PUBLISHED_RMSE[flight.speed, model] if flight.table == "Table 2" else None
    conditions = {
        **_conditions(trial, force, score),
        "model": MODELS[model],
        "identified": asdict(trial.models[force][model]),
        "rmse_along_body_axes": score.errors[force][model].tolist(),
    }
    cell = f"{trial.truth.key}: {flight.label}, {MODELS[model]}, {FORCES[force]}"
    return Result(
        PAPER,
        flight.table,
        cell,
        published,
        score.rmse(force, model),
        "m/s²",
        score.samples,
        None,
        conditions,
    )


def _ratio_result(trial: TruthTrial, score: Score, force: str) -> Result:
    flight = score.flight
    published = PUBLISHED_RATIO_AT_26 if flight.label == "circle 26 m/s" else None
    if flight.table == "Table 2":
        published = PUBLISHED_RMSE[flight.speed, "linear"] / PUBLISHED_RMSE[flight.speed, "rotor"]
    return Result(
        PAPER, flight.table, f"{trial.truth.key}: {flight.label}, eq. 5 / eq. 13, {FORCES[force]}",
        published, score.ratio(force), "1", score.samples, None, _conditions(trial, force, score),
    )  # fmt: skip


def _mean_ratio_result(trial: TruthTrial, force: str) -> Result:
    conditions = {**_conditions(trial, force), "mean": "of the ratios of the flights"}
    cell = f"{trial.truth.key}: mean of eq. 5 / eq. 13, {FORCES[force]}"
    n = len(trial.of("Fig. 16"))
    return Result(PAPER, "Fig. 16", cell, PUBLISHED_MEAN_RATIO, trial.mean_ratio(force), "1", n, None, conditions)


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


def timing_results(trial: TruthTrial) -> list[Result]:
    """Eq. (13) with the rotation into body axes: inside compiled code, and as one call from Python."""
    model = trial.models["true"]["rotor"]
    assert isinstance(model, RotorDrag)
    results = []
    for cell, rows, calls in (
        ("one drag evaluation, compiled", 10_000, 10),
        ("one drag evaluation, called from Python", 1, 2_000),
    ):
        timing = time_evaluation(model, rows=rows, calls=calls)
        conditions = {
            "rows_per_call": rows,
            "calls": calls,
            "paper": "their hardware, not stated beside the figure",
        }
        results.append(
            Result(PAPER, "text", cell, PUBLISHED_TIME, timing.mean, "µs", timing.repeats, timing.sd, conditions)
        )
    return results
