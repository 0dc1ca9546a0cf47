"""pymavlink's own connection and helpers, as scripts in the field use them."""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from mavlink_setup import HOME, Stage, staged
from pymavlink import mavutil
from pymavlink.dialects.v20 import common as mavlink

from skyloop.links.inbox import Inbox
from skyloop.links.mavlink.listener import MavlinkListener
from skyloop.links.mavlink.wire import Inlet


@pytest.fixture
def flown() -> Iterator[tuple[Any, Stage]]:
    with staged(pace=8.0) as stage:
        vehicle = mavutil.mavlink_connection(f"tcp:127.0.0.1:{stage.ports[0]['tcp']}", dialect="common")
        assert vehicle.wait_heartbeat(timeout=10) is not None
        yield vehicle, stage
        vehicle.close()


def until(vehicle: Any, kind: str, test: Callable[[Any], bool] = lambda message: True) -> Any:
    end = time.monotonic() + 20.0
    while time.monotonic() < end:
        message = vehicle.recv_match(type=kind, blocking=True, timeout=1.0)
        if message is not None and test(message):
            return message
    raise AssertionError(f"no {kind} of that kind")


def test_a_script_of_the_field(flown: tuple[Any, Stage]) -> None:
    vehicle, stage = flown
    assert vehicle.target_system == 1 and vehicle.flightmode == "LOITER"
    vehicle.param_set_send("MIS_TAKEOFF_ALT", 5.0)
    assert until(vehicle, "PARAM_VALUE").param_value == 5.0
    vehicle.arducopter_arm()
    vehicle.motors_armed_wait()
    vehicle.mav.command_long_send(1, 1, mavlink.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, 0, math.nan, math.nan, math.nan, math.nan)
    until(vehicle, "GLOBAL_POSITION_INT", lambda m: m.relative_alt > 4600)
    # the old way to upload: items in degrees and single floats
    vehicle.mav.mission_count_send(1, 1, 1)
    until(vehicle, "MISSION_REQUEST_INT")
    vehicle.mav.mission_item_send(
        1, 1, 0, mavlink.MAV_FRAME_GLOBAL_RELATIVE_ALT, mavlink.MAV_CMD_NAV_WAYPOINT, 0, 1, 0, 1.0, 0, math.nan,
        HOME.latitude_deg + 2e-4, HOME.longitude_deg, 6.0,
    )  # fmt: skip
    assert until(vehicle, "MISSION_ACK").type == mavlink.MAV_MISSION_ACCEPTED
    vehicle.set_mode("MISSION")
    until(vehicle, "HEARTBEAT", lambda m: vehicle.flightmode == "MISSION")
    assert until(vehicle, "MISSION_ITEM_REACHED").seq == 0
    # single floats are good for 0.4 m of latitude here
    assert stage.position[1] == pytest.approx(22.2, abs=2.0)
    vehicle.set_mode("RTL")
    until(vehicle, "HEARTBEAT", lambda m: vehicle.flightmode == "RTL")
    until(vehicle, "HEARTBEAT", lambda m: not vehicle.motors_armed())
    assert abs(stage.position[1]) < 0.8


def test_whom_it_is_told_to_gets_everything_unasked() -> None:
    """As QGroundControl on 14550: it waits, and the vehicle comes."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as station:
        station.bind(("127.0.0.1", 0))
        station.settimeout(5.0)
        listener = MavlinkListener(Inbox())
        try:
            channel = listener.udp(0, 7, 0, station.getsockname())
            for _ in range(3):
                channel.send(mavlink.MAVLink_heartbeat_message(2, 12, 0, 0, 3, 3))
            inlet = Inlet()
            heard = [next(inlet.feed(station.recv(1000))) for _ in range(3)]
            assert [message.get_srcSystem() for message in heard] == [7, 7, 7]
            assert [message.get_seq() for message in heard] == [0, 1, 2]
        finally:
            listener.close()
