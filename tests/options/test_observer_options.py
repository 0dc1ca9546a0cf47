"""Every option of an observer shows in its images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
from option_flights import fields_of, fly, numbered
from option_views import DASH, EVERY

from skyloop.sensors.external_camera import ObserverConfig

pytestmark = pytest.mark.renders

CHASE = {"mode": "chase", "vehicle": "drone", "rate_hz": 1.0 / EVERY, "width": 64, "height": 36, "quality": "low"}
FIXED = {**CHASE, "mode": "fixed"}
ORBIT = {**CHASE, "mode": "orbit", "vehicle": None, "period": 2.0}
AIMLESS = {**FIXED, "vehicle": None}
Images = list[np.ndarray]


def apart(before: Images, after: Images) -> float:
    """Mean, of 255, of the last images."""
    return float(np.abs(after[-1] - before[-1]).mean())


def wider(before: Images, after: Images) -> float:
    return after[0].shape[1] - before[0].shape[1]


def taller(before: Images, after: Images) -> float:
    return after[0].shape[0] - before[0].shape[0]


def more(before: Images, after: Images) -> float:
    return len(after) - len(before)


OBSERVER: dict[str, list[tuple[dict[str, Any], Any, Callable[[Images, Images], float], float]]] = {
    "mode": [(CHASE, "fixed", apart, 3.0), (CHASE, "orbit", apart, 3.0)],
    "vehicle": [(CHASE, "other", apart, 3.0), (AIMLESS, "drone", apart, 3.0)],
    "rate_hz": [(CHASE, 8.0, more, 3)],
    "width": [(CHASE, 80, wider, 16)],
    "height": [(CHASE, 48, taller, 12)],
    "horizontal_fov_deg": [(CHASE, 40.0, apart, 2.0)],
    "quality": [(CHASE, "high", apart, 0.5)],
    "position": [(FIXED, [3.0, 5.0, 9.0], apart, 3.0)],
    "look_at": [(AIMLESS, [0.0, 3.0, 5.0], apart, 3.0), (ORBIT, [0.0, 3.0, 5.0], apart, 3.0)],
    "back": [(CHASE, 1.0, apart, 2.0), (ORBIT, 1.0, apart, 2.0)],
    "up": [(CHASE, 4.0, apart, 3.0), (ORBIT, 4.0, apart, 3.0)],
    "period": [(ORBIT, 0.9, apart, 3.0)],
}


def test_every_option_of_an_observer_has_a_case() -> None:
    assert set(OBSERVER) == fields_of(ObserverConfig)
    assert set(get_args(ObserverConfig.model_fields["mode"].annotation)) == {"fixed", "chase", "orbit"}


@pytest.mark.parametrize(("option", "number"), numbered(OBSERVER))
def test_observer(option: str, number: int) -> None:
    observers: dict[str, Any] = {}
    for name, k in numbered(OBSERVER):
        given, value, _, _ = OBSERVER[name][k]
        observers |= {f"{name}_{k}_before": given, f"{name}_{k}_after": {**given, name: value}}
    flight = fly(DASH, {"observers": observers})
    before, after = (
        [m.data.colour.astype(float) for m in flight.messages[f"observer/{option}_{number}_{when}"]]
        for when in ("before", "after")
    )
    _, value, measure, least = OBSERVER[option][number]
    assert measure(before, after) >= least, f"{option} = {value}: {measure(before, after):.4g}"
