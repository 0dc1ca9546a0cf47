"""How good a localisation was: absolute and relative errors, consistency, time per pair; and its files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.core.files import write_whole
from skyloop_autonomy.evaluation.estimate_log import errors_from_start
from skyloop_autonomy.evaluation.localising import Localised
from skyloop_autonomy.evaluation.trajectory_error import (
    STATES,
    Alignment,
    PoseTrajectory,
    absolute_errors,
    band,
    relative_errors,
    together,
)
from skyloop_client.errors import DatasetError
from skyloop_client.messages import Array
from skyloop_client.streams import NS_PER_S

NEES_EVERY_S = 0.5
"""Errors some hundred ms apart are nearly the same, and more of them add nothing."""


def scores(localised: Localised, how: Alignment = "se3", step: float = 1.0) -> dict[str, Any]:
    """Everything as plain numbers. Without truth, the errors are left out."""
    estimates = localised.estimates
    out: dict[str, Any] = {
        "pairs": localised.pairs,
        "imu_samples": localised.imu_samples,
        "valid_share": float(estimates.valid.mean()) if len(estimates) else 0.0,
        "finite": estimates.is_finite,
        "changes": [list(change) for change in localised.changes],
        "pair_ms": 1e3 * float(localised.pair_seconds.mean()),
        "pair_p95_ms": 1e3 * float(np.percentile(localised.pair_seconds, 95)),
        "stages_ms": {
            name: 1e3 * seconds / max(localised.pairs, 1) for name, seconds in localised.stage_seconds.items()
        },
    }
    if len(localised.truths.track) == 0:
        return out
    if not estimates.valid.any():
        why = localised.changes[-1][2] if localised.changes else "no estimate"
        return {**out, "never_valid": why}
    return {**out, **error_scores(localised, how, step)}


def error_scores(localised: Localised, how: Alignment, step: float) -> dict[str, Any]:
    truth, estimate = together(localised.truths.track, localised.estimates.track)
    absolute = absolute_errors(truth, estimate, how)
    out: dict[str, Any] = {
        "way_m": truth.length,
        "alignment": how,
        "ape_m": absolute.translation_rmse,
        "ape_max_m": float(absolute.translation.max()),
        "ape_deg": math.degrees(absolute.rotation_rmse),
        "ape_rot": absolute.rotation_matrix_rmse,
        # how far off the end is when heading and position agree at the start
        "end_error_m": float(absolute_errors(truth, estimate, "start").translation[-1]),
    }
    try:
        relative = relative_errors(truth, estimate, step, "m")
        out |= {
            "rpe_step_m": step,
            "rpe_m": relative.translation_rmse,
            "rpe_deg": math.degrees(relative.rotation_rmse),
        }
    except DatasetError:
        # the flight is shorter than two steps
        pass
    if localised.closed is not None:
        truth, closed = together(localised.truths.track, localised.closed.track)
        errors = absolute_errors(truth, closed, how)
        out |= {"closed_ape_m": errors.translation_rmse, "closed_ape_deg": math.degrees(errors.rotation_rmse)}
    return {**out, **_consistency(localised)}


def _consistency(localised: Localised) -> dict[str, Any]:
    at, values = nees_over_time(localised)
    if not len(values):
        return {}
    wanted = band(len(values))
    return {"nees": float(values.mean()), "nees_instants": len(at), "nees_band_of_one_run": [wanted.low, wanted.high]}


def nees_over_time(localised: Localised) -> tuple[Array, Array]:
    """s since the first valid estimate, and NEES of pose and velocity there. Its mean should be 9."""
    found = errors_from_start(localised.truths, localised.estimates)
    if not len(found.seconds):
        return np.zeros(0), np.zeros(0)
    since = found.seconds - found.seconds[0]
    # the first instants have next to no uncertainty of position
    wanted = np.arange(NEES_EVERY_S, since[-1], NEES_EVERY_S)
    rows = np.clip(np.searchsorted(since, wanted), 0, len(since) - 1)
    values = found.nees()[rows]
    usable = np.isfinite(values)
    return wanted[usable], values[usable]


def nees_over_runs(runs: list[tuple[Array, Array]]) -> tuple[float, float]:
    """The mean NEES over all runs, and the share of instants at which their mean lies in the 95 % band."""
    shortest = min((len(values) for _, values in runs), default=0)
    if shortest == 0:
        return math.nan, 0.0
    means = np.mean([values[:shortest] for _, values in runs], axis=0)
    wanted = band(len(runs), STATES)
    return float(means.mean()), float(np.mean((means >= wanted.low) & (means <= wanted.high)))


def write_tum(path: Path, track: PoseTrajectory) -> None:
    """One line per pose: seconds, position, quaternion with the scalar last."""
    w, x, y, z = track.quat_wxyz.T
    rows = zip(track.t_ns.tolist(), np.column_stack([track.position, x, y, z, w]).tolist(), strict=True)
    lines = (
        f"{t_ns // NS_PER_S}.{t_ns % NS_PER_S:09d} " + " ".join(f"{value:.9f}" for value in numbers)
        for t_ns, numbers in rows
    )
    write_whole(path, "# seconds x y z qx qy qz qw\n" + "".join(f"{line}\n" for line in lines))


def write_tracks(folder: Path, localised: Localised) -> None:
    """estimate.tum, and truth.tum at the same instants."""
    estimate = localised.estimates.track
    write_tum(folder / "estimate.tum", estimate)
    if len(localised.truths.track):
        write_tum(folder / "truth.tum", localised.truths.track.at(estimate.t_ns)[0])
