"""Range, speed and direction of objects that were rendered, through the whole chain, against truth at mid-burst."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from radar_scans import radar, scanned
from radar_stages import BALL, FLYING_RADIUS, FLYING_START, FLYING_VELOCITY, X

from painted_world import moving
from skyloop.core.frames import matrix_from_quat
from skyloop.sensors.radar.processing import ProcessingConfig, RadarProcessor

pytestmark = pytest.mark.renders

D_RES, V_RES = 0.3747, 0.0985


def found(sensor: Any, scan: Any) -> tuple[float, float, float, float]:
    """Range, speed, azimuth and elevation of the strongest detection."""
    config = ProcessingConfig(mti="none", tracking=None, min_range=0.3)
    _, detections = RadarProcessor(sensor.details(), config).process(scan)
    best = int(np.argmax(detections.snr_db))
    found = (detections.ranges, detections.speeds, detections.azimuths, detections.elevations)
    distance, speed, azimuth, elevation = (float(array[best]) for array in found)
    return distance, speed, azimuth, elevation


def check(sensor: Any, scan: Any, apart: np.ndarray, speed: float) -> None:
    """`apart`: from the sensor to the nearest point of the ball, sensor axes."""
    distance = float(np.linalg.norm(apart))
    got = found(sensor, scan)
    assert abs(got[0] - distance) <= D_RES / 10.0
    assert abs(got[1] - speed) <= V_RES / 5.0
    assert abs(np.degrees(got[2]) - np.degrees(np.arctan2(apart[1], apart[0]))) <= 0.2
    assert abs(np.degrees(got[3]) - np.degrees(np.arcsin(apart[2] / distance))) <= 0.2


@pytest.mark.parametrize(("yaw", "pitch"), [(0.0, 0.0), (34.0, -25.0), (-30.0, 20.0)])
def test_a_ball_from_a_moving_radar(stages: Any, yaw: float, pitch: float) -> None:
    sensor = radar(classes=("object",))
    for distance, speed in product((1.0, 3.0, 6.0, 10.9), (-2.9, -0.7, 1.3, 3.0)):
        place, velocity = (X - distance, BALL, 0.0), (-speed, 0.0, 0.0)
        kinematics = moving(position=place, rotation_deg=(0.0, pitch, yaw), velocity=velocity)
        apart = np.array([distance, 0.0, 0.0]) @ matrix_from_quat(kinematics.quat_wxyz)
        check(sensor, scanned(sensor, stages, kinematics), apart, speed)


@pytest.mark.parametrize("t", [0.0, 0.4, 1.1])
@pytest.mark.parametrize("quality", ["low", "high"])
def test_a_ball_that_moves(stages: Any, t: float, quality: str) -> None:
    sensor = radar(classes=("vehicle",), quality=quality)
    kinematics = moving(int(t * 1e9), (X - 5.0, FLYING_START[1] - 0.8, 0.6), (0.0, 0.0, 5.0), (0.4, 0.0, 0.0))
    centre = np.array(FLYING_START) + t * np.array(FLYING_VELOCITY) - kinematics.position
    away = centre / np.linalg.norm(centre)
    apart = (centre - FLYING_RADIUS * away) @ matrix_from_quat(kinematics.quat_wxyz)
    check(sensor, scanned(sensor, stages, kinematics), apart, float(away @ (np.array(FLYING_VELOCITY) - (0.4, 0, 0))))
