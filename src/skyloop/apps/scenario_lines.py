"""Checks the text of a scenario that comes from a page, and says in which line a fault is."""

from __future__ import annotations

import re
from typing import Any

import yaml

from skyloop.core.validation import parse_yaml
from skyloop.sim.scenario import Scenario, make_scenario
from skyloop_client.errors import ScenarioError
from skyloop_client.plugins import is_plugin

PLACE = "scenario"
OURS = ("skyloop.", "skyloop_client.")


def scenario_from_page(text: str, changes: dict[str, Any] | None = None) -> Scenario:
    """Code of the user's own is named on the command line only: a page must not choose what this machine runs."""
    data = parse_yaml(text, PLACE)
    _refuse_foreign(data, ())
    for key, value in (changes or {}).items():
        _refuse_foreign(value, (key,))
    return make_scenario(data, changes, place=PLACE)


def _refuse_foreign(value: Any, path: tuple[str, ...]) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            _refuse_foreign(item, (*path, str(key)))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            _refuse_foreign(item, (*path, str(number)))
    elif isinstance(value, str):
        last = path[-1].rpartition(".")[2] if path else ""
        names_code = is_plugin(value) and last != "description" and not value.startswith(OURS)
        names_file = last in ("folder", "file") or (last == "airframe" and "/" in value)
        if names_code or names_file:
            where = ".".join(path)
            raise ScenarioError(f"{PLACE}: {where}: '{value}' names a file or code; start it from the command line")


def check(text: str) -> dict[str, Any]:
    """{"ok": true, "name": ...}, or {"ok": false, "error": one line, "line": its number or null}."""
    try:
        scenario = scenario_from_page(text)
    except ScenarioError as error:
        told = str(error)
        return {"ok": False, "error": told.removeprefix(f"{PLACE}: "), "line": line_of(text, told)}
    right = {"ok": True, "name": scenario.name, "duration": scenario.duration, "vehicles": len(scenario.vehicles)}
    return {**right, "fields": fields_of(scenario)}


def fields_of(scenario: Scenario) -> dict[str, Any]:
    """What a page has pickers for, as it is now, with the paths at which `scenario_edits` changes it."""
    first = scenario.vehicles[0]
    cameras = [name for name, sensor in first.sensors.items() if hasattr(sensor, "quality")]
    return {
        "world": scenario.world.name or scenario.world.file,
        "seed": scenario.seed,
        "weather": scenario.weather.model_dump(exclude_unset=True),
        "airframe": first.airframe if isinstance(first.airframe, str) else "",
        "sensors": {name: sensor.kind for name, sensor in first.sensors.items()},
        "cameras": cameras,
        "quality": getattr(first.sensors[cameras[0]], "quality", "") if cameras else "",
    }


def line_of(text: str, told: str) -> int | None:
    """The line of a fault, from its message: a place in the file, or the path of a key."""
    found = re.match(rf"{PLACE}:(\d+):\d+: ", told)
    if found:
        return int(found[1])
    path = re.match(rf"{PLACE}: ([\w.\-]+)", told)
    if path is None:
        return None
    try:
        node = yaml.compose(text, yaml.SafeLoader)
    except yaml.YAMLError:
        return None
    return _line_in(node, path[1].split("."))


def _line_in(node: Any, steps: list[str]) -> int | None:
    """Of the deepest key on the path that is in the text."""
    line = None
    for step in steps:
        if isinstance(node, yaml.MappingNode):
            pair = next((pair for pair in node.value if pair[0].value == step), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and step.isdigit() and int(step) < len(node.value):
            node = node.value[int(step)]
            line = node.start_mark.line + 1
        else:
            break
    return line
