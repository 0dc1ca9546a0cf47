"""What of a record that somebody publishes is looked at: shapes, kinds, NaN, ranges, size.

A record that passes is a copy with arrays of the stated types, so that nobody can change it afterwards. One that does
not is refused with one line that says which field, what is wrong and what to give.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skyloop_client.codec import size_of
from skyloop_client.errors import StreamError
from skyloop_client.messages import (
    Detections,
    Estimate,
    Goal,
    GoalStatus,
    GridMap,
    Image,
    KeyPose,
    LandingStatus,
    Marker,
    Markers,
    Movers,
    Number,
    Path,
    PointCloud,
    VoxelMap,
)
from skyloop_client.schema import RecordField, record_fields

FARTHEST = 1e12
"""m, m/s, rad...: squares of it are still far from the end of a float."""
MOST_TEXT = 200
"""Characters of a text."""
MOST_ITEMS = 10_000
"""Detections in a record, and markers."""
MOST_BYTES = 4 << 20
"""Of one record."""
UNIT_TOLERANCE = 1e-3
GOAL_STATES = ("waiting", "flying", "reached", "refused", "given up")
LANDING_STAGES = ("seek", "over", "down", "land", "given up")
MARKER_KINDS = ("sphere", "box", "arrow", "line", "points", "text")


@dataclass(frozen=True, slots=True)
class Numbers:
    """An array. A dimension is a number, or a letter that stands for the same number throughout the record."""

    dtype: str
    shape: tuple[int | str, ...]
    low: float = -FARTHEST
    high: float = FARTHEST
    optional: bool = False
    filled: bool = False
    """May not be empty."""


@dataclass(frozen=True, slots=True)
class One:
    """A number, finite."""

    low: float = -FARTHEST
    high: float = FARTHEST


@dataclass(frozen=True, slots=True)
class Text:
    one_of: tuple[str, ...] = ()
    named: bool = False
    """May not be empty."""


@dataclass(frozen=True, slots=True)
class Special:
    """Looked at by a function of its own."""

    take: Callable[[Any, str], Any]


def _flag(value: object, field_path: str) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise StreamError(f"{field_path} is {_shown(value)}; give True or False")
    return bool(value)


def _count(value: object, field_path: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value < 2**62:
        raise StreamError(f"{field_path} is {_shown(value)}; give a whole number from 0")
    return int(value)


def _number_or_none(value: object, field_path: str) -> float | None:
    return None if value is None else _number(One(), value, field_path)


def _texts(value: object, field_path: str) -> tuple[str, ...]:
    if not isinstance(value, tuple | list) or len(value) > MOST_ITEMS:
        raise StreamError(f"{field_path} is {_shown(value)}; give a tuple of at most {MOST_ITEMS} texts")
    return tuple(_text(Text(named=True), item, f"{field_path}[{k}]") for k, item in enumerate(value))


def _markers(value: object, field_path: str) -> tuple[Marker, ...]:
    if not isinstance(value, tuple | list) or len(value) > MOST_ITEMS:
        raise StreamError(f"{field_path} is {_shown(value)}; give a tuple of at most {MOST_ITEMS} markers")
    for k, item in enumerate(value):
        if type(item) is not Marker:
            raise StreamError(f"{field_path}[{k}] is {_shown(item)}; give a Marker")
    out = tuple(_taken(item, f"{field_path}[{k}]") for k, item in enumerate(value))
    names = [marker.name for marker in out]
    for name in names:
        if names.count(name) > 1:
            raise StreamError(f"{field_path}: two markers are named '{name}'; each needs its own name")
    return out


def _pixels(value: object, field_path: str) -> Any:
    pixels = value if isinstance(value, np.ndarray) else None
    fits = pixels is not None and (
        (pixels.dtype == np.uint8 and (pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] == 3)))
        or (pixels.dtype in (np.uint16, np.float32) and pixels.ndim == 2)
    )
    if pixels is None or not fits or not pixels.size:
        raise StreamError(
            f"{field_path} is {_shown(value)}; "
            "give (height, width, 3) uint8, or (height, width) uint8, uint16 or float32"
        )
    return np.array(pixels, order="C")


def _covariance(value: Any, field_path: str) -> Any:
    if value is None:
        return None
    side = 15 if np.shape(value) == (15, 15) else 9
    matrix = _array(Numbers("<f8", (side, side)), value, field_path, {})
    if np.diagonal(matrix).min() < 0.0:
        raise StreamError(f"{field_path} has a negative variance on its diagonal; give a covariance")
    return matrix


Spec = Numbers | One | Text | Special
PUBLISHED = (
    Estimate, Detections, GridMap, VoxelMap, Path, Goal, GoalStatus, LandingStatus, Movers, PointCloud, KeyPose, Image,
    Markers, Number,
)  # fmt: skip
"""The records that may be published."""
MOST_NUMBER = 2**62
RANGES: dict[str, tuple[float, float]] = {
    "quat_wxyz": (-1.01, 1.01), "position_sd": (0.0, FARTHEST), "velocity_sd": (0.0, FARTHEST),
    "attitude_sd": (0.0, FARTHEST), "scores": (0.0, 1.0), "tracks": (-1, MOST_NUMBER), "cells": (-1, 100),
    "voxels": (-1, 100), "times_ns": (0, MOST_NUMBER), "ids": (0, MOST_NUMBER), "sizes": (0.0, 1e6), "size": (0.0, 1e6),
    "colours": (0, 255), "colour": (0.0, 1.0), "resolution": (1e-4, 1e4),
}  # fmt: skip
"""By the name of a field, in all records."""
FILLED = ("cells", "voxels")
WORDS = {(GoalStatus, "state"): GOAL_STATES, (LandingStatus, "stage"): LANDING_STAGES, (Marker, "kind"): MARKER_KINDS}
NAMED = ((PointCloud, "frame"), (Markers, "frame"), (Marker, "name"))
SPECIAL = {"covariance": _covariance, "pixels": _pixels, "classes": _texts, "markers": _markers}


def specs_of(kind: type) -> dict[str, Spec]:
    """What the fields of a record must be: types and shapes as the record's own schema has them."""
    return {name: _spec(kind, field) for name, field in record_fields(kind).items() if name != "t_ns"}


def _spec(kind: type, field: RecordField) -> Spec:
    name, (low, high) = field.name, RANGES.get(field.name, (-FARTHEST, FARTHEST))
    if name in SPECIAL:
        return Special(SPECIAL[name])
    if field.dtype:
        assert field.note.shape is not None
        return Numbers(field.dtype, field.note.shape, low, high, field.optional, name in FILLED)
    if field.type is str:
        return Text(WORDS.get((kind, name), ()), (kind, name) in NAMED)
    if field.type is float:
        return Special(_number_or_none) if field.optional else One(low, high)
    return Special({bool: _flag, int: _count}[field.type])


def taken(record: Any, now_ns: int) -> Any:
    """A checked copy of what somebody wants to publish at an instant."""
    kind = type(record)
    if kind not in PUBLISHED:
        names = ", ".join(known.__name__ for known in PUBLISHED)
        raise StreamError(f"{_shown(record)} cannot be published; give one of {names}")
    if kind is Goal:
        return _taken(record, kind.__name__)
    t_ns = record.t_ns
    if isinstance(t_ns, bool) or not isinstance(t_ns, int | np.integer) or not 0 <= t_ns <= now_ns:
        raise StreamError(f"{kind.__name__}.t_ns is {_shown(t_ns)}; give whole ns from 0 to the present instant")
    made = replace(_taken(record, kind.__name__), t_ns=int(t_ns))
    if (size := size_of(made)) > MOST_BYTES:
        raise StreamError(f"a {kind.__name__} of {size} bytes is more than the {MOST_BYTES} a record may have")
    return made


def _taken(record: Any, field_path: str) -> Any:
    letters: dict[str, int] = {}
    values: dict[str, Any] = {}
    for name, spec in specs_of(type(record)).items():
        value, where = getattr(record, name), f"{field_path}.{name}"
        if isinstance(spec, Numbers):
            values[name] = _array(spec, value, where, letters)
        elif isinstance(spec, One):
            values[name] = _number(spec, value, where)
        elif isinstance(spec, Text):
            values[name] = _text(spec, value, where)
        else:
            values[name] = spec.take(value, where)
    if "quat_wxyz" in values and abs(np.linalg.norm(values["quat_wxyz"]) - 1.0) > UNIT_TOLERANCE:
        raise StreamError(
            f"{field_path}.quat_wxyz is {values['quat_wxyz'].tolist()}; give a unit quaternion w, x, y, z"
        )
    if isinstance(record, Detections):
        _check_boxes(values, letters["n"], field_path)
    return replace(record, **values)


def _check_boxes(values: dict[str, Any], n: int, field_path: str) -> None:
    if len(values["classes"]) != n:
        raise StreamError(f"{field_path}.classes has {len(values['classes'])} names for {n} boxes; give one for each")
    boxes = values["boxes_px"]
    if n and (boxes[:, 2:] < boxes[:, :2]).any():
        raise StreamError(f"{field_path}.boxes_px has a right edge left of the left one; give left, top, right, bottom")


def _array(spec: Numbers, value: object, field_path: str, letters: dict[str, int]) -> Any:
    if value is None and spec.optional:
        return None
    wanted = "(" + ", ".join(map(str, spec.shape)) + ("," if len(spec.shape) == 1 else "") + ")"
    whole = spec.dtype[1] in "iu"
    kind = "whole numbers" if whole else "numbers"
    try:
        array = np.asarray(value)
    except ValueError:
        raise StreamError(f"{field_path} is ragged; give {kind} of shape {wanted}") from None
    # a list of nothing does not say how wide its rows would be
    if array.shape == (0,):
        array = array.reshape((0, *(size for size in spec.shape[1:] if isinstance(size, int))))
    if array.dtype.kind not in ("iu" if whole and array.size else "iuf"):
        raise StreamError(f"{field_path} is {_shown(value)}; give {kind} of shape {wanted}")
    fits = array.ndim == len(spec.shape)
    for size, dimension in zip(array.shape, spec.shape, strict=False):
        expected = letters.setdefault(dimension, size) if isinstance(dimension, str) else dimension
        fits = fits and size == expected
    if not fits:
        known = "".join(f", where {letter} is {size}" for letter, size in letters.items() if letter in wanted)
        raise StreamError(f"{field_path} has the shape {array.shape}; give {wanted}{known}")
    if spec.filled and not array.size:
        raise StreamError(f"{field_path} is empty; give at least one number")
    _check_range(array, spec, field_path)
    return np.array(array, spec.dtype, order="C")


def _check_range(array: Any, spec: Numbers, field_path: str) -> None:
    if not array.size:
        return
    if not np.isfinite(array).all():
        raise StreamError(f"{field_path} holds NaN or infinity; leave out what is not known")
    lowest, highest = array.min(), array.max()
    if lowest < spec.low or highest > spec.high:
        outside = lowest if lowest < spec.low else highest
        raise StreamError(f"{field_path} holds {outside:g}; give {spec.low:g} to {spec.high:g}")


def _number(spec: One, value: object, field_path: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise StreamError(f"{field_path} is {_shown(value)}; give a number")
    if not spec.low <= value <= spec.high:
        raise StreamError(f"{field_path} is {value:g}; give a finite number from {spec.low:g} to {spec.high:g}")
    return float(value)


def _text(spec: Text, value: object, field_path: str) -> str:
    if not isinstance(value, str) or len(value) > MOST_TEXT or (spec.named and not value):
        raise StreamError(f"{field_path} is {_shown(value)}; give a text of at most {MOST_TEXT} characters")
    if spec.one_of and value not in spec.one_of:
        raise StreamError(f"{field_path} is '{value}'; give {', '.join(spec.one_of)}")
    if any(ord(letter) < 32 for letter in value):
        raise StreamError(f"{field_path} holds a control character; give one line of plain text")
    return value


def _shown(value: object) -> str:
    """A value in few words, whatever a stranger has sent."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} and shape {value.shape}"
    if isinstance(value, dict) and "@" in value:
        return f"a record '{str(value['@'])[:40]}'"
    text = repr(value) if isinstance(value, int | float | str | None) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."
