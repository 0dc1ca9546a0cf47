"""Changes single values in the text of a scenario, as a person would: comments and the rest of the text stay."""

from __future__ import annotations

import re
from typing import Any

import yaml

from skyloop.cockpit.wire import Fields
from skyloop.core.validation import parse_yaml
from skyloop.sim.scenario import Scenario, make_scenario
from skyloop_client.errors import ScenarioError
from skyloop_client.user_code import is_plugin

Node = Any
Pair = tuple[Any, Any]


def changed(text: str, changes: Fields) -> str:
    """`changes`: values by path, such as `vehicles.0.airframe`; None takes the key out."""
    for path, value in changes.items():
        try:
            root = yaml.compose(text, yaml.SafeLoader)
        except yaml.YAMLError as error:
            raise ScenarioError(f"scenario: not YAML: {' '.join(str(error).split())[:200]}") from None
        if not isinstance(root, yaml.MappingNode):
            raise ScenarioError("scenario: it has no keys to change")
        text = _change(text, root, path.split("."), value)
    return text


def _change(text: str, root: Node, steps: list[str], value: object) -> str:
    node, parents = root, []
    for depth, step in enumerate(steps):
        pair = _pair(node, step)
        if pair is None:
            return text if value is None else _insert(text, node, steps[depth:], value)
        parents.append((node, pair))
        node = pair[1]
    parent, pair = parents[-1]
    if value is None:
        return _without(text, parents)
    if isinstance(parent, yaml.SequenceNode):
        return text[: node.start_mark.index] + _flow(value) + text[_end(node) :]
    colon = text.index(":", pair[0].end_mark.index)
    return f"{text[: colon + 1]} {_flow(value)}{text[max(_end(node), colon + 1) :]}"


def _pair(node: Node, step: str) -> Pair | None:
    if isinstance(node, yaml.MappingNode):
        return next((pair for pair in node.value if pair[0].value == step), None)
    if isinstance(node, yaml.SequenceNode) and step.isdigit() and int(step) < len(node.value):
        return (None, node.value[int(step)])
    return None


def _end(node: Node) -> int:
    """Where its text ends. A block's own mark is at the next token, behind comments and empty lines."""
    if isinstance(node, yaml.ScalarNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _end(last[1] if isinstance(node, yaml.MappingNode) else last)


def _insert(text: str, node: Node, steps: list[str], value: object) -> str:
    """A new key behind the last one."""
    for step in reversed(steps[1:]):
        value = [value] if step.isdigit() else {step: value}
    if not isinstance(node, yaml.MappingNode):
        raise ScenarioError(f"scenario: '{'.'.join(steps)}' cannot be added: what holds it is not a list of keys")
    pair = f"{steps[0]}: {_flow(value)}"
    if node.flow_style:
        brace = node.end_mark.index - 1
        return text[:brace].rstrip() + (", " if node.value else "") + pair + text[brace:]
    at, indent = _end(node), " " * node.value[0][0].start_mark.column
    rest = text.find("\n", at)
    at = len(text) if rest < 0 else rest
    return f"{text[:at]}\n{indent}{pair}{text[at:]}"


def _without(text: str, parents: list[tuple[Node, Pair]]) -> str:
    parent, (key, node) = parents[-1]
    if not isinstance(parent, yaml.MappingNode):
        raise ScenarioError("scenario: only keys can be taken out, not items of a list")
    if len(parent.value) == 1 or parent.flow_style:
        left = {pair[0].value: yaml.safe_load(yaml.serialize(pair[1])) for pair in parent.value if pair[0] is not key}
        return text[: parent.start_mark.index] + _flow(left) + text[_end(parent) :]
    if key.start_mark.column and not text[: key.start_mark.index].rpartition("\n")[2].isspace():
        # the first key of an item of a list stands behind its dash
        following = parent.value[1][0].start_mark.index
        return text[: key.start_mark.index] + text[following:]
    begin = text.rfind("\n", 0, key.start_mark.index) + 1
    end = text.find("\n", _end(node))
    return text[:begin] + ("" if end < 0 else text[end + 1 :])


def _flow(value: object) -> str:
    """In one line."""
    dumped = yaml.safe_dump(value, default_flow_style=True, width=1_000_000, sort_keys=False, allow_unicode=True)
    return dumped.removesuffix("...\n").strip()


WHERE = "scenario"
REFUSED = "code and files are named on the command line, not by a page"


def scenario_from_page(text: str, changes: Fields | None = None, *, allow_code: bool = False) -> Scenario:
    """A page must not choose what this machine runs or reads, unless whoever started the cockpit allows it."""
    data = parse_yaml(text, WHERE)
    if not allow_code:
        _refuse_foreign(data, ())
        for key, value in (changes or {}).items():
            _refuse_foreign(value, (key,))
    return make_scenario(data, changes, place=WHERE)


def _refuse_foreign(value: object, path: tuple[str, ...]) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            _refuse_foreign(item, (*path, str(key)))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            _refuse_foreign(item, (*path, str(number)))
    elif isinstance(value, str):
        last = path[-1].rpartition(".")[2] if path else ""
        names_code = is_plugin(value) and last != "description"
        names_file = last in ("folder", "file") or value.endswith((".yaml", ".yml"))
        if names_code or names_file:
            raise ScenarioError(f"{WHERE}: {'.'.join(path)}: '{value}' names code or a file; {REFUSED}")


def check(text: str, *, allow_code: bool = False) -> Fields:
    """{"ok": true, "name": ...}, or {"ok": false, "error": one line, "line": its number or null}."""
    try:
        scenario = scenario_from_page(text, allow_code=allow_code)
    except ScenarioError as error:
        message = str(error)
        return {"ok": False, "error": message.removeprefix(f"{WHERE}: "), "line": line_of(text, message)}
    right = {"ok": True, "name": scenario.name, "duration": scenario.duration, "vehicles": len(scenario.vehicles)}
    return {**right, "fields": fields_of(scenario)}


def fields_of(scenario: Scenario) -> dict[str, object]:
    """What a page has pickers for, as it is now, with the paths at which `scenario_edits` changes it."""
    first = scenario.vehicles[0]
    numbers = {name: dict(sensor) for name, sensor in first.sensors.items()}
    qualities = {name: each["quality"] for name, each in numbers.items() if "quality" in each}
    return {
        "world": scenario.world.name or scenario.world.file,
        "seed": scenario.seed,
        "weather": scenario.weather.model_dump(exclude_unset=True),
        "airframe": first.airframe if isinstance(first.airframe, str) else "",
        "sensors": {name: sensor.kind for name, sensor in first.sensors.items()},
        "cameras": list(qualities),
        "quality": next(iter(qualities.values()), ""),
    }


def line_of(text: str, message: str) -> int | None:
    """The line of a fault, from its message: a position in the file, or the path of a key."""
    found = re.match(rf"{WHERE}:(\d+):\d+: ", message)
    if found:
        return int(found[1])
    path = re.match(rf"{WHERE}: ([\w.\-]+)", message)
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
