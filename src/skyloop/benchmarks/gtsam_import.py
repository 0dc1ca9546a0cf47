"""GTSAM, from the extra `bench`, and the names of the smoother's variables in it."""

from __future__ import annotations

from typing import Any

from skyloop_client.errors import MissingExtra

gtsam: Any = None
try:
    import gtsam as _gtsam

    gtsam = _gtsam
except ImportError:
    # `check_gtsam` says so
    pass


def check_gtsam() -> None:
    if gtsam is None:
        raise MissingExtra("the smoother is GTSAM's, which is not installed: pip install 'skyloop[bench]'")


def pose_key(node: int) -> int:
    return int(gtsam.symbol("x", node))


def velocity_key(node: int) -> int:
    return int(gtsam.symbol("v", node))


def bias_key(node: int) -> int:
    return int(gtsam.symbol("b", node))


def point_key(number: int) -> int:
    return int(gtsam.symbol("l", number))
