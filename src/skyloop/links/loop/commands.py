"""Converts a peer's values into numbers, setpoints and requests, or says in one line why not."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from skyloop_client.errors import LinkError, SetpointError
from skyloop_client.messages import Request, Setpoint

MOST = 1 << 62
"""ns and other integers. An answer must be able to repeat it."""
FARTHEST = 1e12
"""m, m/s, rad... Its square is still far from the largest float."""


def whole(message: dict[str, Any], key: str, default: int | None = None) -> int:
    """An integer of a message."""
    value = message[key] if default is None else message.get(key, default)
    if type(value) is not int or not -MOST < value < MOST:
        raise LinkError(f"'{key}' must be an integer, smaller than 2^62; see docs/reference/protocol.md")
    return value


def taken(item: Any) -> Setpoint | Request:
    """A setpoint or request. Plain lists of numbers become arrays."""
    if not isinstance(item, Setpoint | Request):
        said = item.get("@", "a map") if isinstance(item, dict) else type(item).__name__
        raise SetpointError(f"{said} is neither a setpoint nor a request")
    arrays = {}
    for field in fields(item):
        value = getattr(item, field.name)
        place = f"{type(item).__name__}.{field.name}"
        if isinstance(value, str) != (field.type == "str"):
            raise SetpointError(
                f"{place} is a {type(value).__name__}; give {'text' if field.type == 'str' else 'numbers'}"
            )
        if isinstance(value, tuple | list | np.ndarray):
            # copied, because they outlive the bytes they came in
            value = arrays[field.name] = _numbers(value, place)
        elif not isinstance(value, int | float | str | None):
            raise SetpointError(f"{place} is a {type(value).__name__}; give numbers")
        # the autopilot refuses NaN itself
        if not isinstance(value, str | None) and _is_far(value):
            raise SetpointError(f"{place} is beyond {FARTHEST:g}; give SI units and radians")
    return replace(item, **arrays)


def _is_far(value: Any) -> bool:
    if isinstance(value, int | float):
        return abs(value) > FARTHEST
    return bool((np.abs(value) > FARTHEST).any())


def _numbers(value: Any, place: str) -> Any:
    try:
        if np.iscomplexobj(value):
            raise ValueError("it is complex")
        return np.array(value, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise SetpointError(f"{place}: {error}; give numbers") from None
