"""Every option of a depth camera shows in its images."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from option_flights import DRONE, fields_of, fly, numbered
from option_views import COMMON, DASH, EVERY, Pair, Seen, check_pair, seen

from skyloop.sensors.depth_camera import PRESETS, DepthCameraConfig

pytestmark = pytest.mark.renders

DOWN = {"rotation_deg": [0.0, 60.0, 0.0]}
PLAIN = {"kind": "depth_camera", "preset": "perfect", "width": 64, "height": 48, "rate_hz": 1.0 / EVERY, "mount": DOWN}


def depth(one: Seen) -> np.ndarray:
    return np.asarray(one.last.depth, np.float64)


def change(before: Seen, after: Seen) -> float:
    """m, mean of what both see."""
    a, b = depth(before), depth(after)
    both = (a > 0.0) & (b > 0.0)
    return float(np.abs(b - a)[both].mean())


def wider(before: Seen, after: Seen) -> float:
    return float(depth(after).shape[1] - depth(before).shape[1])


def taller(before: Seen, after: Seen) -> float:
    return float(depth(after).shape[0] - depth(before).shape[0])


def longer_focus(before: Seen, after: Seen) -> float:
    assert change(before, after) > 0.05
    return float(after.details["fx"] / before.details["fx"])


def lost(before: Seen, after: Seen) -> float:
    """Share of the pixels that only the first has."""
    return float(np.mean((depth(before) > 0.0) & (depth(after) == 0.0)))


def nearest(before: Seen, after: Seen) -> float:
    return float(depth(after)[depth(after) > 0.0].min() - depth(before)[depth(before) > 0.0].min())


def farthest(before: Seen, after: Seen) -> float:
    return float(depth(after).max() - depth(before).max())


def fewer_values(before: Seen, after: Seen) -> float:
    return float(len(np.unique(depth(before))) / len(np.unique(depth(after))))


def noisier(before: Seen, after: Seen) -> float:
    """By how many times its neighbours differ more."""
    rough = [np.abs(np.diff(depth(one), axis=1)).mean() for one in (before, after)]
    return float(rough[1] / rough[0])


NOISY = {"noise_scale": 0.005}
STEPPED = {"disparity_step": 0.02}
DEPTH: dict[str, list[Pair]] = {
    **COMMON,
    "mount": [
        Pair({**DOWN, "position": [0.0, 0.0, 2.0]}, change, 0.5),
        Pair({"rotation_deg": [0.0, 80.0, 0.0]}, change, 0.5),
    ],
    "faults": [Pair([{"kind": "bias", "value": 0.5}], change, 0.49)],
    "width": [Pair(80, wider, 16)],
    "height": [Pair(60, taller, 12)],
    "horizontal_fov_deg": [Pair(60.0, longer_focus, 1.3)],
    "min_range": [Pair(7.0, nearest, 1.0)],
    "max_range": [Pair(7.5, farthest, -0.5)],
    "noise_scale": [Pair(0.005, change, 0.02)],
    "noise_growth": [Pair(1.0, noisier, 1.2, NOISY)],
    "noise_square": [Pair(0.05, change, 0.02)],
    "noise_nearest": [Pair(0.0, noisier, 1.05, {"noise_square": 0.05, "noise_nearest": 4.0})],
    "zero_share": [Pair(0.2, lost, 0.15)],
    "incidence": [Pair(3.0, noisier, 1.2, NOISY)],
    "flying_pixels": [Pair(1.0, change, 0.003)],
    "baseline": [Pair(0.01, fewer_values, 3.0, STEPPED)],
    "disparity_step": [Pair(0.25, fewer_values, 5.0)],
    "sunlight": [Pair(1.0, lost, 0.02, NOISY)],
    "quality": [Pair("medium", change, 0.001, {"mount": {}})],
}


def test_every_option_of_a_depth_camera_has_a_case() -> None:
    assert set(DEPTH) == fields_of(DepthCameraConfig, "kind", "preset")


@pytest.mark.parametrize(("option", "number"), numbered(DEPTH))
def test_depth_camera(option: str, number: int) -> None:
    check_pair(PLAIN, DEPTH, option, number, DASH)


def test_every_preset_has_its_size_noise_and_place() -> None:
    presets = get_args(DepthCameraConfig.model_fields["preset"].annotation)
    assert set(presets) == set(PRESETS)
    names = {preset.replace("-", "_"): preset for preset in presets}
    sensors = {name: {"kind": "depth_camera", "preset": preset} for name, preset in names.items()}
    flight = fly(DASH.but(seconds=0.02), {DRONE + "sensors": sensors})
    exact = {name: seen(flight, name, sensors[name]).last.depth for name in names}
    for name, preset in names.items():
        n = PRESETS[preset]
        assert exact[name].shape == (n.height, n.width)
        assert exact[name].max() <= n.max_range
        place = DepthCameraConfig(preset=preset).mount.position
        assert place == ((0.12, 0.0, 0.0) if preset.startswith("d435") else (0.0, 0.0, 0.0))
    assert exact["perfect"].max() > 25.0, "the others end at 20 m"
    seen_by_both = (exact["d435"] > 0.0) & (exact["d435_kim"] > 0.0)
    assert np.abs(exact["d435"] - exact["d435_kim"])[seen_by_both].mean() > 0.01
    in_range = exact["d435"] > 0.0
    assert (exact["d435_kim"][in_range] == 0.0).mean() > 0.008
