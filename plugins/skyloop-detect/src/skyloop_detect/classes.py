"""The classes that the shipped detector knows, in the order of its outputs."""

from __future__ import annotations

from typing import Final

CLASSES: Final = ("person", "car", "forklift", "bench", "marker")
"""Person first: the class of the paper, and the one that is aimed at."""
