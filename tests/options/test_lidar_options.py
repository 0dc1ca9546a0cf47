"""Every option of a LiDAR shows in its scans."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from option_flights import Script, fields_of, fly, numbered
from option_views import COMMON, DASH, VEHICLES, WORLD, Pair, Seen, check_pair, more_samples

from skyloop.sensors.lidar import PRESETS, LidarConfig
from skyloop_client.messages import LidarScan

PLAIN = {
    "kind": "lidar",
    "preset": "perfect",
    "rate_hz": 5.0,
    "points_per_second": 20_000.0,
    "vertical_fov_deg": [-60.0, 0.0],
}
WET = DASH.but({"weather": {"rain": 100.0}})


def scan(one: Seen) -> LidarScan:
    found: LidarScan = one.last
    return found


def change(before: Seen, after: Seen) -> float:
    """Of the number of points, or of where the mean one lies, in m."""
    a, b = scan(before).points, scan(after).points
    return float(abs(len(b) - len(a)) + np.linalg.norm(b.mean(axis=0) - a.mean(axis=0)))


def more_points(before: Seen, after: Seen) -> float:
    """As a share of those before."""
    return len(scan(after).ranges) / len(scan(before).ranges) - 1.0


def rings(before: Seen, after: Seen) -> float:
    return float(int(scan(after).rings.max()) - int(scan(before).rings.max()))


def fills_a_cone(before: Seen, after: Seen) -> float:
    """deg, scatter of the beams' elevation beyond that of one channel."""
    scatter = [np.degrees(np.arcsin(scan(s).points[:, 2] / scan(s).ranges)).std() for s in (before, after)]
    return float(scatter[1] - scatter[0])


def elevation(before: Seen, after: Seen) -> float:
    """deg of the lowest beam, against the other's."""
    low = [np.degrees(np.arcsin((scan(s).points[:, 2] / scan(s).ranges).min())) for s in (before, after)]
    return float(low[1] - low[0])


def backward(before: Seen, after: Seen) -> float:
    """Share of points behind."""
    return float((scan(after).points[:, 0] < -0.01).mean() - (scan(before).points[:, 0] < -0.01).mean())


def skewed_columns(before: Seen, after: Seen) -> float:
    """rad of azimuth by which channels of one column are apart."""
    spread = []
    for one in (before, after):
        points, ring = scan(one).points, scan(one).rings
        azimuth = np.sort(np.arctan2(points[:, 1], points[:, 0])[ring <= 4])
        spread.append(len(np.unique(azimuth.round(5))))
    return spread[1] / spread[0]


def nearest(before: Seen, after: Seen) -> float:
    return float(scan(after).ranges.min() - scan(before).ranges.min())


def farthest(before: Seen, after: Seen) -> float:
    return float(scan(after).ranges.max() - scan(before).ranges.max())


def noise(before: Seen, after: Seen) -> float:
    return float((scan(after).ranges - scan(before).ranges).std())


def dimmer(before: Seen, after: Seen) -> float:
    return float(scan(after).intensities.mean() - scan(before).intensities.mean())


def drops(before: Seen, after: Seen) -> float:
    """Returns of nothing solid."""
    assert (scan(before).instances > 0).all()
    return float((scan(after).instances == 0).sum())


def first_offset(before: Seen, after: Seen) -> float:
    """s; firings are stamped, and leave from where the sensor then was."""
    assert not scan(before).offsets_ns.any()
    assert change(before, after) > 0.02
    return float(scan(after).offsets_ns.min()) * 1e-9


def on_the_other_vehicle(one: Seen) -> np.ndarray:
    """(3,) mean of the points on it."""
    return np.asarray(scan(one).points[scan(one).classes == 28].mean(axis=0))


def moved_other_vehicle(before: Seen, after: Seen) -> float:
    """m; the points on what falls while the beam goes round."""
    return float(np.linalg.norm(on_the_other_vehicle(after) - on_the_other_vehicle(before)))


ONE_BEAM = {
    "channels": 1,
    "vertical_fov_deg": None,
    "horizontal_fov_deg": [-30.0, 30.0],
    "mount": {"rotation_deg": [0.0, 60.0, 0.0]},
}
LIDAR: dict[str, list[Pair]] = {
    **COMMON,
    "rate_hz": [Pair(10.0, more_samples, 2)],
    "mount": [Pair({"position": [0.0, 0.0, 2.0]}, change, 0.5), Pair({"rotation_deg": [0.0, 40.0, 0.0]}, change, 0.5)],
    "faults": [Pair([{"kind": "bias", "value": 0.5}], nearest, 0.49)],
    "pattern": [Pair("rosette", fills_a_cone, 5.0, ONE_BEAM)],
    "channels": [Pair(32, rings, 16)],
    "vertical_fov_deg": [Pair([-30.0, 0.0], elevation, 29.0)],
    "horizontal_fov_deg": [Pair([-60.0, 60.0], backward, -0.2)],
    "points_per_second": [Pair(40_000.0, more_points, 0.8)],
    "staggered": [Pair(True, skewed_columns, 2.0)],
    "min_range": [Pair(8.0, nearest, 1.0)],
    "max_range": [Pair(10.0, farthest, -3.0)],
    "range_noise_sd": [Pair(0.1, noise, 0.08)],
    "dropout": [Pair(0.5, more_points, -0.45)],
    "intensity": [Pair(False, dimmer, -0.05)],
    "min_reflectance": [Pair(1.0, more_points, -0.3, {"max_range": 15.0})],
    "weather": [Pair(True, drops, 3)],
    "motion_distortion": [Pair(True, first_offset, -0.15)],
    "slices": [Pair(1, moved_other_vehicle, 0.01, {"motion_distortion": True, "points_per_second": 80_000.0})],
}


def test_every_option_of_a_lidar_has_a_case() -> None:
    assert set(LIDAR) == fields_of(LidarConfig, "kind", "preset")


@pytest.mark.parametrize(("option", "number"), numbered(LIDAR))
def test_lidar(option: str, number: int) -> None:
    check_pair(PLAIN, LIDAR, option, number, WET)


def test_every_preset_scans_in_its_own_way() -> None:
    presets = get_args(LidarConfig.model_fields["preset"].annotation)
    assert set(presets) == set(PRESETS)
    names = {preset.replace("-", "_"): preset for preset in presets}
    sensors = {name: {"kind": "lidar", "preset": preset} for name, preset in names.items()}
    low = [{**VEHICLES[0], "position": [0.0, 0.0, 1.0], "sensors": sensors}]
    flight = fly(Script((), 0.11, {"world": WORLD}), {"vehicles": low})
    kinds = set()
    for name, preset in names.items():
        n, one = PRESETS[preset], flight.records(name)[-1]
        assert one.rings.max() < n.channels
        assert n.min_range <= one.ranges.min() and one.ranges.max() <= n.max_range + 5 * n.range_noise_sd
        assert bool(one.intensities.any()) == n.intensity
        assert bool(one.offsets_ns.any()) == n.motion_distortion
        kinds.add((len(one.ranges), float(one.ranges.sum())))
    assert len(kinds) == len(presets)
