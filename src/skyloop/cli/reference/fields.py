"""Describes the fields of a class: type, default, unit and meaning, from its annotations and docstrings."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from skyloop.core.quantities import MOST
from skyloop_client.schema import STAMP, field_notes, parse_note

REQUIRED = "required"
ESTIMATED = "estimated"
"""Shown as the default of a number that follows from others."""
ITS_DEFAULTS = "its defaults"
SEE_BELOW = "see below"
"""Shown as the default of a key that has keys of its own."""
FAMILIES = {
    "skyloop.vehicle.pilots.pilots": "pilot",
    "skyloop.vehicle.trajectories.trajectories": "trajectory",
    "skyloop.world.atmosphere": "wind",
    "skyloop.sensors.radar.config": "pattern",
}
"""Modules whose models have the discriminator `kind`, and the word for any of them."""


@dataclass(frozen=True, slots=True)
class Option:
    """One key of a configuration, or one field of a record."""

    name: str
    type: str
    default: Any
    """`REQUIRED`, or plain data."""
    unit: str
    """Empty for numbers without a unit and for other values."""
    meaning: str
    shape: str = ""
    """Shape of an array, such as "(3,)". Empty if there is none."""
    from_preset: bool = False
    """The default comes from the default preset."""


def model_options(model: type[BaseModel], values: BaseModel | None = None) -> tuple[Option, ...]:
    """Every key of a model with its default, or with its value in `values`."""
    notes = field_notes(model)
    rows = []
    for name in sorted(model.model_fields, key=_place):
        field = model.model_fields[name]
        given = _default(field) if values is None else dict(values)[name]
        if values is not None and isinstance(given, BaseModel):
            given = SEE_BELOW
        elif values is None:
            given = _short(given)
        rows.append(option(name, field_type(name, field), plain(given), notes.get(name, "")))
    return tuple(rows)


def _place(name: str) -> int:
    """Sort key: the kind comes first, keys of every sensor come last, the rest keeps the model's order."""
    return {"kind": -2, "preset": -1, "mount": 1, "latency": 2, "faults": 3}.get(name, 0)


def _short(default: object) -> Any:
    """A default without the keys of nested models, which are shown elsewhere."""
    if isinstance(default, BaseModel):
        given = dict(default)
        return {"kind": given["kind"]} if "kind" in given else ITS_DEFAULTS
    if isinstance(default, list) and default and isinstance(default[0], BaseModel):
        return [{} for _ in default]
    return default


def record_options(record: type) -> tuple[Option, ...]:
    """Every field of a message record."""
    notes = field_notes(record)
    hints = get_type_hints(record, include_extras=True)
    rows = []
    for field in fields(record):
        if field.default is not MISSING:
            default = plain(field.default)
        elif field.default_factory is not MISSING:
            default = plain(field.default_factory())
        else:
            default = REQUIRED
        note = notes.get(field.name) or (STAMP if field.name == "t_ns" else "")
        rows.append(option(field.name, type_words(hints[field.name]), default, note))
    return tuple(rows)


def argument_options(make: Callable[..., object], leave_out: set[str]) -> tuple[Option, ...]:
    """Every argument of a class that is built with keywords. Its docstring has one line for each."""
    text = inspect.getdoc(make.__init__) or ""
    found = re.findall(r"^(\w+): (.*?)(?=^\w+: |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    notes = {name: " ".join(note.split()) for name, note in found}
    hints = get_type_hints(make.__init__)
    return tuple(
        option(name, type_words(hints[name]), plain(parameter.default), notes.get(name, ""))
        for name, parameter in inspect.signature(make).parameters.items()
        if name not in leave_out
    )


def option(name: str, type_: str, default: object, note: str) -> Option:
    """Splits a docstring into shape, unit and meaning."""
    told = parse_note(name, note)
    shape = ", ".join(map(str, told.shape or ()))
    shape = "" if told.shape is None else f"({shape},)" if len(told.shape) == 1 else f"({shape})"
    return Option(name, type_, default, told.unit, told.meaning, shape)


def summary_of(kind: type[object]) -> str:
    """The first paragraph of a class's own docstring, or of its module's."""
    text = kind.__dict__.get("__doc__") or inspect.getdoc(inspect.getmodule(kind)) or ""
    return " ".join(inspect.cleandoc(text).split("\n\n")[0].split())


def plain(value: object) -> Any:
    """The value as plain data for YAML and JSON."""
    if value is inspect.Parameter.empty:
        return REQUIRED
    if isinstance(value, BaseModel):
        return plain(value.model_dump(mode="json"))
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return "inf" if value == float("inf") else value


def _default(field: FieldInfo) -> object:
    if field.is_required():
        return REQUIRED
    return ESTIMATED if field.default_factory_takes_validated_data else field.get_default(call_default_factory=True)


# ---- types


def field_type(name: str, field: FieldInfo) -> str:
    if name == "rate_hz" and str in get_args(field.annotation):
        return 'number or "num/den"'
    words = type_words(field.annotation, tuple(field.metadata))
    null = _is_optional(field.annotation) and not field.is_required() and _default(field) is not None
    return f"{words}, or null" if null else words


def _is_optional(annotation: object) -> bool:
    return type(None) in get_args(annotation)


def type_words(annotation: object, limits: tuple[object, ...] = ()) -> str:
    """An annotation in words, such as "number > 0"."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return type_words(arguments[0], (*arguments[1:], *limits))
    if origin in (Union, types.UnionType):
        words = [type_words(part, limits) for part in arguments if part is not type(None)]
        return " or ".join(dict.fromkeys(words))
    if origin is Literal:
        return " / ".join(str(part) for part in arguments)
    if origin is np.ndarray:
        scalar = get_args(arguments[1])[0] if len(arguments) > 1 else np.float64
        return f"array of {scalar.__name__}"
    if origin in (list, tuple, set, frozenset, Sequence):
        return _sequence(arguments, limits)
    if origin in (dict, Mapping):
        part = type_words(arguments[1])
        return "mapping" if part == "anything" else f"mapping of names to {part}"
    simple = {bool: "true / false", int: "integer", float: "number", str: "text", Any: "anything", object: "anything"}
    if annotation in simple:
        return simple[annotation] + _limits(limits)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return " / ".join(str(each.value) for each in annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return model_word(annotation)
    return getattr(annotation, "__name__", str(annotation))


def models_in(annotation: object) -> Iterator[type[BaseModel]]:
    """All models that an annotation may hold."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from models_in(part)


def model_word(model: type[BaseModel]) -> str:
    """The word for a model, such as "mount" or "sensor"."""
    if "preset" in model.model_fields or model.__name__ == "UserSensor":
        return "sensor"
    if model.__module__ in FAMILIES:
        return FAMILIES[model.__module__]
    if model.__name__ == "ProcessingConfig":
        return "perception"
    words = re.findall(r"[A-Z][a-z0-9]*", re.sub(r"Config$|Choice$|^User", "", model.__name__))
    return " ".join(words).lower()


def _sequence(arguments: tuple[object, ...], limits: tuple[object, ...]) -> str:
    kinds = [type_words(part) for part in arguments if part is not Ellipsis]
    words = kinds[0] if kinds else "anything"
    if len(kinds) == len(arguments) > 1:
        # a place has two bounds for its level, and another for its height
        words = words if len(set(kinds)) == 1 else words.partition(" ")[0]
        return f"{len(kinds)} {_plural(words)}"
    bounds = {type(limit): limit for limit in _flat(limits)}
    low = bounds[MinLen].min_length if MinLen in bounds else None
    high = bounds[MaxLen].max_length if MaxLen in bounds else None
    count = "" if low is None else f"{low} to {high} " if high is not None else f"at least {low} "
    return f"list of {count}{_plural(words)}"


def _plural(words: str) -> str:
    found = re.match(r"[a-z]+( [a-z]+)*(?= [^a-z]|$)", words)
    if found is None or " / " in words:
        return f"({words})"
    return found[0] + ("es" if found[0].endswith("ch") else "s") + words[found.end() :]


def _flat(limits: tuple[object, ...]) -> list[Any]:
    return [part for limit in limits for part in (limit.metadata if isinstance(limit, FieldInfo) else [limit])]


def _limits(limits: tuple[object, ...]) -> str:
    # the widest bounds only catch slips
    bounds = {type(limit): limit for limit in _flat(limits) if limit not in (Le(MOST), Ge(-MOST))}
    low = bounds[Gt].gt if Gt in bounds else bounds[Ge].ge if Ge in bounds else None
    high = bounds[Lt].lt if Lt in bounds else bounds[Le].le if Le in bounds else None
    if low is not None and high is not None:
        if Ge in bounds and Le in bounds:
            return f" {low:g} to {high:g}"
        return f" in {'(' if Gt in bounds else '['}{low:g}, {high:g}{')' if Lt in bounds else ']'}"
    if low is not None:
        return f" {'>' if Gt in bounds else '≥'} {low:g}"
    if high is not None:
        return f" {'<' if Lt in bounds else '≤'} {high:g}"
    return ""
