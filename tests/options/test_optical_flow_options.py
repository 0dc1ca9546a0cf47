"""Every option of an optical-flow sensor shows in its samples."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from option_flights import DRONE, fields_of, fly, numbered
from option_views import COMMON, DASH, EVERY, Pair, Seen, check_pair

from skyloop.sensors.optical_flow import PRESETS, OpticalFlowConfig

pytestmark = pytest.mark.renders

DOWN = {"rotation_deg": [0.0, 90.0, 0.0]}
PLAIN = {"kind": "optical_flow", "preset": "perfect", "size_px": 32, "rate_hz": 1.0 / EVERY, "mount": DOWN}


def flow_change(before: Seen, after: Seen) -> float:
    """rad."""
    a, b = before.last, after.last
    return abs(b.integrated_x - a.integrated_x) + abs(b.integrated_y - a.integrated_y)


def gyro_change(before: Seen, after: Seen) -> float:
    return float(np.abs(after.last.integrated_gyro - before.last.integrated_gyro).max())


def farther(before: Seen, after: Seen) -> float:
    return float(after.last.distance - before.last.distance)


def surer(before: Seen, after: Seen) -> float:
    return float(after.last.quality - before.last.quality)


def unlike_quality(before: Seen, after: Seen) -> float:
    return abs(surer(before, after))


PICKY = {"texture_threshold": 4.0}
FLOW: dict[str, list[Pair]] = {
    **COMMON,
    "mount": [
        Pair({**DOWN, "position": [0.0, 0.0, 1.0]}, farther, 0.5),
        Pair({"rotation_deg": [0.0, 60.0, 0.0]}, flow_change, 0.01),
    ],
    "faults": [Pair([{"kind": "bias", "value": 1.0}], flow_change, 0.9)],
    "size_px": [Pair(16, flow_change, 1e-5)],
    "fov_deg": [Pair(90.0, flow_change, 1e-3)],
    "noise_sd": [Pair(0.2, flow_change, 0.01)],
    "gyro_noise_sd": [Pair(0.2, gyro_change, 0.01)],
    "texture_threshold": [Pair(60.0, surer, -50)],
    "max_flow_rate": [Pair(0.1, surer, -50)],
    "max_range": [Pair(2.0, farther, -3.0)],
    "quality": [Pair("high", unlike_quality, 3, PICKY)],
}


def test_every_option_of_an_optical_flow_sensor_has_a_case() -> None:
    assert set(FLOW) == fields_of(OpticalFlowConfig, "kind", "preset")


@pytest.mark.parametrize(("option", "number"), numbered(FLOW))
def test_optical_flow(option: str, number: int) -> None:
    check_pair(PLAIN, FLOW, option, number, DASH)


def test_every_preset_errs_in_its_own_way() -> None:
    presets = get_args(OpticalFlowConfig.model_fields["preset"].annotation)
    assert set(presets) == set(PRESETS) == {"px4flow", "perfect"}
    sensors = {name: {"kind": "optical_flow", "preset": name, "rate_hz": 20.0, "mount": DOWN} for name in presets}
    flight = fly(DASH, {DRONE + "sensors": sensors})
    noisy, exact = ([s.integrated_gyro for s in flight.records(name)] for name in presets)
    # 0.002 rad/s over 0.05 s
    assert np.std(np.subtract(noisy, exact)[1:]) == pytest.approx(0.002 * 0.05, rel=0.5)
