"""Where each kind of LiDAR looks and when, and what cannot be built."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lidar_scans import PERIOD, close, lidar
from pydantic import ValidationError

from skyloop.sensors.lidar import PRESETS, Lidar, LidarConfig
from skyloop.world.semantics import CLASS_ID
from skyloop_client.errors import ScenarioError


def angles(sensor: Lidar) -> tuple[np.ndarray, np.ndarray]:
    d = sensor.pattern.directions.astype(float)
    return np.degrees(np.arctan2(d[:, 1], d[:, 0])), np.degrees(np.arcsin(d[:, 2]))


@pytest.mark.parametrize(
    ("preset", "channels", "lower", "upper", "columns"),
    [
        ("airsim", 16, -45.0, -15.0, 624),  # of 625 all around; the last lies beyond 359 degrees
        ("vlp16", 16, -15.0, 15.0, 1875),
        ("hdl32", 32, -30.67, 10.67, 2172),
        ("os1-64", 64, -16.6, 16.6, 1024),
        ("rplidar", 1, 0.0, 0.0, 800),
        ("perfect", 16, -15.0, 15.0, 1875),
    ],
)
def test_spinning_patterns(preset: str, channels: int, lower: float, upper: float, columns: int) -> None:
    sensor = lidar(preset)
    azimuth, elevation = angles(sensor)
    assert len(azimuth) == channels * columns
    rings = sensor.pattern.rings
    for ring, expected in enumerate(np.linspace(lower, upper, channels)):
        assert close(elevation[rings == ring], expected, 1e-4)
    all_around = round(sensor.numbers.points_per_second * PERIOD / channels)
    steps = np.diff(np.unwrap(azimuth[rings == 0], period=360.0))
    assert close(steps, 360.0 / all_around, 1e-3)
    offsets = sensor.pattern.offsets_ns
    assert offsets[0] == -100_000_000 and offsets[-1] < 0 and (np.diff(offsets) >= 0).all()
    assert close(np.linalg.norm(sensor.pattern.directions, axis=1), 1.0, 1e-6)


def test_airsims_numbers_are_its_defaults() -> None:
    numbers = PRESETS["airsim"]
    assert (numbers.channels, numbers.max_range, numbers.points_per_second) == (16, 100.0, 100_000.0)
    assert numbers.horizontal_fov_deg == (0.0, 359.0) and numbers.vertical_fov_deg == (-45.0, -15.0)
    assert numbers.range_noise_sd == 0.0 and not numbers.intensity and not numbers.weather
    assert LidarConfig(preset="airsim").rate_hz == 10.0


def test_a_narrower_horizontal_field_keeps_the_step_and_the_times() -> None:
    whole, part = lidar(), lidar(horizontal_fov_deg=(30.0, 120.0))
    azimuth, _ = angles(part)
    assert azimuth.min() == pytest.approx(30.0, abs=1e-3) and azimuth.max() == pytest.approx(120.0, abs=0.2)
    assert len(azimuth) == pytest.approx(len(whole.pattern.rings) / 4, abs=16)
    assert part.pattern.offsets_ns[-1] == pytest.approx(-75e6, abs=1e5)


def test_the_head_turns_on_between_staggered_channels_only() -> None:
    together, staggered = lidar(), lidar(staggered=True)
    per_column = together.pattern.offsets_ns.reshape(-1, 16)
    assert (per_column == per_column[:, :1]).all()
    steps = np.diff(staggered.pattern.offsets_ns)
    assert close(steps, 1e8 / 30_000, 1.1)
    azimuth, _ = angles(staggered)
    turned = np.diff(np.unwrap(azimuth, period=360.0))
    assert close(turned, 360.0 / 30_000, 1e-4)


def test_points_per_second_rate_and_channels_set_the_number_of_firings() -> None:
    assert len(lidar(points_per_second=64_000.0, channels=4).pattern.rings) == 6400
    assert len(lidar(points_per_second=64_000.0, channels=4, period_s=0.05).pattern.rings) == 3200
    assert len(np.unique(lidar(channels=4).pattern.rings)) == 4


def test_the_rosette_fills_its_cone_and_never_repeats() -> None:
    sensor = lidar("livox-mid40")
    sweeps = [sensor.pattern.directions_at(k * 100_000_000).astype(float) for k in (1, 2, 3, 4, 5)]
    first, second = sweeps[:2]
    off_axis = np.degrees(np.arccos(np.clip(first[:, 0], -1.0, 1.0)))
    assert len(first) == 10_000 and (sensor.pattern.rings == 0).all()
    assert off_axis.max() == pytest.approx(19.2, abs=0.01)
    # through the middle twice per swing; ten swings in a tenth of a second
    assert np.sum((off_axis[1:-1] < off_axis[:-2]) & (off_axis[1:-1] <= off_axis[2:])) == 20
    # it goes on where it stopped: no step between sweeps is longer than one within
    step = np.linalg.norm(np.diff(first, axis=0), axis=1).max()
    assert np.linalg.norm(second[0] - first[-1]) < 1.01 * step
    # and fills the cone in time
    cells = [set(zip(*np.round(np.degrees(sweep[:, 1:].T)).astype(int), strict=True)) for sweep in sweeps]
    assert len(set.union(*cells)) > 1.5 * len(cells[0])


def test_a_wider_rosette() -> None:
    sensor = lidar("livox-mid40", horizontal_fov_deg=(-35.0, 35.0))
    assert np.degrees(np.arccos(sensor.pattern.directions[:, 0].min())) == pytest.approx(35.0, abs=0.01)


def test_details_say_what_is_simulated() -> None:
    details = lidar("vlp16", max_range=77.0).details()
    assert details["preset"] == "vlp16" and details["max_range"] == 77.0 and details["sweep"] == PERIOD
    assert details["elevations_deg"] == pytest.approx(np.arange(-15.0, 16.0, 2.0))
    assert details["points_per_sweep"] == 30_000 and details["classes"][CLASS_ID["tree"]] == "tree"
    assert "elevations_deg" not in lidar("livox-mid40").details()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_range": 200.0}, "must be below max_range"),
        ({"vertical_fov_deg": (10.0, -10.0)}, "must rise within"),
        ({"horizontal_fov_deg": (0.0, 400.0)}, "must rise by at most 360"),
        ({"preset": "livox-mid40", "channels": 4}, "a rosette has one channel"),
        ({"preset": "livox-mid40", "vertical_fov_deg": (-1.0, 1.0)}, "a rosette has one channel"),
        ({"preset": "livox-mid40", "horizontal_fov_deg": (-100.0, 100.0)}, "must rise by at most 180"),
    ],
)
def test_what_cannot_be_built_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        LidarConfig(**options)


def test_a_sweep_of_millions_is_refused() -> None:
    with pytest.raises(ScenarioError, match="lower points_per_second"):
        lidar(points_per_second=1e8)
