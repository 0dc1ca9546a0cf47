"""Changes single values in the text of a scenario, as a person would: comments and the rest of the text stay."""

from __future__ import annotations

from typing import Any

import yaml

from skyloop_client.errors import ScenarioError

Node = Any
Pair = tuple[Any, Any]


def changed(text: str, changes: dict[str, Any]) -> str:
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


def _change(text: str, root: Node, steps: list[str], value: Any) -> str:
    node, parents = root, []
    for place, step in enumerate(steps):
        pair = _pair(node, step)
        if pair is None:
            return text if value is None else _insert(text, node, steps[place:], value)
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


def _insert(text: str, node: Node, steps: list[str], value: Any) -> str:
    """A new key behind the last one."""
    for step in reversed(steps[1:]):
        value = [value] if step.isdigit() else {step: value}
    if not isinstance(node, yaml.MappingNode):
        raise ScenarioError(f"scenario: '{'.'.join(steps)}' has no place: what holds it is not a list of keys")
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


def _flow(value: Any) -> str:
    """In one line."""
    dumped = yaml.safe_dump(value, default_flow_style=True, width=1_000_000, sort_keys=False, allow_unicode=True)
    return dumped.removesuffix("...\n").strip()
