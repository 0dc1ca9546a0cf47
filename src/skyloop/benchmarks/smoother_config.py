"""How the fixed-lag smoother of `bench vio-backends` works; the defaults were chosen on a few recorded flights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class SmootherConfig:
    solver: Literal["incremental", "batch"] = "incremental"
    """`incremental`: iSAM2; `batch`: Levenberg-Marquardt over the whole window at every node."""
    nodes: int = 10
    """Nodes in the window."""
    key_parallax_px: float = 12.0
    """The mean motion of the corners, turns taken out, that makes a node. Between nodes the IMU carries the state."""
    longest_gap_s: float = 0.5
    """s between two nodes at most."""
    points: int = 120
    """Points in the window at most."""
    sightings: int = 3
    """Nodes that must have seen a corner before it becomes a point."""
    is_lasting: bool = True
    """A point stays as long as it is seen. Otherwise it leaves with the first node that saw it, and begins anew."""
    huber: float = 1.345
    """Sigmas beyond which the weight of a measurement falls."""
    refuse: float = 10.0
    """Sigmas by which a point may miss its prediction before the measurement is left out."""
    relinearise: float = 0.01
    """The change of a variable beyond which iSAM2 linearises it again."""
    iterations: int = 0
    """Further updates of iSAM2 per node; or at most this many plus one of Levenberg-Marquardt."""
    decay: bool = True
    """Whether the biases decay as the IMU's stream says; CombinedImuFactor cannot, so its parts are used."""
