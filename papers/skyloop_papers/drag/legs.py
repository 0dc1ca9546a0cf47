"""Figs. 18 to 20 of the paper: the way, the measured acceleration and that of both models along x, y and z, on the legs
at 5 and 10 m/s."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.core.frames import rotate
from skyloop_client.messages import Array
from skyloop_papers.drag.flights import CALIBRATION, RATE_HZ, DragFlight, Record, Truth, record_flight
from skyloop_papers.drag.models import PUBLISHED_RMSE, LinearDrag, RotorDrag, axis_errors, identify
from skyloop_papers.plots import INK, figure

GRAVITY = np.array([0.0, 0.0, -9.80665])
AXES = "xyz"
MEASURED, ROTOR, LINEAR = "#8a929a", "#1f77b4", "#d1495b"


@dataclass(frozen=True, slots=True, eq=False)
class Leg:
    """What one flight shows, in world axes: x along the legs, z up."""

    flight: DragFlight
    t: Array
    """(n,) s."""
    way: Array
    """(n, 3) m, from the start, by the velocity."""
    measured: Array
    """(n, 3) m/s², by an MPU6000."""
    calculated: dict[str, Array]
    """(n, 3) m/s² by model."""
    rmse: dict[str, float]
    """m/s², by model."""


def fly_legs(truth: Truth, flights: tuple[DragFlight, ...]) -> list[Leg]:
    """Both models are identified by the IMU on the calibration flight in the same air."""
    calibration = record_flight(truth.drag, CALIBRATION)
    linear, rotor = identify(calibration, calibration.imu_specific_force)
    models: dict[str, LinearDrag | RotorDrag] = {"linear": linear, "rotor": rotor}
    legs = []
    for flight in flights:
        record = record_flight(truth.drag, flight)
        force = {name: (record.thrust_body + model.force_body(record)) / record.mass for name, model in models.items()}
        rmse = {
            name: float(np.linalg.norm(axis_errors(model, record, record.imu_specific_force)))
            for name, model in models.items()
        }
        calculated = {name: _acceleration(record, each) for name, each in force.items()}
        measured = _acceleration(record, record.imu_specific_force)
        t = np.arange(len(record.thrust)) / RATE_HZ
        way = np.cumsum(record.velocity_world, axis=0) / RATE_HZ
        legs.append(Leg(flight, t, way, measured, calculated, rmse))
    return legs


def _acceleration(record: Record, specific_force: Array) -> Array:
    """(n, 3) m/s², in world axes."""
    return np.asarray(rotate(record.quat_wxyz, specific_force) + GRAVITY)


def plot_legs(truth: Truth, legs: list[Leg], path: Path) -> None:
    title = f"Figs. 18 to 20: legs of 80 m in air {truth.key} ({truth.label}), acceleration in world axes"
    with figure(path, (13.0, 4.6 * len(legs)), title) as drawn:
        for rows, leg in zip(np.atleast_1d(drawn.subfigures(len(legs), 1)), legs, strict=True):
            rows.suptitle(_said(leg), fontsize=9.5, color=INK)
            ways, accelerations = rows.subplots(2, 3, sharex=True, height_ratios=(1, 1.6))
            for k in range(3):
                _draw(ways[k], accelerations[k], leg, k)
            accelerations[1].legend(loc="upper left", fontsize=8)


def _said(leg: Leg) -> str:
    speed = leg.flight.speed
    here = ", ".join(
        f"{name} {leg.rmse[key]:.2f}" for key, name in (("rotor", "rotor drag"), ("linear", "linear drag"))
    )
    paper = ", ".join(
        f"{name} {PUBLISHED_RMSE[speed, key]:.2f}" for key, name in (("rotor", "rotor drag"), ("linear", "AirSim's"))
    )
    return f"{speed:g} m/s    RMSE here: {here} m/s²    the paper's, Table 2: {paper} m/s²"


def _draw(way: Any, acceleration: Any, leg: Leg, k: int) -> None:
    way.plot(leg.t, leg.way[:, k], color=INK, lw=1.2)
    way.set(title=f"{AXES[k]}-axis", ylabel="distance [m]" if k == 0 else "")
    if np.ptp(leg.way[:, k]) < 1.0:
        middle = float(leg.way[:, k].mean())
        way.set_ylim(middle - 0.5, middle + 0.5)
    acceleration.plot(leg.t, leg.measured[:, k], color=MEASURED, lw=0.7, label="measured (MPU6000)")
    acceleration.plot(leg.t, leg.calculated["linear"][:, k], color=LINEAR, lw=1.1, label="linear drag, eq. 5")
    acceleration.plot(leg.t, leg.calculated["rotor"][:, k], color=ROTOR, lw=1.1, label="rotor drag, eq. 13")
    acceleration.set(xlabel="time [s]", ylabel="acceleration [m/s²]" if k == 0 else "")
    if k == 1:
        acceleration.set_ylim(-1.0, 1.0)
