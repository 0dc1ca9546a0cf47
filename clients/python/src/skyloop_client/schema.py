"""What is known of the fields of a class: shape, unit and meaning, from the docstrings below them, and their types.

A docstring begins with the shape of an array, such as "(n, 3)", and the unit; the rest says what the field is. What
is told of records elsewhere is made of this: the reference, the checks of published records, the names of plots, the
structs of the C++ client and the interfaces of the cockpit's page.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import types
from dataclasses import dataclass, fields
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

import numpy as np

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

UNITS = (
    "(rad/s²)/√Hz", "(rad/s)/√Hz", "(m/s³)/√Hz", "(m/s²)/√Hz", "rad/s²/√Hz", "rad/s/√Hz", "m/s³/√Hz", "m/s²/√Hz",
    "(T/s)/√Hz", "T/√Hz", "m/√s", "N/(rad/s)/(m/s)", "N/(rad/s)²", "N/(m/s)²", "N/(m/s)", "√N/(m/s)", "1/√N", "√N",
    "kg m²", "N m", "rad/s²", "rad/s", "deg/s", "m/s⁴", "m/s³", "m/s²", "m/s", "mm/h", "mg/m³", "dBc/Hz", "Pa/s",
    "px/s", "1/ha", "1/rad", "1/s²", "1/s", "1/m", "s/rad", "s/m", "rad", "kg", "Pa", "Hz", "px", "dB", "ns", "µs",
    "V²", "m²", "m", "s", "h", "N", "T", "V", "J", "K", "W", "Ω",
)  # fmt: skip
"""Units that a docstring may begin with, longer ones first."""
SUFFIXES = {
    "_deg": "deg", "_hz": "Hz", "_kt": "kt", "_ah": "Ah", "_px": "px", "_ns": "ns", "_us": "µs", "_dbm": "dBm",
    "_dbi": "dBi", "_dbc": "dBc", "_db": "dB",
}  # fmt: skip
"""Units that a name ends with; see CONVENTIONS.md."""
WITHOUT_NOTES = ("builtins", "typing", "pydantic", "abc")
STAMP = "ns, the simulated time the record describes."
"""Of a field `t_ns` that says no more."""
# amperes only before a comma, because "A" is a word as well
_UNIT = re.compile("(?P<unit>A(?=,)|(?:" + "|".join(map(re.escape, UNITS)) + r")(?=[\s,;:.]|$))[,;:.]?\s*")
_SHAPE = re.compile(r"\((?P<shape>[^()]*,[^()]*)\)\s*")


@dataclass(frozen=True, slots=True)
class Note:
    """A docstring in its parts."""

    shape: tuple[int | str, ...] | None
    """Of an array: numbers, and names of lengths that differ. None if no shape is given."""
    unit: str
    """Empty for numbers without a unit and for other values."""
    meaning: str


def parse_note(name: str, text: str) -> Note:
    """The parts of the docstring of a field with this name."""
    text = " ".join(text.split())
    found = _SHAPE.match(text)
    rest = text[found.end() :] if found else text
    unit = _UNIT.match(rest)
    rest = rest[unit.end() :] if unit else rest
    suffix = next((word for ending, word in SUFFIXES.items() if name.endswith(ending)), "")
    meaning = rest if rest.startswith(("true:", "false:")) else rest[:1].upper() + rest[1:]
    return Note(_dimensions(found["shape"]) if found else None, unit["unit"] if unit else suffix, meaning)


def _dimensions(text: str) -> tuple[int | str, ...]:
    return tuple(int(part) if part.isdigit() else part for part in (word.strip() for word in text.split(",")) if part)


def field_notes(kind: type) -> dict[str, str]:
    """The docstrings below the fields of a class and of its base classes."""
    notes: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        found = _classes(each.__module__).get(each.__qualname__)
        body = [] if found is None else found.body
        for field, following in pairwise(body):
            if not (isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)):
                continue
            if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
                notes[field.target.id] = inspect.cleandoc(str(following.value.value))
    return notes


@cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    """The classes in the source of a module, which may be anybody's; none if there is no source."""
    if module.split(".")[0] in WITHOUT_NOTES:
        return {}
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError, KeyError, SyntaxError):
        return {}
    return {part.name: part for part in tree.body if isinstance(part, ast.ClassDef)}


@dataclass(frozen=True, slots=True)
class RecordField:
    """One field of a record."""

    name: str
    type: Any
    """Without None, where the field is optional."""
    optional: bool
    dtype: str
    """numpy's name of an array's numbers, such as "<f8". Empty if it is no array, or one of several kinds."""
    note: Note


@cache
def record_fields(record: type[DataclassInstance]) -> dict[str, RecordField]:
    """Of a dataclass, by name, in order."""
    notes, hints = field_notes(record), get_type_hints(record)
    found = {}
    for field in fields(record):
        hint, text = hints[field.name], notes.get(field.name) or (STAMP if field.name == "t_ns" else "")
        parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
        kinds = [part for part in parts if part is not type(None)]
        inner = kinds[0] if len(kinds) == 1 else hint
        dtype = np.dtype(get_args(get_args(inner)[1])[0]).str if get_origin(inner) is np.ndarray else ""
        note = parse_note(field.name, text)
        found[field.name] = RecordField(field.name, inner, type(None) in parts, dtype, note)
    return found
