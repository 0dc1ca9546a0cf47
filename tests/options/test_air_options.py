"""Every drag model and number, wind, push and rotor fault changes the flight."""

from __future__ import annotations

from itertools import combinations
from typing import Any, get_args

import numpy as np
import pytest
from option_flights import (
    AIRFRAME,
    ALOFT,
    DRONE,
    HOVER,
    Case,
    Flight,
    Script,
    check,
    fields_of,
    fly,
    hold,
    joined,
    most,
    numbered,
)

from skyloop.sim.scenario import DragChoice
from skyloop.vehicle.airframe import Drag, DragModel
from skyloop.vehicle.kernel_packing import RotorFault, Wrench
from skyloop.world.atmosphere import Calm, ConstantWind, DrydenWind, FieldWind
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Arm


def final_tilt(flight: Flight) -> float:
    return float(flight.tilt[flight.t > flight.t[-1] - 0.5].mean())


def final_rotor_speed(flight: Flight) -> float:
    return float(flight.rotor_speeds[flight.t > flight.t[-1] - 0.5].mean())


# ---- drag

ALONG, ACROSS, UP = [8.0, 0.0, 0.0], [0.0, 8.0, 0.0], [0.0, 0.0, 4.0]


def breeze(wind: list[float], model: str) -> Script:
    base = {"wind": {"kind": "constant", "velocity": wind}, AIRFRAME + "drag.model": model}
    return HOVER.but(base, seconds=4.0)


LINEAR, BOX, NONE = (
    {tuple(wind): breeze(wind, model) for wind in (ALONG, ACROSS, UP)} for model in ("linear", "box", "none")
)
ROTOR, ROTOR_LINEAR, ROTOR_LUMPED = (breeze(ALONG, m) for m in ("rotor", "rotor-linear", "rotor-lumped"))
LOW = Script(((0.0, Arm()), (0.0, hold(0, 0, 0.25))), 3.0, {DRONE + "position": [0.0, 0.0, 0.25]})

# an updraught carries: the rotors have less to do
DRAG = {
    "model": [Case("none", ROTOR, final_tilt, -0.1), Case("box", ROTOR, final_tilt, -0.05)],
    "linear": [
        Case([1.1, 0.56, 0.35], LINEAR[*ALONG], final_tilt, 0.1),
        Case([0.56, 1.1, 0.35], LINEAR[*ACROSS], final_tilt, 0.1),
        Case([0.56, 0.56, 0.7], LINEAR[*UP], final_rotor_speed, -5.0),
    ],
    "box": [
        Case([0.06, 0.032, 0.135], BOX[*ALONG], final_tilt, 0.05),
        Case([0.032, 0.06, 0.135], BOX[*ACROSS], final_tilt, 0.05),
        Case([0.032, 0.032, 0.27], BOX[*UP], final_rotor_speed, -5.0),
    ],
    "rotor": [Case(0.12, script, final_tilt, 0.1) for script in (ROTOR, ROTOR_LINEAR, ROTOR_LUMPED)],
    "sqrt_slope": [Case(0.6, script, final_tilt, 0.1) for script in (ROTOR_LINEAR, ROTOR_LUMPED)],
    "sqrt_offset": [Case(2.0, script, final_tilt, 0.1) for script in (ROTOR_LINEAR, ROTOR_LUMPED)],
    "parasitic": [
        Case([0.03, 0.0, 0.0], NONE[*ALONG], final_tilt, 0.05),
        Case([0.0, 0.03, 0.0], NONE[*ACROSS], final_tilt, 0.05),
        Case([0.0, 0.0, 0.1], NONE[*UP], final_rotor_speed, -5.0),
    ],
    "ground_effect": [Case(1.0, LOW, final_rotor_speed, -5.0)],
    "translational_lift": [Case(0.005, ROTOR, final_rotor_speed, -10.0)],
    "axial_inflow": [Case(2e-4, NONE[*UP], final_rotor_speed, -10.0)],
}


def test_every_drag_option_has_a_case() -> None:
    assert set(DRAG) == fields_of(Drag) == fields_of(DragChoice)


@pytest.mark.parametrize("place", [DRONE, AIRFRAME], ids=["scenario", "airframe"])
@pytest.mark.parametrize(("name", "number"), numbered(DRAG))
def test_drag(place: str, name: str, number: int) -> None:
    check(DRAG[name][number], f"{place}drag.{name}")


TUMBLING_BREEZE = Script(
    joined([(0.0, Arm()), (0.0, hold(8, 3, 9, 3.0))]),
    3.0,
    {**ALOFT, "wind": {"kind": "constant", "velocity": [4.0, -7.0, 2.0]}},
)


def test_no_two_drag_models_fly_alike() -> None:
    flights = {model: fly(TUMBLING_BREEZE, {DRONE + "drag.model": model}) for model in get_args(DragModel)}
    for one, other in combinations(flights, 2):
        assert np.abs(flights[one].position - flights[other].position).max() > 1e-4, (one, other)


# ---- wind


def mean_wind_east(flight: Flight) -> float:
    return float(flight.wind[:, 0].mean())


def wind_spread(flight: Flight) -> float:
    return float(flight.wind.std(axis=0).max())


def wind_roughness(flight: Flight) -> float:
    """m/s between samples."""
    return float(np.abs(np.diff(flight.wind[1:], axis=0)).mean())


def winds_seen(flight: Flight) -> float:
    return float(len(np.unique(flight.wind.round(9), axis=0)))


CONSTANT = HOVER.but({"wind": {"kind": "constant", "velocity": [1.0, 0.0, 0.0]}})
DRYDEN = HOVER.but({"wind": {"kind": "dryden"}}, seconds=6.0)
FIELD = HOVER.but({"wind": {"kind": "field", "source": "option_plugins.py:SwirlingWind"}})
WIND: dict[Any, dict[str, Case]] = {
    Calm: {},
    ConstantWind: {"velocity": Case([5.0, 0.0, 0.0], CONSTANT, mean_wind_east, 3.9)},
    DrydenWind: {
        "mean": Case([5.0, 0.0, 0.0], DRYDEN, mean_wind_east, 3.0),
        "w20_kt": Case(45.0, DRYDEN, wind_spread, 0.3),
        "airspeed_floor": Case(20.0, DRYDEN, wind_roughness, 0.01),
    },
    FieldWind: {
        "source": Case("option_plugins.py:SteadyWind", FIELD, wind_spread, -2.0),
        "rate_hz": Case(2.0, FIELD, winds_seen, -90.0),
        "options": Case({"speed": 8.0}, FIELD, wind_spread, 2.0),
    },
}


def test_every_wind_option_has_a_case() -> None:
    for model, cases in WIND.items():
        assert set(cases) == fields_of(model, "kind")


@pytest.mark.parametrize(("model", "name"), [(model, name) for model, cases in WIND.items() for name in cases])
def test_wind(model: Any, name: str) -> None:
    check(WIND[model][name], f"wind.{name}")


@pytest.mark.parametrize(
    ("script", "drift"), [(CONSTANT, 0.01), (DRYDEN, 0.03), (FIELD, 0.03)], ids=["constant", "dryden", "field"]
)
def test_every_wind_moves_what_calm_leaves_alone(script: Script, drift: float) -> None:
    calm = fly(script, {"wind": {"kind": "calm"}})
    assert not calm.wind.any()
    assert np.abs(calm.position[:, :2]).max() < 1e-9
    assert np.linalg.norm(fly(script).position[:, :2], axis=1).max() > drift


# ---- pushes

PUSH = {"start": 1.0, "end": 1.5, "force": [4.0, 0.0, 0.0], "torque": [0.0, 0.0, 0.1]}
PUSHED = Script(
    ((0.0, Arm()), (0.0, hold(0, 0, 5, np.pi / 2))), 3.0, {**ALOFT, DRONE + "yaw_deg": 90.0, DRONE + "wrenches": [PUSH]}
)


def turn(flight: Flight) -> float:
    return float(np.abs(flight.rates[:, 2]).max())


def time_of_push(flight: Flight) -> float:
    return float(flight.t[np.argmax(flight.position[:, 0] > 1e-3)])


PUSHES = {
    "start": Case(1.4, PUSHED, time_of_push, 0.3),
    "end": Case(2.5, PUSHED, most("position", 0), 0.05),
    "force": Case([8.0, 0.0, 0.0], PUSHED, most("position", 0), 0.05),
    "torque": Case([0.0, 0.0, 0.3], PUSHED, turn, 0.1),
    "frame": Case("body", PUSHED, most("position", 1), 0.05),
}


def test_every_push_option_has_a_case() -> None:
    assert set(PUSHES) == fields_of(Wrench)
    assert set(get_args(Wrench.model_fields["frame"].annotation)) == {"world", "body"}


@pytest.mark.parametrize("name", PUSHES)
def test_push(name: str) -> None:
    check(PUSHES[name], f"{DRONE}wrenches.0.{name}")


# ---- rotor faults

STUCK = {"rotor": 0, "kind": "stuck", "start": 1.0, "value": 0.5, "end": 1.2}
WOUNDED = HOVER.but({DRONE + "rotor_faults": [STUCK]})


def strayed(flight: Flight) -> float:
    return float(np.linalg.norm(flight.position[flight.t > 1.0] - [0, 0, 5], axis=1).max())


def time_of_upset(flight: Flight) -> float:
    return float(flight.t[np.argmax((flight.tilt > 0.01) & (flight.t > 0.8))])


def first_roll(flight: Flight) -> float:
    """Rotor 0 is front right: without it the vehicle rolls right, without rotor 1 left."""
    return float(flight.rates[flight.at(1.1), 0])


ROTOR_FAULTS = {
    "rotor": Case(1, WOUNDED, first_roll, -0.5),
    "kind": Case("lost", WOUNDED, strayed, -0.03),
    "start": Case(1.1, WOUNDED, time_of_upset, 0.05),
    "end": Case(1.6, WOUNDED, strayed, 0.3),
    "value": Case(0.0, WOUNDED, strayed, 0.05),
}


def test_every_rotor_fault_option_has_a_case() -> None:
    assert set(ROTOR_FAULTS) == fields_of(RotorFault)


@pytest.mark.parametrize("name", ROTOR_FAULTS)
def test_rotor_fault(name: str) -> None:
    check(ROTOR_FAULTS[name], f"{DRONE}rotor_faults.0.{name}")


VALUES = {"lost": 0.7, "stuck": 0.4, "slow": 6.0}


@pytest.mark.parametrize("kind", get_args(RotorFault.model_fields["kind"].annotation))
def test_every_kind_of_rotor_fault_disturbs_a_step(kind: str) -> None:
    step = Script(((0.0, Arm()), (0.0, hold(0, 0, 5)), (1.0, hold(4, 0, 5))), 3.0, ALOFT)
    fault = {"rotor": 2, "kind": kind, "start": 0.9, "end": 2.0, "value": VALUES[kind]}
    moved = fly(step, {DRONE + "rotor_faults": [fault]}).position - fly(step).position
    assert np.abs(moved).max() > 0.02


@pytest.mark.parametrize(("kind", "value"), [("slow", 0.5), ("stuck", 1.5), ("lost", 1.5)])
def test_a_rotor_fault_that_would_be_none_is_refused(kind: str, value: float) -> None:
    fault = {"rotor": 0, "kind": kind, "start": 0.0, "value": value}
    with pytest.raises(ScenarioError, match="value"):
        fly(HOVER, {DRONE + "rotor_faults": [fault]})
