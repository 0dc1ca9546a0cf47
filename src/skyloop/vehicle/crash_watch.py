"""Whether a vehicle stands upright on its legs; anything else in which it ends is a crash."""

from __future__ import annotations

import math

import numpy as np

from skyloop.vehicle.autopilot_memory import AutopilotMemory
from skyloop_client.streams import NS_PER_S

UPRIGHT, UPRIGHT_TOUCHING = 0.82, 0.9
"""The least cosine of the tilt with which it stands on its legs: 35°; 25° where its body touches something, too."""
TIPPED = 0.4
"""The cosine below which it lies on its side."""
TOUCHED_NS = NS_PER_S * 3 // 10
"""A body that bounces counts as touching for so long after each touch."""
TIPPED_S, RESTS_S = 0.2, 1.0
"""s it lies on its side, or rests in any other way but on its legs, before it has crashed."""
SLOW = 0.1
"""m/s and rad/s of a vehicle at rest."""


def _up(row: np.void) -> float:
    """The cosine of its tilt."""
    x, y = float(row["motion"][7]), float(row["motion"][8])
    return 1.0 - 2.0 * (x * x + y * y)


def _stands(row: np.void, up: float) -> bool:
    """Whether a vehicle that is down is upright, and on its legs where its body touches something."""
    if row["body_down"]:
        return bool(row["legs_down"]) and up > UPRIGHT_TOUCHING
    return up > UPRIGHT


def how_it_lies(row: np.void) -> str:
    """Empty for a vehicle that stands."""
    up = _up(row)
    if _stands(row, up):
        return ""
    if up < -0.5:
        return "lies upside down"
    return "lies on its side" if up < TIPPED else f"leans at {math.degrees(math.acos(min(up, 1.0))):.0f}°"


def has_fallen(row: np.void, memory: AutopilotMemory, t_ns: int) -> str:
    """How it lies, if it does since long enough; asked at each tick."""
    if row["body_down"]:
        memory.touched_ns = t_ns
    lies = how_it_lies(row) if t_ns - memory.touched_ns < TOUCHED_NS else ""
    if memory.fallen or not lies:
        memory.held_ns("tipped over", False, t_ns)
        memory.held_ns("fallen", False, t_ns)
        return ""
    rests = bool(np.abs(row["motion"][3:6]).max() < SLOW and np.abs(row["motion"][10:13]).max() < SLOW)
    tipped_ns = memory.held_ns("tipped over", _up(row) < TIPPED, t_ns)
    resting_ns = memory.held_ns("fallen", rests, t_ns)
    return lies if max(tipped_ns / TIPPED_S, resting_ns / RESTS_S) > NS_PER_S else ""
