"""What a peer sends, as setpoints and requests of ours, or a line that says why not."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from skyloop.errors import SetpointError
from skyloop.messages import Request, Setpoint


def taken(item: Any) -> Setpoint | Request:
    """A setpoint or request; plain lists of numbers become arrays."""
    if not isinstance(item, Setpoint | Request):
        said = item.get("@", "a map") if isinstance(item, dict) else type(item).__name__
        raise SetpointError(f"{said} is neither a setpoint nor a request")
    lists = {name: value for name, value in _values(item).items() if isinstance(value, tuple | list)}
    try:
        arrays = {name: np.array(value, np.float64) for name, value in lists.items()}
        # kept beyond the bytes they came in, and owned by nobody else
        arrays |= {name: np.array(v, np.float64) for name, v in _values(item).items() if isinstance(v, np.ndarray)}
    except (TypeError, ValueError) as error:
        raise SetpointError(f"{type(item).__name__}: {error}") from None
    return replace(item, **arrays)  # type: ignore[arg-type]


def _values(item: Any) -> dict[str, Any]:
    return {field.name: getattr(item, field.name) for field in fields(item)}
