"""Whether a run folder tells of a flight that can be: what must hold in every one, whatever the scenario says."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.recording.run_folder import Summary
from skyloop.sim.assembly import load_airframe
from skyloop.sim.scenario import Scenario, Vehicle
from skyloop.vehicle.airframe import Airframe
from skyloop.world.earth import Earth
from skyloop.world.ground import Ground
from skyloop_client.messages import Array

STAMPS = ("index", "arrival_ns", "t_ns")
UNDER_M = 0.5
"""m, how far a body origin may be below the ground: legs give way, and a crash at speed presses them in."""


def nonsense(folder: Path, scenario: Scenario, ground: Ground) -> str:
    """The first thing in a run folder that cannot be; empty if there is none."""
    return next(_found(folder, scenario, ground), "")


def _found(folder: Path, scenario: Scenario, ground: Ground) -> Iterator[str]:
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    yield from _of_summary(summary, scenario)
    for path in sorted((folder / "streams").rglob("*.csv")):
        columns = _columns(path)
        name = path.relative_to(folder / "streams").with_suffix("").as_posix()
        yield from _of_stream(name, columns)
    for vehicle in scenario.vehicles:
        path = folder / "streams" / "truth" / f"{vehicle.name}.csv"
        if path.exists():
            truth = _Truth(_columns(path))
            yield from (f"truth/{vehicle.name}: {what}" for what in truth.nonsense(scenario, vehicle, ground))
        battery = folder / "streams" / vehicle.name / "battery.csv"
        if battery.exists():
            yield from _of_battery(_columns(battery))


def _of_summary(summary: Summary, scenario: Scenario) -> Iterator[str]:
    for place, value in _leaves(summary):
        if (isinstance(value, float) and not np.isfinite(value)) or value in ("nan", "inf", "-inf"):
            yield f"summary.json: {place} is {value}"
    if not 0.0 <= summary["simulated_s"] <= scenario.duration + 1e-6:
        yield f"{summary['simulated_s']} s were simulated of {scenario.duration}"
    for name, vehicle in summary["vehicles"].items():
        if not -1e-9 <= vehicle["battery_left"] <= 1.0 + 1e-9:
            yield f"summary.json: {name} has {vehicle['battery_left']} of its battery left"


def _leaves(data: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from _leaves(value, f"{place}.{key}".lstrip("."))
    else:
        yield place, data


def _columns(path: Path) -> dict[str, list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    odd = [number for number, row in enumerate(rows) if len(row) != len(head)]
    if odd:
        return {"row of another length": [str(odd[0])]}
    return {name: [row[column] for row in rows] for column, name in enumerate(head)}


def _of_stream(name: str, columns: dict[str, list[str]]) -> Iterator[str]:
    if "row of another length" in columns:
        yield f"{name}: row {columns['row of another length'][0]} has another length than the head"
        return
    # events of one instant are told together, whichever happened first
    for stamp in ("index", "arrival_ns") if name.endswith("/events") or name.startswith("link/") else STAMPS:
        values = np.array(columns.get(stamp, []), np.int64)
        shrinks = np.diff(values) < (0 if stamp == "arrival_ns" else 1)
        if shrinks.any():
            yield f"{name}: {stamp} does not grow at row {int(np.argmax(shrinks)) + 1}"
    # NaN says in a setpoint that a quantity is not tracked, and of a range that nothing is in it
    if name.endswith("/setpoint"):
        return
    for column, cells in columns.items():
        if column != "distance" and any(cell in ("nan", "inf", "-inf") for cell in cells):
            yield f"{name}: {column} is not a number at row {[c in ('nan', 'inf', '-inf') for c in cells].index(True)}"


def _of_battery(columns: dict[str, list[str]]) -> Iterator[str]:
    left, used = (np.array(columns[name], float) for name in ("state_of_charge", "energy_used"))
    if (np.diff(left) > 1e-9).any() or (left < -1e-9).any() or (left > 1.0 + 1e-9).any():
        yield "the battery's state of charge grows, or is not between 0 and 1"
    if (np.diff(used) < -1e-9).any():
        yield "the battery's used energy becomes less"


class _Truth:
    """The columns of a vehicle's truth as arrays."""

    def __init__(self, columns: dict[str, list[str]]) -> None:
        self._columns = columns
        self.t = np.array(columns["t_ns"], float) / 1e9
        self.position, self.velocity = self._vector("position"), self._vector("velocity_world")
        self.wind = np.linalg.norm(self._vector("wind_world"), axis=1)
        self.thrust = np.abs(self._vector("rotor_thrusts")).sum(axis=1)

    def _vector(self, name: str) -> Array:
        chosen = [column for column in self._columns if column.rpartition("_")[0] == name]
        return np.array([self._columns[column] for column in chosen], float).T

    def nonsense(self, scenario: Scenario, vehicle: Vehicle, ground: Ground) -> Iterator[str]:
        off_unit = np.abs(np.linalg.norm(self._vector("quat_wxyz"), axis=1) - 1.0)
        if off_unit.max() > 1e-6:
            yield f"a quaternion's length is off 1 by {off_unit.max():g}"
        yield from self._jumps()
        if vehicle.wrenches:
            # a force of the scenario's own may do anything
            return
        airframe = load_airframe(vehicle.airframe, None if scenario.folder is None else Path(scenario.folder))
        yield from self._too_fast(scenario, airframe)
        yield from self._under_the_ground(ground, airframe)

    def _jumps(self) -> Iterator[str]:
        """A way that is not the integral of the velocity. The speed may change within an interval, at a bounce even
        its sign."""
        dt = np.diff(self.t)[:, None]
        means = 0.5 * (self.velocity[1:] + self.velocity[:-1])
        off = np.linalg.norm(np.diff(self.position, axis=0) - means * dt, axis=1)
        changes = np.linalg.norm(np.diff(self.velocity, axis=0), axis=1)
        allowed = (0.7 * changes + 0.3 * np.linalg.norm(means, axis=1) + 1.0) * dt[:, 0]
        if (off > allowed).any():
            row = int(np.argmax(off - allowed))
            yield f"at {self.t[row + 1]:.3f} s it is {off[row]:.3g} m from where its velocity brings it"

    def _too_fast(self, scenario: Scenario, airframe: Airframe) -> Iterator[str]:
        """Faster than thrust, gravity and wind can make it from rest, and with more energy than the rotors' work."""
        speed = np.linalg.norm(self.velocity, axis=1)
        gravity = Earth(scenario.earth).gravity
        most = 1.0 + self.wind.max() + (2.0 * airframe.max_thrust / airframe.mass + gravity) * self.t
        if (speed > most).any():
            row = int(np.argmax(speed - most))
            yield f"at {self.t[row]:.3f} s it flies {speed[row]:.4g} m/s, and {most[row]:.4g} would be possible"
        if scenario.world.name not in ("flat", "hills") or scenario.world.file or self.wind.max() > 0.0:
            return
        power = self.thrust * speed / airframe.mass
        work = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(self.t))])
        energy = 0.5 * speed**2 + gravity * (self.position[:, 2] - self.position[0, 2])
        if (energy > 1.3 * work + 2.0).any():
            row = int(np.argmax(energy - work))
            yield f"at {self.t[row]:.3f} s it has {energy[row]:.4g} J/kg, and its rotors have done {work[row]:.4g}"

    def _under_the_ground(self, ground: Ground, airframe: Airframe) -> Iterator[str]:
        legs = max(point[2] for point in (*airframe.contact.legs, *airframe.contact.body))
        # legs above the origin, or soft ones, are the scenario's own wish
        most = UNDER_M + max(legs, 0.0) + 20.0 * airframe.contact.sink
        for t, (x, y, z) in zip(self.t, self.position, strict=True):
            height = ground.at(x, y)[0]
            if z < height - most:
                yield f"at {t:.3f} s it is {height - z:.3g} m under the ground"
                return
