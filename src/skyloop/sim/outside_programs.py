"""What of a scenario runs outside: its pilot, or one of its estimators. Behind `skyloop loop`."""

from __future__ import annotations

import json
from pathlib import Path

from skyloop.sim.estimator_config import ESTIMATORS, PARTS_OF_THE_SIMULATION, EstimatorConfig
from skyloop.sim.scenario import Scenario, UserPilot
from skyloop.sim.survey import survey_of
from skyloop_client.errors import ScenarioError, SkyloopError, nearest_name
from skyloop_client.user_code import check_code_is_allowed, is_plugin, load_chosen


def outside_estimator(scenario: Scenario, told: str) -> tuple[Scenario, str, str, str]:
    """The scenario with one of its estimators outside, and that estimator's class, vehicle and name.

    `told` is the name of an estimator of the scenario, or file.py:Class. The class replaces the only estimator, or is
    added under its own name in small letters."""
    found = [(vehicle, name) for vehicle in scenario.vehicles for name in vehicle.estimators]
    if is_plugin(told):
        flown = [(vehicle, name) for vehicle, name in found if vehicle.state == name]
        chosen = found if len(found) == 1 else flown
        added = told.rpartition(":")[2].lower()
        if len(chosen) > 1:
            names = ", ".join(name for _, name in found)
            raise ScenarioError(
                f"--estimator {told}: the scenario has several estimators; give the name of one of {names}"
            )
        vehicle, name = chosen[0] if chosen else (scenario.vehicles[0], added)
        kind = told
    else:
        named = [(vehicle, name) for vehicle, name in found if told in (name, f"{vehicle.name}/{name}")]
        if len(named) != 1:
            hint = nearest_name(told, [f"{vehicle.name}/{name}" for vehicle, name in found])
            raise ScenarioError(f"--estimator {told}: the scenario has no such one; {hint} Or give file.py:Class")
        vehicle, name = named[0]
        kind = vehicle.estimators[name].kind
        if is_plugin(kind):
            check_code_is_allowed(kind)
        if kind in PARTS_OF_THE_SIMULATION:
            raise ScenarioError(f"--estimator {told}: it is of kind {kind}, which runs in the simulation only")
        if not is_plugin(kind):
            kind = ESTIMATORS.path(kind)
        if scenario.folder is not None and kind.partition(":")[0].endswith(".py"):
            kind = str(Path(scenario.folder) / kind)
    old = vehicle.estimators.get(name, EstimatorConfig(kind="link"))
    products = _products_of(kind, name)
    config = EstimatorConfig(kind="link", inputs=old.inputs, options=old.options, products=products)
    changed = vehicle.model_copy(update={"estimators": {**vehicle.estimators, name: config}})
    vehicles = [changed if each is vehicle else each for each in scenario.vehicles]
    return scenario.model_copy(update={"vehicles": vehicles}), kind, vehicle.name, name


def _products_of(kind: str, name: str) -> dict[str, str]:
    """What a class says that it publishes under a name, if it can be loaded here and says anything."""
    try:
        told = getattr(load_chosen(kind), "products_of", None)
    except SkyloopError:
        # it runs on another machine, and its libraries may be there only
        return {}
    return dict(told(name)) if callable(told) else {}


def pilot_outside(scenario: Scenario, of: str = "") -> tuple[str, list[str]]:
    """The scenario's own pilot for a process of its own: what `skyloop-client pilot` loads, and its arguments.

    of: its vehicle, if there are several."""
    flown = [vehicle for vehicle in scenario.vehicles if vehicle.pilot is not None and of in ("", vehicle.name)]
    if len(flown) != 1:
        raise ScenarioError(
            f"--pilot scenario: '{scenario.name}' has {len(flown)} pilots; it must have exactly one, "
            "or write --pilot VEHICLE=scenario"
            if not of
            else f"--pilot {of}=scenario: '{of}' has no pilot in '{scenario.name}'"
        )
    vehicle, pilot = flown[0], flown[0].pilot
    assert pilot is not None
    drawn = pilot if isinstance(pilot, UserPilot) else pilot.drawn(survey_of(scenario, vehicle))
    config = drawn.model_dump(mode="json")
    rate = config.pop("rate_hz")
    kind, options = "skyloop.vehicle.pilots.pilots:pilot_from", config
    if is_plugin(pilot.kind):
        check_code_is_allowed(pilot.kind)
        kind, options = pilot.kind, config["options"]
        if scenario.folder is not None and kind.partition(":")[0].endswith(".py"):
            kind = str(Path(scenario.folder) / kind)
    told = ["--rate", str(rate), "--vehicle", vehicle.name]
    return kind, [*told, *(["--options", json.dumps(options)] if options else [])]


def awaited_programs(scenario: Scenario, *, needs_pilot: bool, started: str) -> list[str]:
    """The programs that must connect before the flight begins and that the user starts.

    `started` is the vehicle/name of an estimator that is started here."""
    outside = [
        f"{vehicle.name}/{name}"
        for vehicle in scenario.vehicles
        for name, config in vehicle.estimators.items()
        if config.kind == "link"
    ]
    estimators = [f"an estimator for {stream}" for stream in outside if stream != started]
    return [*(["a pilot"] if needs_pilot else []), *estimators]
