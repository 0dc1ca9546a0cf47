"""Orbits, follow-me, and the list of modes: what MAVSDK and ground stations ask for beyond missions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pymavlink.dialects.v20 import development as mavlink
from test_mavlink_flight import Flight, flight
from test_mavlink_port import put, take_off

from skyloop.links.mavlink.wire import PX4_MODES, custom_mode
from skyloop_client.errors import LinkError

NAN = math.nan
ORBIT, REQUEST = 34, 512


def place(flown: Flight, enu: Any) -> tuple[int, int, float]:
    return flown.system.geography.global_int(enu)


def orbit(flown: Flight, centre: Any, radius: float, speed: float, behaviour: int = 0, turn: float = 0.0) -> None:
    x, y, z = place(flown, centre)
    flown.desk.say(
        flown.vehicle,
        # frame 3, "relative", with an altitude above sea level: as MAVSDK sends it
        mavlink.MAVLink_command_int_message(1, 1, 3, ORBIT, 0, 0, radius, speed, behaviour, turn, x, y, z),
    )


def after(flown: Flight, seconds: float) -> Callable[[], bool]:
    end = flown.simulation.now + seconds
    return lambda: flown.simulation.now >= end


def track(flown: Flight, seconds: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, velocities, yaws every 0.1 s."""
    found = []
    until = flown.simulation.now + seconds
    while flown.simulation.now < until:
        flown.until(after(flown, 0.1))
        truth = flown.simulation.truth()
        found.append((truth.position, truth.velocity_world, flown.system.yaw))
    return tuple(np.array(each) for each in zip(*found, strict=True))  # type: ignore[return-value]


def test_an_orbit_is_a_circle_at_its_speed_looking_at_its_centre() -> None:
    with flight() as flown:
        take_off(flown)
        centre = np.array([12.0, 5.0, 7.0])
        orbit(flown, centre, 8.0, 2.0)
        assert flown.desk.latest["COMMAND_ACK"].result == 0 and flown.mode == "orbit"
        track(flown, 9.0)
        positions, velocities, yaws = track(flown, 26.0)
        away = positions - centre
        np.testing.assert_allclose(np.hypot(away[:, 0], away[:, 1]), 8.0, atol=0.25)
        np.testing.assert_allclose(positions[:, 2], 7.0, atol=0.2)
        np.testing.assert_allclose(np.linalg.norm(velocities, axis=1), 2.0, atol=0.2)
        # clockwise, and once round in 2 pi 8 / 2 = 25 s
        angles = np.unwrap(np.arctan2(away[:, 1], away[:, 0]))
        assert angles[-1] - angles[0] == pytest.approx(-2.0 / 8.0 * 25.9, rel=0.03)
        wrong = np.angle(np.exp(1j * (yaws - np.arctan2(-away[:, 1], -away[:, 0]))))
        assert np.abs(wrong).max() < 0.2
        flown.desk.intervals.pop(mavlink.MAVLINK_MSG_ID_ORBIT_EXECUTION_STATUS)
        flown.until(lambda: "ORBIT_EXECUTION_STATUS" in flown.desk.latest)
        reported = flown.desk.latest["ORBIT_EXECUTION_STATUS"]
        assert (reported.radius, reported.x, reported.y) == (8.0, *place(flown, centre)[:2])
        flown.vehicle.modes.choose("hold")
        flown.until(lambda: float(np.linalg.norm(flown.simulation.truth().velocity_world)) < 0.1)
        assert flown.vehicle.modes.orbit is None


def test_an_orbit_the_other_way_along_its_course_ends_after_its_turn() -> None:
    with flight() as flown:
        take_off(flown)
        orbit(flown, [0.0, 0.0, 5.0], -5.0, 1.5, behaviour=3, turn=math.pi)
        track(flown, 5.0)
        positions, velocities, yaws = track(flown, 4.0)
        angles = np.unwrap(np.arctan2(positions[:, 1], positions[:, 0]))
        assert angles[-1] > angles[0] + 0.8
        course = np.arctan2(velocities[:, 1], velocities[:, 0])
        assert np.abs(np.angle(np.exp(1j * (yaws - course)))).max() < 0.25
        flown.until(lambda: flown.mode == "hold")
        assert any("orbit complete" in text for text in flown.texts)


def test_orbits_that_cannot_be_flown_are_refused() -> None:
    with flight() as flown:
        with pytest.raises(LinkError, match="34 was refused"):
            flown.command(ORBIT, 10, 2, 0, 0, NAN, NAN, NAN)
        take_off(flown)
        for wrong in ((0.5, 2), (2e4, 2), (10, 0), (10, 400)):
            with pytest.raises(LinkError, match="34 was refused"):
                flown.command(ORBIT, *wrong, 0, 0, NAN, NAN, NAN)
        with pytest.raises(LinkError, match="176 was refused"):
            flown.command(176, 1, 3, 1)  # the mode alone says no place
        # too fast for so small a circle: as fast as it can be
        flown.command(ORBIT, 1.5, 9, 0, 0, NAN, NAN, NAN)
        assert flown.vehicle.modes.orbit is not None and flown.vehicle.modes.orbit.speed < 2.5


def test_without_a_client_an_orbit_does_not_go_on_for_ever() -> None:
    with flight() as flown:
        take_off(flown)
        flown.command(ORBIT, 5, 2, 0, 0, NAN, NAN, NAN)
        flown.vehicle.channels.clear()
        flown.until(lambda: flown.mode == "land", longest=15.0)


def target(flown: Flight, enu: Any, velocity: Any = None) -> None:
    """As MAVSDK tells it: NED velocity, position always."""
    x, y, z = place(flown, enu)
    east, north, up = velocity if velocity is not None else (0.0, 0.0, 0.0)
    able = 3 if velocity is not None else 1
    flown.desk.say(
        flown.vehicle,
        mavlink.MAVLink_follow_target_message(
            0, able, x, y, z, [north, east, -up], [0] * 3, [1, 0, 0, 0], [0] * 3, [0] * 3, 0
        ),
    )


def test_it_follows_behind_a_walker_and_looks_at_them() -> None:
    with flight() as flown:
        take_off(flown)
        for name, value in {"FLW_TGT_HT": 6.0, "FLW_TGT_DST": 5.0, "FLW_TGT_FA": 180.0, "FLW_TGT_MAX_VEL": 4.0}.items():
            put(flown, name, value)
        flown.command(176, 1, 4, 8)
        assert flown.mode == "follow"
        flown.until(lambda: any("no target" in text for text in flown.texts))
        began, start, pace = flown.simulation.now, np.array([10.0, 0.0, 0.0]), np.array([0.0, 1.5, 0.0])
        while flown.simulation.now < began + 25.0:
            walker = start + (flown.simulation.now - began) * pace
            target(flown, walker, pace)
            flown.until(after(flown, 0.5))
        walker = start + (flown.simulation.now - began) * pace
        truth = flown.simulation.truth()
        # 5 m behind somebody who walks north, 6 m above home
        np.testing.assert_allclose(truth.position - walker, [0.0, -5.0, 6.0], atol=0.6)
        np.testing.assert_allclose(truth.velocity_world, pace, atol=0.3)
        assert flown.system.yaw == pytest.approx(math.pi / 2, abs=0.15)
        # they are heard no more: it waits where it is
        flown.until(lambda: sum("no target" in text for text in flown.texts) == 2)
        flown.until(lambda: float(np.linalg.norm(flown.simulation.truth().velocity_world)) < 0.1)
        assert flown.mode == "follow"


def test_a_target_that_says_no_velocity_and_one_far_away() -> None:
    with flight() as flown:
        take_off(flown)
        put(flown, "FLW_TGT_DST", 3.0)
        flown.command(176, 1, 4, 8)
        began = flown.simulation.now
        fastest = 0.0
        while flown.simulation.now < began + 20.0:
            target(flown, [2.0 * (flown.simulation.now - began), 8.0, 0.0])
            flown.until(after(flown, 1.0))
            fastest = max(fastest, float(np.linalg.norm(flown.simulation.truth().velocity_world)))
        away = flown.simulation.truth().position - np.array([2.0 * (flown.simulation.now - began), 8.0, 0.0])
        assert np.hypot(*away[:2]) < 4.5 and fastest < 5.5
        before = flown.simulation.truth().position
        flown.desk.say(
            flown.vehicle,
            mavlink.MAVLink_follow_target_message(
                0, 1, 473980399, 85455725, 480.0, [0] * 3, [0] * 3, [1, 0, 0, 0], [0] * 3, [0] * 3, 0
            ),
        )
        assert any("km away" in text for text in flown.texts)
        flown.until(lambda: flown.simulation.now > began + 30.0)
        assert np.linalg.norm(flown.simulation.truth().position - before) < 12.0


def test_the_modes_there_are_can_be_listed_and_chosen_by_their_standard_number() -> None:
    with flight() as flown:
        reported: list[Any] = []
        send = flown.desk.send
        flown.desk.send = lambda message, component=1: (reported.append(message), send(message, component))[1]  # type: ignore[func-returns-value, method-assign]
        flown.command(REQUEST, mavlink.MAVLINK_MSG_ID_AVAILABLE_MODES, 0)
        modes = [message for message in reported if message.get_type() == "AVAILABLE_MODES"]
        assert [mode.mode_index for mode in modes] == list(range(1, len(PX4_MODES) + 1))
        assert {mode.custom_mode for mode in modes} == {custom_mode(name) for name in PX4_MODES}
        reported.clear()
        flown.command(REQUEST, mavlink.MAVLINK_MSG_ID_AVAILABLE_MODES, 4)
        assert [m.mode_index for m in reported if m.get_type() == "AVAILABLE_MODES"] == [4]
        with pytest.raises(LinkError):
            flown.command(REQUEST, mavlink.MAVLINK_MSG_ID_AVAILABLE_MODES, 40)
        take_off(flown)
        flown.command(262, mavlink.MAV_STANDARD_MODE_LAND)
        assert flown.mode == "land"
        flown.command(REQUEST, mavlink.MAVLINK_MSG_ID_CURRENT_MODE)
        current = flown.desk.latest["CURRENT_MODE"]
        assert (current.standard_mode, current.custom_mode) == (mavlink.MAV_STANDARD_MODE_LAND, custom_mode("land"))
