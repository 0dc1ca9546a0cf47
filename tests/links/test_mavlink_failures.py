"""Failures that clients inject: each has its effect, ends when told, and is in a snapshot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mavlink_setup import SENSORS
from pymavlink.dialects.v20 import common as mavlink
from test_mavlink_flight import ARM, Flight, flight
from test_mavlink_port import states, take_off

from skyloop_client.errors import LinkError

FAIL = 420
GYRO, MAG, BARO, GPS, BATTERY, MOTOR = 0, 2, 3, 4, 100, 101
OK, OFF, STUCK, GARBAGE, WRONG, SLOW, DELAYED, INTERMITTENT = range(8)


def allowed(flown: Flight) -> None:
    put_int = mavlink.MAVLink_param_set_message(1, 1, b"SYS_FAILURE_EN", 1.0, 9)
    flown.desk.say(flown.vehicle, put_int)
    assert flown.system.settings.failures_enabled == 1


def standard(altitude: float) -> float:
    """Pa of the standard atmosphere."""
    return float(101325.0 * (1.0 - 2.25577e-5 * altitude) ** 5.25588)


def samples(flown: Flight, stream: str, seconds: float) -> list[Any]:
    found: list[Any] = []
    flown.simulation.bus.on(f"drone/{stream}", found.append)
    flown.simulation.run_for(seconds)
    return list(found)


def test_it_takes_the_parameter_that_allows_it() -> None:
    with flight(sensors=SENSORS) as flown:
        with pytest.raises(LinkError):
            flown.command(FAIL, GPS, OFF)
        assert "set SYS_FAILURE_EN to 1" in "".join(flown.texts)
        allowed(flown)
        flown.command(FAIL, GPS, OFF)
        with pytest.raises(LinkError):
            flown.command(FAIL, 105, OFF)  # MAVLink itself
        with pytest.raises(LinkError):
            flown.command(FAIL, MOTOR, OFF, 9)
        assert "no motor 9" in "".join(flown.texts)
    with flight() as bare:
        allowed(bare)
        with pytest.raises(LinkError):
            bare.command(FAIL, GPS, OFF)
        assert "no GNSS receiver" in "".join(bare.texts)


def test_a_receiver_that_is_off_is_missed_by_the_ekf_and_comes_back() -> None:
    with flight(state="ekf", ekf={"valid_position_sd": 0.5, "lost_position_sd": 0.6}, sensors=SENSORS) as flown:
        flown.until(lambda: flown.system.port.knows_where)
        take_off(flown, 30.0)
        allowed(flown)
        flown.command(FAIL, GPS, OFF)
        flown.until(lambda: flown.system.port.overruled_by == "estimate lost", longest=30.0)
        assert any("GNSS receiver off" in text for text in flown.texts)
        flown.command(FAIL, GPS, OK)
        flown.until(lambda: not flown.system.port.overruled_by, longest=10.0)


@pytest.mark.parametrize(
    ("unit", "stream", "failure", "check"),
    [
        (BARO, "barometer", STUCK, lambda s: len({m.data.pressure for m in s}) == 1),
        (BARO, "barometer", WRONG, lambda s: abs(np.mean([m.data.pressure for m in s]) - standard(122.0) - 600) < 250),
        (BARO, "barometer", GARBAGE, lambda s: np.std([m.data.pressure for m in s]) > 3000),
        (GPS, "gnss", DELAYED, lambda s: s[-1].arrival_ns - s[-1].t_ns == 620_000_000),
        (GYRO, "imu", INTERMITTENT, lambda s: 60 < len(s) < 140),
        (MAG, "magnetometer", OFF, lambda s: not s),
    ],
)
def test_what_a_failing_sensor_gives(unit: int, stream: str, failure: int, check: Any) -> None:
    with flight(sensors=SENSORS) as flown:
        flown.simulation.run_for(1.0)
        allowed(flown)
        flown.command(FAIL, unit, failure)
        found = samples(flown, stream, 2.0)
        assert check(found), found[:3]
        flown.command(FAIL, unit, OK)
        rate = float(SENSORS[stream]["rate_hz"])  # type: ignore[arg-type]
        assert len(samples(flown, stream, 2.0)) == pytest.approx(2.0 * rate, abs=6)


def test_a_motor_that_is_off_brings_it_down() -> None:
    with flight() as flown:
        take_off(flown, 8.0)
        allowed(flown)
        flown.command(FAIL, MOTOR, OFF, 1)
        rotors = flown.system.port.geometry.rotor_positions
        flown.simulation.run_for(0.4)
        speeds = flown.system.port.actuators.speeds
        stopped = int(np.argmin(speeds))
        # motor 1 of a QUAD X is the front right one
        assert rotors[stopped][0] > 0.0 and rotors[stopped][1] < 0.0
        assert speeds[stopped] < 0.2 * speeds.max()
        flown.until(lambda: not flown.system.port.status.armed)


def test_slow_and_stuck_motors_and_back() -> None:
    with flight() as flown:
        take_off(flown, 8.0)
        allowed(flown)
        flown.command(FAIL, MOTOR, SLOW, 0)
        flown.simulation.run_for(0.2)
        flown.command(FAIL, MOTOR, OK, 0)
        flown.simulation.run_for(6.0)
        assert flown.simulation.truth().position[2] == pytest.approx(8.0, abs=1.0)
        flown.command(FAIL, MOTOR, STUCK, 2)
        flown.simulation.run_for(0.2)
        flown.command(FAIL, MOTOR, OK, 2)
        flown.simulation.run_for(6.0)
        assert flown.system.port.is_flying


def test_an_empty_battery_lands_it() -> None:
    with flight() as flown:
        take_off(flown)
        allowed(flown)
        flown.command(FAIL, BATTERY, OFF)
        flown.until(lambda: flown.mode == "land", longest=2.0)
        flown.until(lambda: not flown.system.port.status.armed)
        with pytest.raises(LinkError, match="battery"):
            flown.command(ARM, 1)
        flown.command(FAIL, BATTERY, OK)
        flown.command(ARM, 1)


def test_injected_failures_are_in_a_snapshot() -> None:
    with flight(sensors=SENSORS) as flown:
        take_off(flown)
        allowed(flown)
        flown.command(FAIL, BARO, OFF)
        flown.command(FAIL, MOTOR, SLOW, 3)
        saved = flown.simulation.snapshot()
        expected = states(flown, 3.0)
        flown.command(FAIL, BARO, OK)
        flown.command(FAIL, MOTOR, OK, 0)
        assert samples(flown, "barometer", 0.5)
        flown.simulation.restore(saved)
        assert not samples(flown, "barometer", 0.5)
        flown.simulation.restore(saved)
        assert states(flown, 3.0) == expected
