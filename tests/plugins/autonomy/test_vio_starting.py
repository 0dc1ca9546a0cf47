"""Rest, as the images show it: near corners decide, because clouds drift over a vehicle that stands."""

from __future__ import annotations

import numpy as np
import pytest
from vio_flights import calibration

from skyloop_autonomy.vio import VioSettings
from skyloop_autonomy.vio.starting import Stillness
from skyloop_autonomy.vio.tracking import CornerTracks

FRAME_NS = 33_333_333
SETTINGS = VioSettings()


def seen(near: int, far: int, near_px: float, far_px: float) -> CornerTracks:
    """Corners at 2 m and clouds, shifted by so many px."""
    n = near + far
    pixels = np.stack([np.linspace(20.0, 600.0, n), np.full(n, 100.0)], axis=1)
    pixels[:near, 0] += near_px
    pixels[near:, 0] += far_px
    depths = np.concatenate([np.full(near, 0.5), np.full(far, 0.005)])
    return CornerTracks(
        np.arange(n), pixels.astype(np.float32), np.zeros((n, 3)), np.zeros(n, np.uint8), depths, np.zeros(n, np.int64)
    )


@pytest.mark.parametrize(
    ("near", "far", "near_speed", "far_speed", "rests"),
    [
        (60, 40, 0.0, 0.05, True),
        (20, 80, 0.05, 0.0, False),
        (0, 80, 0.0, 0.0, True),
        (0, 80, 0.0, 0.05, False),
        (4, 80, 0.05, 0.0, True),
    ],
    ids=["clouds drift", "a steady flight below a still sky", "far and still", "far and moving", "too few near ones"],
)
def test_near_corners_decide(near: int, far: int, near_speed: float, far_speed: float, rests: bool) -> None:
    """Speeds in px per frame; the test lasts a second."""
    stillness = Stillness(SETTINGS, calibration().imu)
    for k in range(31):
        stillness.see(k * FRAME_NS, seen(near, far, near_speed * k, far_speed * k))
    assert stillness.images_rest(30 * FRAME_NS) is rests
