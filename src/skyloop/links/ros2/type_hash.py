"""The hash of a message's definition (RIHS01), by which ROS 2 nodes since Iron tell whether they mean the same type."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import Any

from skyloop.recording.formats.ros2_definitions import FIELD, FIELDS, schema_name

NESTED = 1
NUMBERS = {
    "int8": 2, "uint8": 3, "int16": 4, "uint16": 5, "int32": 6, "uint32": 7, "int64": 8, "uint64": 9, "float32": 10,
    "float64": 11, "bool": 15, "byte": 16, "string": 17,
}  # fmt: skip
"""ROS's numbers of the kinds of fields."""
ARRAY, SEQUENCE = 48, 144
"""Added to the number of what an array of fixed length, or of any length, holds."""


@cache
def type_hash(kind: str) -> str:
    nested = sorted(_needed(kind) - {kind}, key=schema_name)
    description = {"type_description": _struct(kind), "referenced_type_descriptions": [_struct(one) for one in nested]}
    text = json.dumps(description, separators=(", ", ": "))
    return "RIHS01_" + hashlib.sha256(text.encode()).hexdigest()


def _needed(kind: str) -> set[str]:
    found, left = set(), [kind]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += [field[0] for field in FIELD.findall(FIELDS[one]) if field[0] in FIELDS]
    return found


def _struct(kind: str) -> dict[str, Any]:
    return {"type_name": schema_name(kind), "fields": [_field(*field) for field in FIELD.findall(FIELDS[kind])]}


def _field(kind: str, brackets: str, length: str, name: str) -> dict[str, Any]:
    number = NUMBERS.get(kind, NESTED) + (0 if not brackets else ARRAY if length else SEQUENCE)
    about = {
        "type_id": number,
        "capacity": int(length or 0),
        "string_capacity": 0,
        "nested_type_name": schema_name(kind) if kind in FIELDS else "",
    }
    return {"name": name, "type": about}
