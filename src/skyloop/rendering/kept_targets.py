"""What views are painted into, kept from one request to the next, within so many bytes.

Clients ask for images of whatever size they like. A count of kept targets would bound nothing: 24 of 4K images with
nine samples a pixel are 47 GB.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Kept = TypeVar("Kept")
MOST_BYTES = 256 * 1024**2


class KeptTargets(Generic[Kept]):
    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: dict[Hashable, tuple[Kept, int]] = {}
        """Longest unused first."""
        self._in_use: set[Hashable] = set()
        """By the present request, which reads them only when all its views are painted."""

    @property
    def total_bytes(self) -> int:
        return sum(size for _, size in self._kept.values())

    def begin_request(self) -> None:
        self._in_use.clear()

    def get(self, key: Hashable, size: int, make: Callable[[], Kept]) -> Kept:
        """The one of that key, made if need be. Of the others, those go that no longer fit, but none in use."""
        self._in_use.add(key)
        if key not in self._kept:
            for other in [known for known in self._kept if known not in self._in_use]:
                if self.total_bytes + size <= self._most_bytes:
                    break
                del self._kept[other]
            self._kept[key] = make(), size
        self._kept[key] = self._kept.pop(key)
        return self._kept[key][0]
