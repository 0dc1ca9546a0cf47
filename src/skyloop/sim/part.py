"""What acts at a rate of its own in a running simulation, and how a snapshot copies and restores what it remembers."""

from __future__ import annotations

import copy
from typing import Any

from skyloop_client.errors import PartError

Memory = Any
"""What a part of a simulation gave to be remembered; only that part looks into it."""


def attributes_of(of: object) -> dict[str, object]:
    """The attributes of an object with `__dict__`, `__slots__` or both."""
    state = object.__getstate__(of)
    own, slots = state if isinstance(state, tuple) else (state, None)
    return {**(own or {}), **(slots or {})}


def give_attributes(to: object, attributes: dict[str, object]) -> None:
    """Give an object exactly these attributes, even if it is a frozen dataclass."""
    for name in attributes_of(to):
        object.__delattr__(to, name)
    for name, value in attributes.items():
        object.__setattr__(to, name, value)


class Part:
    """Without memory, unless a class overrides it."""

    name = ""
    """Used in error messages, such as "drone/imu" or "pilot of 'drone'"."""

    def memory(self) -> object:
        """Everything that changes in it."""
        return None

    def remember(self, memory: Memory) -> None:
        """Go back to what `memory` gave."""

    def close(self) -> None:
        """Free what it holds."""


def kept_memory(part: Part) -> object:
    """A copy of what a part remembers, for a snapshot."""
    try:
        return copy.deepcopy(part.memory())
    except Exception as error:
        raise PartError(
            f"{part.name} cannot be copied into a snapshot: {type(error).__name__}: {error}; "
            "keep locks, files and generators out of its attributes"
        ) from error
