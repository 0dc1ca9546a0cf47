"""Axes, headings, degrees, modes and masks; every conversion with values that no slip of axis or sign survives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pymavlink.dialects.v20 import common as mavlink

from skyloop.core.frames import GeoPoint, LocalFrame, matrix_from_quat, quat_from_euler
from skyloop.links.mavlink.parameters import INTEGER, REAL, decoded, encoded
from skyloop.links.mavlink.wire import (
    PX4_MODES,
    Geography,
    Inlet,
    custom_mode,
    heading_from_yaw,
    mode_named,
    setpoint_from_attitude,
    setpoint_from_global,
    setpoint_from_local,
    velocity_from_sticks,
)
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Attitude, Position, Rates, Velocity

HOME = GeoPoint(48.08, 11.64, 550.0)
ORIGIN = np.array([10.0, -20.0, 3.0])
PACKER = mavlink.MAVLink(None, srcSystem=255, srcComponent=190)


@pytest.fixture
def geography() -> Geography:
    return Geography(HOME, ORIGIN)


def local(mask: int, frame: int = mavlink.MAV_FRAME_LOCAL_NED, **values: float) -> object:
    names = ("x", "y", "z", "vx", "vy", "vz", "afx", "afy", "afz", "yaw", "yaw_rate")
    return mavlink.MAVLink_set_position_target_local_ned_message(
        0, 1, 1, frame, mask, *[values.get(name, 0.0) for name in names]
    )


def test_custom_modes_are_those_of_px4() -> None:
    # AUTO.MISSION is what every PX4 log calls 67371008; AUTO.LOITER 50593792; OFFBOARD 393216
    assert custom_mode("mission") == 67371008
    assert custom_mode("hold") == 50593792
    assert custom_mode("offboard") == 393216
    assert custom_mode("rtl") == 84148224
    for name, numbers in PX4_MODES.items():
        assert mode_named(*numbers) == name
    assert mode_named(1, 0) is None


def test_headings_turn_clockwise_from_north() -> None:
    for yaw_deg, heading_deg in ((90, 0), (0, 90), (30, 60), (-50, 140), (170, -80), (-100, -170)):
        assert math.degrees(heading_from_yaw(math.radians(yaw_deg))) == pytest.approx(heading_deg)
        assert math.degrees(heading_from_yaw(math.radians(heading_deg))) == pytest.approx(yaw_deg)


def test_local_ned_begins_where_the_vehicle_stood(geography: Geography) -> None:
    # 3 m north, 5 m east, 7 m up of the origin
    position = ORIGIN + np.array([5.0, 3.0, 7.0])
    np.testing.assert_allclose(geography.local_ned(position), [3.0, 5.0, -7.0])
    np.testing.assert_allclose(geography.enu_from_local_ned([3.0, 5.0, -7.0]), position)


def test_places_on_earth(geography: Geography) -> None:
    latitude, longitude, altitude = geography.global_int([200.0, 100.0, 30.0])
    # one degree of latitude is about 111.2 km here, one of longitude 74.5 km
    assert (latitude / 1e7 - HOME.latitude_deg) * 111_200 == pytest.approx(100.0, rel=2e-3)
    assert (longitude / 1e7 - HOME.longitude_deg) * 74_500 == pytest.approx(200.0, rel=3e-3)
    assert altitude == pytest.approx(580.0, abs=0.01)
    back = geography.enu_from_global(latitude / 1e7, longitude / 1e7, altitude)
    np.testing.assert_allclose(back, [200.0, 100.0, 30.0], atol=0.02)


@pytest.mark.parametrize("place", [(math.nan, 11.0, 1.0), (48.0, 11.6, math.inf), (91.0, 0.0, 0.0), (-48.0, 11.0, 0.0)])
def test_no_such_place(geography: Geography, place: tuple[float, float, float]) -> None:
    with pytest.raises(SetpointError):
        geography.enu_from_global(*place)


def test_a_local_position_with_what_comes_along(geography: Geography) -> None:
    values: dict[str, Any] = {"x": 3, "y": 5, "z": -7, "vx": 0.1, "vy": 0.2, "vz": -0.3, "afx": 1, "afy": 2, "afz": 3}
    setpoint = setpoint_from_local(local(0, **values, yaw=math.radians(60), yaw_rate=0.4), geography)
    assert isinstance(setpoint, Position)
    np.testing.assert_allclose(setpoint.position, ORIGIN + np.array([5.0, 3.0, 7.0]))
    np.testing.assert_allclose(setpoint.velocity, [0.2, 0.1, 0.3])
    np.testing.assert_allclose(setpoint.acceleration, [2, 1, -3])
    assert setpoint.yaw == pytest.approx(math.radians(30))
    assert setpoint.yaw_rate == pytest.approx(-0.4)


def test_what_the_mask_leaves_out_is_not_used(geography: Geography) -> None:
    setpoint = setpoint_from_local(local(0xFF8, x=3, y=5, z=-7, vx=9, afx=9, yaw=1, yaw_rate=9), geography)
    assert isinstance(setpoint, Position)
    assert setpoint.yaw is None and setpoint.yaw_rate == 0.0
    assert not setpoint.velocity.any() and not setpoint.acceleration.any()


def test_velocities_in_both_frames(geography: Geography) -> None:
    mask = 0x7 | 0x1C0 | 1024
    world = setpoint_from_local(local(mask, vx=1, vy=2, vz=-3, yaw_rate=0.5), geography)
    assert isinstance(world, Velocity) and world.frame == "world" and world.yaw is None
    np.testing.assert_allclose(world.velocity, [2, 1, 3])
    assert world.yaw_rate == pytest.approx(-0.5)
    body = setpoint_from_local(local(mask, mavlink.MAV_FRAME_BODY_NED, vx=1, vy=2, vz=-3), geography)
    assert isinstance(body, Velocity) and body.frame == "body"
    np.testing.assert_allclose(body.velocity, [1, -2, 3])


@pytest.mark.parametrize(
    "message",
    [
        local(0xFFF, x=1),
        local(0x3, z=-4),
        local(0, mavlink.MAV_FRAME_BODY_NED, x=1),
        local(0xFF8, mavlink.MAV_FRAME_LOCAL_OFFSET_NED, x=1),
        local(0xFF8, x=math.nan),
        local(0xFF8, x=1e30),
        local(0xDC7, vy=math.inf),
    ],
)
def test_setpoints_that_cannot_be_flown(geography: Geography, message: object) -> None:
    with pytest.raises(SetpointError):
        setpoint_from_local(message, geography)


def test_a_global_position_above_sea_or_home(geography: Geography) -> None:
    target = np.array([40.0, -70.0, 25.0])
    latitude, longitude, altitude = geography.global_int(target)
    for frame, z in (
        (mavlink.MAV_FRAME_GLOBAL_INT, altitude),
        (mavlink.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT, altitude - 553),
    ):
        message = mavlink.MAVLink_set_position_target_global_int_message(
            0, 1, 1, frame, 0xBF8, latitude, longitude, z, 0, 0, 0, 0, 0, 0, math.radians(-50), 0
        )
        setpoint = setpoint_from_global(message, geography, 553.0)
        assert isinstance(setpoint, Position)
        np.testing.assert_allclose(setpoint.position, target, atol=0.02)
        assert setpoint.yaw == pytest.approx(math.radians(140))


def test_attitude_and_rates() -> None:
    # roll right 10°, nose up 20°, heading 60°: in our axes nose down is positive, yaw 30°
    roll, pitch, heading = np.radians([10.0, 20.0, 60.0])
    half = np.array([roll, pitch, heading]) / 2
    (cr, cp, cy), (sr, sp, sy) = np.cos(half), np.sin(half)
    quat = [
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    ]
    message = mavlink.MAVLink_set_attitude_target_message(0, 1, 1, 7, quat, 0, 0, 0, 0.25)
    setpoint = setpoint_from_attitude(message, 40.0)
    assert isinstance(setpoint, Attitude) and setpoint.thrust == 10.0
    wanted = quat_from_euler(roll, -pitch, math.radians(30.0))
    np.testing.assert_allclose(matrix_from_quat(setpoint.quat_wxyz), matrix_from_quat(wanted), atol=1e-9)
    message = mavlink.MAVLink_set_attitude_target_message(0, 1, 1, 128, quat, 0.1, 0.2, 0.3, 2.0)
    rates = setpoint_from_attitude(message, 40.0)
    assert isinstance(rates, Rates) and rates.thrust == 40.0
    np.testing.assert_allclose(rates.angular_velocity_body, [0.1, -0.2, -0.3])
    for bad in ([0.0] * 4, [math.nan, 0, 0, 0]):
        with pytest.raises(SetpointError):
            setpoint_from_attitude(mavlink.MAVLink_set_attitude_target_message(0, 1, 1, 7, bad, 0, 0, 0, 0.5), 40.0)


def test_sticks() -> None:
    message = mavlink.MAVLink_manual_control_message(1, 500, -1000, 750, 200, 0)
    setpoint = velocity_from_sticks(message, 4.0, 3.0, 1.0)
    # half forward, fully to the left, half of the way up, turning right
    np.testing.assert_allclose(setpoint.velocity, [2.0, 4.0, 1.5])
    assert setpoint.yaw_rate == pytest.approx(-0.2)


def test_integers_travel_as_bytes() -> None:
    assert encoded(3, INTEGER) == pytest.approx(4.2e-45, rel=0.1)
    for value in (0, 1, 3, 4001, -7):
        assert decoded(encoded(value, INTEGER), INTEGER) == value
    assert decoded(encoded(2.5, REAL), REAL) == 2.5


def messages() -> list[bytes]:
    built = [
        mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3),
        mavlink.MAVLink_command_long_message(1, 1, 400, 0, 1, 0, 0, 0, 0, 0, 0),
        local(0xFF8, x=3, y=5, z=-7),
    ]
    return [bytes(message.pack(PACKER)) for message in built]


@given(cuts=st.lists(st.integers(1, 20), min_size=1, max_size=60), rubbish=st.binary(max_size=40))
@settings(max_examples=60, deadline=None)
def test_messages_in_pieces_and_among_rubbish(cuts: list[int], rubbish: bytes) -> None:
    # without the first byte of a message, rubbish cannot swallow what follows
    rubbish = bytes(byte for byte in rubbish if byte not in (0xFD, 0xFE))
    stream = b"".join(rubbish + each for each in messages())
    inlet, taken, at = Inlet(), [], 0
    for cut in [*cuts, len(stream)]:
        taken += [message.get_type() for message in inlet.feed(stream[at : at + cut])]
        at += cut
    assert taken == ["HEARTBEAT", "COMMAND_LONG", "SET_POSITION_TARGET_LOCAL_NED"]
    assert inlet.bad == 3 * len(rubbish)


@given(data=st.binary(max_size=600))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_survived(data: bytes) -> None:
    inlet = Inlet()
    list(inlet.feed(data))
    # whatever has begun is over after the longest message there can be
    list(inlet.feed(bytes(300)))
    assert [message.get_type() for message in inlet.feed(messages()[0])] == ["HEARTBEAT"]


def test_damaged_messages_are_passed_over() -> None:
    good = messages()[1]
    inlet = Inlet()
    for k in range(1, len(good)):
        damaged = bytearray(good)
        damaged[k] ^= 0x55
        assert not [m for m in inlet.feed(bytes(damaged)) if m.get_type() == "COMMAND_LONG"]
        inlet.clear()


def test_the_frame_used_is_the_worlds() -> None:
    frame = LocalFrame(HOME)
    latitude, longitude, _ = Geography(HOME, ORIGIN).global_int(ORIGIN)
    exact = frame.geodetic_array_from_enu(ORIGIN)
    assert (latitude, longitude) == (round(exact[0] * 1e7), round(exact[1] * 1e7))
