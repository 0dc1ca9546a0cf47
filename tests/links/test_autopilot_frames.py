"""Every axis of every message with values that no two axes share, against numbers worked out by hand."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from pymavlink.dialects.v20 import common
from scipy.spatial.transform import Rotation

from skyloop.core.frames import GeoPoint, LocalFrame, quat_from_euler
from skyloop.links.autopilots.ardupilot_wire import line_from, servos_from
from skyloop.links.autopilots.motor_handover import motor_order
from skyloop.links.autopilots.px4_wire import Wire
from skyloop_client.messages import (
    BarometerSample,
    BatteryState,
    GnssFix,
    ImuSample,
    MagnetometerSample,
    OpticalFlowSample,
    RangeSample,
    VehicleState,
)
from skyloop_client.streams import Mount

LEVEL = Mount()
# a sensor whose forward axis looks to the left of the body, up stays up
LEFT = Mount(np.zeros(3), quat_from_euler(0.0, 0.0, math.pi / 2))
HOME = GeoPoint(47.0, -122.0, 100.0)


def decoded(data: bytes) -> Any:
    messages = common.MAVLink(None, 1, 1).parse_buffer(data)
    assert len(messages) == 1
    return messages[0]


def truth() -> VehicleState:
    """Heading east-north-east (30 deg left of east), nose 10 deg down, right side 20 deg down."""
    quat = quat_from_euler(math.radians(20), math.radians(10), math.radians(30))
    return VehicleState(
        1_000_000_000, np.array([3.0, 7.0, 11.0]), np.array([1.5, -2.5, 3.5]), quat, np.array([0.1, 0.2, 0.3]),
        np.array([0.4, 0.5, 0.6]), np.zeros(3), np.zeros(4), np.zeros(4), np.array([0.5, 0.5, 0.5]),
    )  # fmt: skip


NED_FROM_FRD = Rotation.from_euler("ZYX", [60.0, -10.0, 20.0], degrees=True).as_matrix()
"""The same attitude as a navigator says it: heading 60 deg, nose 10 deg down, right side 20 deg down."""


def matrix(quat_wxyz: Any) -> Any:
    return Rotation.from_quat(quat_wxyz, scalar_first=True).as_matrix()


def test_imu_magnetometer_and_barometer() -> None:
    imu = ImuSample(0, np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 9.0]))
    field = MagnetometerSample(0, np.array([1e-5, 2e-5, -4e-5]))
    air = BarometerSample(0, 95000.0, 540.0, 284.65)
    message = decoded(Wire().sensor(8000, 2, (imu, LEVEL), (field, LEVEL), air))
    assert (message.time_usec, message.id, message.fields_updated) == (8000, 2, 0x1BFF)
    assert (message.xgyro, message.ygyro, message.zgyro) == pytest.approx((0.1, -0.2, -0.3))
    assert (message.xacc, message.yacc, message.zacc) == pytest.approx((1.0, -2.0, -9.0))
    assert (message.xmag, message.ymag, message.zmag) == pytest.approx((0.1, -0.2, 0.4))
    assert (message.abs_pressure, message.pressure_alt) == pytest.approx((950.0, 540.0))
    assert message.temperature == pytest.approx(11.5, abs=1e-4)


def test_a_turned_sensor_is_turned_back() -> None:
    imu = ImuSample(0, np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 9.0]))
    field = MagnetometerSample(0, np.array([1e-5, 2e-5, -4e-5]))
    message = decoded(Wire().sensor(8000, 0, (imu, LEFT), (field, LEFT), None))
    # its forward is the body's left, its left the body's back
    assert (message.xgyro, message.ygyro, message.zgyro) == pytest.approx((-0.2, -0.1, -0.3))
    assert (message.xacc, message.yacc, message.zacc) == pytest.approx((-2.0, -1.0, -9.0))
    assert (message.xmag, message.ymag, message.zmag) == pytest.approx((-0.2, -0.1, 0.4))
    assert message.fields_updated == 0x1FF


def test_gps() -> None:
    fix = GnssFix(0, 47.1234567, -122.7654321, 123.456, np.array([3.0, -4.0, 0.5]), 3, 0.7, 1.1, 12, 0.9, 1.78, 0.1)
    message = decoded(Wire().gps(40_000, fix, 1))
    assert (message.lat, message.lon, message.alt) == (471234567, -1227654321, 123456)
    assert (message.eph, message.epv, message.satellites_visible, message.fix_type) == (90, 178, 12, 3)
    assert (message.vn, message.ve, message.vd, message.vel) == (-400, 300, -50, 500)
    assert message.cog == round((180 - math.degrees(math.atan2(3, 4))) * 100)
    assert message.id == 1
    still = GnssFix(0, 0.0, 0.0, 0.0, np.zeros(3), 0, 99.99, 99.99, 0, math.inf, math.nan, 0.1)
    message = decoded(Wire().gps(0, still))
    assert (message.cog, message.eph, message.epv) == (65535, 65535, 65535)


def test_state_quaternion() -> None:
    message = decoded(Wire().state(5000, truth(), LocalFrame(HOME)))
    np.testing.assert_allclose(matrix(message.attitude_quaternion), NED_FROM_FRD, atol=1e-6)
    assert (message.rollspeed, message.pitchspeed, message.yawspeed) == pytest.approx((0.1, -0.2, -0.3))
    assert (message.vx, message.vy, message.vz) == (-250, 150, -350)
    np.testing.assert_allclose(
        [message.xacc, message.yacc, message.zacc],
        NED_FROM_FRD.T @ np.array([0.5, 0.4, -0.6]) / 9.80665 * 1000,
        atol=0.51,
    )
    metres = 6378137.0 * math.pi / 180
    assert (message.lat * 1e-7 - 47.0) * metres == pytest.approx(7.0, rel=0.01)
    assert (message.lon * 1e-7 + 122.0) * metres * math.cos(math.radians(47)) == pytest.approx(3.0, rel=0.01)
    assert message.alt == pytest.approx(111_000, abs=1)
    assert message.true_airspeed == round(100 * math.sqrt(1.0**2 + 3.0**2 + 3.0**2))


@pytest.mark.parametrize(
    ("turn", "orientation"),
    [((0, 90, 0), 25), ((0, -90, 0), 24), ((0, 0, 0), 0), ((0, 0, -90), 2), ((0, 0, 180), 4), ((0, 0, 90), 6)],
)
def test_rangefinders_say_where_they_look(turn: tuple[float, float, float], orientation: int) -> None:
    mount = Mount(np.zeros(3), quat_from_euler(*np.radians(turn)))
    message = decoded(Wire().distance(1_234_000, RangeSample(0, 3.456, 0.05, 40.0), mount, 3))
    assert (message.current_distance, message.min_distance, message.max_distance) == (346, 5, 4000)
    assert (message.orientation, message.id, message.time_boot_ms) == (orientation, 3, 1234)
    for beyond, shown in ((math.nan, 4001), (-math.inf, 4)):
        nothing = decoded(Wire().distance(0, RangeSample(0, beyond, 0.05, 40.0), mount))
        assert (nothing.current_distance, nothing.signal_quality) == (shown, 1)


def test_flow_keeps_its_axes() -> None:
    sample = OpticalFlowSample(0, 50_000, 0.1, -0.2, np.array([0.3, -0.4, 0.5]), 200, 1.5)
    message = decoded(Wire().flow(9000, sample))
    assert (message.integrated_x, message.integrated_y) == pytest.approx((0.1, -0.2))
    gyro = (message.integrated_xgyro, message.integrated_ygyro, message.integrated_zgyro)
    assert gyro == pytest.approx((0.3, -0.4, 0.5))
    assert (message.integration_time_us, message.quality, message.distance) == (50_000, 200, 1.5)


def test_ardupilots_line() -> None:
    battery = BatteryState(0, 11.5, 12.25, 0.9, 0.0)
    ranges = [
        RangeSample(0, 1.25, 0.1, 40.0),
        RangeSample(0, math.nan, 0.1, 40.0),
        None,
        RangeSample(0, -math.inf, 0.1, 40.0),
    ]
    line = line_from(2_500_000, truth(), np.array([1.0, 2.0, 9.0]), battery, ranges)
    read = json.loads(line)
    assert read["timestamp"] == 0.0025
    assert read["imu"] == {"gyro": [0.1, -0.2, -0.3], "accel_body": [1.0, -2.0, -9.0]}
    assert read["position"] == [7.0, 3.0, -11.0]
    assert read["velocity"] == [-2.5, 1.5, -3.5]
    np.testing.assert_allclose(matrix(read["quaternion"]), NED_FROM_FRD, atol=1e-8)
    # nothing in range is not left out: it would keep its last distance there
    assert (read["rng_1"], read["rng_2"], "rng_3" in read, read["rng_4"]) == (1.25, 10_000.0, False, 0.0)
    assert read["velocity_wind"] == [0.5, 0.5, -0.5]
    forward, right, _ = NED_FROM_FRD.T @ np.array([-3.0, 1.0, -3.0])
    assert read["windvane"] == pytest.approx(
        {"direction": math.atan2(right, forward), "speed": math.hypot(forward, right)}
    )
    assert read["airspeed"] == pytest.approx(math.sqrt(19.0))
    assert read["battery"] == {"voltage": 11.5, "current": 12.25}
    assert "no_lockstep" not in read


def test_servo_packets() -> None:
    pwm = [1000 + 10 * k for k in range(16)]
    data = (18458).to_bytes(2, "little") + (1200).to_bytes(2, "little") + (77).to_bytes(4, "little")
    servos = servos_from(data + b"".join(p.to_bytes(2, "little") for p in pwm))
    assert servos is not None and (servos.rate_hz, servos.count) == (1200, 77)
    np.testing.assert_allclose(servos.throttle, np.arange(16) / 100)
    assert servos_from(data) is None
    assert servos_from(b"") is None


def test_motors_by_place() -> None:
    places = np.array([[1, -2, 0], [-1, 2, 0], [1, 2, 0], [-1, -2, 0]], float)
    spins = np.array([1, 1, -1, -1])
    assert motor_order(places, spins) == [0, 1, 2, 3]
    turned = [3, 0, 2, 1]
    assert motor_order(places[turned], spins[turned]) == turned
    with pytest.raises(Exception, match="are not a QUAD X"):
        motor_order(places, -spins)
    assert motor_order(np.zeros((6, 3)), np.ones(6)) == [0, 1, 2, 3, 4, 5]
