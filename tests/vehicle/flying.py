"""Vehicles for the flight tests: high above the ground, in still air of sea level, no drag, no battery."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

import skyloop.vehicle
from skyloop.vehicle.airframe import Airframe, Drag, Rotor
from skyloop.vehicle.fleet import Fleet
from skyloop.vehicle.kernel_packing import Flying, RotorFault, Wrench, pack
from skyloop.vehicle.kernel_records import CONTROL_EXTERNAL, SET_POSITION
from skyloop.world.ground import Ground
from skyloop_client.messages import VehicleState
from skyloop_client.streams import NS_PER_S, Rate

GRAVITY = 9.80665


def read_airframe(name: str) -> Airframe:
    folder = Path(skyloop.vehicle.__file__).parent / "airframes"
    return Airframe(**yaml.safe_load((folder / f"{name}.yaml").read_text()))


IRIS = read_airframe("iris")
HOVER_SPEED = float(np.sqrt(IRIS.hover_thrust() / IRIS.motor.thrust_coefficient))


def ring(n: int, **changes: Any) -> Airframe:
    """The iris with n rotors evenly on a circle, neighbours spinning against each other."""
    angles = 2 * np.pi * (np.arange(n) + 0.5) / n
    rotors = [
        Rotor(position=(0.3 * float(np.cos(a)), 0.3 * float(np.sin(a)), 0.02), spin="ccw" if i % 2 else "cw")
        for i, a in enumerate(angles)
    ]
    return IRIS.model_copy(update={"rotors": rotors, **changes})


def make_fleet(
    *,
    airframe: Airframe = IRIS,
    count: int = 1,
    hz: int = 1000,
    ground: Ground | None = None,
    drag: Drag | None = None,
    wrenches: Sequence[Wrench] = (),
    rotor_faults: Sequence[RotorFault] = (),
    has_battery: bool = False,
    **params: Any,
) -> Fleet:
    """Vehicles all alike at the origin, the ground 10 km below; `params` overwrite fields of the record."""
    packed = pack(
        airframe,
        Flying(
            gravity=GRAVITY,
            home_altitude=0.0,
            drag=drag or Drag(model="none"),
            controller="cascade",
            control_divider=1,
            seed=1,
            name="drone",
            wrenches=wrenches,
            rotor_faults=rotor_faults,
            has_battery=has_battery,
        ),
    )
    for field, value in params.items():
        packed[field] = value
    return Fleet([packed] * count, Rate(hz), ground or Ground.flat(-10_000.0))


def stand(fleet: Fleet, i: int = 0) -> None:
    """Legs on flat ground at height 0."""
    legs = fleet.params[i]["contact_position"][fleet.params[i]["contact_is_leg"] > 0]
    fleet.place(i, np.array([0.0, 0.0, -legs[:, 2].min() - fleet.params[i]["centre_of_mass"][2]]), 0.0)


def set_motion(fleet: Fleet, i: int = 0, **parts: Any) -> None:
    """Overwrite position, velocity, quat or rates of the centre of mass."""
    places = {"position": slice(0, 3), "velocity": slice(3, 6), "quat": slice(6, 10), "rates": slice(10, 13)}
    for name, value in parts.items():
        fleet.states[i]["motion"][places[name]] = value


def hold_rotors(fleet: Fleet, speeds: Any, i: int = 0) -> None:
    """Rotors at these speeds now and for ever, whatever the attitude."""
    n = int(fleet.params[i]["n_rotors"])
    fleet.params[i]["control"] = CONTROL_EXTERNAL
    fleet.inputs[i]["armed"], fleet.inputs[i]["kind"] = 1, SET_POSITION
    fleet.states[i]["command"][:n] = speeds
    fleet.states[i]["rotor_speed"][:n] = speeds


def ask(fleet: Fleet, kind: int, i: int = 0, **fields: Any) -> None:
    """An armed vehicle with this setpoint from now."""
    row = fleet.inputs[i]
    row["armed"], row["kind"] = 1, kind
    row["t"] = fleet.states[i]["step"] * fleet.rate.period_s
    for name, value in fields.items():
        row[name] = value


def ns(seconds: float) -> int:
    return round(seconds * NS_PER_S)


def fly(fleet: Fleet, until: float, i: int = 0) -> VehicleState:
    """The state of vehicle i at `until` seconds."""
    fleet.advance_to(ns(until))
    return fleet.state(i, ns(until))


def initial_state(fleet: Fleet, i: int = 0) -> VehicleState:
    """The state with accelerations at the start of the next step, which is taken."""
    step = int(fleet.states[i]["step"])
    fleet.advance_to(fleet.rate.due_ns(step + 1))
    return fleet.state(i, fleet.rate.due_ns(step))


def record(fleet: Fleet, start: float, end: float, every: float, i: int = 0) -> tuple[NDArray[Any], list[VehicleState]]:
    """Times and states from `start` to `end` inclusive."""
    times = start + every * np.arange(round((end - start) / every) + 1)
    return times, [fly(fleet, float(t), i) for t in times]
