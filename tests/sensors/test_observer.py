from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from skyloop.core.frames import matrix_from_quat, quat_from_euler
from skyloop.sensors.external_camera import Observer, ObserverConfig
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import VehicleState


def vehicle(position=(3.0, 4.0, 5.0), rotation_deg=(0.0, 0.0, 0.0)) -> VehicleState:
    zero, four = np.zeros(3), np.zeros(4)
    quat = quat_from_euler(*np.radians(rotation_deg))
    return VehicleState(0, np.array(position), zero, quat, zero, zero, zero, four, four, zero)


def axes(request) -> np.ndarray:
    """Columns right, down, forward."""
    return matrix_from_quat(request.pose.quat_wxyz)


def test_fixed_looks_at_its_point_and_stays_upright() -> None:
    request = Observer(ObserverConfig(mode="fixed", position=(-4.0, 0.0, 4.0), look_at=(0.0, 0.0, 1.0))).request(
        None, 9
    )
    assert request.pose.t_ns == 9
    assert request.pose.position == pytest.approx([-4.0, 0.0, 4.0])
    right, down, forward = axes(request).T
    assert forward == pytest.approx([0.8, 0.0, -0.6])
    assert right == pytest.approx([0.0, -1.0, 0.0])
    assert down[2] < 0.0
    assert np.linalg.det(axes(request)) == pytest.approx(1.0)


def test_fixed_follows_a_vehicle_with_its_eyes() -> None:
    observer = Observer(ObserverConfig(mode="fixed", vehicle="drone", position=(3.0, 0.0, 5.0)))
    request = observer.request(vehicle(), 0)
    assert request.pose.position == pytest.approx([3.0, 0.0, 5.0])
    assert axes(request)[:, 2] == pytest.approx([0.0, 1.0, 0.0])


@pytest.mark.parametrize("rotation_deg", [(0.0, 0.0, 90.0), (25.0, 15.0, 90.0)])
def test_chase_stays_behind_the_heading_and_does_not_tilt(rotation_deg) -> None:
    observer = Observer(ObserverConfig(mode="chase", vehicle="drone", back=4.0, up=3.0))
    request = observer.request(vehicle(rotation_deg=rotation_deg), 0)
    assert request.pose.position == pytest.approx([3.0, 0.0, 8.0])
    assert axes(request)[:, 2] == pytest.approx([0.0, 0.8, -0.6])
    assert axes(request)[2, 0] == pytest.approx(0.0)


def test_orbit_is_a_function_of_time() -> None:
    observer = Observer(ObserverConfig(mode="orbit", look_at=(1.0, 0.0, 0.0), back=2.0, up=1.5, period=8.0))
    assert observer.request(None, 0).pose.position == pytest.approx([3.0, 0.0, 1.5])
    request = observer.request(None, 2 * 10**9)
    assert request.pose.position == pytest.approx([1.0, 2.0, 1.5])
    assert axes(request)[:, 2] == pytest.approx([0.0, -0.8, -0.6])
    around = Observer(ObserverConfig(mode="orbit", vehicle="drone", back=2.0, up=0.0)).request(vehicle(), 0)
    assert around.pose.position == pytest.approx([5.0, 4.0, 5.0])


def test_straight_down_has_north_up() -> None:
    request = Observer(ObserverConfig(mode="orbit", back=0.0, up=5.0)).request(None, 10**9)
    assert axes(request) == pytest.approx(np.array([[1, 0, 0], [0, -1, 0], [0, 0, -1]]))


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValidationError, match="needs a vehicle"):
        ObserverConfig(mode="chase")
    with pytest.raises(ValidationError, match="positive number or a fraction"):
        ObserverConfig(mode="orbit", rate_hz=0.0)
    with pytest.raises(ScenarioError, match="needs that vehicle's state"):
        Observer(ObserverConfig(mode="chase", vehicle="drone")).request(None, 0)
