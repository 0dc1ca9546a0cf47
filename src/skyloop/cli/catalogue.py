"""Everything that a scenario or the command line can name, each with one line about it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import typer

from skyloop.core.plugins import BUILT_IN, Registry
from skyloop.core.validation import read_yaml
from skyloop.links.registry import LINKS
from skyloop.recording.formats.registry import FORMATS
from skyloop.sensors.registry import SENSORS
from skyloop.sim.estimator_config import ESTIMATORS
from skyloop.sim.scenario import AIRFRAMES, SCENARIOS
from skyloop.vehicle.kernel_packing import CONTROLLERS
from skyloop.vehicle.pilots.pilots import PILOTS
from skyloop.world.world import WORLDS
from skyloop_client.errors import PluginError

CATALOGUES: Registry[Callable[[], dict[str, str]]] = Registry("catalogues", "catalogue")
VERBS: Registry[typer.Typer] = Registry("verbs", "verb")


def catalogue() -> dict[str, dict[str, str]]:
    """By heading, names with one line each."""
    return {
        "scenarios": {name: _description(name) for name in SCENARIOS},
        "airframes": {name: _airframe(name) for name in AIRFRAMES},
        "worlds": {name: _first_line(world) for name, world in WORLDS.loadable().items()},
        "sensors": {name: _sensor(sensor.Config) for name, sensor in SENSORS.loadable().items()},
        "pilots": {name: _first_line(pilot) for name, pilot in PILOTS.loadable().items()},
        "links": {name: _link(name) for name in LINKS},
        "estimators": {name: _first_line(each) for name, each in ESTIMATORS.loadable().items()},
        "controllers": {name: _first_line(each) for name, each in CONTROLLERS.loadable().items()},
        "formats": {name: each.text for name, each in FORMATS.loadable().items()},
        "verbs": {
            str(verb.name or callback.__name__): _first_line(callback)
            for app in VERBS.loadable().values()
            for verb in app.registered_commands
            if (callback := verb.callback) is not None
        },
        **{heading: listed() for heading, listed in CATALOGUES.loadable().items()},
    }


def origins() -> dict[str, dict[str, str]]:
    """By the headings of `catalogue`, which plugin brings each name; what is built in is left out."""
    registries: dict[str, Registry[Any]] = {
        "scenarios": SCENARIOS, "airframes": AIRFRAMES, "worlds": WORLDS, "sensors": SENSORS, "pilots": PILOTS,
        "links": LINKS, "estimators": ESTIMATORS, "controllers": CONTROLLERS, "formats": FORMATS, "verbs": VERBS,
    }  # fmt: skip
    found = {heading: {name: each.origin(name) for name in each} for heading, each in registries.items()}
    return {
        heading: {name: origin for name, origin in names.items() if origin != BUILT_IN}
        for heading, names in found.items()
    }


def _description(name: str) -> str:
    return str(read_yaml(SCENARIOS[name]).get("description", ""))


def _airframe(name: str) -> str:
    data = read_yaml(AIRFRAMES[name])
    return f"{data['mass']:g} kg, {len(data['rotors'])} rotors"


def _link(name: str) -> str:
    try:
        return _first_line(LINKS[name])
    except PluginError as error:
        # what it needs is an extra
        return str(error)


def _sensor(config: type[Any]) -> str:
    if "preset" not in config.model_fields:
        return _first_line(config)
    return "presets " + ", ".join(config.model_fields["preset"].annotation.__args__)


def _first_line(thing: object) -> str:
    text = thing.__doc__ or sys.modules[thing.__module__].__doc__ or ""
    return text.strip().splitlines()[0]
