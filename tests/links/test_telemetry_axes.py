"""Every message of the MAVLink vehicle that has axes, with values that no two axes share, against numbers by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as mavlink
from scipy.spatial.transform import Rotation

import skyloop
from skyloop.core.frames import GeoPoint, quat_from_euler
from skyloop.links.mavlink import telemetry, telemetry_table
from skyloop.links.mavlink.system import System
from skyloop.links.mavlink.vehicle import MavlinkVehicle
from skyloop.links.mavlink.wire import Geography
from skyloop.sim.vehicle_port import VehiclePort
from skyloop_client.messages import (
    BarometerSample,
    BatteryState,
    GnssFix,
    ImuSample,
    MagnetometerSample,
    Position,
    VehicleState,
)
from skyloop_client.streams import Mount

HOME = GeoPoint(47.0, -122.0, 100.0)
ORIGIN = np.array([1.0, 2.0, 0.5])
LEFT = Mount(np.zeros(3), quat_from_euler(0.0, 0.0, math.pi / 2))
"""A sensor whose forward axis looks to the left of the body."""
STATE = VehicleState(
    0, np.array([4.0, 9.0, 11.5]), np.array([1.5, -2.5, 3.5]),
    quat_from_euler(math.radians(20), math.radians(10), math.radians(30)), np.array([0.1, 0.2, 0.3]),
    np.zeros(3), np.zeros(3), np.zeros(4), np.zeros(4), np.zeros(3),
)  # fmt: skip
"""3 m east, 7 m north, 11 m above its origin; heading 60°, nose 10° down, right side 20° down."""


NED_FROM_FRD = Rotation.from_euler("ZYX", [60.0, -10.0, 20.0], degrees=True).as_matrix()


class Placed:
    """The port of a vehicle that is where the test says; the rest is a real vehicle's."""

    belief = STATE
    battery = BatteryState(0, 67.2, 400.0, 0.995, 12_345.0)
    setpoint: Any = None

    def __init__(self, port: VehiclePort) -> None:
        self._port = port

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, name)


@pytest.fixture(scope="module")
def of() -> Iterator[telemetry.Telemetry]:
    with skyloop.build(skyloop.make_scenario({"world": "flat", "vehicles": [{"airframe": "x500"}]})) as simulation:
        port: Any = Placed(simulation.port.vehicle())
        system = System(port, simulation.bus, 1, Geography(HOME, ORIGIN))
        system.port.set_home(np.array([0.0, 0.0, 1.5]))
        yield MavlinkVehicle(system).telemetry


def matrix(quat_wxyz: Any) -> Any:
    return Rotation.from_quat(quat_wxyz, scalar_first=True).as_matrix()


def test_attitude(of: telemetry.Telemetry) -> None:
    message = telemetry.attitude(of)
    angles = [math.degrees(value) for value in (message.roll, message.pitch, message.yaw)]
    np.testing.assert_allclose(angles, [20.0, -10.0, 60.0], atol=1e-9)
    assert (message.rollspeed, message.pitchspeed, message.yawspeed) == pytest.approx((0.1, -0.2, -0.3))
    quat = telemetry.attitude_quaternion(of)
    np.testing.assert_allclose(matrix((quat.q1, quat.q2, quat.q3, quat.q4)), NED_FROM_FRD, atol=1e-9)
    assert (quat.rollspeed, quat.pitchspeed, quat.yawspeed) == pytest.approx((0.1, -0.2, -0.3))


def test_places_and_speeds(of: telemetry.Telemetry) -> None:
    local = telemetry.local_position_ned(of)
    assert (local.x, local.y, local.z) == pytest.approx((7.0, 3.0, -11.0))
    assert (local.vx, local.vy, local.vz) == pytest.approx((-2.5, 1.5, -3.5))
    world = telemetry.global_position_int(of)
    metres = 6378137.0 * math.pi / 180 * 1e-7
    assert (world.lat - 47e7) * metres == pytest.approx(9.0, rel=0.01)
    assert (world.lon + 122e7) * metres * math.cos(math.radians(47)) == pytest.approx(4.0, rel=0.01)
    assert (world.alt, world.relative_alt) == (pytest.approx(111_500, abs=2), pytest.approx(10_000, abs=2))
    assert (world.vx, world.vy, world.vz, world.hdg) == (-250, 150, -350, 6000)
    shown = telemetry.vfr_hud(of)
    assert (shown.heading, shown.climb, shown.groundspeed) == (60, 3.5, pytest.approx(math.hypot(1.5, 2.5)))
    height = telemetry.altitude(of)
    assert (height.altitude_local, height.altitude_relative) == pytest.approx((11.0, 10.0), abs=2e-3)
    home = telemetry.home_position(of)
    assert (home.x, home.y, home.z) == pytest.approx((-2.0, -1.0, -1.0))


def test_odometry(of: telemetry.Telemetry) -> None:
    message = telemetry.odometry(of)
    assert (message.frame_id, message.child_frame_id) == (1, 12)
    assert (message.x, message.y, message.z) == pytest.approx((7.0, 3.0, -11.0))
    np.testing.assert_allclose(matrix(message.q), NED_FROM_FRD, atol=1e-9)
    np.testing.assert_allclose([message.vx, message.vy, message.vz], NED_FROM_FRD.T @ [-2.5, 1.5, -3.5], atol=1e-9)


def test_sensors(of: telemetry.Telemetry, monkeypatch: pytest.MonkeyPatch) -> None:
    samples = {
        "ImuSample": ImuSample(7000, np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 9.0])),
        "MagnetometerSample": MagnetometerSample(0, np.array([1e-5, 2e-5, -4e-5])),
        "BarometerSample": BarometerSample(0, 95000.0, 540.0, 284.65),
        "GnssFix": GnssFix(
            0, 47.1234567, -122.7654321, 123.456, np.array([3.0, -4.0, 0.5]), 3, 0.7, 1.1, 12, 0.9, 1.78, 0.1
        ),
    }
    monkeypatch.setattr(of, "sample", lambda record: (SimpleNamespace(mount=LEFT), samples[record]))
    imu = telemetry.highres_imu(of)
    # its forward is the body's left, its left the body's back
    assert (imu.xacc, imu.yacc, imu.zacc) == pytest.approx((-2.0, -1.0, -9.0))
    assert (imu.xgyro, imu.ygyro, imu.zgyro) == pytest.approx((-0.2, -0.1, -0.3))
    assert (imu.xmag, imu.ymag, imu.zmag) == pytest.approx((-0.2, -0.1, 0.4))
    assert (imu.abs_pressure, imu.pressure_alt, imu.temperature) == pytest.approx((950.0, 540.0, 11.5))
    assert (imu.fields_updated, imu.time_usec) == (0x1BFF, 7)
    gnss = telemetry.gps_raw_int(of)
    assert (gnss.lat, gnss.lon, gnss.alt) == (471234567, -1227654321, 123456)
    assert (gnss.eph, gnss.epv, gnss.vel, gnss.satellites_visible) == (70, 110, 500, 12)
    assert gnss.cog == round((180 - math.degrees(math.atan2(3, 4))) * 100)
    assert (gnss.h_acc, gnss.v_acc, gnss.vel_acc) == (900, 1780, 100)


def test_setpoints_shown(of: telemetry.Telemetry, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = Position(np.array([2.0, 5.0, 4.5]), math.radians(30), velocity=np.array([0.1, 0.2, 0.3]))
    monkeypatch.setattr(of.system.port, "setpoint", wanted)
    message = telemetry.position_target_local_ned(of)
    assert (message.x, message.y, message.z) == pytest.approx((3.0, 1.0, -4.0))
    assert (message.vx, message.vy, message.vz) == pytest.approx((0.2, 0.1, -0.3))
    assert math.degrees(message.yaw) == pytest.approx(60.0)


def test_a_battery_of_more_volts_than_a_message_can_hold(of: telemetry.Telemetry) -> None:
    packer = mavlink.MAVLink(None)
    for message in (telemetry_table.sys_status(of), telemetry_table.battery_status(of)):
        read = packer.parse_buffer(message.pack(packer))[0]
        assert (read.battery_remaining, read.current_battery) == (100, 32767)
    assert (telemetry_table.sys_status(of).voltage_battery, telemetry_table.battery_status(of).voltages[0]) == (
        65534,
        65534,
    )
    assert telemetry_table.battery_status(of).energy_consumed == 123
