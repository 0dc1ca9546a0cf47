"""What the example scripts of MAVSDK and MAVProxy's commands need besides the flight itself, in simulated time only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pymavlink.dialects.v20 import development as mavlink
from test_mavlink_flight import Flight, Listener, flight
from test_mavlink_guided import target
from test_mavlink_port import put, take_off

SHELL = mavlink.SERIAL_CONTROL_DEV_SHELL
RESPOND = mavlink.SERIAL_CONTROL_FLAG_RESPOND


def followed(flown: Flight, place: Any, seconds: float) -> tuple[float, float]:
    """The lowest height in m and the highest speed in m/s while a target stays at one place."""
    lowest, fastest, end = np.inf, 0.0, flown.simulation.now + seconds
    while flown.simulation.now < end:
        target(flown, place)
        step = flown.simulation.now + 0.5
        flown.until(lambda step=step: flown.simulation.now >= step)  # type: ignore[misc]
        truth = flown.simulation.truth()
        lowest = min(lowest, float(truth.position[2]))
        fastest = max(fastest, float(np.linalg.norm(truth.velocity_world)))
    return lowest, fastest


def test_following_a_target_below_the_ground_stays_above_the_ground() -> None:
    """follow_me_example.py: a target at 480 m and a height of 8 m, where the ground is at 488 m."""
    with flight() as flown:
        take_off(flown, 2.5)
        ground = flown.system.geography.origin[2]
        for name, value in {"FLW_TGT_HT": 8.0, "FLW_TGT_DST": 2.0, "FLW_TGT_MAX_VEL": 10.0}.items():
            put(flown, name, value)
        flown.system.settings.follow_altitude_mode = 2
        flown.command(176, 1, 4, 8)
        lowest, fastest = followed(flown, [35.0, -20.0, ground - 8.1], 12.0)
        assert lowest > ground + 0.7
        # it gets up to the speed that was asked for without a jump, and so does not exceed it by much
        assert 5.0 < fastest < 11.5
        away = flown.simulation.truth().position - np.array([35.0, -20.0, ground + 1.0])
        assert abs(away[2]) < 0.3 and np.hypot(*away[:2]) == pytest.approx(2.0, abs=0.5)


def test_services_that_are_not_there_say_so_at_once() -> None:
    with flight() as flown:
        asked = {
            "no buzzer": mavlink.MAVLink_play_tune_message(1, 1, b"MFT200"),
            "RTK": mavlink.MAVLink_gps_rtcm_data_message(0, 4, [0] * 180),
            "MANUAL_CONTROL": mavlink.MAVLink_rc_channels_override_message(1, 1, *[1500] * 8),
            "not erased": mavlink.MAVLink_log_erase_message(1, 1),
        }
        for words, message in asked.items():
            flown.texts.clear()
            for _ in range(3):
                flown.desk.say(flown.vehicle, message)
            # once: some of these come many times a second
            assert sum(words in text for text in flown.texts) == 1, (words, flown.texts)
        end = flown.simulation.now + 31.0
        flown.until(lambda: flown.simulation.now >= end)
        flown.texts.clear()
        flown.desk.say(flown.vehicle, asked["RTK"])
        assert any("RTK" in text for text in flown.texts)


def test_the_shell_answers_that_there_is_none() -> None:
    with flight() as flown:
        typed = list(b"ver all\n".ljust(70, b"\0"))
        flown.desk.say(flown.vehicle, mavlink.MAVLink_serial_control_message(SHELL, RESPOND, 0, 0, 8, typed))
        answer = flown.desk.latest.pop("SERIAL_CONTROL")
        assert answer.flags & mavlink.SERIAL_CONTROL_FLAG_REPLY and answer.device == SHELL
        assert bytes(answer.data[: answer.count]) == b"skyloop has no shell\n"
        # a console that polls without typing, or does not want an answer, gets none
        for flags, count in ((RESPOND, 0), (0, 8)):
            flown.desk.say(flown.vehicle, mavlink.MAVLink_serial_control_message(SHELL, flags, 0, 0, count, typed))
        assert "SERIAL_CONTROL" not in flown.desk.latest


class Other(Listener):
    """A second client, which keeps what it gets as bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.passed: list[Any] = []

    def pass_on(self, message: Any) -> None:
        self.passed += self._receiver.feed(bytes(message.get_msgbuf()))


def test_a_text_of_one_client_reaches_the_others_as_its_own() -> None:
    """send_status_message.py: a companion's text in the log of the ground station."""
    with flight() as flown:
        other, mine = Other(), Other()
        flown.vehicle.channels += [other, mine]
        mine._own = mavlink.MAVLink(None, srcSystem=1, srcComponent=190)
        mine.say(flown.vehicle, mavlink.MAVLink_statustext_message(6, b"Hello world!"))
        (heard,) = other.passed
        assert (heard.text, heard.severity, heard.get_srcComponent()) == ("Hello world!", 6, 190)
        assert mine.passed == []
        # a client that floods does not take the link from the others
        for number in range(500):
            mine.say(flown.vehicle, mavlink.MAVLink_statustext_message(6, f"flood {number}".encode()))
        assert len(other.passed) <= 50
        end = flown.simulation.now + 1.1
        flown.until(lambda: flown.simulation.now >= end)
        mine.say(flown.vehicle, mavlink.MAVLink_statustext_message(6, b"again"))
        assert other.passed[-1].text == "again"


def sticks(flown: Flight, x: int, y: int, z: int, seconds: float = 0.1) -> None:
    flown.desk.say(flown.vehicle, mavlink.MAVLink_manual_control_message(1, x, y, z, 0, 0))
    end = flown.simulation.now + seconds
    flown.until(lambda: flown.simulation.now >= end - 1e-6)


def test_it_keeps_its_height_while_the_climb_stick_is_in_the_middle() -> None:
    """manual_control.py: full deflections to all sides, ten a second."""
    chance = np.random.default_rng(5)
    with flight() as flown:
        take_off(flown, 4.0)
        flown.command(176, 1, 3)
        assert flown.mode == "position"
        before = float(flown.simulation.truth().position[2])
        for _ in range(100):
            x, y = chance.choice([-1000, 0, 1000], 2)
            sticks(flown, int(x), int(y), 500)
        assert flown.simulation.truth().position[2] == pytest.approx(before, abs=0.5)
        # the stick still climbs, and the new height is kept
        for _ in range(20):
            sticks(flown, 0, 0, 1000)
        for _ in range(30):
            sticks(flown, 0, 0, 500)
        height = float(flown.simulation.truth().position[2])
        assert height > before + 3.0
        for _ in range(30):
            sticks(flown, 0, 1000, 500)
        assert flown.simulation.truth().position[2] == pytest.approx(height, abs=0.3)
