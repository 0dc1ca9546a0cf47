"""The rotations of the kernels before Numba compiles them: they only add and multiply, so arrays of JAX fit too."""

from __future__ import annotations

from typing import Any

from skyloop.core import rotations

_pieces: Any = rotations
to_world, cross, multiply = _pieces.to_world.py_func, _pieces.cross.py_func, _pieces.multiply.py_func


def to_body(w: Any, x: Any, y: Any, z: Any, *vector: Any) -> Any:
    return to_world(w, -x, -y, -z, *vector)
