"""Plans that cannot be flown are refused before take-off and with a reason; landings are where they should be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as mavlink
from test_mavlink_flight import ARM, LAND, START, TAKEOFF, WAYPOINT, Flight, flight
from test_mavlink_port import take_off

from skyloop.core.frames import LocalFrame
from skyloop_client.errors import LinkError

ZURICH = (47.398039859999997, 8.5455725400000002)
"""The first waypoint of MAVSDK's mission.py."""


def upload(flown: Flight, items: list[Any], kind: int = 0) -> int:
    """The type of the acknowledgement."""
    flown.desk.say(flown.vehicle, mavlink.MAVLink_mission_count_message(1, 1, len(items), kind))
    for item in items:
        flown.desk.say(flown.vehicle, item)
    return int(flown.desk.latest["MISSION_ACK"].type)


def item(
    number: int, command: int, place: tuple[float, float], params: Any = (0, 0, 0, math.nan), kind: int = 0
) -> Any:
    x, y = (round(value * 1e7) for value in place)
    return mavlink.MAVLink_mission_item_int_message(1, 1, number, 6, command, 0, 1, *params, x, y, 25.0, kind)


def test_a_mission_on_another_continent_is_refused_before_take_off() -> None:
    with flight() as flown:
        flown.upload((TAKEOFF, (0, 0, 3.0), ()), (WAYPOINT, (6.0, 0, 3.0), (0, 0.5)))
        here = flown.system.geography.global_int([0.0, 0.0, 0.0])
        near = item(0, WAYPOINT, (here[0] / 1e7, here[1] / 1e7))
        assert upload(flown, [near, item(1, WAYPOINT, ZURICH)]) == mavlink.MAV_MISSION_INVALID
        text = "".join(flown.texts)
        assert "mission item 1" in text and "8450 km away" in text and "--home px4-zurich" in text
        # the mission it had is still there, and is the one that is flown
        assert [each.command for each in flown.vehicle.missions.plans[0]] == [TAKEOFF, WAYPOINT]
        flown.command(ARM, 1)
        flown.command(START)
        flown.until(lambda: flown.vehicle.modes.flight.complete)


def test_a_place_on_another_continent_is_refused_to_reposition() -> None:
    with flight() as flown:
        take_off(flown)
        with pytest.raises(LinkError, match="192 was refused"):
            flown.command(192, -1, 1, 0, math.nan, *ZURICH, 30.0)
        assert any("km away" in text for text in flown.texts)
        assert flown.mode == "hold"


def test_a_fence_with_a_circle_of_radius_0_is_kept_and_the_circle_means_nothing() -> None:
    """As MAVSDK's geofence.py sends it, which PX4 accepts."""
    with flight() as flown:
        frame = LocalFrame(flown.system.geography._frame.home)
        corners = [frame.geodetic_array_from_enu([x, y, 0.0])[:2] for x, y in ((-9, -9), (9, -9), (9, 9), (-9, 9))]
        fence = [item(k, 5001, tuple(corner), (4.0, 0, 0, 0), kind=1) for k, corner in enumerate(corners)]
        fence.append(item(4, 5003, (0.0, 0.0), (0.0, 0, 0, 0), kind=1))
        assert upload(flown, fence, 1) == mavlink.MAV_MISSION_ACCEPTED
        assert len(flown.vehicle.missions.plans[1]) == 5
        breaches = flown.vehicle.modes.fence.breaches
        assert not list(breaches(np.array([1.0, 2.0, 5.0])))
        assert list(breaches(np.array([10.0, 2.0, 5.0])))


@pytest.mark.parametrize(
    ("wrong", "kind", "text"),
    [
        (item(0, 5003, (0.0, 0.0), (-2.0, 0, 0, 0), kind=1), 1, "radius of -2"),
        (item(0, 84, ZURICH), 0, "command 84"),
        (item(0, 178, ZURICH, (1, 400.0, -1, 0)), 0, "400 m/s"),
        (item(0, 177, ZURICH, (9, 1, 0, 0)), 0, "jumps to item 9 of 1"),
    ],
)
def test_a_plan_is_refused_with_a_text(wrong: Any, kind: int, text: str) -> None:
    with flight() as flown:
        assert upload(flown, [wrong], kind) != mavlink.MAV_MISSION_ACCEPTED
        assert text in "".join(flown.texts) and "item 0" in "".join(flown.texts)


def test_going_home_lands_at_home() -> None:
    """On perfect truth it was 0.29 m off, and home moved by as much with every arming."""
    with flight() as flown:
        port = flown.system.port
        flown.simulation.run_for(1.0)
        start = port.truth.position
        for east in (12.0, -9.0, 5.0):
            take_off(flown)
            flown.system.go(start + np.array([east, 4.0, 6.0]), None)
            flown.until(lambda: port.status.mode == "hover")
            flown.vehicle.modes.choose("rtl")
            flown.until(lambda: not port.status.armed)
            assert np.hypot(*(port.truth.position - start)[:2]) < 0.05
            assert port.home == pytest.approx(start, abs=1e-3)


def test_a_mission_lands_where_it_says() -> None:
    with flight() as flown:
        flown.upload((TAKEOFF, (0, 0, 3.0), ()), (LAND, (8.0, 3.0, 0), ()))
        flown.command(ARM, 1)
        flown.command(START)
        flown.until(lambda: flown.system.port.is_flying)
        flown.until(lambda: not flown.system.port.status.armed)
        assert math.dist(flown.simulation.truth().position[:2], (8.0, 3.0)) < 0.05
