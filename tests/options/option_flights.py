"""Short flights that differ in one option, and the one number in which the difference must show."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from pydantic import BaseModel

import skyloop
from skyloop.core.bus import Subscription
from skyloop.sim.scenario import AIRFRAMES, make_scenario
from skyloop.sim.simulation import Simulation
from skyloop_client.messages import (
    ActuatorState,
    Arm,
    Array,
    BatteryState,
    Event,
    Message,
    Position,
    Request,
    Setpoint,
    VehicleState,
    VehicleStatus,
)

HERE = Path(__file__).parent
DRONE = "vehicles.drone."
AIRFRAME = DRONE + "airframe."
IRIS = yaml.safe_load(AIRFRAMES["iris"].read_text())

Order = tuple[float, Setpoint | Request]


@dataclass(frozen=True, eq=False)
class Script:
    """What is flown: the orders and their times, the vehicle being an iris written out in full."""

    orders: tuple[Order, ...]
    seconds: float
    base: dict[str, Any] = field(default_factory=dict)
    """Dotted paths over the scenario's defaults."""

    def but(self, base: dict[str, Any] | None = None, *, seconds: float | None = None) -> Script:
        return Script(self.orders, seconds or self.seconds, {**self.base, **(base or {})})


@dataclass(frozen=True, eq=False)
class Flight:
    """Everything that was published while flying."""

    states: list[VehicleState]
    messages: dict[str, list[Message]]

    @functools.cached_property
    def t(self) -> Array:
        return np.array([state.t_ns for state in self.states]) * 1e-9

    @functools.cached_property
    def position(self) -> Array:
        return np.array([state.position for state in self.states])

    @functools.cached_property
    def velocity(self) -> Array:
        return np.array([state.velocity_world for state in self.states])

    @functools.cached_property
    def rates(self) -> Array:
        return np.array([state.angular_velocity_body for state in self.states])

    @functools.cached_property
    def quat(self) -> Array:
        return np.array([state.quat_wxyz for state in self.states])

    @functools.cached_property
    def rotor_speeds(self) -> Array:
        return np.array([state.rotor_speeds for state in self.states])

    @functools.cached_property
    def thrust(self) -> Array:
        """(n, rotors) N."""
        return np.array([state.rotor_thrusts for state in self.states])

    @functools.cached_property
    def wind(self) -> Array:
        return np.array([state.wind_world for state in self.states])

    @functools.cached_property
    def yaw(self) -> Array:
        w, x, y, z = self.quat.T
        return np.unwrap(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))

    @functools.cached_property
    def tilt(self) -> Array:
        _, x, y, _ = self.quat.T
        return np.arccos(np.clip(1 - 2 * (x * x + y * y), -1, 1))

    def records(self, stream: str) -> list[Any]:
        return [message.data for message in self.messages[f"drone/{stream}"]]

    @property
    def events(self) -> list[Event]:
        return self.records("events")

    @property
    def battery(self) -> list[BatteryState]:
        return self.records("battery")

    @property
    def status(self) -> list[VehicleStatus]:
        return self.records("status")

    @property
    def actuators(self) -> list[ActuatorState]:
        return self.records("actuators")

    def event_time(self, kind: str, text: str = "") -> float:
        """s of the first such event; infinite when there was none."""
        times = [e.t_ns * 1e-9 for e in self.events if e.kind == kind and text in e.text]
        return times[0] if times else np.inf

    def at(self, t: float) -> int:
        """Index of the state at `t` s."""
        return int(np.searchsorted(self.t, t - 1e-9))


def start(script: Script, changes: dict[str, Any] | None = None) -> Simulation:
    """The simulation at time 0; `changes` are dotted paths over the script's scenario."""
    data = {"vehicles": [{"name": "drone", "airframe": copy.deepcopy(IRIS)}]}
    overrides = copy.deepcopy({**script.base, **(changes or {})})
    return skyloop.build(make_scenario(data, overrides, folder=HERE))


def fly(script: Script, changes: dict[str, Any] | None = None) -> Flight:
    """Flown once per process for the same script and changes."""
    return _flown(script, json.dumps(changes or {}, sort_keys=True))


@functools.lru_cache(maxsize=256)
def _flown(script: Script, changes: str) -> Flight:
    with start(script, json.loads(changes)) as simulation:
        inboxes: dict[str, Subscription] = {name: simulation.subscribe(name) for name in simulation.bus.infos}
        for t, order in sorted(script.orders, key=lambda item: item[0]):
            simulation.run_until(t)
            simulation.send(order, vehicle="drone")
        simulation.run_until(script.seconds)
    messages = {name: list(inbox) for name, inbox in inboxes.items()}
    return Flight([message.data for message in messages["truth/drone"]], messages)


Measure = Callable[[Any], float]
"""What an option changes: a number of a flight."""


@dataclass(frozen=True, eq=False)
class Case:
    """One option: its changed value, and a number that must rise (or fall) by at least `least`."""

    value: Any
    script: Script
    measure: Measure
    least: float
    """Signed: negative when the number must fall."""


def check(case: Case, path: str) -> None:
    before, after = (case.measure(fly(case.script, changes)) for changes in ({}, {path: case.value}))
    check_change(f"{path} = {case.value}", before, after, case.least)


def check_change(option: str, before: float, after: float, least: float) -> None:
    change = float(after - before)
    assert change * np.sign(least) >= abs(least), f"{option}: from {before:.6g} to {after:.6g}, not {least:+g}"


def numbered(cases: Mapping[str, Sequence[object]]) -> list[tuple[str, int]]:
    """Each option with the number of each of its cases, for pytest."""
    return [(option, number) for option, tried in cases.items() for number in range(len(tried))]


def end(name: str, axis: int | None = None) -> Measure:
    """The last value; without an axis the mean over all of them."""
    return at(np.inf, name, axis)


def at(t: float, name: str, axis: int | None = None) -> Measure:
    """The value at `t` s."""

    def value(flight: Flight) -> float:
        row = np.atleast_1d(getattr(flight, name)[min(flight.at(t), len(flight.t) - 1)])
        return float(row.mean() if axis is None else row[axis])

    return value


def most(name: str, axis: int | None = None, *, sign: int = 1) -> Measure:
    """The largest value; with sign -1 the largest of the negatives."""
    return lambda flight: float((sign * getattr(flight, name)[(...,) if axis is None else np.s_[:, axis]]).max())


def battery_end(name: str) -> Measure:
    return lambda flight: float(getattr(flight.battery[-1], name))


def top_speed(flight: Flight) -> float:
    """m/s over ground."""
    return float(np.linalg.norm(flight.velocity[:, :2], axis=1).max())


def fields_of(model: type[BaseModel], *without: str) -> set[str]:
    """Every option of a config record, read from the code: a new one without a case fails its test."""
    assert set(without) <= set(model.model_fields), "an exception for a field that is no longer there"
    return set(model.model_fields) - set(without)


def repeated(item: Setpoint | Request, start: float, end: float, every: float = 0.2) -> tuple[Order, ...]:
    """A setpoint sent again before the failsafe thinks it lost."""
    return tuple((float(t), item) for t in np.arange(start, end, every))


def hold(x: float, y: float, z: float, yaw: float | None = 0.0) -> Position:
    return Position(np.array([x, y, z]), yaw)


def joined(*parts: Iterable[Order]) -> tuple[Order, ...]:
    return tuple(order for part in parts for order in part)


ALOFT = {DRONE + "position": [0.0, 0.0, 5.0]}
HOVER = Script(((0.0, Arm()), (0.0, hold(0, 0, 5))), 3.0, ALOFT)
STEP = Script(((0.0, Arm()), (0.0, hold(8, 3, 7, 1.0))), 3.0, ALOFT)
