"""The protocol between renderer process and client: a JSON header and raw arrays, lengths first. It has no sockets."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop_client.messages import Array

LENGTHS = struct.Struct("<II")
Arrays = dict[str, NDArray[Any]]
Header = dict[str, Any]
"""A JSON object."""
Sky = dict[str, Any]
"""The fields of WeatherConfig, the sun's direction and the air's extinction."""


@dataclass(slots=True)
class ViewJob:
    """One picture to be rendered."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float
    quality: str
    eye: Array
    world_from_camera: Array
    moving: Array
    hidden: tuple[int, int] | None
    sky: Sky
    exposure: float
    t: float
    colour: bool
    """Whether its colours are read."""
    surface: bool
    """Whether its surfaces are read; one of the two is."""
    lamps: Array = field(default_factory=lambda: np.zeros((0, 8)))
    """(n, 8) of `lamplight.seen_lamps`; without rows if all are off."""


def encode(header: Header, arrays: Arrays | None = None) -> list[bytes | memoryview]:
    """The pieces of a message, to be sent one after the other."""
    laid_out = {name: np.ascontiguousarray(array) for name, array in (arrays or {}).items()}
    shapes = {name: [array.dtype.str, list(array.shape)] for name, array in laid_out.items()}
    text = json.dumps({**header, "arrays": shapes}).encode()
    size = sum(array.nbytes for array in laid_out.values())
    bodies = [array.reshape(-1).view(np.uint8).data for array in laid_out.values() if array.nbytes]
    return [LENGTHS.pack(len(text), size) + text, *bodies]


def decode(read: Callable[[int], bytes | bytearray]) -> tuple[Header, Arrays]:
    """The next message; `read(n)` returns exactly n bytes."""
    n_text, n_body = LENGTHS.unpack(read(LENGTHS.size))
    header = json.loads(bytes(read(n_text)))
    body = read(n_body)
    arrays: Arrays = {}
    offset = 0
    for name, (kind, shape) in header.pop("arrays").items():
        dtype = np.dtype(kind)
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(body, dtype, count, offset).reshape(shape)
        offset += count * dtype.itemsize
    return header, arrays
