"""The picture of a run's estimates: errors at equal instants, in any order of arrival, and only with a covariance."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from skyloop.core.bus import Bus
from skyloop.core.frames import quat_from_rotvec
from skyloop.recording.estimate_pictures import EstimatePictures
from skyloop_client.messages import Estimate, ImuBias, Message, VehicleState
from skyloop_client.streams import NS_PER_S, StreamInfo

LEVEL, ZERO = np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3)


def flown(folder: Path, *, covariance: bool, truth_first: bool) -> EstimatePictures:
    """100 instants; the estimate is 0.1 m east of the truth and turned by 2° about north."""
    bus = Bus()
    pictures = EstimatePictures(bus, folder)
    bus.advertise(StreamInfo("truth/drone", "VehicleState", None, "drone"))
    bus.advertise(StreamInfo("truth/drone/imu", "ImuBias", None, "drone"))
    bus.advertise(StreamInfo("drone/vio", "Estimate", None, "drone"))
    for k in range(100):
        t_ns = k * NS_PER_S // 100
        place = np.array([0.02 * k, 0.0, 1.0])
        state = VehicleState(t_ns, place, ZERO, LEVEL, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)
        turned = quat_from_rotvec([0.0, math.radians(2.0), 0.0])
        parts = (place + np.array([0.1, 0.0, 0.0]), ZERO, turned, ZERO)
        spread = np.diag(np.repeat([0.2, 0.1, 0.05], 3) ** 2)
        estimate = Estimate.from_covariance(t_ns, *parts, spread, gyro_bias=ZERO + 0.01, accel_bias=ZERO + 0.2)
        if not covariance:
            estimate = Estimate(t_ns, *parts, ZERO, ZERO, ZERO, True)
        pair = [Message("truth/drone", k, t_ns, t_ns, state), Message("drone/vio", k, t_ns, t_ns, estimate)]
        for message in pair if truth_first else pair[::-1]:
            bus.publish(message)
        bus.publish(Message("truth/drone/imu", k, t_ns, t_ns, ImuBias(t_ns, ZERO + 0.012, ZERO + 0.19)))
    return pictures


@pytest.mark.parametrize("truth_first", [True, False])
def test_errors_are_those_of_equal_instants(tmp_path: Path, truth_first: bool) -> None:
    pictures = flown(tmp_path, covariance=True, truth_first=truth_first)
    rows = pictures._logs["drone/vio"].errors.rows
    assert len(rows) == 100
    np.testing.assert_allclose(rows[:, 1], 0.1, atol=1e-12)
    np.testing.assert_allclose(np.degrees(rows[:, 8]), 2.0, atol=1e-9)
    np.testing.assert_allclose(rows[:, [10, 13, 16]], [[0.2, 0.1, 0.05]] * 100)
    if truth_first:
        made = pictures.finish()
        assert [path.name for path in made] == ["estimate-drone-vio.png"]
        assert made[0].stat().st_size > 20_000


def test_an_estimator_without_a_covariance_has_no_picture(tmp_path: Path) -> None:
    assert flown(tmp_path, covariance=False, truth_first=True).finish() == []
    assert list(tmp_path.iterdir()) == []
