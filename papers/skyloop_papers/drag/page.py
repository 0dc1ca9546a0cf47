"""The tables of results on the page on drag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from skyloop.core.results import Result
from skyloop_papers.drag.experiment import PUBLISHED_TIME
from skyloop_papers.drag.flights import AIRFRAME, CALIBRATION, CONTROL, FLIGHTS, RATE_HZ, TRUTHS
from skyloop_papers.drag.scores import PUBLISHED_MEAN_RATIO, PUBLISHED_RATIO_AT_26, PUBLISHED_RMSE
from skyloop_papers.pages import Cells, table

PICTURES = ("drag.png",)
KEYS = [truth.key for truth in (*TRUTHS, CONTROL)]
ROTOR, LINEAR, RATIO = "eq. 13", "eq. 5", "eq. 5 / eq. 13"


def protocol() -> dict[str, Any]:
    return {
        "airframe": AIRFRAME,
        "rate_hz": RATE_HZ,
        "truths": [asdict(truth) for truth in (*TRUTHS, CONTROL)],
        "flights": [asdict(flight) for flight in (CALIBRATION, *FLIGHTS)],
        "published": [PUBLISHED_MEAN_RATIO, PUBLISHED_RATIO_AT_26, PUBLISHED_TIME, *PUBLISHED_RMSE.values()],
    }


def blocks(results: Sequence[Result]) -> dict[str, str]:
    cells = Cells(results)
    return {"results": _flights(cells), "identified": _identified(cells), "times": _times(results)}


def _both(cells: Cells, key: str, flight: str, what: str, digits: int) -> str:
    """The error against the truth, and in brackets against an MPU6000."""
    true, imu = (cells.value(f"{key}: {flight}, {what}, {force}") for force in ("truth", "MPU6000"))
    return f"{true:.{digits}f} ({imu:.{digits}f})"


def _flights(cells: Cells) -> str:
    rows = []
    for key in KEYS:
        for flight in FLIGHTS:
            linear, rotor = (_both(cells, key, flight.label, what, 3) for what in (LINEAR, ROTOR))
            published = [cells[f"{key}: {flight.label}, {what}, truth"].published for what in (LINEAR, ROTOR, RATIO)]
            shown = f"{published[0]:.3g} / {published[1]:.3g}" if published[0] else ""
            shown = shown or (f"ratio {published[2]:.3g}" if published[2] else "")
            rows.append([key, flight.label, linear, rotor, _both(cells, key, flight.label, RATIO, 2), shown])
        mean = [cells.value(f"{key}: mean of {RATIO}, {force}") for force in ("truth", "MPU6000")]
        told = f"{mean[0]:.2f} ({mean[1]:.2f})"
        rows.append([key, "mean ratio of Fig. 16's flights", "", "", told, f"ratio {PUBLISHED_MEAN_RATIO}"])
    return table(["truth", "flight", "linear, eq. 5", "rotor, eq. 13", "ratio", "published"], rows)


def _identified(cells: Cells) -> str:
    rows = []
    for key in KEYS:
        linear, rotor = (cells[f"{key}: {FLIGHTS[0].label}, {what}, truth"].conditions for what in (LINEAR, ROTOR))
        d = ", ".join(f"{value:.3f}" for value in linear["identified"]["d"])
        found = rotor["identified"]
        rows.append([key, linear["truth"], d, f"{found['alpha']:.4f}, {found['beta']:.3f}"])
    return table(["truth", "drag flown", "D of eq. 5, N/(m/s)", "α, β of eq. 13"], rows)


def _times(results: Sequence[Result]) -> str:
    rows = [
        [result.cell, f"{result.measured:.3g} ± {result.sd:.1g}", f"{result.published}"]
        for result in results
        if result.unit == "µs"
    ]
    return table(["time", "measured, µs", "published, µs"], rows)


def said(results: Sequence[Result]) -> list[str]:
    """The numbers that the text of the page repeats."""
    cells = Cells(results)

    def ratio(key: str, flight: str, force: str = "truth") -> str:
        return f"{cells.value(f'{key}: {flight}, {RATIO}, {force}'):.2f}"

    def along(key: str, axis: int) -> str:
        """Errors of both models along a body axis at 26 m/s, eq. 5 first."""
        found = (cells[f"{key}: circle 26 m/s, {what}, truth"].conditions for what in (LINEAR, ROTOR))
        return " ".join(f"{conditions['rmse_along_body_axes'][axis]:.2f}" for conditions in found)

    tilts = [cells[f"{key}: circle 26 m/s, {ROTOR}, truth"].conditions["largest_tilt_deg"] for key in "ABC"]
    fast = [ratio(key, "circle 26 m/s") for key in "ABC"]
    legs = [ratio(key, "80 m legs 10 m/s") for key in "ABC"]
    control = [
        cells.value(f"control: {flight.label}, {RATIO}, truth") for flight in FLIGHTS if flight.table == "Fig. 16"
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
