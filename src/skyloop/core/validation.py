"""Strict reading of the user's data: YAML becomes pydantic models, and every fault becomes one clear line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, Field, ValidationError
from pydantic_core import ErrorDetails

from skyloop_client.errors import ScenarioError, nearest_name
from skyloop_client.regular_files import read_text
from skyloop_client.user_code import is_plugin

HALF_A_PAIR = re.compile("[\ud800-\udfff]")
MOST_BYTES = 2_000_000
"""Of a YAML file; reading it takes some 10 s."""


class _StrictLoader(yaml.SafeLoader):
    """A key written twice is an error, not a silent last-one-wins. So is half a surrogate pair: it is no text."""

    def construct_scalar(self, node: yaml.ScalarNode | yaml.MappingNode) -> Any:
        text = super().construct_scalar(node)
        if HALF_A_PAIR.search(text):
            raise yaml.constructor.ConstructorError(None, None, "half a surrogate pair is no text", node.start_mark)
        return text

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key '{key.value}' is written twice", key.start_mark
                )
            seen.add(key.value if isinstance(key, yaml.ScalarNode) else id(key))
        return super().construct_mapping(node, deep)


def parse_yaml(text: str, source: str) -> Any:
    try:
        return yaml.load(text, _StrictLoader)
    except yaml.YAMLError as error:
        where, problem = source, str(error)
        if isinstance(error, yaml.MarkedYAMLError):
            problem = error.problem or problem
            if error.problem_mark is not None:
                where = f"{source}:{error.problem_mark.line + 1}:{error.problem_mark.column + 1}"
        raise ScenarioError(_one_line(f"{where}: not YAML: {problem}")) from None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        # dates such as 2026-13-45, keys that are lists, integers like "0x", thousands of brackets
        raise ScenarioError(_one_line(f"{source}: not YAML: {error}")) from None


def read_yaml(path: Path) -> Any:
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise ScenarioError(
                f"'{path}' has {size / 1e6:.0f} MB, which takes minutes to read; {MOST_BYTES / 1e6:.0f} MB are the "
                "most: let a pilot of your own read long lists"
            )
        text = read_text(path)
    except FileNotFoundError:
        raise ScenarioError(f"no file '{path}'; check the path") from None
    except (OSError, ValueError) as error:
        raise ScenarioError(f"cannot read '{path}': {error}") from None
    return parse_yaml(text, str(path))


Model = TypeVar("Model", bound=BaseModel)


def either(models: Iterable[type[BaseModel]]) -> Any:
    """The type of a value that is one of these models, distinguished by their `kind`."""
    return Annotated[reduce(or_, models), Field(discriminator="kind")]


def validated(model: type[Model], data: object, source: str) -> Model:
    """Make the model from data, or raise an error of one line about the first fault."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ScenarioError(_one_line(f"{source}: {_first_fault(error, model, data)}")) from None


def _one_line(text: str) -> str:
    return " ".join(text.split())


_KINDS = {bool: "a truth value", int: "an integer", float: "a number", str: "a text", list: "a list", dict: "a mapping"}


def kind_of(value: object) -> str:
    """What a value of a YAML file is, in words."""
    if value is None:
        return "empty"
    name = type(value).__name__
    return _KINDS.get(type(value), f"{'an' if name[0] in 'aeiou' else 'a'} {name}")


def _first_fault(error: ValidationError, model: type[BaseModel], data: object) -> str:
    fault = min(error.errors(include_url=False), key=_priority)
    kind, value, context = fault["type"], fault.get("input"), fault.get("ctx", {})
    steps = _steps_in(data, fault["loc"], keep_last=kind in ("extra_forbidden", "missing"))
    where = ".".join(steps) or "top level"
    if kind == "extra_forbidden":
        hint = nearest_name(steps[-1], _siblings(model, fault["loc"][:-1]))
        own = " Arguments of your own class go under options" if _is_own_part(data, steps[:-1]) else ""
        return f"{where}: unknown key '{steps[-1]}'; {hint}{own}"
    if kind == "missing":
        return f"{where} is missing; add it"
    if kind == "union_tag_not_found":
        return f"{where}: 'kind' is missing; add it to say which kind this is"
    shown = f" (got {value!r})" if isinstance(value, int | float | str | bool | type(None)) else ""
    if kind in ("literal_error", "union_tag_invalid"):
        given = str(context.get("tag", value))
        known = re.findall(r"'([^']*)'", str(context.get("expected_tags", context.get("expected", ""))))
        key_path = where if kind == "literal_error" else f"{where}.kind"
        hint = nearest_name(given, known)
        hint += f" All: {', '.join(known)}" if hint.startswith("did you mean") else ""
        # pydantic's name of the union member that holds all but the user's own
        own = "; or your own as module:Class" if kind == "union_tag_invalid" and "shipped" in fault["loc"] else ""
        return f"{key_path}: there is no '{given}'; {hint}{own}"
    message = fault["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return f"{where}: {message[0].lower()}{message[1:]}{shown}"


def _priority(fault: ErrorDetails) -> tuple[bool, bool]:
    """A misspelt key causes the "missing" also reported; a mapping is not meant as the name a union takes."""
    is_other_branch = fault["type"] == "string_type" and isinstance(fault.get("input"), dict)
    return fault["type"] != "extra_forbidden", is_other_branch


def _steps_in(data: Any, location: tuple[int | str, ...], *, keep_last: bool) -> list[str]:
    """The location without pydantic's names of union members: only what the data itself has."""
    steps = []
    for depth, step in enumerate(location):
        inside = isinstance(data, dict) and step in data
        inside = inside or (isinstance(data, list | tuple) and isinstance(step, int) and step < len(data))
        if inside:
            data = data[step]
        if inside or (keep_last and depth == len(location) - 1):
            steps.append(str(step))
    return steps


def _is_own_part(data: Any, steps: list[str]) -> bool:
    for step in steps:
        data = data[int(step) if isinstance(data, list | tuple) else step]
    return isinstance(data, dict) and any(is_plugin(data.get(key)) for key in ("kind", "name", "source"))


def _siblings(model: type[BaseModel], steps: tuple[int | str, ...]) -> list[str]:
    """Names of the fields beside a key path of the model, as far as its annotations tell."""
    candidates = [model]
    for step in steps:
        found: list[type[BaseModel]] = []
        for candidate in candidates:
            field = candidate.model_fields.get(str(step))
            if field is not None:
                found.extend(_models_in(field.annotation))
            elif _has_kind(candidate, step):
                found.append(candidate)
        candidates = found or candidates
    return sorted({name for candidate in candidates for name in candidate.model_fields})


def _has_kind(model: type[BaseModel], kind: object) -> bool:
    field = model.model_fields.get("kind")
    return field is not None and kind in get_args(field.annotation)


def _models_in(annotation: object) -> list[type[BaseModel]]:
    """All pydantic models an annotation may hold."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]
